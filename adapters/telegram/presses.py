"""Presses: every press is answered in time, whatever the core does.

Telegram shows a spinner until a press is answered, and the answer may carry words for whoever pressed only.
So it is held for a moment, in case such words come, and given without any when they do not. An answer that
fails or comes too late is nothing: the press is stored and counts.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.ports import PlaceRef

log = logging.getLogger(__name__)

#: How long words are waited for; with the way there and back it stays below two seconds, busy machine or not.
HOLD_S = 1.0
#: Characters of an answer; telegram.constants.CallbackQueryLimit.
MAX_ANSWER = 200


@dataclass(eq=False)
class _Press:
    query: str
    channel: str
    user: str
    words: "asyncio.Future[str]"
    shown: "asyncio.Future[bool]" = field(repr=False)


class Presses:
    """The presses that are not answered yet.

    Args:
        answer: answers a press by its id with words, "" for none; True when that was taken.
        hold_s: how long words are waited for.
    """

    def __init__(self, answer: Callable[[str, str], Awaitable[bool]], *, hold_s: float = HOLD_S) -> None:
        self._answer = answer
        self._hold_s = hold_s
        self._open: list[_Press] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def arrived(self, query: str, *, place: PlaceRef, user: str) -> None:
        """Begin to wait for words for this press, and answer it in time."""
        loop = asyncio.get_running_loop()
        press = _Press(query, place.channel, user, loop.create_future(), loop.create_future())
        self._open.append(press)
        task = asyncio.create_task(self._answer_in_time(press))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def note(self, place: PlaceRef, user: str, words: str) -> bool:
        """Show `words` to `user` alone, as the answer to their oldest open press there; False: not shown."""
        for press in self._open:
            if (press.channel, press.user) == (place.channel, user) and not press.words.done():
                press.words.set_result(words)
                return await asyncio.shield(press.shown)
        return False

    def settled(self, query: str) -> None:
        """Wait no longer for words: what the press started has ended."""
        for press in self._open:
            if press.query == query and not press.words.done():
                press.words.set_result("")

    async def say(self, query: str, words: str) -> bool:
        """Answer a press with words at once; False: it had been answered, or they were not taken."""
        for press in self._open:
            if press.query == query and not press.words.done():
                press.words.set_result(words)
                return await asyncio.shield(press.shown)
        return False

    async def close(self) -> None:
        """Answer what is open."""
        for press in self._open:
            if not press.words.done():
                press.words.set_result("")
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer_in_time(self, press: _Press) -> None:
        await asyncio.wait([press.words], timeout=self._hold_s)
        if not press.words.done():
            press.words.set_result("")
        self._open.remove(press)
        taken = False
        try:
            taken = await self._answer(press.query, press.words.result())
        finally:
            press.shown.set_result(taken)
