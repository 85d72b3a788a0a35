"""Pooled SSH connections: one for each (alias, address, port, user, trusted keys, jump hosts).

At most `channels` commands share one, the rest wait. A connection that died is replaced before anything is
sent over it; how one is opened is `dialling`'s business. Host keys are checked against exactly the
keys that the target's identity was made of: when known_hosts changes, a new connection is made under the new
keys.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import asyncssh

from bot.execution.dialling import Dialler, Endpoint
from bot.execution.limits import Limits
from bot.execution.run import unless
from bot.execution.turns import Place
from bot.execution.unreached import Unreached, UnreachedError, explain
from bot.execution.waiting import Shells
from bot.execution.wire import Lookup, Names, look_up
from bot.inventory.hostkeys import KnownHostsError
from bot.inventory.identity import Identifier
from bot.inventory.ssh_config import Hop, SshConfigError


@dataclass(slots=True, eq=False)
class _Slot:
    """One endpoint's connection, present or future.

    Attributes:
        users: commands and tunnels that use it, or wait for it.
        retired: connections taken for dead that others may still be using; closed when nobody is left.
    """

    channels: asyncio.Semaphore
    retired: list[asyncssh.SSHClientConnection] = field(default_factory=list)
    users: int = 0
    connecting: "asyncio.Task[asyncssh.SSHClientConnection] | None" = None
    idle: asyncio.TimerHandle | None = None

    def usable(self) -> "asyncio.Task[asyncssh.SSHClientConnection] | None":
        """Return the task whose connection may be used, or None when one has to be made."""
        task = self.connecting
        if task is None or not task.done():
            return task
        if task.cancelled() or task.exception() is not None or task.result().is_closed():
            return None
        return task

    def ready(self) -> asyncssh.SSHClientConnection | None:
        """Return the connection when it is there already."""
        task = self.usable()
        return task.result() if task is not None and task.done() else None


@dataclass(slots=True, kw_only=True, eq=False)
class Lease:
    """The right to one channel."""

    endpoint: Endpoint
    connection: asyncssh.SSHClientConnection
    connect_s: float


class Pool:
    """Opens, shares and closes connections.

    Args:
        identifier: resolves aliases and trusted keys.
        limits: bounds.
        lookup: returns the addresses of a name; blocks.
        waiting: returns how many shells may wait, over all connections; none by default.

    Attributes:
        shells: those that wait.
    """

    def __init__(
        self,
        *,
        identifier: Identifier,
        limits: Limits,
        lookup: Lookup = look_up,
        waiting: Callable[[], int] = int,
    ) -> None:
        self._identifier = identifier
        self._limits = limits
        self.shells = Shells(limits=limits, most=waiting)
        self._slots: dict[Endpoint, _Slot] = {}
        self._dialler = Dialler(identifier=identifier, limits=limits, names=Names(lookup))
        self._keepers: set[asyncio.Task[None]] = set()
        self._closed = False
        # at INFO asyncssh logs every command in full, secrets included
        asyncssh.set_log_level(logging.WARNING)

    def endpoint(self, alias: str, *, name: str, user: str = "", port: int = 0) -> Endpoint:
        """Resolve an alias, its keys and its jump hosts. Raises UnreachedError for a broken config."""
        try:
            return self._resolve(Hop(alias=alias, user=user, port=port), name=name, jump=None, seen=())
        except (SshConfigError, KnownHostsError, ValueError) as error:
            raise explain(error, name=name, address=alias, port=port, user=user) from error

    def _resolve(self, hop: Hop, *, name: str, jump: Endpoint | None, seen: tuple[str, ...]) -> Endpoint:
        if hop.alias in seen:
            raise SshConfigError(f"ProxyJump goes in a circle through {hop.alias}")
        host = self._identifier.host(hop.alias, user=hop.user, port=hop.port)
        keys = self._identifier.trusted(host)
        for step in host.jump if jump is None else ():
            jump = self._resolve(
                step, name=f"{name}, jump host {step.alias}", jump=jump, seen=(*seen, hop.alias)
            )
        return Endpoint(name=name, host=host, fingerprints=keys.fingerprints, keys=keys, jump=jump)

    @contextlib.asynccontextmanager
    async def lease(self, endpoint: Endpoint, *, cancel: asyncio.Event) -> AsyncIterator[Lease]:
        """Hold one channel's place on a live connection. Raises UnreachedError, StoppedError."""
        slot = self._slot(endpoint)
        with self._in_use(endpoint, slot):
            channel = Place(slot.channels)
            try:
                await channel.take(cancel=cancel)
                began = time.monotonic()
                connection = slot.ready()
                if connection is None:
                    connection = await unless(cancel, self._connection(endpoint, slot))
                yield Lease(endpoint=endpoint, connection=connection, connect_s=time.monotonic() - began)
            finally:
                channel.give_back()

    async def renew(self, lease: Lease) -> None:
        """Put a new connection in the place of the dead one of `lease`. Raises UnreachedError.

        The old one is not cut: should it only be slow, then what others run over it goes on.
        """
        slot = self._slot(lease.endpoint)
        began = time.monotonic()
        if slot.ready() is lease.connection:
            slot.connecting = None
        slot.retired.append(lease.connection)
        lease.connection = await self._connection(lease.endpoint, slot)
        lease.connect_s += time.monotonic() - began

    def _slot(self, endpoint: Endpoint) -> _Slot:
        slot = self._slots.get(endpoint)
        if slot is None:
            slot = self._slots[endpoint] = _Slot(channels=asyncio.Semaphore(self._limits.channels))
        return slot

    @contextlib.contextmanager
    def _in_use(self, endpoint: Endpoint, slot: _Slot) -> Iterator[None]:
        if slot.idle is not None:
            slot.idle.cancel()
            slot.idle = None
        slot.users += 1
        try:
            yield
        finally:
            slot.users -= 1
            if slot.users == 0:
                _cut(slot.retired)
            if slot.users == 0 and not self._closed:
                loop = asyncio.get_running_loop()
                slot.idle = loop.call_later(self._limits.idle_s, self._expire, endpoint, slot)

    def _expire(self, endpoint: Endpoint, slot: _Slot) -> None:
        if self._slots.get(endpoint) is slot:
            del self._slots[endpoint]
        connection = slot.ready()
        if connection is not None:
            connection.close()

    async def _connection(self, endpoint: Endpoint, slot: _Slot) -> asyncssh.SSHClientConnection:
        if self._closed:
            raise UnreachedError(Unreached.CHANNEL, f"{endpoint.name}: sayso is stopping. Nothing ran.")
        task = slot.usable()
        if task is None:
            task = slot.connecting = asyncio.create_task(self._connect(endpoint))
            task.add_done_callback(_look_at)
        # shielded: one caller that gives up must not take the connection from the others
        return await asyncio.shield(task)

    async def _connect(self, endpoint: Endpoint) -> asyncssh.SSHClientConnection:
        if endpoint.jump is None:
            return await self._dialler.dial(endpoint, tunnel=None)
        slot = self._slot(endpoint.jump)
        through = contextlib.ExitStack()
        with through:
            through.enter_context(self._in_use(endpoint.jump, slot))
            tunnel = await self._connection(endpoint.jump, slot)
            connection = await self._dialler.dial(endpoint, tunnel=tunnel)
            # the jump host stays in use for as long as what goes through it lives
            keeper = asyncio.create_task(_close_after(connection, through.pop_all()))
        self._keepers.add(keeper)
        keeper.add_done_callback(self._keepers.discard)
        return connection

    async def close(self) -> None:
        """Close every connection, those still opening included."""
        self._closed = True
        await self.shells.close()
        slots = list(self._slots.values())
        self._slots.clear()
        for slot in slots:
            if slot.idle is not None:
                slot.idle.cancel()
            _cut(slot.retired)
            task = slot.usable()
            if task is not None and not task.done():
                task.cancel()
            elif task is not None:
                task.result().close()
        waiting = [slot.connecting for slot in slots if slot.connecting is not None]
        for outcome in await asyncio.gather(*waiting, return_exceptions=True):
            if isinstance(outcome, asyncssh.SSHClientConnection):
                outcome.abort()
                await outcome.wait_closed()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        self._dialler.close()


def _cut(connections: list[asyncssh.SSHClientConnection]) -> None:
    for connection in connections:
        connection.abort()
    connections.clear()


def _look_at(task: "asyncio.Task[asyncssh.SSHClientConnection]") -> None:
    """Retrieve the outcome, so that a failure nobody waits for any more is not reported as forgotten."""
    if not task.cancelled():
        task.exception()


async def _close_after(connection: asyncssh.SSHClientConnection, through: contextlib.ExitStack) -> None:
    with through:
        await connection.wait_closed()
