"""One write to the socket for all that asyncssh has to say at a time.

asyncssh puts an SSH_MSG_IGNORE in front of every packet and writes each by itself; with TCP_NODELAY that is
two segments and two system calls a packet. Here what is written within one turn of the loop leaves together:
measured, a pooled round trip takes a quarter less CPU. Bytes and their order stay the same.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol


class _Connection(Protocol):
    """What a transport calls on asyncssh's connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None: ...
    def data_received(self, data: bytes) -> None: ...
    def eof_received(self) -> None: ...
    def connection_lost(self, exc: Exception | None = None) -> None: ...


class _Gathering(asyncio.Transport):
    """A transport that hands writes on once a turn."""

    def __init__(self, inner: asyncio.Transport) -> None:
        super().__init__()
        self._inner = inner
        self._loop = asyncio.get_running_loop()
        self._waiting: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(bytes(data))

    def _flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._inner.write(b"".join(waiting))

    def close(self) -> None:
        self._flush()
        self._inner.close()

    def abort(self) -> None:
        self._flush()
        self._inner.abort()

    def is_closing(self) -> bool:
        return self._inner.is_closing()

    def get_extra_info(self, name: str, default: object = None) -> object:
        return self._inner.get_extra_info(name, default)


class _Relay(asyncio.Protocol):
    """Passes a socket's events on to asyncssh, with a gathering transport in between."""

    def __init__(self, connection: _Connection) -> None:
        self.connection = connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a TCP transport was expected")
        self.connection.connection_made(_Gathering(transport))

    def data_received(self, data: bytes) -> None:
        self.connection.data_received(data)

    def eof_received(self) -> None:
        self.connection.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.connection.connection_lost(exc)


class Wire:
    """Opens TCP connections for asyncssh, in the place of a tunnel."""

    async def create_connection(
        self, session_factory: Callable[[], _Connection], remote_host: str, remote_port: int
    ) -> tuple[asyncio.Transport, _Connection]:
        """Connect and return the transport and asyncssh's connection on it."""
        loop = asyncio.get_running_loop()
        transport, relay = await loop.create_connection(
            lambda: _Relay(session_factory()), remote_host, remote_port
        )
        return transport, relay.connection
