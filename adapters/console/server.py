"""The daemon's end of the socket: who is let in, and the frames of each connection.

It asks the kernel for the user at the other end (SO_PEERCRED), so nobody can speak as somebody else. The rule
it owns: whoever is no operator is told so in one line and disconnected.
"""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from adapters.console.frames import (
    MAX_CLIENT_FRAME_BYTES,
    VERSION,
    FrameError,
    FromClient,
    encode,
    pack,
    read_client,
)
from adapters.console.front import Said
from adapters.console.session import Session, account_of
from bot.local_socket import answers, listener_at, peer_login
from bot.ports import Message, NotCommittedError

_WRITE_TIMEOUT_S = 5.0  # a client that takes nothing for so long is dropped, so that it cannot hold up a card


class SocketInUseError(Exception):
    """Something already listens on the socket; stop that sayso first."""


class Port(Protocol):
    """What the server needs of the console's port."""

    def join(self, session: Session) -> None:
        """Let a session in."""

    async def greeted(self, session: Session) -> None:
        """Show a session that joined what stands open."""

    def leave(self, session: Session) -> None:
        """Forget a session."""

    async def hand_over(self, session: Session, said: Said, *, event: str = "") -> "asyncio.Future[None]":
        """Give what a session said to the core."""


class Server:
    """Listens on a Unix socket for the operators of this machine."""

    def __init__(self, *, path: Path, group: str, admits: Callable[[str], bool], port: Port) -> None:
        self._path = path
        self._group = group
        self._admits = admits
        self._port = port
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()

    async def start(self) -> None:
        """Listen. The caller holds the ledger's lock, so a socket file left behind is nobody's.

        Raises:
            SocketInUseError: something answers there all the same.
        """
        if answers(self._path):
            raise SocketInUseError(f"{SocketInUseError.__doc__} ({self._path})")
        listener = listener_at(self._path, group=self._group)
        self._server = await asyncio.start_unix_server(
            self._connected, sock=listener, limit=MAX_CLIENT_FRAME_BYTES
        )

    async def stop(self, why: str) -> None:
        """Say goodbye to everybody and stop listening."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._connections):
            await connection.bye(why)
        self._path.unlink(missing_ok=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        self._connections.add(connection)
        try:
            login = peer_login(writer.get_extra_info("socket"))
            account = account_of(login).key
            if not self._admits(account):
                await connection.bye(
                    f"{login} is no operator here. Whoever runs sayso can add one in the config: "
                    f'[operators.NAME] accounts = ["{account}"].'
                )
                return
            await connection.serve(login, self._port)
        except ConnectionError:
            pass
        finally:
            self._connections.discard(connection)
            writer.close()


class Connection:
    """One client: a screen for the port, and the reader of its frames."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: set[asyncio.Task[None]] = set()

    async def show(self, key: str, message: Message) -> None:
        """Send a message or its change."""
        await self._send({"show": key, "message": pack(message)})

    async def bye(self, why: str) -> None:
        """Say why, and hang up."""
        with contextlib.suppress(ConnectionError):
            await self._send({"bye": why})
        self._writer.close()

    async def serve(self, login: str, port: Port) -> None:
        """Hand over what the client says until it leaves."""
        session = Session(login=login, screen=self)
        await self._send({"hello": session.account.key, "version": VERSION})
        port.join(session)
        try:
            await port.greeted(session)
            while line := await self._reader.readline():
                await self._take(session, read_client(line), port)
        except (FrameError, ValueError) as error:
            await self.bye(f"That was no frame: {error}.")
        finally:
            port.leave(session)
            for task in self._waiting:
                task.cancel()

    async def _take(self, session: Session, frame: FromClient, port: Port) -> None:
        said = Said(text=frame.text or "", token=frame.press or "")
        try:
            settled = await port.hand_over(session, said, event=frame.id)
        except NotCommittedError as error:
            await self._send({"refused": frame.id, "why": str(error)})
            return
        await self._send({"stored": frame.id})
        task = asyncio.create_task(self._tell_settled(settled, frame.id))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def _tell_settled(self, settled: "asyncio.Future[None]", event: str) -> None:
        await asyncio.wait([settled])
        with contextlib.suppress(ConnectionError):
            await self._send({"settled": event})

    async def _send(self, frame: dict[str, object]) -> None:
        if self._writer.is_closing():
            raise ConnectionResetError
        self._writer.write(encode(frame))
        try:
            async with asyncio.timeout(_WRITE_TIMEOUT_S):
                await self._writer.drain()
        except TimeoutError:
            self._writer.close()
            raise ConnectionResetError from None
