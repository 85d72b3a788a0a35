"""sayso chat and serve as real processes: piped, at a terminal, over the socket, in a rehearsal."""

import contextlib
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.local_socket import answers

SAYSO = Path(sys.executable).with_name("sayso")
PATIENCE_S = 60.0


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A user of their own: no config, no state."""
    return {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "SAYSO_HOME": str(tmp_path / "state"),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
    }


def say(*lines: str, environ: dict[str, str], flags: tuple[str, ...] = ()) -> str:
    """Hold a piped conversation; return what was printed."""
    done = subprocess.run(
        [SAYSO, "chat", *flags],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=environ,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextlib.contextmanager
def serving(environ: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    daemon = subprocess.Popen([SAYSO, "serve"], env=environ, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE_S
        # Its file is there a moment before it listens, or is left behind by one that was killed.
        while not answers(Path(environ["SAYSO_HOME"]) / "sayso.sock"):
            assert daemon.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield daemon
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE_S)


def test_a_question_is_answered_from_a_pipe(environ: dict[str, str]) -> None:
    shown = say("run printf 'it is %s' here on local", environ=environ)
    assert "it is here" in shown
    assert "\x1b" not in shown


def test_a_whole_conversation_in_one_pipe(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "made"
    shown = say(f"run touch {file} on local", "maybe later", "go ahead", environ=environ)
    assert "still waits" in shown
    assert '"go ahead"' in shown
    assert file.exists()


def test_a_number_approves(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "made"
    assert "[1 Approve] [2 Deny]" in say(f"run touch {file} on local", "1", environ=environ)
    assert file.exists()


def test_a_rehearsal_leaves_no_state_and_no_trace(environ: dict[str, str], tmp_path: Path) -> None:
    shown = say(
        "run uptime on local", "/as bo", "run uptime on local", environ=environ, flags=("--rehearse",)
    )
    assert shown.startswith("Rehearsal: ")
    assert "rehearsal: bo speaks" in shown
    assert not (tmp_path / "state").exists()


def test_whoever_joins_sees_what_waits_and_nothing_else(environ: dict[str, str], tmp_path: Path) -> None:
    with serving(environ):
        assert say("targets", environ=environ).startswith("local")
        say(f"run touch {tmp_path / 'made'} on local", environ=environ)
        shown = say("targets", environ=environ)
    assert shown.startswith("◔ #")
    assert "asked by" in shown.splitlines()[0]
    assert say("targets", environ=environ).splitlines()[0] == shown.splitlines()[0]


def test_a_daemon_serves_one_after_the_other(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "made"
    with serving(environ) as daemon:
        assert "[1 Approve]" in say(f"run touch {file} on local", environ=environ)
        (approval,) = re.findall(r"#(\w{6})", subprocess_out("approvals", "list", environ=environ))
        assert not file.exists()
        say(f"approve {approval}", environ=environ)
        assert file.exists()
        assert f"pid             {daemon.pid}" in subprocess_out("status", environ=environ)
        assert f"process {daemon.pid}" in subprocess_out("doctor", environ=environ)
        second = subprocess.run(
            [SAYSO, "serve"], env=environ, capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
        assert second.returncode == 2
        assert str(daemon.pid) in second.stderr
        assert "Traceback" not in second.stderr
    assert daemon.returncode == 0
    assert not (tmp_path / "state" / "sayso.sock").exists()


def subprocess_out(*words: str, environ: dict[str, str]) -> str:
    return subprocess.run(
        [SAYSO, *words], env=environ, capture_output=True, text=True, check=True, timeout=PATIENCE_S
    ).stdout


# ---------------------------------------------------------------- at a terminal


class Screen:
    """A terminal of its own with `sayso chat` in it."""

    def __init__(self, environ: dict[str, str]) -> None:
        self._fd, theirs = pty.openpty()
        self._chat = subprocess.Popen(
            [SAYSO, "chat"], env=environ, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self._data = b""
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.seen:
            assert self._read(deadline), self.seen

    def end(self) -> int:
        deadline = time.monotonic() + PATIENCE_S
        while self._read(deadline):
            pass
        os.close(self._fd)
        return self._chat.wait(PATIENCE_S)

    def _read(self, deadline: float) -> bool:
        """Take in what is there; False at the end, or when patience is."""
        if not select.select([self._fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self._fd, 65_536)
        except OSError:  # what Linux says when the other side is gone
            return False
        if b"\x1b[6n" in data:  # asks where the cursor is
            os.write(self._fd, b"\x1b[1;1R")
        self._data += data  # read anew as a whole: a read may end inside a character or a sequence
        self.seen = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self._data.decode(errors="replace"))
        return bool(data)


def test_at_a_terminal(environ: dict[str, str], tmp_path: Path) -> None:
    screen = Screen(environ)
    screen.wait_for(">")
    screen.type("run printf 'it is %s' here on local\r")
    screen.wait_for("it is here")
    file = tmp_path / "made"
    screen.type(f"run touch {file} on local\r")
    screen.wait_for("[1 Approve]")
    (approval,) = re.findall(r"until [^#\n]*\d\d:\d\d · #(\w{6})", screen.seen)
    screen.type(f"approve {approval}\r")
    screen.wait_for("approved by")
    screen.type("\x04")
    assert screen.end() == 0
    assert file.exists()
    assert f"approve {approval}" in (tmp_path / "state" / "console_history").read_text()
