"""Reads what was said in a place while nobody listened (P7), oldest first.

Discord plays a session back only when it is resumed; a process that starts, or a session that was lost, reads
the history. Presses made meanwhile are lost on Discord's side: whoever pressed saw that it failed.
"""

from collections.abc import AsyncIterator, Iterable

from adapters.discord.client import Gateway
from adapters.discord.inbound import newest_position
from adapters.discord.sdk import discord
from adapters.discord.sending import channel_of
from bot.ports import PlaceRef, RejectedError

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
