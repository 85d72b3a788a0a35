"""The timer: its alarm wakes it, and where the alarm is lost it looks all the same."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.scheduling import timer
from bot.scheduling.firing import Fired
from bot.scheduling.timer import PAUSE_S, Timer
from ledger.kinds import LedgerUnwritableError
from tests.bot.scheduling.making import make
from tests.kit import START, Kit, conversation


@pytest.fixture
async def kit(tmp_path: Path) -> AsyncIterator[Kit]:
    async with conversation(tmp_path) as made:
        yield made


class Moving(Timer):
    """A timer whose clock shows the time of the alarm once that is set."""

    kit: Kit
    is_deaf = False

    def _arm(self, alarms: Any, wait_s: float) -> None:
        if not self.is_deaf:
            super()._arm(alarms, wait_s)
        if wait_s < timer.LOOK_EVERY_S:
            self.kit.clock.advance(wait_s)


def moving(kit: Kit) -> Moving:
    made = Moving(kit.core, work=kit.app.conversation._work, delivery=kit.app.conversation._delivery)
    made.kit = kit
    return made


async def said(kit: Kit, job: str) -> None:
    """Wait until `job` was claimed; far shorter than the timer would look by itself."""
    async with asyncio.timeout(timer.LOOK_EVERY_S - 10):
        while not kit.core.queries.occurrences(job):  # noqa: ASYNC110 - another thread writes the ledger
            await asyncio.sleep(0.02)


async def test_the_alarm_wakes_it_when_something_is_due(kit: Kit) -> None:
    job = make(kit.core, "drink water", at=START + timedelta(seconds=0.3))
    keeping = asyncio.create_task(moving(kit).keep())
    await said(kit, job)
    keeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await keeping


async def test_a_job_that_is_made_while_it_sleeps_is_seen(kit: Kit) -> None:
    own = moving(kit)
    keeping = asyncio.create_task(own.keep())
    await asyncio.sleep(0)
    job = make(kit.core, "drink water", at=START + timedelta(seconds=0.3))
    own.look()
    await said(kit, job)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


async def test_a_lost_alarm_is_made_up_for_by_looking(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timer, "LOOK_EVERY_S", 0.4)
    own = moving(kit)
    own.is_deaf = True
    job = make(kit.core, "drink water", at=START + timedelta(seconds=0.3))
    keeping = asyncio.create_task(own.keep())
    async with asyncio.timeout(20):
        while not kit.core.queries.occurrences(job):  # noqa: ASYNC110 - another thread writes the ledger
            await asyncio.sleep(0.02)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


@pytest.mark.parametrize("error", [LedgerUnwritableError("full"), RuntimeError("a bug")])
async def test_what_cannot_be_done_is_tried_again(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(_core: object) -> Fired:
        raise error

    own = moving(kit)
    with monkeypatch.context() as broken:
        broken.setattr(timer, "fire_due", fails)
        assert await own._wait_s() == PAUSE_S
    assert await own._wait_s() == timer.LOOK_EVERY_S


async def test_the_next_look_is_when_something_is_due_and_never_far_away(kit: Kit) -> None:
    own = moving(kit)
    make(kit.core, "one", at=START + timedelta(days=1))
    assert await own._wait_s() == timer.LOOK_EVERY_S
    make(kit.core, "two", at=START + timedelta(seconds=5))
    assert await own._wait_s() == 5
    kit.clock.advance(5)
    assert await own._wait_s() == timer.LOOK_EVERY_S
    assert (await own.fire()).outcomes == ()
