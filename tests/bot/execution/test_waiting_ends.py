"""Shells that wait: how they and their commands end, and servers that are not as others are."""

import asyncio
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from bot.execution.limits import Limits
from bot.execution.waiting import Shell, Shells
from bot.inventory import TargetConfig
from bot.ports import EndKind
from tests import needs
from tests.bot.execution.conftest import Fleet, MakeFleet
from tests.bot.execution.names import alias
from tests.bot.execution.processes import gone, pids_in
from tests.bot.execution.relay import Relay
from tests.bot.execution.shells import ALONE, ASKED, SOON, WAITED, WHOSE, ready, until
from tests.sshd import Server, children, openssh, prepare, running

pytestmark = needs.openssh


async def test_a_limit_stops_it_where_the_shell_would_live_on(make_fleet: MakeFleet, tmp_path: Path) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    assert (await fleet.run("box", "true", reads=True, timeout_s=3)).exit_code == 0
    await until(lambda: fleet.executor.waiting_shells == 1)
    command = f"setsid sleep 60 & echo $! >> {tmp_path}/pids; echo $$ >> {tmp_path}/pids; echo said; sleep 60"
    ended = await fleet.run("box", command, reads=True, timeout_s=3)
    assert (ended.kind, ended.exit_code, ended.output.head) == (EndKind.TIMED_OUT, 124, b"said\n")
    assert await gone(*await pids_in(tmp_path / "pids", 2))


async def test_a_cancel_stops_all_of_it(make_fleet: MakeFleet, tmp_path: Path) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    await ready(fleet)
    cancel = asyncio.Event()
    command = (
        f"trap '' TERM; setsid sleep 61 & echo $! >> {tmp_path}/pids; "
        f"echo $$ >> {tmp_path}/pids; while :; do sleep 0.1; done"
    )
    going = asyncio.create_task(fleet.run("box", command, reads=True, cancel=cancel))
    pids = await pids_in(tmp_path / "pids", 2)
    cancel.set()
    assert (await going).kind is EndKind.CANCELLED
    assert await gone(*pids)


async def test_a_cancel_before_it_is_handed_over_runs_nothing(make_fleet: MakeFleet, tmp_path: Path) -> None:
    fleet = make_fleet(limits=ASKED, waiting=9)
    await ready(fleet)
    cancel = asyncio.Event()
    going = asyncio.create_task(fleet.run("box", f"touch {tmp_path}/ran", reads=True, cancel=cancel))
    await asyncio.sleep(0)
    cancel.set()
    ended = await going
    assert ended.kind is EndKind.CANCELLED
    assert not (tmp_path / "ran").exists()


async def test_a_connection_lost_in_mid_command_is_lost_and_not_repeated(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with running(tmp_path / "own") as server:
        fleet = make_fleet(config=server.config, limits=SOON, waiting=9)
        await ready(fleet)
        going = asyncio.create_task(fleet.run("box", f"echo $$ >> {tmp_path}/pids; sleep 20", reads=True))
        await pids_in(tmp_path / "pids", 1)
        for pid in server.session_pids():
            os.kill(pid, signal.SIGKILL)
        ended = await going
        assert (ended.kind, ended.exit_code) == (EndKind.LOST, None)
        assert len((tmp_path / "pids").read_text().split()) == 1


@pytest.mark.parametrize("limits", [SOON, ASKED], ids=["trusted", "asked"])
async def test_a_connection_that_died_is_replaced_before_anything_is_sent(
    make_fleet: MakeFleet, tmp_path: Path, limits: Limits
) -> None:
    with running(tmp_path / "own") as server:
        fleet = make_fleet(config=server.config, limits=limits, waiting=9)
        await ready(fleet)
        for pid in server.session_pids():
            os.kill(pid, signal.SIGKILL)
        while server.session_pids():
            time.sleep(0.01)  # noqa: ASYNC251 - its end has come, and the loop has not read it
        ended = await fleet.run("box", f"echo once >> {tmp_path}/ran", reads=True)
        assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
        assert (tmp_path / "ran").read_text() == "once\n"


async def test_a_connection_that_fell_silent_is_replaced_before_anything_is_sent(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with Relay() as relay, running(tmp_path / "own") as server:
        await relay.stand_before(server)
        fleet = make_fleet(
            config=server.config,
            limits=replace(ASKED, open_s=3.0),
            waiting=9,
            box=TargetConfig(port=relay.port),
        )
        await ready(fleet)
        relay.freeze()
        ended = await fleet.run("box", f"echo once >> {tmp_path}/ran", reads=True)
        assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
        assert (tmp_path / "ran").read_text() == "once\n"
        assert relay.connections == 2


async def test_a_host_that_dies_right_after_its_shell_came_to_wait_is_soon_found_out(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with Relay() as relay, running(tmp_path / "own") as server:
        await relay.stand_before(server)
        fleet = make_fleet(
            config=server.config,
            limits=replace(SOON, silence_s=0.2, open_s=4.0, commands=1),
            waiting=9,
            box=TargetConfig(port=relay.port),
            **alias(server, "other"),
        )
        await ready(fleet)
        relay.freeze()
        dying = asyncio.create_task(fleet.run("box", f"echo never >> {tmp_path}/ran", reads=True))
        other = asyncio.create_task(fleet.run("other", "true"))
        await asyncio.wait({dying, other}, return_when=asyncio.FIRST_COMPLETED)
        assert not dying.done()
        assert (await other).exit_code == 0  # the only place among commands was given back
        ended = await dying
        assert (ended.kind, ended.note) == (EndKind.LOST, "the host gives no sign of life")
        again = await fleet.run("box", f"echo once >> {tmp_path}/ran", reads=True)
        assert (again.kind, again.exit_code) == (EndKind.EXITED, 0)
        assert (tmp_path / "ran").read_text() == "once\n"


async def test_a_long_silence_of_a_command_in_a_shell_that_waited_is_no_loss(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(limits=replace(SOON, silence_s=0.05, open_s=2.0), waiting=9)
    await ready(fleet)
    ended = await fleet.run("box", f"sleep 3; {WHOSE}", reads=True)
    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
    assert ended.output.head.startswith(WAITED)


async def test_one_that_was_killed_there_is_not_given_anything(make_fleet: MakeFleet, tmp_path: Path) -> None:
    with running(tmp_path / "own") as server:
        fleet = make_fleet(config=server.config, limits=SOON, waiting=9)
        await ready(fleet)
        for pid in _shells(server):
            os.kill(pid, signal.SIGKILL)
        await until(lambda: fleet.executor.waiting_shells == 0)
        ended = await fleet.run("box", f"echo once >> {tmp_path}/ran", reads=True)
        assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
        assert (tmp_path / "ran").read_text() == "once\n"


async def test_one_whose_channel_is_being_closed_is_not_given_anything(
    make_fleet: MakeFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    await ready(fleet)
    taken: list[Shell] = []
    take = Shells.take

    async def closing(shells: Shells, connection: asyncssh.SSHClientConnection) -> Shell | None:
        shell = await take(shells, connection)
        if shell is not None and shell.channel is not None:
            shell.channel.close()  # as when the server has closed it, and nobody here has heard of that yet
            taken.append(shell)
        return shell

    monkeypatch.setattr(Shells, "take", closing)
    ended = await fleet.run("box", f"echo once >> {tmp_path}/ran", reads=True)
    assert len(taken) == 1
    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
    assert (tmp_path / "ran").read_text() == "once\n"


def _shells(server: Server) -> list[int]:
    """Return what runs below the server's connections."""
    return [below for pid in server.session_pids() for below in children(pid)]


async def test_none_is_left_on_the_host(make_fleet: MakeFleet, tmp_path: Path) -> None:
    with running(tmp_path / "own") as server:
        for limits in (SOON, replace(SOON, idle_s=3.0)):
            fleet = make_fleet(config=server.config, limits=limits, waiting=9)
            await ready(fleet)
            left = _shells(server)
            assert left
            if limits is SOON:
                await fleet.executor.close()
            assert await gone(*left)


async def test_one_that_has_waited_for_long_is_not_used(make_fleet: MakeFleet, tmp_path: Path) -> None:
    # the connection is kept in use, so that only the shell is old
    fleet = make_fleet(limits=replace(SOON, idle_s=3.0), waiting=9)
    await ready(fleet)
    assert (await fleet.run("box", "sleep 0.01", reads=True, workdir="/")).exit_code == 0
    await ready(fleet)
    command = f"until [ -e {tmp_path}/end ]; do sleep 0.1; done"
    going = asyncio.create_task(fleet.run("box", command, reads=True, env=(("A", "b"),)))
    await asyncio.sleep(3.2)
    ended = await fleet.run("box", WHOSE, reads=True)
    assert ended.output.head.startswith(ALONE)
    (tmp_path / "end").touch()
    await going


# ---------------------------------------------------------------- servers of their own kind


async def _forced(
    make_fleet: MakeFleet, folder: Path, script: str, *, more: str = ""
) -> tuple[Fleet, Server]:
    server = prepare(folder)
    file = folder / "forced"
    file.write_text(f"#!/bin/sh\necho ran >> {folder}/runs\n{script}")
    file.chmod(0o700)
    return make_fleet(config=server.config, limits=SOON, waiting=9), server


async def test_a_server_that_runs_a_command_of_its_own_is_given_nothing_that_nobody_asked_for(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    fleet, server = await _forced(make_fleet, tmp_path / "own", "echo backup done\n")
    with openssh(server, options=f"ForceCommand {server.folder}/forced\n"):
        for asked in (1, 2):
            ended = await fleet.run("box", "uptime", reads=True)
            assert (ended.exit_code, ended.output.head) == (0, b"backup done\n")
            await asyncio.sleep(0.3)
            assert (server.folder / "runs").read_text() == asked * "ran\n"
        assert fleet.executor.waiting_shells == 0


async def test_a_login_that_talks_keeps_its_words_in_the_output_and_gets_no_shell(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    script = 'echo welcome; echo here >&2; exec sh -c "$SSH_ORIGINAL_COMMAND"\n'
    fleet, server = await _forced(make_fleet, tmp_path / "own", script)
    with openssh(server, options=f"ForceCommand {server.folder}/forced\n"):
        for _ in range(2):
            ended = await fleet.run("box", "echo out", reads=True)
            assert sorted(ended.output.head.splitlines()) == [b"here", b"out", b"welcome"]
            shells = fleet.executor._pool.shells
            await until(lambda shells=shells: shells._opening is not None and shells._opening.done())
            assert fleet.executor.waiting_shells == 0
        # one try found out that a shell cannot be heard behind those words
        await asyncio.sleep(0.3)
        assert (server.folder / "runs").read_text() == 3 * "ran\n"


async def test_a_server_of_one_session_runs_what_changes_something_all_the_same(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with running(tmp_path / "own", options="MaxSessions 1") as server:
        fleet = make_fleet(config=server.config, limits=SOON, waiting=9)
        for _ in range(2):
            await ready(fleet)
            ended = await fleet.run("box", "echo changed")
            assert (ended.kind, ended.output.head) == (EndKind.EXITED, b"changed\n")
            await ready(fleet)
            ended = await fleet.run("box", "echo read elsewhere", reads=True, workdir="/")
            assert (ended.kind, ended.output.head) == (EndKind.EXITED, b"read elsewhere\n")


async def test_a_host_without_bash_says_so_as_before(make_fleet: MakeFleet, tmp_path: Path) -> None:
    script = 'PATH=/nowhere; export PATH; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n'
    fleet, server = await _forced(make_fleet, tmp_path / "own", script)
    with openssh(server, options=f"ForceCommand {server.folder}/forced\n"):
        for _ in range(2):
            ended = await fleet.run("box", "true", reads=True)
            assert ended.exit_code == 127
            assert b"timeout" in ended.output.head
            await asyncio.sleep(0.2)
        assert fleet.executor.waiting_shells == 0
