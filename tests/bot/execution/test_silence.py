"""Hosts that fall silent or never stop talking: each is the only one that suffers."""

import asyncio
import contextlib
import os
import resource
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bot.inventory import TargetConfig
from bot.ports import EndKind
from tests import needs
from tests.bot.execution.conftest import QUICK, MakeFleet
from tests.bot.execution.names import alias
from tests.bot.execution.processes import gone, pids_in
from tests.bot.execution.shells import until
from tests.sshd import Server, children, running

LIVELY = replace(QUICK, keepalive_s=1.0)
MB = 1_000_000


@needs.openssh
async def test_a_host_that_falls_silent_is_lost_within_the_keepalives_and_others_go_on(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with running(tmp_path / "own") as server:
        fleet = make_fleet(config=server.config, limits=LIVELY, **alias(server, "silent", "other"))
        dying = asyncio.create_task(fleet.run("silent", f"echo $$ >> {tmp_path}/pids; sleep 30"))
        await pids_in(tmp_path / "pids", 1)
        stopped = _all_below(server, server.session_pids())
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            for _ in range(5):
                assert (await fleet.run("other", "echo here")).output.head == b"here\n"
            ended = await asyncio.wait_for(dying, timeout=60)
            assert (ended.kind, ended.exit_code, ended.note) == (EndKind.LOST, None, "connection lost")
            assert time.monotonic() - began >= 3 * LIVELY.keepalive_s
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
        assert len((tmp_path / "pids").read_text().split()) == 1


def _all_below(server: Server, pids: list[int]) -> list[int]:
    return [*pids, *(below for pid in pids for below in children(pid))] or [server.pid]


async def test_a_long_silence_of_a_command_alone_is_no_loss(make_fleet: MakeFleet, tmp_path: Path) -> None:
    with running(tmp_path / "own") as server:
        fleet = make_fleet(config=server.config, limits=LIVELY)
        ended = await fleet.run("box", "sleep 5; echo after")
        assert (ended.kind, ended.output.head) == (EndKind.EXITED, b"after\n")


@pytest.mark.parametrize("kind", ["ssh", "local"])
async def test_what_a_command_left_talking_does_not_keep_it_from_ending(
    make_fleet: MakeFleet, tmp_path: Path, kind: str
) -> None:
    fleet = make_fleet(limits=replace(QUICK, drain_s=1.0), box=TargetConfig(kind=kind))
    command = f"setsid yes & echo $! > {tmp_path}/pids"
    try:
        ended = await asyncio.wait_for(fleet.run("box", command, timeout_s=60), timeout=50)
        assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
        assert ended.note == "a process that it left in the background still runs"
    finally:
        (pid,) = await pids_in(tmp_path / "pids", 1)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        assert await gone(pid)


async def test_an_endless_flood_ends_at_its_timeout(make_fleet: MakeFleet) -> None:
    ended = await make_fleet().run("box", "yes", timeout_s=2)
    assert ended.kind is EndKind.TIMED_OUT
    assert ended.output.total > MB
    assert len(ended.output.head) == len(ended.output.tail) == 65536


async def test_several_floods_at_once_take_bounded_memory_and_hold_up_nobody(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with running(tmp_path / "own") as server:
        floods = alias(server, "a", "b", "c")
        fleet = make_fleet(config=server.config, **floods, **alias(server, "calm"))
        await asyncio.gather(*(fleet.run(name, "true") for name in (*floods, "calm")))
        before = _peak_mb()
        some = f"head -c {MB} /dev/zero; n=$((n + 1))"
        flood = f"n=0; until [ $n -ge 100 ] && [ -e {tmp_path}/enough ]; do {some}; done; echo $n"
        flooding = [asyncio.create_task(fleet.run(name, flood)) for name in floods]
        for _ in range(3):
            answered = await asyncio.wait_for(fleet.run("calm", "echo here"), timeout=60)
            assert answered.output.head == b"here\n"
        assert not any(one.done() for one in flooding)
        (tmp_path / "enough").touch()
        for one in await asyncio.gather(*flooding):
            count = one.output.tail.rpartition(b"\0")[2]
            assert int(count) >= 100
            assert one.output.total == int(count) * MB + len(count)
        assert _peak_mb() - before < 60


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


@needs.openssh
async def test_unused_connections_go_each_at_its_own_time(make_fleet: MakeFleet, tmp_path: Path) -> None:
    with running(tmp_path / "own") as server:
        tables = alias(server, "a", "b")
        fleet = make_fleet(config=server.config, limits=replace(QUICK, idle_s=1.0), **tables)
        enough = asyncio.Event()

        async def use_b() -> None:
            while not enough.is_set():
                assert (await fleet.run("b", "true")).exit_code == 0

        using = asyncio.create_task(use_b())
        await until(lambda: len(server.session_pids()) == 1)
        (b,) = server.session_pids()
        await fleet.run("a", "true")
        (a,) = {*server.session_pids()} - {b}
        assert await gone(a)
        await until(lambda: server.session_pids() == [b])
        enough.set()
        await using
        assert await gone(b)
