"""Gathering: does for many at once what each of them asks for.

Whatever is asked for while the last lot is under way becomes the next one, so that hundreds share one
transaction. A few wait a moment where many more are about to ask; where nobody is, nobody waits. Knows
nothing of what is done.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

#: How long a few wait, and how many for each of them have to be about to ask.
LINGER_S = 0.1
_FEW = 8

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Gathering(Generic[Asked, Answer]):
    """Calls `work` with what was asked for, in order; it returns the answers in that order.

    Args:
        most: the most that one call gets.
        about: returns how many may ask before long, those that have asked among them.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Asked]], Awaitable[Sequence[Answer]]],
        *,
        most: int,
        about: Callable[[], int] = int,
    ) -> None:
        self._work = work
        self._most = most
        self._about = about
        self._enough = asyncio.Event()
        self._waiting: list[tuple[Asked, asyncio.Future[Answer]]] = []
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, asked: Asked) -> Answer:
        """Return what `work` answers to `asked`; raises what it raises."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, future))
        if not self._is_few():
            self._enough.set()
        if self._task is None:
            self._task = asyncio.create_task(self._go_on())
        return await future

    async def _go_on(self) -> None:
        try:
            while self._waiting:
                await self._linger()
                lot, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._one_lot(lot)
        finally:
            self._task = None

    def _is_few(self) -> bool:
        return len(self._waiting) * _FEW < self._about()

    async def _linger(self) -> None:
        self._enough.clear()
        if self._is_few():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    await self._enough.wait()

    async def _one_lot(self, lot: Sequence[tuple[Asked, "asyncio.Future[Answer]"]]) -> None:
        try:
            answers = await self._work([asked for asked, _ in lot])
        except Exception as error:  # noqa: BLE001 - it is for each that asked
            for _, future in lot:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(lot, answers, strict=True):
            if not future.done():
                future.set_result(answer)
