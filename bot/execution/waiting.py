"""Shells that wait: on a connection that is kept, one stands ready for the next command that only reads.

Most of what a short command takes on a host is programs being started for it: sshd's own, a login shell,
timeout, env and bash. A shell that has been through all of that waits for one command on its input and
becomes it (`wrap.waiting`); the environment, the limits and the bytes of the command are those of any other.

It is for what only reads, and opened only behind a command which has shown that the server runs what it is
told, while nothing else is under way. Nothing is sent to it unless its connection gave a sign of life in the
last seconds, or gives one now, so a dead one is found out as before any other command. A host that dies in
just these seconds is found out once its command stays silent. Whatever changes something drops the shell.
"""

import asyncio
import contextlib
import secrets
import select
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import asyncssh

from bot.execution.capture import Capture
from bot.execution.limits import Limits
from bot.execution.run import Progress
from bot.execution.session import Session
from bot.execution.wrap import Sweeper, handed, waiting

_Connection = asyncssh.SSHClientConnection
#: A clock that goes on while this machine sleeps, where there is one: connections do not outlive that.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
#: Opened at once, over all hosts.
_AT_ONCE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A command that a shell that waits may become.

    Attributes:
        command: as approved.
        apart: its streams are told apart.
        word: said in front of it where there is no such shell, to show that the server runs what it is told.
        sweeper: returns how a run of that token is stopped.
    """

    command: str
    apart: bool
    word: str
    sweeper: Callable[[str], Sweeper]


class Shell(Session):
    """One that waits, and then is the command.

    Attributes:
        token: names its processes.
        trusted: it was taken without a sign of life.
    """

    def __init__(self) -> None:
        super().__init__(Progress(Capture(head_bytes=0, tail_bytes=0, on_output=_unseen)))
        self.token = secrets.token_hex(16)
        self.trusted = False
        self._since = time.clock_gettime(_CLOCK)
        #: Done when it waits, or never will.
        self.settled: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._said: bytes | None = b""
        self._watch: asyncio.TimerHandle | None = None

    @property
    def waits(self) -> bool:
        """Whether it can be given a command."""
        return self.settled.done() and self.settled.result() and not self.gone and self._said is not None

    @property
    def age_s(self) -> float:
        """How long ago it was asked for, at least as long as it waits."""
        return time.clock_gettime(_CLOCK) - self._since

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Hear that it waits, and then pass output on."""
        if self._said is None:
            self._heard()
            super().data_received(data, datatype)
            return
        self._said += data
        line = f"{self.token}\n".encode()
        if self._said == line:
            self._settle(waits=True)
        elif not line.startswith(self._said):
            self.drop()

    def exit_status_received(self, status: int) -> None:
        """Note that it ended."""
        self._heard()
        self._settle(waits=False)
        super().exit_status_received(status)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that it is gone."""
        self._heard()
        self._settle(waits=False)
        super().connection_lost(exc)

    def become(self, reading: Reading, progress: Progress) -> None:
        """Send the command; from here on it is a session like any other."""
        if self.channel is None:
            raise RuntimeError("it has no channel")
        self._said, self.progress = None, progress
        self.channel.write(handed(reading.command, apart=reading.apart))

    def watch(self, silence_s: float, silent: Callable[[], None]) -> None:
        """Call `silent` once, when nothing is heard of the command for so long from here on."""
        self._watch = asyncio.get_running_loop().call_later(silence_s, silent)

    def _heard(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def drop(self) -> None:
        """Let it end; nothing was sent to it."""
        self._settle(waits=False)
        self.gone = True
        if self.channel is not None:
            self.channel.abort()

    def _settle(self, *, waits: bool) -> None:
        if not self.settled.done():
            self.settled.set_result(waits)
        elif not waits and self._said is not None:
            self.gone = True  # it waited, and does no more


class Shells:
    """Every shell that waits, one for a connection at most.

    Args:
        limits: bounds.
        most: returns how many may wait, asked whenever one is to be opened.
    """

    def __init__(self, *, limits: Limits, most: Callable[[], int]) -> None:
        self._limits = limits
        self._most = most
        self._of: weakref.WeakKeyDictionary[_Connection, Shell] = weakref.WeakKeyDictionary()
        self._wanted: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._unfit: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._busy = 0
        self._timer: asyncio.TimerHandle | None = None
        self._opening: asyncio.Task[None] | None = None
        self._asking: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return sum(shell.waits for shell in self._of.values())

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Open none for as long as a command is under way."""
        self._busy += 1
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        try:
            yield
        finally:
            self._busy -= 1
            if not self._busy and self._wanted:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(self._limits.quiet_s, self._begin)

    def want(self, connection: _Connection) -> None:
        """Let a shell wait there once nothing is under way; the server has just run what it was told."""
        if connection not in self._unfit and connection not in self._of:
            self._wanted.add(connection)

    async def take(self, connection: _Connection) -> Shell | None:
        """Return the shell that waits there, None for none.

        Raises:
            TimeoutError: the connection gives no sign of life.
        """
        shell = self._of.get(connection)
        if shell is None:
            return None
        if not shell.waits or shell.age_s >= self._limits.idle_s:
            self.drop(connection)  # its own limit would not leave a command all of its time
            return None
        shell.trusted = shell.age_s < self._limits.fresh_s and not _has_said_more(connection)
        if not shell.trusted:
            async with asyncio.timeout(self._limits.open_s):
                await _sign_of_life(connection)
        taken = self._of.pop(connection, None)  # None when somebody else was quicker
        return taken if taken is not None and taken.waits and not connection.is_closed() else None

    def hand(
        self,
        connection: _Connection,
        shell: Shell,
        reading: Reading,
        progress: Progress,
        *,
        silent: Callable[[], None],
    ) -> None:
        """Let a shell that was taken become a command; OSError when its channel is being closed.

        Args:
            silent: called when nothing was heard for a while from a host that was not asked before.
        """
        shell.become(reading, progress)
        if shell.trusted:
            shell.watch(self._limits.silence_s, lambda: self._ask(connection, shell, silent))

    def _ask(self, connection: _Connection, shell: Shell, silent: Callable[[], None]) -> None:
        silent()
        task = asyncio.create_task(self._asked(connection, shell))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _asked(self, connection: _Connection, shell: Shell) -> None:
        try:
            async with asyncio.timeout(self._limits.open_s):
                await _sign_of_life(connection)
        except TimeoutError:
            shell.progress.end(lost="the host gives no sign of life")

    def drop(self, connection: _Connection) -> None:
        """Let no shell wait there."""
        self._wanted.discard(connection)
        shell = self._of.pop(connection, None)
        if shell is not None:
            shell.drop()

    async def close(self) -> None:
        """Open no more; those that wait end with their connections."""
        self._wanted.clear()
        if self._timer is not None:
            self._timer.cancel()
        tasks = [*self._asking] if self._opening is None else [*self._asking, self._opening]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self) -> None:
        self._timer = None
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open_wanted())

    async def _open_wanted(self) -> None:
        while self._wanted and not self._busy:
            room = min(_AT_ONCE, self._most() - len(self._of))
            if room <= 0:
                self._wanted.clear()
                return
            wanted = list(self._wanted)[:room]
            self._wanted.difference_update(wanted)
            await asyncio.gather(*map(self._open, wanted))

    async def _open(self, connection: _Connection) -> None:
        shell, limits = Shell(), self._limits
        lives_s = limits.reading_s + limits.idle_s
        line = waiting(token=shell.token, lives_s=lives_s, kill_after_s=limits.kill_after_s)
        opened = False
        try:
            async with asyncio.timeout(self._limits.open_s):
                await connection.create_session(lambda: shell, line, encoding=None)
                opened = await shell.settled
        except (TimeoutError, asyncssh.Error, OSError):
            opened = False
        finally:
            if not opened:
                shell.drop()
        if opened and not connection.is_closed():
            self._of[connection] = shell
        else:
            self._unfit.add(connection)


def _has_said_more(connection: _Connection) -> bool:
    """Whether something came that nobody has read yet: it may be the connection's end."""
    wire = connection.get_extra_info("socket")
    if wire is None:
        return True  # that cannot be told
    poll = select.poll()
    poll.register(wire, select.POLLIN)
    return bool(poll.poll(0))


async def _sign_of_life(connection: _Connection) -> None:
    """Wait for any answer of the server: as asyncssh's own keepalive, which keeps its answer to itself."""
    await connection._make_global_request(b"keepalive@openssh.com")  # noqa: SLF001 -- nothing public asks


def _unseen(_chunk: bytes) -> None:
    """Take what nobody waits for."""
