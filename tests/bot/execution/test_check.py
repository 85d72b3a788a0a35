import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.execution.check import check
from bot.execution.unreached import Unreached
from bot.inventory import TargetConfig
from bot.ports import Captured, Ended, EndKind, OutputSink
from gate.domain import Action, Target, TargetId, TargetKind
from tests.bot.execution.conftest import Fleet, MakeFleet
from tests.sshd import free_port


class Shifted:
    """The real clock, moved."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._by = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._by


async def _check(fleet: Fleet, name: str, *, clock: Shifted | None = None) -> tuple[bool, str, str]:
    found = await check(fleet.executor, fleet.inventory.targets[TargetId(name)], clock=clock or Shifted())
    return found.ok, found.cause, found.note


async def test_a_good_target_is_ok(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(box=TargetConfig(), local=TargetConfig(kind="local"))
    assert await _check(fleet, "box") == (True, "", "")
    assert await _check(fleet, "local") == (True, "", "")


async def test_a_skewed_clock_is_told_and_no_obstacle(make_fleet: MakeFleet) -> None:
    ok, cause, note = await _check(make_fleet(), "box", clock=Shifted(-600))
    assert (ok, cause) == (True, "skew")
    told = re.search(r"its clock is \+(\d+) s off ours", note)
    assert told
    assert 540 < int(told[1]) <= 600  # it may have taken a while to answer


class Slow:
    """An executor whose host told its time `run_s` before its answer was there."""

    def __init__(self, run_s: float) -> None:
        self._run_s = run_s

    async def identify(self, target: Target) -> Target:
        return target

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        told = int(datetime.now(UTC).timestamp())
        said = f"{told}\na\\\\b'c\"d$e`f!g".encode()
        output = Captured(head=said, total=len(said))
        return Ended(kind=EndKind.EXITED, exit_code=0, output=output, run_s=self._run_s)

    async def close(self) -> None:
        return


@pytest.mark.parametrize(("behind_s", "cause"), [(0, ""), (20, "skew")])
async def test_a_host_that_is_slow_to_answer_has_no_skewed_clock_for_that(behind_s: int, cause: str) -> None:
    target = Target(id=TargetId("box"), kind=TargetKind.SSH, address="box")
    found = await check(Slow(30), target, clock=Shifted(30 + behind_s))
    assert (found.ok, found.cause) == (True, cause)
    if cause:
        assert re.search(r"its clock is -(19|20|21) s off ours", found.note)


async def test_an_unreachable_target_says_why(make_fleet: MakeFleet) -> None:
    ok, cause, _ = await _check(make_fleet(box=TargetConfig(port=free_port())), "box")
    assert (ok, cause) == (False, Unreached.REFUSED)


async def test_a_sudo_that_asks_is_told(make_fleet: MakeFleet, tools: Path) -> None:
    (tools / "sudo").write_text("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
    ok, cause, note = await _check(make_fleet(box=TargetConfig(become=True)), "box")
    assert (ok, cause) == (False, "sudo")
    assert "a password is required" in note


async def test_a_missing_shell_is_told(make_fleet: MakeFleet) -> None:
    ok, cause, note = await _check(make_fleet(box=TargetConfig(shell="nosuchshell")), "box")
    assert (ok, cause) == (False, "shell")
    assert "nosuchshell" in note


async def test_a_login_that_talks_is_told(make_fleet: MakeFleet, tools: Path) -> None:
    (tools / "docker").write_text('#!/bin/sh\necho Welcome\nshift 2\nexec "$@"\n')
    ok, cause, _ = await _check(make_fleet(box=TargetConfig(kind="docker", container="app")), "box")
    assert (ok, cause) == (False, "login_shell")


async def test_a_destroyed_target_is_not_touched(make_fleet: MakeFleet) -> None:
    assert (await _check(make_fleet(box=TargetConfig(state="destroyed")), "box"))[:2] == (False, "destroyed")
