"""sudo that asks for a password, by a stand-in that behaves as the real one does.

`FAKE` reads its input byte by byte up to a line break, lectures, gives three tries as long as there is input,
and says what sudo 1.9 says. Where the machine has the real one, nothing here uses it.
"""

import asyncio
import logging
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from bot.execution.executor import FleetExecutor
from bot.execution.unreached import Unreached
from bot.inventory import TargetConfig, build
from bot.known_secrets import KnownSecrets
from bot.ports import Ended, EndKind, Streams
from gate.digest import action_digest
from gate.redact import redact
from tests import needs
from tests.bot.execution.conftest import QUICK, Fleet, MakeFleet
from tests.bot.execution.processes import gone, pids_in
from tests.sshd import Server, running

SECRET = "open'sesame $71"
FAKE = """#!/bin/bash
here="$(dirname "$0")"
printf '%s\\n' "$@" >> "$here/argv"
env >> "$here/env"
mode="$(cat "$here/mode")"
asks=yes
[ "$mode" = nopasswd ] && asks=no
if [ "$1" = -n ]; then
    [ $asks = yes ] && { echo "sudo: a password is required" >&2; exit 1; }
    shift 1
elif [ "$1 $2 $3 $4" = "-k -S -p " ]; then
    shift 4
else
    echo "sudo: unexpected arguments" >&2; exit 97
fi
[ "$1 $2 $4" = "-H -u --" ] || { echo "sudo: unexpected arguments" >&2; exit 97; }
shift 4
if [ $asks = yes ]; then
    echo "We trust you have received the usual lecture." >&2
    tries=0
    while :; do
        typed=
        while :; do
            IFS= read -r -n 1 -d '' c || { echo "sudo: no password was provided" >&2
                echo "sudo: $tries incorrect password attempts" >&2; exit 1; }
            [ "$c" = $'\\n' ] && break
            typed="$typed$c"
        done
        echo try >> "$here/tries"
        [ "$mode" = slow ] && { echo $$ > "$here/waits"; sleep 30; }
        [ "$typed" = "$(cat "$here/right")" ] && break
        tries=$((tries + 1))
        [ $tries = 3 ] && { echo "sudo: 3 incorrect password attempts" >&2; exit 1; }
        echo "Sorry, try again." >&2
    done
fi
[ "$mode" = notallowed ] && { echo "ops is not in the sudoers file." >&2; exit 1; }
exec "$@"
"""


@pytest.fixture
def asking(tools: Path) -> Path:
    """The folder of a sudo that asks for SECRET."""
    (tools / "sudo").write_text(FAKE)
    (tools / "right").write_text(SECRET)
    (tools / "mode").write_text("asks")
    (tools / "password").write_text(SECRET + "\n")
    return tools


def _table(folder: Path, kind: str) -> TargetConfig:
    return TargetConfig.model_validate(
        {"kind": kind, "become": True, "become_password_file": str(folder / "password")}
    )


def _tries(folder: Path) -> int:
    return len((folder / "tries").read_text().split()) if (folder / "tries").exists() else 0


both = pytest.mark.parametrize("kind", [pytest.param("ssh", marks=needs.openssh), "local"])


@both
async def test_a_command_runs_with_its_own_output_and_an_empty_input(
    make_fleet: MakeFleet, asking: Path, kind: str
) -> None:
    fleet = make_fleet(box=_table(asking, kind))
    ended = await fleet.run("box", "cat; echo out; echo err >&2; exit 3")
    assert (ended.kind, ended.exit_code, ended.output.head) == (EndKind.EXITED, 3, b"out\nerr\n")
    assert ended.output.total == len(b"out\nerr\n")
    ended = await fleet.run("box", "cat; echo out; echo err >&2", runbook="r#s")
    assert ended.output.streams == Streams(stdout=b"out\n", stderr=b"err\n")
    assert (await fleet.run("box", "false")).exit_code == 1


@both
async def test_a_password_that_nobody_asks_for_reaches_nobody(
    make_fleet: MakeFleet, asking: Path, kind: str
) -> None:
    (asking / "mode").write_text("nopasswd")
    ended = await make_fleet(box=_table(asking, kind)).run("box", "cat; echo end")
    assert ended.output.head == b"end\n"


@both
async def test_the_password_is_in_no_argument_environment_log_or_end(
    make_fleet: MakeFleet, asking: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (asking / "right").write_text("open-sesame-71")
    (asking / "password").write_text("open-sesame-71")
    fleet = make_fleet(box=_table(asking, kind))
    action = await fleet.action(
        "box", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | grep -ac '[o]pen-sesame'; env"
    )
    ended = await fleet.executor.run(action, on_output=lambda _: None, cancel=asyncio.Event())
    assert ended.output.head.startswith(b"0\n")
    said = repr((ended, action)) + caplog.text + (asking / "argv").read_text() + (asking / "env").read_text()
    assert "sesame-71" not in said


@both
async def test_a_wrong_password_is_tried_once_until_it_is_another(
    make_fleet: MakeFleet, asking: Path, tmp_path: Path, kind: str
) -> None:
    (asking / "password").write_text("wrong-one\n")
    fleet = make_fleet(box=_table(asking, kind))
    ended = await fleet.run("box", f"touch {tmp_path}/ran")
    assert (ended.kind, ended.cause, ended.exit_code) == (EndKind.NOT_STARTED, Unreached.SUDO, None)
    assert ended.note.startswith("sudo on box refuses the password; see become_password_file.")
    assert _tries(asking) == 1
    for _ in range(3):
        ended = await fleet.run("box", f"touch {tmp_path}/ran")
        assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.SUDO)
        assert "was not tried again" in ended.note
    assert _tries(asking) == 1
    assert not (tmp_path / "ran").exists()
    (asking / "password").write_text(SECRET)
    assert (await fleet.run("box", f"touch {tmp_path}/ran")).exit_code == 0
    assert (tmp_path / "ran").exists()


@both
async def test_what_sudo_forbids_is_told_in_its_words(
    make_fleet: MakeFleet, asking: Path, tmp_path: Path, kind: str
) -> None:
    (asking / "mode").write_text("notallowed")
    ended = await make_fleet(box=_table(asking, kind)).run("box", f"touch {tmp_path}/ran")
    assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.SUDO)
    assert "box: sudo there did not start the command: ops is not in the sudoers file." in ended.note
    assert not (tmp_path / "ran").exists()


@needs.openssh
async def test_a_connection_lost_while_sudo_asks_is_lost(make_fleet: MakeFleet, asking: Path) -> None:
    """Whether the command starts after all is unknown."""
    (asking / "mode").write_text("slow")
    with running(asking / "own") as server:
        fleet = make_fleet(config=server.config, box=_table(asking, "ssh"))
        going = asyncio.create_task(fleet.run("box", "true"))
        (pid,) = await pids_in(asking / "waits", 1)
        for session in server.session_pids():
            os.kill(session, signal.SIGKILL)
        ended = await going
        os.kill(pid, signal.SIGKILL)
        assert (ended.kind, ended.cause) == (EndKind.LOST, "")


@both
async def test_a_cancel_reaches_what_runs_behind_sudo(
    make_fleet: MakeFleet, asking: Path, tmp_path: Path, kind: str
) -> None:
    cancel = asyncio.Event()
    fleet = make_fleet(box=_table(asking, kind))
    command = f"setsid sleep 61 & echo $! >> {tmp_path}/pids; trap '' TERM; sleep 62"
    going = asyncio.create_task(fleet.run("box", command, cancel=cancel))
    pids = await pids_in(tmp_path / "pids", 1)
    cancel.set()
    assert (await going).kind is EndKind.CANCELLED
    assert await gone(*pids)


async def test_a_sudo_that_hangs_ends_with_what_it_said(make_fleet: MakeFleet, asking: Path) -> None:
    (asking / "mode").write_text("slow")
    fleet = make_fleet(limits=replace(QUICK, kill_after_s=0.5, grace_s=1.0), box=_table(asking, "local"))
    ended = await fleet.run("box", "true", timeout_s=4)
    assert ended.kind is EndKind.TIMED_OUT
    assert b"usual lecture" in ended.output.head
    assert _tries(asking) == 1  # what stops it is no further try


@needs.openssh
async def test_a_container_on_a_host_whose_sudo_asks(
    make_fleet: MakeFleet, asking: Path, tmp_path: Path
) -> None:
    app = TargetConfig(kind="docker", via="box", container="app")
    fleet = make_fleet(box=_table(asking, "ssh"), app=app)
    ended = await fleet.run("app", "cat; echo inside")
    assert (ended.exit_code, ended.output.head) == (0, b"inside\n")
    assert (asking / "docker-argv").read_text().splitlines()[:2] == ["exec", "app"]
    (asking / "password").write_text("wrong-one\n")
    ended = await fleet.run("app", f"touch {tmp_path}/ran")
    assert ended.note.startswith("sudo on box refuses the password")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("", "holds no password"),
        ("\n", "holds no password"),
        ("abc\n", "too short to be masked"),
        ("first-line\nsecond-line\n", "more than one line"),
        ("with\0nul", "more than one line"),
    ],
)
async def test_a_password_that_cannot_be_used_is_not_sent(
    make_fleet: MakeFleet, asking: Path, text: str | None, words: str
) -> None:
    file = asking / "password"
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    ended = await make_fleet(box=_table(asking, "ssh")).run("box", "true")
    assert (ended.kind, ended.cause) == (EndKind.NOT_STARTED, Unreached.SUDO)
    assert words in ended.note
    assert "[targets.box]" in ended.note
    assert not any(line and line in ended.note for line in (text or "").split("\n") if len(line) > 3)
    assert not (asking / "argv").exists()


async def test_it_comes_from_a_variable_too_and_no_command_sees_that(
    make_fleet: MakeFleet, asking: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOX_SUDO", SECRET)
    table = TargetConfig(kind="local", become=True, become_password_env="BOX_SUDO")
    ended = await make_fleet(box=table).run("box", "env; echo end")
    assert ended.output.head.endswith(b"end\n")
    assert b"sesame" not in ended.output.head


async def test_the_password_is_masked_and_no_part_of_what_was_approved(server: Server, asking: Path) -> None:
    inventory = build({"box": _table(asking, "ssh")}, {}, ssh_config=server.config)
    known = KnownSecrets()
    fleet = Fleet(inventory, FleetExecutor(inventory, limits=QUICK, learn=known.learn))
    assert SECRET in known  # at once, since it may be typed or printed before it is used
    before = action_digest(await fleet.action("box", "true"))
    (asking / "password").write_text("another-one")
    (asking / "right").write_text("another-one")
    assert action_digest(await fleet.action("box", "true")) == before
    ended: Ended = await fleet.run("box", "echo it is another-one")
    await fleet.executor.close()
    assert "another-one" not in redact(ended.output.head.decode(), extra=known).text
