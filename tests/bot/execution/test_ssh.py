import asyncio
import hashlib
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.execution.executor import FleetExecutor
from bot.inventory import TargetConfig, build
from bot.ports import EndKind, Streams
from tests import needs
from tests.bot.execution.conftest import QUICK, Fleet, MakeFleet
from tests.bot.execution.processes import gone, pids_in, together
from tests.bot.execution.relay import Relay
from tests.sshd import SSHD, Server, prepare, running, started

UNHURRIED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


async def test_a_command_goes_there_and_back(make_fleet: MakeFleet) -> None:
    fleet = make_fleet()
    ended = await fleet.run("box", "echo out; echo err >&2; exit 3")
    assert (ended.kind, ended.exit_code, ended.output.head) == (EndKind.EXITED, 3, b"out\nerr\n")
    assert ended.connect_s > 0
    assert (await fleet.run("box", "kill -USR1 $$")).exit_code == 128 + 10


@needs.openssh
async def test_a_step_of_a_runbook_tells_its_streams_apart(make_fleet: MakeFleet) -> None:
    ended = await make_fleet().run("box", "echo out; echo err >&2", runbook="r#s")
    assert ended.output.streams == Streams(stdout=b"out\n", stderr=b"err\n")


async def test_environment_is_scrubbed_and_there_is_no_terminal(make_fleet: MakeFleet) -> None:
    ended = await make_fleet().run("box", "env; tty; cat", env=(("GREETING", "a 'b'"),), workdir="/usr")
    lines = ended.output.head.decode().splitlines()
    assert "GREETING=a 'b'" in lines
    assert "PWD=/usr" in lines
    assert "not a tty" in lines
    assert not any(line.startswith("SSH_") for line in lines)


async def test_five_megabytes_stream_in_bounded_memory(make_fleet: MakeFleet) -> None:
    fleet = make_fleet()
    seen = 0

    def count(chunk: bytes) -> None:
        nonlocal seen
        seen += len(chunk)

    action = await fleet.action("box", "yes 0123456789abcde | head -c 5000000")
    ended = await fleet.executor.run(action, on_output=count, cancel=asyncio.Event())
    whole = (b"0123456789abcde\n" * 312_500)[:5_000_000]
    assert ended.output.sha256 == hashlib.sha256(whole).hexdigest()
    assert seen == ended.output.total == 5_000_000
    assert len(ended.output.head) + len(ended.output.tail) == 2 * 65536


async def test_a_timeout_kills_the_remote_processes(make_fleet: MakeFleet, tmp_path: Path) -> None:
    ended = await make_fleet().run(
        "box",
        f"sleep 60 & echo $! >> {tmp_path}/pids; setsid sleep 60 & echo $! >> {tmp_path}/pids; "
        f"echo $$ >> {tmp_path}/pids; wait",
        timeout_s=3,
    )
    assert (ended.kind, ended.exit_code) == (EndKind.TIMED_OUT, 124)
    assert "timeout of 3 s" in ended.note
    assert await gone(*await pids_in(tmp_path / "pids", 3))


async def test_an_exit_of_124_before_the_timeout_is_the_commands_own(make_fleet: MakeFleet) -> None:
    ended = await make_fleet().run("box", "exit 124")
    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 124)


async def test_a_cancel_kills_children_that_ignore_it_or_left_the_group(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    cancel = asyncio.Event()
    command = (
        f"trap '' TERM; setsid sleep 61 & echo $! >> {tmp_path}/pids; timeout 61 sleep 61 & "
        f"echo $! >> {tmp_path}/pids; echo $$ >> {tmp_path}/pids; while :; do sleep 0.1; done"
    )
    running_ = asyncio.create_task(make_fleet().run("box", command, cancel=cancel))
    pids = await pids_in(tmp_path / "pids", 3)
    cancel.set()
    ended = await running_
    assert ended.kind is EndKind.CANCELLED
    assert await gone(*pids)


async def test_a_connection_lost_in_mid_command_is_lost_and_not_repeated(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with running(tmp_path / "own") as server:
        fleet = make_fleet(config=server.config)
        command = f"echo $$ >> {tmp_path}/pids; sleep 20"
        running_ = asyncio.create_task(fleet.run("box", command))
        await pids_in(tmp_path / "pids", 1)
        _drop(server)
        ended = await running_
        assert (ended.kind, ended.exit_code) == (EndKind.LOST, None)
        assert "connection lost" in ended.note
        assert len((tmp_path / "pids").read_text().split()) == 1


def _drop(server: Server) -> None:
    """Kill the processes that carry the server's connections; the stand-in is one process itself."""
    for pid in server.session_pids() if SSHD.exists() else [server.pid]:
        os.kill(pid, signal.SIGKILL)


async def test_a_pooled_connection_that_died_is_replaced_before_anything_is_sent(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    server = prepare(tmp_path / "own")
    fleet = make_fleet(config=server.config)
    with started(server):
        assert (await fleet.run("box", "true")).kind is EndKind.EXITED
    with started(server):
        ended = await fleet.run("box", f"echo once >> {tmp_path}/ran")
    assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
    assert (tmp_path / "ran").read_text() == "once\n"


async def test_a_frozen_pooled_connection_is_replaced_before_anything_is_sent(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with Relay() as relay, running(tmp_path / "own") as server:
        await relay.stand_before(server)
        fleet = make_fleet(
            config=server.config, limits=replace(QUICK, open_s=3.0), box=TargetConfig(port=relay.port)
        )
        assert (await fleet.run("box", "true")).kind is EndKind.EXITED
        relay.freeze()
        ended = await fleet.run("box", f"echo once >> {tmp_path}/ran")
        assert (ended.kind, ended.exit_code) == (EndKind.EXITED, 0)
        assert (tmp_path / "ran").read_text() == "once\n"
        assert relay.connections == 2


async def test_concurrent_commands_share_one_connection_of_at_most_eight_channels(
    make_fleet: MakeFleet, tmp_path: Path
) -> None:
    with Relay() as relay, running(tmp_path / "own") as server:
        await relay.stand_before(server)
        fleet = make_fleet(config=server.config, box=TargetConfig(port=relay.port))
        ended = await asyncio.gather(*(fleet.run("box", together(tmp_path, 2)) for _ in range(20)))
        assert [one.exit_code for one in ended] == [0] * 20
        assert 2 <= max(int(one.output.head) for one in ended) <= 8
        assert relay.connections == 1


async def test_an_idle_connection_is_closed_and_made_anew(make_fleet: MakeFleet) -> None:
    fleet = make_fleet(limits=replace(QUICK, idle_s=0.05))
    first = await fleet.run("box", "true")
    await asyncio.sleep(0.3)
    again = await fleet.run("box", "true")
    assert first.kind is again.kind is EndKind.EXITED
    assert again.connect_s > 0.005


@settings(max_examples=25, deadline=None, suppress_health_check=UNHURRIED)
@given(text=st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=60))
def test_any_bytes_of_a_command_arrive_as_they_were(server: Server, text: str) -> None:
    async def there_and_back() -> bytes:
        inventory = build({"box": TargetConfig()}, {}, ssh_config=server.config)
        fleet = Fleet(inventory, FleetExecutor(inventory))
        # a here-document with a quoted delimiter hands its text on untouched, whatever is in it
        ended = await fleet.run("box", f"cat <<'E_N_D_77'\n{text}\nE_N_D_77\n")
        await fleet.executor.close()
        return ended.output.head

    assert asyncio.run(there_and_back()) == text.encode() + b"\n"


def _bash(command: str) -> bytes:
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", command],
        capture_output=True,
        check=True,
        env={"LANG": "C.UTF-8", "HOME": os.environ["HOME"]},
        timeout=60,
    ).stdout


@pytest.mark.parametrize(
    "command",
    [
        "printf '%s' \"it's\" 'a\"b' 'back\\slash' '$HOME' '`id`' '!!' 'tab\there'",
        "printf '%s\\n' a\\ b 'ünïcödé 😀' $'new\\nline' \"two\nlines\"",
        "printf '%q' '\x01 \x7f ~ {a,b} * ? [x] # ; & | < > ( ) '",
    ],
)
async def test_torture_arrives_as_bash_here_reads_it(make_fleet: MakeFleet, command: str) -> None:
    expected = _bash(command)
    assert (await make_fleet().run("box", command)).output.head == expected
