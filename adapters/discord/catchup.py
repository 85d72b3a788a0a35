"""Reads what was said in a place while nobody listened (P7), oldest first.

Discord plays a session back only when it is resumed; a process that starts, or a session that was lost, reads
the history. What could not be read is read again, slower and slower, until it is read or gone; what is said
live meanwhile does not wait for it. Presses made meanwhile are lost on Discord's side: whoever pressed saw
that it failed.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial

from adapters.discord.client import Gateway
from adapters.discord.connection import Pace
from adapters.discord.faults import Fault, outcome
from adapters.discord.inbound import newest_position
from adapters.discord.lanes import Lanes
from adapters.discord.sdk import discord
from adapters.discord.sending import channel_of
from adapters.discord.status import Status
from bot.ports import PlaceRef, RejectedError

log = logging.getLogger(__name__)

#: The most messages of one place that are read; who was away for longer than that asks again.
MOST = 2000


def starts(known: Iterable[tuple[PlaceRef, str]], newest: dict[PlaceRef, int]) -> dict[PlaceRef, int]:
    """Return after which message to read on in each place.

    Args:
        known: places with the newest event id that was stored.
        newest: places with the newest message that this process stored.
    """
    found = dict(newest)
    for place, event_id in known:
        position = newest_position(event_id)
        try:
            channel_of(place)
        except RejectedError:
            continue
        if position is not None:
            found[place] = max(position, found.get(place, 0))
    return found


async def missed(client: Gateway, place: PlaceRef, after: int) -> AsyncIterator["discord.Message"]:
    """Yield the messages of `place` that came after the message id `after`."""
    guild = int(place.tenant) if place.tenant.isdigit() else None
    channel = client.get_partial_messageable(channel_of(place), guild_id=guild)
    async for message in channel.history(limit=MOST, after=discord.Object(after), oldest_first=True):
        yield message


class CatchUp:
    """Reads every place from where it was left, in the lane of each.

    Args:
        client: returns the login of now; None for none.
        take: stores one message that was missed.
        pace: `retry_s` before a place is read again, doubled up to `slow_s`.
    """

    def __init__(
        self,
        *,
        client: Callable[[], Gateway | None],
        take: Callable[[Gateway, PlaceRef, "discord.Message"], Awaitable[None]],
        lanes: Lanes,
        status: Status,
        pace: Pace,
    ) -> None:
        self._client = client
        self._take = take
        self._lanes = lanes
        self._status = status
        self._pace = pace
        # After which message each place is unread. What comes live is newer, so it says nothing about this.
        self._behind: dict[PlaceRef, int] = {}
        self._timers: dict[PlaceRef, asyncio.TimerHandle] = {}

    def begin(self, places: dict[PlaceRef, int]) -> None:
        """Read `places`, each after the message that is named; never blocks."""
        self.stop()
        self._status.unread.clear()
        for place, after in places.items():
            self._behind[place] = min(after, self._behind.get(place, after))
        for place in self._behind:
            self._put(place, self._pace.retry_s)

    def stop(self) -> None:
        """Read nothing again by itself; the next session begins where this one was."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _put(self, place: PlaceRef, wait_s: float) -> None:
        self._timers.pop(place, None)
        self._lanes.put(int(place.thread or place.channel), partial(self._read, place, wait_s))

    async def _read(self, place: PlaceRef, wait_s: float) -> None:
        client, name = self._client(), place.thread or place.channel
        if client is None or place not in self._behind:
            return  # the next session reads it, or one did
        try:
            async for message in missed(client, place, self._behind[place]):
                await self._take(client, place, message)
                self._behind[place] = message.id
        except Fault as error:
            why, gone = str(outcome(error)), isinstance(error, discord.NotFound)
            log.warning("Discord: channel %s was not caught up: %s", name, why)
        except Exception as error:
            why, gone = type(error).__name__, False
            log.exception("Discord: channel %s was not caught up", name)
        else:
            self._behind.pop(place, None)
            self._status.unread.pop(name, None)
            return
        self._status.unread[name] = why if gone else f"{why}. It is tried again."
        if not gone:
            loop = asyncio.get_running_loop()
            slower_s = min(2 * wait_s, self._pace.slow_s)
            self._timers[place] = loop.call_later(wait_s, self._put, place, slower_s)
