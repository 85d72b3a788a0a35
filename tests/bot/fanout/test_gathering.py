"""Gathering: hundreds share a transaction, and nobody waits for those who do not come."""

import asyncio
from collections.abc import Sequence

import pytest

from bot.fanout import gathering
from bot.fanout.gathering import Gathering


class Work:
    """Notes what it was called with; waits while `held`."""

    def __init__(self) -> None:
        self.lots: list[list[int]] = []
        self.free = asyncio.Event()
        self.free.set()

    async def __call__(self, lot: Sequence[int]) -> Sequence[int]:
        self.lots.append(list(lot))
        await self.free.wait()
        if 13 in lot:
            raise ValueError("not this one")
        return [one * 10 for one in lot]


async def _turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody be served because of the clock."""
    monkeypatch.setattr(gathering, "LINGER_S", 3600.0)


async def test_one_alone_waits_for_nobody() -> None:
    for about in (0, 1, 8):
        work = Work()
        assert await Gathering(work, most=64, about=lambda about=about: about)(4) == 40
        assert work.lots == [[4]]


async def test_whatever_is_asked_meanwhile_is_the_next_lot() -> None:
    work = Work()
    gather = Gathering(work, most=3)
    work.free.clear()
    asked = [asyncio.create_task(gather(number)) for number in range(6)]
    await _turns()
    work.free.set()
    assert await asyncio.gather(*asked) == [0, 10, 20, 30, 40, 50]
    assert work.lots == [[0, 1, 2], [3, 4, 5]]


async def test_a_few_wait_for_many_until_there_are_enough_of_them() -> None:
    work = Work()
    gather = Gathering(work, most=64, about=lambda: 64)
    asked = [asyncio.create_task(gather(number)) for number in range(7)]
    await _turns()
    assert work.lots == []
    asked.append(asyncio.create_task(gather(7)))
    assert await asyncio.gather(*asked) == [number * 10 for number in range(8)]
    assert work.lots == [list(range(8))]


async def test_a_few_do_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "LINGER_S", 0.01)
    work = Work()
    gather = Gathering(work, most=64, about=lambda: 64)
    assert await gather(5) == 50
    assert await gather(6) == 60
    assert work.lots == [[5], [6]]


async def test_what_went_wrong_is_told_each_of_its_lot_alone() -> None:
    work = Work()
    gather = Gathering(work, most=2)
    asked = await asyncio.gather(*map(gather, (13, 1, 2)), return_exceptions=True)
    assert [type(one) for one in asked] == [ValueError, ValueError, int]
    assert await gather(3) == 30
