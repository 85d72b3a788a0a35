"""Polling: reads updates and confirms them only once they are stored.

Asking for updates from offset N confirms all before N, for ever. So N never passes an update that is not
stored: while one is on its way or could not be stored, the rest is asked for without waiting, and what is
known of it already is skipped. First tries are made in the order of each chat; presses wait for nobody. It
knows no event of ours and never says anything; what goes wrong is the status.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from telegram.error import (
    Conflict,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from adapters.telegram.inbound import chat_of
from adapters.telegram.sending import seconds
from adapters.telegram.status import REVOKED, WEBHOOK, Status
from bot.ports import NotCommittedError

log = logging.getLogger(__name__)

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long things are waited for, in seconds.

    Attributes:
        poll_s: how long Telegram may keep us waiting for the next update.
        look_s: the longest that what is being stored holds up the next look.
        retry_s: until what could not be stored is tried again.
        keep_s: how long it is tried; after that the person has to say it again. A command that old would
            come as a surprise.
        first_s, most_s: between tries after a fault of the network, the first and the longest.
        slow_s: between tries when only a person can mend it.
        answer_s: for an answer of Telegram beyond the wait it was asked for.
    """

    poll_s: int = 25
    answer_s: float = 10.0
    look_s: float = 0.25
    retry_s: float = 1.0
    keep_s: float = 600.0
    first_s: float = 1.0
    most_s: float = 30.0
    slow_s: float = 60.0


#: Updates kept back at most; Telegram hands out a hundred, and "stop" must be among them.
MOST_KEPT_BACK = 80
#: Beyond Telegram's own wait; an answer that takes longer never comes.
_SLACK_S = 15.0
_RENEW_EVERY = 3
#: Tries to store become rarer, up to so many times the first pause.
_LONGEST_RETRY = 8


class Poller:
    """The loop.

    Args:
        fetch: asks for updates from an offset (None: from where Telegram stands), waiting so many seconds.
        take: stores one update. Raises NotCommittedError.
        unstored: tells the person that it was not stored; True: for good, False: it is tried again.
        renew: makes new connections.
    """

    def __init__(
        self,
        *,
        fetch: Callable[[int | None, int], Awaitable[Sequence[Raw]]],
        take: Callable[[Raw], Awaitable[None]],
        unstored: Callable[[Raw, bool], Awaitable[None]],
        renew: Callable[[], Awaitable[None]],
        status: Status,
        patience: Patience,
    ) -> None:
        self._fetch = fetch
        self._take = take
        self._unstored = unstored
        self._renew = renew
        self._status = status
        self._patience = patience
        self._offset: int | None = None
        self._carried: dict[int, asyncio.Task[None]] = {}
        # Not stored at the first try, oldest first; setting the event gives one up.
        self._kept_back: dict[int, asyncio.Event] = {}
        self._lanes: dict[str, asyncio.Event] = {}
        self._failures = 0

    async def run(self) -> None:
        """Read until cancelled. Never ends by a fault of the network."""
        try:
            while True:
                for raw in await self._next():
                    self._start(raw)
                await self._storing()
        finally:
            carried = list(self._carried.values())
            for task in carried:
                task.cancel()
            await asyncio.gather(*carried, return_exceptions=True)
            # What was not stored is no longer under way: should it be read again, Telegram sends it again.
            self._carried.clear()
            self._kept_back.clear()
            self._lanes.clear()

    @property
    def offset(self) -> int | None:
        """The oldest update that may not be confirmed, or the one after the newest; None before any."""
        return self._offset

    def _start(self, raw: Raw) -> None:
        update = int(raw["update_id"])
        if update in self._carried:
            return
        self._status.heard()
        chat = chat_of(raw)
        tried = asyncio.Event()
        before = self._lanes.get(chat) if chat else None
        if chat:
            self._lanes[chat] = tried
        self._carried[update] = asyncio.create_task(self._carry(update, raw, before=before, tried=tried))

    async def _carry(
        self, update: int, raw: Raw, *, before: asyncio.Event | None, tried: asyncio.Event
    ) -> None:
        chat = chat_of(raw)
        try:
            if before is not None:
                await before.wait()
            if await self._try(raw):
                return
        finally:
            tried.set()
            if self._lanes.get(chat) is tried:
                del self._lanes[chat]
        await self._try_again(update, raw)

    async def _try(self, raw: Raw) -> bool:
        try:
            await self._take(raw)
        except NotCommittedError:
            return False
        except Exception:
            log.exception("update %s was not taken", raw["update_id"])
            return False
        return True

    async def _try_again(self, update: int, raw: Raw) -> None:
        given_up = self._kept_back[update] = asyncio.Event()
        until_s = self._status.now_s() + self._patience.keep_s
        self._status.unstored = len(self._kept_back)
        try:
            if "callback_query" not in raw:
                await self._unstored(raw, False)
                if await self._stored_at_last(raw, given_up, until_s):
                    return
            # A press that takes effect minutes later is a surprise: it is pressed again, or not.
            await self._unstored(raw, True)
        finally:
            self._kept_back.pop(update, None)
            self._status.unstored = len(self._kept_back)

    async def _stored_at_last(self, raw: Raw, given_up: asyncio.Event, until_s: float) -> bool:
        pause_s = self._patience.retry_s
        while self._status.now_s() < until_s:
            try:
                await asyncio.wait_for(given_up.wait(), pause_s)
            except TimeoutError:
                pause_s = min(2 * pause_s, _LONGEST_RETRY * self._patience.retry_s)
                if await self._try(raw):
                    return True
            else:
                return False
        return False

    async def _storing(self) -> None:
        """Wait until what arrived is stored, for a moment at most, and move the offset."""
        under_way = [task for update, task in self._carried.items() if update not in self._kept_back]
        if under_way:
            await asyncio.wait(under_way, timeout=self._patience.look_s)
        for event in list(self._kept_back.values())[: max(0, len(self._kept_back) - MOST_KEPT_BACK)]:
            event.set()
        newest = max(self._carried, default=None)
        unsettled = [update for update, task in self._carried.items() if not task.done()]
        if unsettled:
            self._offset = min(unsettled)
        elif newest is not None:
            self._offset = newest + 1
        for update in [
            update for update in self._carried if self._offset is not None and update < self._offset
        ]:
            if self._carried[update].done():
                del self._carried[update]

    async def _next(self) -> Sequence[Raw]:
        unsettled = bool(self._carried)
        # After a fault the first look does not wait, so that its end is seen at once.
        wait_s = 0 if unsettled or self._failures else self._patience.poll_s
        if unsettled and self._kept_back:
            await asyncio.sleep(min(self._patience.retry_s, self._patience.look_s))
        try:
            async with asyncio.timeout(wait_s + _SLACK_S):
                found = await self._fetch(self._offset, wait_s)
        except (TelegramError, TimeoutError) as error:
            await asyncio.sleep(self._excuse(error))
            if self._failures % _RENEW_EVERY == 0:
                await self._renew()
            return ()
        self._failures = 0
        self._status.works()
        return found

    def _excuse(self, error: Exception) -> float:
        """Note what is wrong; return the seconds until the next try."""
        self._failures += 1
        backoff: float = min(self._patience.first_s * 2 ** min(self._failures - 1, 10), self._patience.most_s)
        match error:
            case RetryAfter():
                self._status.failed("Telegram: asks for a pause.")
                return seconds(error)
            case Conflict() if "webhook" in error.message.lower():
                self._status.failed(WEBHOOK)
                return self._patience.slow_s
            case Conflict():
                self._status.conflict()
                return min(5 * backoff, self._patience.slow_s)
            case InvalidToken():
                self._status.failed(REVOKED)
                return self._patience.slow_s
            case TimedOut() | NetworkError() | TimeoutError():
                self._status.failed(
                    "Telegram: no answer. It is tried again; check the network of this machine."
                )
            case _:
                self._status.failed(f"Telegram: an answer that makes no sense ({type(error).__name__}).")
        return backoff
