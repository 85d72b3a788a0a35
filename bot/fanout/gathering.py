"""Gathering: does for many at once what each of them asks for.

Whatever is asked for while the last lot is under way becomes the next one, so that a single request waits for
nobody and hundreds share one transaction. Knows nothing of what is done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Gathering(Generic[Asked, Answer]):
    """Calls `work` with what was asked for, in order; it returns the answers in that order.

    Args:
        most: the most that one call gets.
    """

    def __init__(self, work: Callable[[Sequence[Asked]], Awaitable[Sequence[Answer]]], *, most: int) -> None:
        self._work = work
        self._most = most
        self._waiting: list[tuple[Asked, asyncio.Future[Answer]]] = []
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, asked: Asked) -> Answer:
        """Return what `work` answers to `asked`; raises what it raises."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, future))
        if self._task is None:
            self._task = asyncio.create_task(self._go_on())
        return await future

    async def _go_on(self) -> None:
        try:
            while self._waiting:
                lot, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._one_lot(lot)
        finally:
            self._task = None

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
