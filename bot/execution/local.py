"""Commands on this machine: a process group of their own, no terminal, stdin closed.

The same care as over SSH: scrubbed environment, timeout, terminate then kill of the whole group. The bot's
own environment never reaches a command.
"""

import asyncio
import contextlib
import os
import signal as signals
from dataclasses import dataclass
from typing import cast

from bot.execution.capture import Capture
from bot.execution.limits import Limits
from bot.execution.run import Progress, supervise
from bot.execution.turns import Place
from bot.execution.unreached import Unreached, UnreachedError
from bot.execution.wrap import Sweeper, Wrapped
from bot.ports import Ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Self:
    """The OS user that this machine's commands run as."""

    user: str
    home: str


_STDERR = 2


class _Protocol(asyncio.SubprocessProtocol):
    """Reports a child's output and end. Callbacks instead of streams: no buffer grows, nothing is awaited."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._transport: asyncio.SubprocessTransport | None = None
        self._open = 2 if progress.capture.apart else 1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._progress.feed(data, stderr=fd == _STDERR)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        del exc
        if fd == 0:
            return
        self._open -= 1
        self._progress.whole = not self._open
        if not self._open and not self._progress.drained.done():
            self._progress.drained.set_result(None)

    def process_exited(self) -> None:
        code = None if self._transport is None else self._transport.get_returncode()
        if code is not None:
            self._progress.exit(code if code >= 0 else 128 - code)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Process:
    """A child and its group."""

    pid: int
    sweeper: Sweeper
    me: Self
    limits: Limits

    def signal(self, name: str) -> None:
        """Signal the group; one that is gone, or that runs as somebody else, is left to the sweep."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, getattr(signals, f"SIG{name}"))

    async def sweep(self, name: str) -> None:
        """Run the sweep command for `name`."""
        with contextlib.suppress(UnreachedError, TimeoutError):
            async with asyncio.timeout(self.limits.open_s):
                await _quietly(self.sweeper(name), me=self.me)


async def run_local(
    wrapped: Wrapped,
    *,
    place: Place,
    sweep: Sweeper,
    capture: Capture,
    timeout_s: float,
    cancel: asyncio.Event,
    limits: Limits,
    me: Self,
) -> Ended:
    """Run `wrapped` here and return its end.

    Args:
        wrapped: the command.
        place: among the commands under way.
        sweep: makes the command that sends a signal to what is left of it.
        capture: where output goes.
        timeout_s: what the action allows.
        cancel: set to stop it.
        limits: bounds.
        me: who runs it.

    Raises:
        UnreachedError: it could not be started.
        StoppedError: `cancel` was set while it waited for its place.
    """
    await place.take(cancel=cancel)
    try:
        return await _run(
            wrapped, sweep, capture=capture, timeout_s=timeout_s, cancel=cancel, limits=limits, me=me
        )
    finally:
        place.give_back()


async def _run(
    wrapped: Wrapped,
    sweep: Sweeper,
    *,
    capture: Capture,
    timeout_s: float,
    cancel: asyncio.Event,
    limits: Limits,
    me: Self,
) -> Ended:
    progress = Progress(capture, word=wrapped.word)
    transport = await _start(wrapped, progress, me=me)
    process = _Process(pid=transport.get_pid(), sweeper=sweep, me=me, limits=limits)
    try:
        return await supervise(
            progress,
            process,
            timeout_s=timeout_s,
            cancel=cancel,
            limits=limits,
            connect_s=0.0,
        )
    finally:
        if not progress.exited.done():
            process.signal("KILL")
            await asyncio.wait({progress.exited}, timeout=limits.kill_after_s)
        with contextlib.suppress(PermissionError):
            transport.close()


async def _start(wrapped: Wrapped, progress: Progress, *, me: Self) -> asyncio.SubprocessTransport:
    who = {"HOME": me.home, "USER": me.user, "LOGNAME": me.user}
    workdir = wrapped.workdir or me.home
    loop = asyncio.get_running_loop()
    try:
        transport, _ = await loop.subprocess_exec(
            lambda: _Protocol(progress),
            *wrapped.argv,
            stdin=asyncio.subprocess.DEVNULL if wrapped.stdin is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # One pipe keeps the two in the order in which they were written; two tell them apart.
            stderr=asyncio.subprocess.PIPE if progress.capture.apart else asyncio.subprocess.STDOUT,
            cwd=workdir,
            env=who | dict(wrapped.env),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise UnreachedError(
            Unreached.NO_SHELL,
            f"{wrapped.argv[0]} could not be started in {workdir}: {error}. Check that both exist here.",
        ) from error
    pipe = transport.get_pipe_transport(0)
    if wrapped.stdin is not None and isinstance(pipe, asyncio.WriteTransport):
        pipe.write(wrapped.stdin)
        pipe.close()
    return transport


async def _quietly(wrapped: Wrapped, *, me: Self) -> None:
    progress = Progress(Capture(head_bytes=0, tail_bytes=0, on_output=lambda _: None))
    transport = await _start(wrapped, progress, me=me)
    try:
        await progress.exited
    finally:
        with contextlib.suppress(PermissionError):  # a sudo that runs as somebody else is not ours to kill
            transport.close()
