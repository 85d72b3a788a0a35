"""The timer of the conversation ends when it is told to."""

import asyncio
from pathlib import Path

import pytest

from tests.kit import conversation


@pytest.mark.parametrize("steps", range(5))
async def test_the_timer_ends_though_it_is_woken_in_the_same_moment(tmp_path: Path, steps: int) -> None:
    async with conversation(tmp_path) as kit:
        inside = kit.app.conversation
        timer = asyncio.create_task(inside.keep_time())
        while len(inside._look._waiters) < 2:  # noqa: ASYNC110 - its own timer, and this one
            await asyncio.sleep(0.001)
        inside._look.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        timer.cancel()
        await asyncio.wait([timer], timeout=60)
        assert timer.cancelled()
