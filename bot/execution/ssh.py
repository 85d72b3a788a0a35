"""Commands over SSH: one channel of a pooled connection each.

The line between "never ran" and "unknown" is drawn where the exec request leaves: a connection found dead
before that is replaced once, and its failure is NOT_STARTED; whatever is lost after that is LOST and never
repeated. Output is taken from the channel as it comes, in bytes; asyncssh's `run` would hold it all.
"""

import asyncio
import contextlib
import signal as signals
from dataclasses import dataclass

import asyncssh
from asyncssh.constants import EXTENDED_DATA_STDERR

from bot.execution.capture import Capture
from bot.execution.dialling import Endpoint
from bot.execution.limits import Limits
from bot.execution.pool import Lease, Pool
from bot.execution.run import Progress, supervise, unless
from bot.execution.turns import Place
from bot.execution.unreached import StoppedError, Unreached, UnreachedError
from bot.execution.wrap import Sweeper, Wrapped
from bot.ports import Ended

_Channel = asyncssh.SSHClientChannel[bytes]
_SWEEP_PAUSES_S = (0.1, 0.3, 1.0, 2.0, 4.0)
#: Between two tries to open a channel that the server refused.
_CHANNEL_PAUSES_S = (0.05, 0.2, 1.0, 3.0)
_Opened = tuple[_Channel, asyncssh.SSHClientSession[bytes]]


class _Session(asyncssh.SSHClientSession[bytes]):
    """Reports a channel's output and end."""

    def __init__(self, progress: Progress, *, stdin: bytes | None) -> None:
        self.progress = progress
        self._stdin = stdin
        self.channel: _Channel | None = None
        self.gone = False

    def connection_made(self, chan: _Channel) -> None:
        # called when the channel is open and right before the exec request is written
        self.channel = chan

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self.progress.feed(data, stderr=datatype == EXTENDED_DATA_STDERR)

    def session_started(self) -> None:
        if self._stdin is not None and self.channel is not None:
            self.channel.write(self._stdin)
            self.channel.write_eof()

    def eof_received(self) -> bool:
        self.progress.whole = True
        return False

    def exit_status_received(self, status: int) -> None:
        self.progress.exit(status)

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:  # noqa: FBT001 -- asyncssh calls it so
        del core_dumped, msg, lang
        number = getattr(signals, f"SIG{signal}", signals.SIGKILL)
        self.progress.exit(128 + int(number))

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone = True
        why = "the server closed the command without telling its end" if exc is None else "connection lost"
        self.progress.end(lost=why)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remote:
    """A command on the other side, and how to stop it."""

    session: _Session
    lease: Lease
    sweeper: Sweeper
    limits: Limits

    def signal(self, name: str) -> None:
        """Ask sshd to signal the session's process group."""
        if self.session.channel is not None and not self.session.gone:
            with contextlib.suppress(OSError):
                self.session.channel.send_signal(name)

    async def sweep(self, name: str) -> None:
        """Run the sweep on a second channel of the same connection."""
        wrapped = self.sweeper(name)
        with contextlib.suppress(TimeoutError, asyncssh.Error, OSError):
            async with asyncio.timeout(self.limits.open_s):
                for pause_s in _SWEEP_PAUSES_S:
                    with contextlib.suppress(asyncssh.ChannelOpenError):
                        await self._run(wrapped)
                        return
                    # the server has no channel left just now: others are being stopped at the same time
                    await asyncio.sleep(pause_s)

    async def _run(self, wrapped: Wrapped) -> None:
        progress = Progress(Capture(head_bytes=0, tail_bytes=0, on_output=lambda _: None))
        channel, _ = await self.lease.connection.create_session(
            lambda: _Session(progress, stdin=wrapped.stdin), wrapped.line, encoding=None
        )
        try:
            await progress.exited
        finally:
            channel.close()


async def run_ssh(
    wrapped: Wrapped,
    *,
    pool: Pool,
    endpoint: Endpoint,
    place: Place,
    sweep: Sweeper,
    capture: Capture,
    timeout_s: float,
    cancel: asyncio.Event,
    limits: Limits,
) -> Ended:
    """Run `wrapped` at `endpoint` and return its end.

    Args:
        wrapped: the command; its `line` is what is sent.
        pool: connections.
        endpoint: where.
        place: among the commands under way; taken once there is a connection to send it over.
        sweep: makes the command that sends a signal to what is left of it.
        capture: where output goes.
        timeout_s: what the action allows.
        cancel: set to stop it.
        limits: bounds.

    Raises:
        UnreachedError: it is certain that it never ran.
        StoppedError: `cancel` was set before it was sent.
    """
    async with pool.lease(endpoint, cancel=cancel) as lease:
        session: _Session | None = None
        try:
            session = await _start(
                wrapped, pool=pool, lease=lease, place=place, capture=capture, cancel=cancel, limits=limits
            )
            remote = _Remote(session=session, lease=lease, sweeper=sweep, limits=limits)
            return await supervise(
                session.progress,
                remote,
                timeout_s=timeout_s,
                cancel=cancel,
                limits=limits,
                connect_s=lease.connect_s,
            )
        finally:
            place.give_back()
            if session is not None and session.channel is not None:
                session.channel.abort()


async def _start(
    wrapped: Wrapped,
    *,
    pool: Pool,
    lease: Lease,
    place: Place,
    capture: Capture,
    cancel: asyncio.Event,
    limits: Limits,
) -> _Session:
    """Open a channel and send the command; until it is sent, trying again repeats nothing."""
    renewed = False
    loop = asyncio.get_running_loop()
    for pause_s in (*_CHANNEL_PAUSES_S, None):
        await place.take(cancel=cancel)
        session = _Session(Progress(capture, word=wrapped.word), stdin=wrapped.stdin)
        # a dead connection looks like this for a while, and many may have died at once
        silent = loop.call_later(limits.silence_s, place.give_back)
        try:
            await _open(wrapped, session, lease=lease, limits=limits)
        except _DeadConnectionError as error:
            if renewed:
                raise UnreachedError(
                    Unreached.CHANNEL,
                    f"{lease.endpoint.name}: lost twice before the command was sent. Try again.",
                ) from error
            place.give_back()
            await unless(cancel, pool.renew(lease))
            renewed = True
        except _NoChannelError as error:
            if pause_s is None:
                why = f"the server opens no more sessions ({error.__cause__}); check MaxSessions there"
                raise UnreachedError(Unreached.CHANNEL, f"{lease.endpoint.name}: {why}") from error
            # sshd counts a session until its process is reaped, which may be after we saw it end
            await asyncio.sleep(pause_s)
        else:
            return session
        finally:
            silent.cancel()
        if cancel.is_set():
            raise StoppedError
    raise UnreachedError(Unreached.CHANNEL, f"{lease.endpoint.name}: no session could be opened. Try again.")


class _NoChannelError(Exception):
    """The server refused the channel, so nothing was sent."""


class _DeadConnectionError(Exception):
    """The connection was dead before anything was sent over it."""


async def _open(wrapped: Wrapped, session: _Session, *, lease: Lease, limits: Limits) -> None:
    """Open a channel and send the command.

    Raises:
        _DeadConnectionError: certain that nothing was sent.
        _NoChannelError: likewise; the connection lives.
        UnreachedError: the server refused the channel or the command.
    """
    opening: asyncio.Task[_Opened] = asyncio.create_task(
        lease.connection.create_session(lambda: session, wrapped.line, encoding=None)
    )
    try:
        async with asyncio.timeout(limits.open_s):
            await asyncio.shield(opening)
    except TimeoutError:
        if session.channel is None:
            await _abandon(opening)
            raise _DeadConnectionError from None
        # sent, not yet confirmed: from here on its end is for the supervisor to find out
        opening.add_done_callback(_look_at)
    except (asyncssh.Error, OSError) as error:
        _sort(error, session=session, lease=lease)
    except asyncio.CancelledError:
        await _abandon(opening)
        raise


def _sort(error: Exception, *, session: _Session, lease: Lease) -> None:
    """Tell apart a command that was sent (return), a dead connection and a refusal (raise)."""
    dead = lease.connection.is_closed() or session.gone or not isinstance(error, asyncssh.ChannelOpenError)
    if session.channel is not None:
        if dead:
            session.progress.end(lost="connection lost")
            return
        why = "the server does not let this user run commands; check the account and its shell there"
    elif dead:
        raise _DeadConnectionError from error
    else:
        raise _NoChannelError from error
    raise UnreachedError(Unreached.CHANNEL, f"{lease.endpoint.name}: {why}") from error


async def _abandon(opening: "asyncio.Task[_Opened]") -> None:
    opening.cancel()
    with contextlib.suppress(asyncio.CancelledError, asyncssh.Error, OSError):
        await opening


def _look_at(opening: "asyncio.Task[_Opened]") -> None:
    if not opening.cancelled():
        opening.exception()
