"""A bot in a process of its own, against simulators: what `sayso serve` runs, and a log of what it started.

`python -m tests.simulators.crowd.process FOLDER [--hurried]` serves the config in FOLDER until SIGTERM. Two
things are not as in earnest: commands with STREAMS in them run nowhere and only produce output, and with
--hurried a lost connection is made anew without the pauses that platforms are owed. Answers to presses keep
their own time always. What starts is appended to FOLDER/started, one JSON line each, by the clock of the
machine (CLOCK_MONOTONIC, the same in every process).
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bot.app
from adapters.discord.connection import Pace as DiscordPace
from adapters.discord.port import DiscordPort
from adapters.slack.link import Pace as SlackPace
from adapters.slack.port import SlackPort
from adapters.telegram.polling import Patience
from adapters.telegram.port import TelegramPort
from bot import surfaces
from bot.execution.executor import FleetExecutor
from bot.ports import Bookmarks, Captured, ChatPort, Clock, Ended, EndKind, OutputSink
from bot.settings.config import Config, load
from bot.settings.paths import Paths
from gate.domain import Action, Target

ROOT = Path(__file__).parent.parent.parent.parent
USER = "root"
#: A command that has this in it streams for so many seconds: "sh -c 'streams 5'".
STREAMS = "streams "
LINES_A_SECOND = 20


class Told:
    """The real executor, telling what it starts; output alone where a command streams."""

    def __init__(self, folder: Path, real: FleetExecutor) -> None:
        self._real = real
        self._fd = os.open(folder / "started", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def identify(self, target: Target) -> Target:
        return await self._real.identify(target)

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        line = {"at": time.monotonic(), "action": action.id, "command": action.command}
        os.write(self._fd, (json.dumps(line) + "\n").encode())
        if STREAMS not in action.command:
            return await self._real.run(action, on_output=on_output, cancel=cancel, reads=reads)
        seconds = float(action.command.partition(STREAMS)[2].strip("'\" "))
        return await _stream(seconds, on_output)

    async def close(self) -> None:
        await self._real.close()


async def _stream(seconds: float, on_output: OutputSink) -> Ended:
    said = 0
    for number in range(round(seconds * LINES_A_SECOND)):
        line = f"line {number} of a log that goes on and on\n".encode()
        said += len(line)
        on_output(line)
        await asyncio.sleep(1 / LINES_A_SECOND)
    return Ended(kind=EndKind.EXITED, exit_code=0, output=Captured(head=b"", total=said), run_s=seconds)


def hurried(config: Config, *, clock: Clock, bookmarks: Bookmarks) -> list[ChatPort]:
    """Return the ports of `config`, which connect again at once."""
    surfaces.check(config)
    made: list[ChatPort] = []
    for name, table in config.adapters.items():
        settings: Any = surfaces.settings_of(name, table)
        if name == "slack":
            pace = SlackPace(look=0.05, first=0.05, most=0.2, grace=1, again=0.5)
            made.append(SlackPort(settings, clock=clock, bookmarks=bookmarks, pace=pace))
        elif name == "discord":
            quick = DiscordPace(identify_pause_s=0.05, retry_s=0.05, slow_s=0.2, close_s=1.0)
            made.append(
                DiscordPort(
                    settings, token=settings.token(), clock=clock, bookmarks=bookmarks, host="box", pace=quick
                )
            )
        else:
            patience = Patience(poll_s=5, first_s=0.05, most_s=0.2)
            made.append(TelegramPort(settings, token=settings.token(), clock=clock, patience=patience))
    return made


def main(folder: Path, *, in_a_hurry: bool) -> None:
    """Serve until told to stop."""
    config = load(
        file=folder / "config.toml", environ={}, flags=[], login=USER, paths=Paths(folder / "state")
    )
    bot.app.FleetExecutor = lambda *args, **more: Told(folder, FleetExecutor(*args, **more))
    if in_a_hurry:
        surfaces.open_ports = hurried
    bot.app.serve(config)


class Bot:
    """The process, from outside."""

    def __init__(self, folder: Path, *, hurried: bool = False) -> None:
        self.folder = folder
        self._more = ["--hurried"] if hurried else []
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it is there once its platforms hear from it."""
        environ = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        with (self.folder / "stderr").open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.simulators.crowd.process", str(self.folder), *self._more],
                cwd=ROOT,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
            )

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def kill(self) -> None:
        """End it with SIGKILL: no handler, no flush, no goodbye."""
        assert self._process is not None
        self._process.kill()
        await asyncio.to_thread(self._process.wait)

    async def stop(self) -> int:
        """End it as a service manager does; return its exit code."""
        assert self._process is not None
        self._process.terminate()
        return await asyncio.to_thread(self._process.wait, 60)

    def started(self) -> list[dict[str, Any]]:
        """Return what was started so far, over all its lives."""
        file = self.folder / "started"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def errors(self) -> str:
        return (self.folder / "stderr").read_text("utf-8", "replace")

    @contextlib.contextmanager
    def ended(self) -> Iterator["Bot"]:
        """End it whatever happens in the block."""
        try:
            yield self
        finally:
            if self.runs and self._process is not None:
                self._process.kill()
                self._process.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]), in_a_hurry="--hurried" in sys.argv)
