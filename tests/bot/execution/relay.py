"""A TCP relay on loopback that counts connections and can freeze those that exist, as a dead network does."""

import asyncio
import contextlib
from types import TracebackType
from typing import Self

from tests.sshd import Server


class Relay:
    """Relays to one port. Frozen connections stay open and carry nothing; later ones are relayed again."""

    def __init__(self) -> None:
        self.port = 0
        self.connections = 0
        self._server: asyncio.Server | None = None
        self._pumps: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []

    async def start(self, port: int) -> None:
        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            self._writers += [writer, far_writer]
            for source, sink in ((reader, far_writer), (far_reader, writer)):
                pump = asyncio.create_task(_pump(source, sink))
                self._pumps.add(pump)

        self._server = await asyncio.start_server(take, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stand_before(self, server: Server) -> None:
        """Relay to a server, whose key is trusted at the relay from now on in place of its own port."""
        await self.start(server.port)
        known = server.known_hosts.read_text()
        server.known_hosts.write_text(known.replace(f":{server.port}", f":{self.port}"))

    def freeze(self) -> None:
        for pump in self._pumps:
            pump.cancel()
        self._pumps.clear()

    def cut(self) -> None:
        """Let both ends hear that those that exist are gone."""
        self.freeze()
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        if self._server is not None:
            self._server.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while chunk := await source.read(65536):
            sink.write(chunk)
            await sink.drain()
    sink.close()
