"""Shells that wait: what they run ends as it would without them, and nothing is run that nobody asked for."""

import asyncio
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.execution.executor import FleetExecutor
from bot.execution.waiting import Shell, Shells
from bot.execution.wrap import BASH_OWN, handed, is_plain
from bot.inventory import TargetConfig, build
from bot.ports import Ended, EndKind
from tests.bot.execution.conftest import QUICK, Fleet, MakeFleet
from tests.bot.execution.processes import gone, pids_in
from tests.bot.execution.relay import Relay
from tests.sshd import SSHD, Server, children, openssh, prepare, running

pytestmark = pytest.mark.skipif(not SSHD.exists(), reason="needs OpenSSH's sshd")

SOON = replace(QUICK, quiet_s=0.02)
#: The parent of a command is `timeout`: that of a shell that waited allows five minutes more.
WHOSE = "tr '\\0' ' ' < /proc/$PPID/cmdline"
WAITED, ALONE = b"timeout -k 1 900 ", b"timeout -k 1 600 "


async def _until(holds: Callable[[], bool], *, within_s: float = 5.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def _ready(fleet: Fleet, *targets: str) -> None:
    """Have a shell wait on each of the targets."""
    for target in targets or ("box",):
        assert (await fleet.run(target, "true", reads=True)).exit_code == 0
    await _until(lambda: fleet.executor.waiting_shells == len(targets or ("box",)))


async def test_the_next_command_that_reads_is_run_by_the_shell_that_waits(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    first = await fleet.run("box", WHOSE, reads=True)
    assert first.output.head.startswith(ALONE)
    for _ in range(3):
        await _until(lambda: fleet.executor.waiting_shells == 1)
        ended = await fleet.run("box", WHOSE, reads=True)
        assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
        assert ended.output.head.startswith(WAITED)


async def test_none_waits_where_none_may(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(limits=SOON, waiting=0)
    for _ in range(2):
        assert (await fleet.run("box", WHOSE, reads=True)).output.head.startswith(ALONE)
        await asyncio.sleep(0.2)
        assert fleet.executor.waiting_shells == 0


async def test_only_so_many_wait_as_may(make_fleet: MakeFleet, server: Server) -> None:
    config = server.folder / "three"
    config.write_text(server.config.read_text().replace("Host box", "Host box box0 box1 box2"))
    config.chmod(0o600)
    fleet = make_fleet(
        config=config, limits=SOON, waiting=2, box0=TargetConfig(), box1=TargetConfig(), box2=TargetConfig()
    )
    await asyncio.gather(*(fleet.run(f"box{number}", "true", reads=True) for number in range(3)))
    await _until(lambda: fleet.executor.waiting_shells == 2)
    await asyncio.sleep(0.2)
    assert fleet.executor.waiting_shells == 2
    again = await asyncio.gather(*(fleet.run(f"box{number}", WHOSE, reads=True) for number in range(3)))
    assert sum(one.output.head.startswith(WAITED) for one in again) == 2


SAME = [
    "echo out; echo err >&2; exit 3",
    "printf '%s' \"it's\" 'a\"b' 'back\\slash' '$HOME' '`id`' '!!' 'tab\there'",
    "printf '%s\\n' a\\ b 'ünïcödé 😀' $'new\\nline' \"two\nlines\"",
    "\n  echo  spaced  \n\n",
    "echo $0 $# $- $SHLVL; pwd; umask; ulimit -a; shopt; set -o",
    "env | grep -vE '^(_|SAYSO_RUN)=' | sort",
    "cat; echo nothing to read",
    "read -r line; echo $?",
    "tty",
    "echo unfinished '",
    "if then",
    "nosuchcommand",
    "kill -KILL $$",
    "kill -USR1 $$",
    "exit 124",
    "exec true",
    "c=1; echo $c",
    "echo $c",
    "ls /proc/self/fd",
    "head -c 300000 /dev/zero | tr '\\0' x",
    "cat <<'E'\n$HOME `id`\nE",
    # one program and its words, which no second bash is started for
    "uname -s",
    "ls /nowhere/at/all",
    "nosuchcommand -a b",
    "cat",
    "env --unset=_ --unset=SAYSO_RUN",
    "false",
    "head -c 10 /dev/zero",
    "seq 1 3",
    "id -u",
    "timeout 1 sleep 5",
    "sh -c exit",
    "ls  -d   /",
    "ls -d /; ls -d /",
    "pwd -P",
    "type ls",
    "2 x",
    "A=1 printenv A",
    "ls -d ~ *",
    "/usr/bin/env true",
    "./nosuch",
]


def test_what_bash_runs_itself_is_known() -> None:
    said = subprocess.run(["bash", "-c", "compgen -bk"], capture_output=True, text=True, check=True).stdout
    names = {one for one in said.split() if one.isidentifier() or one in {".", ":"}}
    assert names <= BASH_OWN


@pytest.mark.parametrize(
    ("command", "how"),
    [
        ("uptime", b"p"),
        ("df -h /srv --output=source,pcent", b"p"),
        ("apt-get -s upgrade", b"p"),
        *(
            (one, b"c")
            for one in ("echo a", "kill -0 1", "time ls", "ls ~", "ls *", "ls 'a'", "A=b ls", "ls;id")
        ),
        *(
            (one, b"c")
            for one in (" ls", "ls ", "ls  -a", "ls\n", "ls\tid", "./ls", "/bin/ls", "-x", "ls \\a", "ls é")
        ),
    ],
)
def test_only_one_program_with_plain_words_needs_no_bash(command: str, how: bytes) -> None:
    assert handed(command, apart=False) == how + b"t" + command.encode() + b"\0"
    assert handed(command, apart=True) == how + b"a" + command.encode() + b"\0"


@pytest.mark.parametrize("command", SAME)
async def test_it_ends_as_it_would_without_one(make_fleet: MakeFleet, command: str) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    alone = await fleet.run("box", command)
    await _ready(fleet)
    waited = await fleet.run("box", command, reads=True)
    assert fleet.executor.waiting_shells == 0, "it was not taken"
    assert _told(waited) == _told(alone)


def _told(ended: Ended) -> tuple[object, ...]:
    return (ended.kind, ended.exit_code, ended.output.head, ended.output.sha256, ended.note)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), max_size=80), max_size=3)
)
def test_any_words_arrive_as_they_were(server: Server, texts: list[str]) -> None:
    async def there_and_back() -> bytes:
        inventory = build({"box": TargetConfig()}, {}, ssh_config=server.config)
        fleet = Fleet(inventory, FleetExecutor(inventory, limits=SOON, waiting=lambda: 1))
        try:
            await _ready(fleet)
            ended = await fleet.run("box", shlex.join(["printf", "%s.", "", *texts]), reads=True)
            assert fleet.executor.waiting_shells == 0
        finally:
            await fleet.executor.close()
        return ended.output.head

    assert asyncio.run(there_and_back()) == "".join(f"{one}." for one in ["", *texts]).encode()


@pytest.mark.parametrize(
    ("command", "fields"),
    [
        ("echo \x01", {}),
        ("echo \x7f", {}),
        ("echo a\rb", {}),
        ("echo " + 4096 * "x", {}),
        ("true", {"workdir": "/usr"}),
        ("true", {"env": (("A", "b"),)}),
    ],
)
async def test_what_is_special_gets_a_channel_of_its_own(
    make_fleet: MakeFleet, command: str, fields: dict[str, object]
) -> None:
    action = await make_fleet().action("box", command, **fields)
    assert not is_plain(action, password=None)
    assert not is_plain(await make_fleet().action("box", "true"), password="secret")
    assert is_plain(await make_fleet().action("box", "true"), password=None)


async def test_whatever_may_change_something_drops_it(make_fleet: MakeFleet, tmp_path: Path) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    await _ready(fleet)
    ended = await fleet.run("box", WHOSE)
    assert ended.output.head.startswith(ALONE)
    await asyncio.sleep(0.2)
    assert fleet.executor.waiting_shells == 0


async def test_a_limit_that_is_longer_than_its_own_gets_a_channel_of_its_own(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    await _ready(fleet)
    ended = await fleet.run("box", WHOSE, reads=True, timeout_s=30)
    assert ended.output.head.startswith(WAITED)
    await _until(lambda: fleet.executor.waiting_shells == 1)
    ended = await fleet.run("box", WHOSE, reads=True, timeout_s=601)
    assert ended.output.head.startswith(b"timeout -k 1 601 ")


@pytest.mark.parametrize(
    "command", ["echo out; echo err >&2; exit 3", "ls -d / /nowhere", "if then", "nosuchcommand"]
)
async def test_a_step_of_a_runbook_tells_its_streams_apart(make_fleet: MakeFleet, command: str) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    alone = await fleet.run("box", command, runbook="r#s")
    assert (await fleet.run("box", "true", reads=True, runbook="r#s")).exit_code == 0
    await _until(lambda: fleet.executor.waiting_shells == 1)
    waited = await fleet.run("box", command, reads=True, runbook="r#s")
    assert fleet.executor.waiting_shells == 0, "it was not taken"
    assert (waited.exit_code, waited.output.streams) == (alone.exit_code, alone.output.streams)
    assert waited.output.streams is not None


async def test_one_command_gets_it_and_the_others_go_on_without(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    await _ready(fleet)
    ended = await asyncio.gather(*(fleet.run("box", WHOSE, reads=True) for _ in range(5)))
    assert sorted(one.output.head.startswith(WAITED) for one in ended) == [False, False, False, False, True]


# ---------------------------------------------------------------- its end


async def test_a_limit_stops_it_where_the_shell_would_live_on(make_fleet: MakeFleet, tmp_path: Path) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    assert (await fleet.run("box", "true", reads=True, timeout_s=1)).exit_code == 0
    await _until(lambda: fleet.executor.waiting_shells == 1)
    command = f"setsid sleep 60 & echo $! >> {tmp_path}/pids; echo $$ >> {tmp_path}/pids; echo said; sleep 60"
    ended = await fleet.run("box", command, reads=True, timeout_s=1)
    assert (ended.kind, ended.exit_code, ended.output.head) == (EndKind.TIMED_OUT, 124, b"said\n")
    assert await gone(*await pids_in(tmp_path / "pids", 2))


async def test_a_cancel_stops_all_of_it(make_fleet: MakeFleet, tmp_path: Path) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    await _ready(fleet)
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
    fleet = make_fleet(limits=SOON, waiting=9)
    await _ready(fleet)
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
        await _ready(fleet)
        going = asyncio.create_task(fleet.run("box", f"echo $$ >> {tmp_path}/pids; sleep 20", reads=True))
        await pids_in(tmp_path / "pids", 1)
        for pid in server.session_pids():
            os.kill(pid, signal.SIGKILL)
        ended = await going
        assert (ended.kind, ended.exit_code) == (EndKind.LOST, None)
        assert len((tmp_path / "pids").read_text().split()) == 1


async def test_a_connection_that_died_is_replaced_before_anything_is_sent(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with running(tmp_path / "own") as server:
        fleet = make_fleet(config=server.config, limits=SOON, waiting=9)
        await _ready(fleet)
        for pid in server.session_pids():
            os.kill(pid, signal.SIGKILL)
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
            limits=replace(SOON, open_s=0.5),
            waiting=9,
            box=TargetConfig(port=relay.port),
        )
        await _ready(fleet)
        relay.freeze()
        ended = await fleet.run("box", f"echo once >> {tmp_path}/ran", reads=True)
        assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
        assert (tmp_path / "ran").read_text() == "once\n"
        assert relay.connections == 2


async def test_one_that_was_killed_there_is_not_given_anything(make_fleet: MakeFleet, tmp_path: Path) -> None:
    with running(tmp_path / "own") as server:
        fleet = make_fleet(config=server.config, limits=SOON, waiting=9)
        await _ready(fleet)
        for pid in _shells(server):
            os.kill(pid, signal.SIGKILL)
        await _until(lambda: fleet.executor.waiting_shells == 0)
        ended = await fleet.run("box", f"echo once >> {tmp_path}/ran", reads=True)
        assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
        assert (tmp_path / "ran").read_text() == "once\n"


async def test_one_whose_channel_is_being_closed_is_not_given_anything(
    make_fleet: MakeFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = make_fleet(limits=SOON, waiting=9)
    await _ready(fleet)
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
        for limits in (SOON, replace(SOON, idle_s=0.3)):
            fleet = make_fleet(config=server.config, limits=limits, waiting=9)
            await _ready(fleet)
            left = _shells(server)
            assert left
            if limits is SOON:
                await fleet.executor.close()
            assert await gone(*left)


async def test_one_that_has_waited_for_long_is_not_used(make_fleet: MakeFleet) -> None:
    # the connection is kept in use, so that only the shell is old
    fleet = make_fleet(limits=replace(SOON, idle_s=1.0), waiting=9)
    await _ready(fleet)
    assert (await fleet.run("box", "sleep 0.01", reads=True, workdir="/")).exit_code == 0
    await _ready(fleet)
    going = asyncio.create_task(fleet.run("box", "sleep 2", reads=True, env=(("A", "b"),)))
    await asyncio.sleep(1.2)
    ended = await fleet.run("box", WHOSE, reads=True)
    assert ended.output.head.startswith(ALONE)
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
            await asyncio.sleep(0.3)
            assert fleet.executor.waiting_shells == 0
        # one try found out that a shell cannot be heard behind those words
        assert (server.folder / "runs").read_text() == 3 * "ran\n"


async def test_a_server_of_one_session_runs_what_changes_something_all_the_same(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with running(tmp_path / "own", options="MaxSessions 1") as server:
        fleet = make_fleet(config=server.config, limits=SOON, waiting=9)
        for _ in range(2):
            await _ready(fleet)
            ended = await fleet.run("box", "echo changed")
            assert (ended.kind, ended.output.head) == (EndKind.EXITED, b"changed\n")
            await _ready(fleet)
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
