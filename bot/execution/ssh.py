"""Commands over SSH: one channel of a pooled connection each.

The line between "never ran" and "unknown" is drawn where the exec request leaves: a connection found dead
before that is replaced once, and its failure is NOT_STARTED; whatever is lost after that is LOST and never
repeated. What only reads may go to a shell that waits there (`waiting`) in the place of a channel of its own;
the line is the same, and is drawn where the command is handed to it.
Output is taken from the channel as it comes, in bytes; asyncssh's `run` would hold it all.
"""

import asyncio
import contextlib
from dataclasses import dataclass

import asyncssh

from bot.execution.capture import Capture
from bot.execution.dialling import Endpoint
from bot.execution.limits import Limits
from bot.execution.pool import Lease, Pool
from bot.execution.run import Progress, supervise, unless
from bot.execution.session import Channel, Session
from bot.execution.turns import Place
from bot.execution.unreached import StoppedError, Unreached, UnreachedError
from bot.execution.waiting import Reading, Shell
from bot.execution.wrap import Sweeper, Wrapped, announced
from bot.ports import Ended, EndKind

_SWEEP_PAUSES_S = (0.1, 0.3, 1.0, 2.0, 4.0)
#: Between two tries to open a channel that the server refused.
_CHANNEL_PAUSES_S = (0.05, 0.2, 1.0, 3.0)
_Opened = tuple[Channel, asyncssh.SSHClientSession[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remote:
    """A command on the other side, and how to stop it."""

    session: Session
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
            lambda: Session(progress, stdin=wrapped.stdin), wrapped.line, encoding=None
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
    reading: Reading | None = None,
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
        reading: the same command for a shell that waits; None where none may be given it.

    Raises:
        UnreachedError: it is certain that it never ran.
        StoppedError: `cancel` was set before it was sent.
    """
    async with pool.lease(endpoint, cancel=cancel) as lease:
        session: Session | None = None
        with pool.shells.busy():
            try:
                session = await _start(
                    wrapped,
                    reading,
                    pool=pool,
                    lease=lease,
                    place=place,
                    capture=capture,
                    cancel=cancel,
                    limits=limits,
                )
                shell = session if isinstance(session, Shell) else None
                if shell is not None and reading is not None:
                    sweep = reading.sweeper(shell.token)
                ended = await supervise(
                    session.progress,
                    _Remote(session=session, lease=lease, sweeper=sweep, limits=limits),
                    timeout_s=timeout_s,
                    cancel=cancel,
                    limits=limits,
                    connect_s=lease.connect_s,
                    ends_itself=shell is None,
                )
            finally:
                place.give_back()
                if session is not None and session.channel is not None:
                    session.channel.abort()
            if reading is not None and (shell is not None or session.proven) and ended.kind is EndKind.EXITED:
                pool.shells.want(lease.connection)
            return ended


async def _start(
    wrapped: Wrapped,
    reading: Reading | None,
    *,
    pool: Pool,
    lease: Lease,
    place: Place,
    capture: Capture,
    cancel: asyncio.Event,
    limits: Limits,
) -> Session:
    """Open a channel and send the command; until it is sent, trying again repeats nothing."""
    renewed = False
    loop = asyncio.get_running_loop()
    for pause_s in (*_CHANNEL_PAUSES_S, None):
        await place.take(cancel=cancel)
        # a dead connection looks like this for a while, and many may have died at once
        silent = loop.call_later(limits.silence_s, place.give_back)
        try:
            session = await _waiting(
                reading, pool=pool, lease=lease, place=place, capture=capture, cancel=cancel
            )
            if session is None:
                session = await _opened(wrapped, reading, lease=lease, capture=capture, limits=limits)
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
            pool.shells.drop(lease.connection)  # it may be one too many
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


async def _waiting(
    reading: Reading | None,
    *,
    pool: Pool,
    lease: Lease,
    place: Place,
    capture: Capture,
    cancel: asyncio.Event,
) -> Session | None:
    """Hand the command to the shell that waits there; return None where there is none for it.

    Raises:
        _DeadConnectionError: nothing was sent.
    """
    if reading is None:
        pool.shells.drop(lease.connection)  # it was opened before whatever this changes
        return None
    try:
        shell = await pool.shells.take(lease.connection)
    except TimeoutError as error:
        raise _DeadConnectionError from error
    if shell is None:
        return None
    if cancel.is_set():
        shell.drop()
        raise StoppedError
    try:
        pool.shells.hand(lease.connection, shell, reading, Progress(capture), silent=place.give_back)
    except OSError:  # its channel is being closed, and takes nothing any more
        shell.drop()
        return None
    return shell


async def _opened(
    wrapped: Wrapped, reading: Reading | None, *, lease: Lease, capture: Capture, limits: Limits
) -> Session:
    """Open a channel for the command alone, and send it there."""
    word = "" if reading is None else reading.word
    session = Session(Progress(capture, word=wrapped.word), stdin=wrapped.stdin, word=word)
    await _open(announced(wrapped, word) if word else wrapped, session, lease=lease, limits=limits)
    return session


async def _open(wrapped: Wrapped, session: Session, *, lease: Lease, limits: Limits) -> None:
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


def _sort(error: Exception, *, session: Session, lease: Lease) -> None:
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
