import asyncio
import hashlib
import os
from pathlib import Path

import pytest

from bot.execution.unreached import Unreached
from bot.inventory import TargetConfig
from bot.ports import EndKind, Streams
from tests.bot.execution.conftest import Fleet, MakeFleet
from tests.bot.execution.processes import alive, gone, pids_in


@pytest.fixture
def fleet(make_fleet: MakeFleet) -> Fleet:
    return make_fleet(local=TargetConfig(kind="local"))


async def test_output_of_both_streams_and_the_exit_code_come_back(fleet: Fleet) -> None:
    ended = await fleet.run("local", "echo out; echo err >&2; exit 3")
    assert (ended.kind, ended.exit_code, ended.output.head) == (EndKind.EXITED, 3, b"out\nerr\n")


async def test_a_step_of_a_runbook_tells_its_streams_apart(fleet: Fleet) -> None:
    ended = await fleet.run("local", "echo out; echo err >&2; exec 2>&-; echo more", runbook="r#s")
    assert ended.output.streams == Streams(stdout=b"out\nmore\n", stderr=b"err\n")
    assert (ended.exit_code, ended.output.total) == (0, 13)


async def test_a_signal_is_128_and_its_number(fleet: Fleet) -> None:
    assert (await fleet.run("local", "kill -USR1 $$")).exit_code == 128 + 10


async def test_the_bots_own_environment_does_not_reach_it(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_SECRET", "hunter2")
    ended = await fleet.run("local", "env; tty; cat", env=(("GREETING", "a b"),))
    assert b"hunter2" not in ended.output.head
    assert b"GREETING=a b\n" in ended.output.head
    assert b"not a tty" in ended.output.head


async def test_it_starts_in_its_working_directory(fleet: Fleet, tmp_path: Path) -> None:
    assert (await fleet.run("local", "pwd", workdir=str(tmp_path))).output.head.decode().strip() == str(
        tmp_path
    )


async def test_a_missing_directory_starts_nothing(fleet: Fleet, tmp_path: Path) -> None:
    ended = await fleet.run("local", f"touch {tmp_path}/ran", workdir="/no/such")
    assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.NO_SHELL)
    assert not (tmp_path / "ran").exists()


async def test_a_timeout_kills_the_whole_group(fleet: Fleet, tmp_path: Path) -> None:
    ended = await fleet.run(
        "local", f"sleep 60 & echo $! >> {tmp_path}/pids; echo $$ >> {tmp_path}/pids; wait", timeout_s=3
    )
    assert (ended.kind, ended.exit_code) == (EndKind.TIMED_OUT, 124)
    assert await gone(*await pids_in(tmp_path / "pids", 2))


async def test_a_cancel_kills_what_ignores_the_first_signal_and_what_left_the_group(
    fleet: Fleet, tmp_path: Path
) -> None:
    cancel = asyncio.Event()
    running = asyncio.create_task(
        fleet.run(
            "local",
            f"trap '' TERM; setsid sleep 61 & echo $! >> {tmp_path}/pids; echo $$ >> {tmp_path}/pids; "
            "while :; do sleep 0.1; done",
            cancel=cancel,
        )
    )
    pids = await pids_in(tmp_path / "pids", 2)
    cancel.set()
    ended = await running
    assert ended.kind is EndKind.CANCELLED
    assert await gone(*pids)


async def test_a_cancel_before_the_start_runs_nothing(fleet: Fleet, tmp_path: Path) -> None:
    cancel = asyncio.Event()
    cancel.set()
    ended = await fleet.run("local", f"touch {tmp_path}/ran", cancel=cancel)
    assert (ended.kind, ended.exit_code) == (EndKind.CANCELLED, None)
    assert not (tmp_path / "ran").exists()


async def test_a_background_process_does_not_hold_up_the_end(fleet: Fleet, tmp_path: Path) -> None:
    ended = await fleet.run("local", f"sleep 62 & echo $! >> {tmp_path}/pids; echo done")
    assert (ended.kind, ended.exit_code, ended.output.head) == (EndKind.EXITED, 0, b"done\n")
    assert "background" in ended.note
    (pid,) = await pids_in(tmp_path / "pids", 1)
    assert alive(pid)
    os.kill(pid, 9)


async def test_large_output_is_bounded_and_hashed_whole(fleet: Fleet) -> None:
    ended = await fleet.run("local", "yes 0123456789abcde | head -c 5000000")
    whole = (b"0123456789abcde\n" * 312_500)[:5_000_000]
    assert ended.output.total == 5_000_000
    assert ended.output.sha256 == hashlib.sha256(whole).hexdigest()
    assert len(ended.output.head) == len(ended.output.tail) == 65536


async def test_a_command_no_shell_can_take_is_not_started(fleet: Fleet) -> None:
    ended = await fleet.run("local", "echo a\0b")
    assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.UNUSABLE)


async def test_the_task_being_cancelled_kills_the_group(fleet: Fleet, tmp_path: Path) -> None:
    running = asyncio.create_task(fleet.run("local", f"echo $$ >> {tmp_path}/pids; sleep 63"))
    pids = await pids_in(tmp_path / "pids", 1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await gone(*pids)


async def test_what_is_no_command_is_never_run(fleet: Fleet, tmp_path: Path) -> None:
    ended = await fleet.run("local", f"touch {tmp_path}/ran", act="agree")
    assert (ended.kind, ended.note) == (EndKind.NOT_STARTED, "agree is nothing that runs")
    assert not (tmp_path / "ran").exists()
