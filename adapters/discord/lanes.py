"""Lanes: what is said in one place is taken in its order, places side by side.

The SDK starts a task for each message, and then the second overtakes the first. A lane is a queue with one
worker, and is gone when it is empty. Clicks never enter a lane.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

log = logging.getLogger(__name__)

Job = Callable[[], Awaitable[None]]


class Lanes:
    """Queues by key."""

    def __init__(self) -> None:
        self._jobs: dict[int, deque[Job]] = {}
        self._workers: dict[int, asyncio.Task[None]] = {}

    def put(self, key: int, job: Job) -> None:
        """Do `job` once everything put before it in this lane is done; never blocks."""
        if key in self._jobs:
            self._jobs[key].append(job)
            return
        self._jobs[key] = deque([job])
        self._workers[key] = asyncio.create_task(self._work(key))

    async def _work(self, key: int) -> None:
        jobs = self._jobs[key]
        try:
            while jobs:
                try:
                    await jobs.popleft()()
                except Exception:
                    log.exception("a message was not taken")
        finally:
            self._jobs.pop(key, None)
            self._workers.pop(key, None)

    async def close(self) -> None:
        """Drop what was not begun; wait for nothing that hangs."""
        workers = list(self._workers.values())
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        # One that was cancelled before its first step left its lane behind, in which nobody works.
        self._jobs.clear()
        self._workers.clear()
