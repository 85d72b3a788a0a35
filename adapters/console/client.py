"""The other end of the socket: `sayso chat` while a daemon runs.

It puts a front end on a connection and knows nothing else. What it says is numbered, so that a message can be
told from its redelivery.
"""

import asyncio
import secrets
import socket as socket_module
from pathlib import Path

from adapters.console.choose import choose_front
from adapters.console.frames import (
    MAX_SERVER_FRAME_BYTES,
    FrameError,
    FromServer,
    encode,
    read_server,
    unpack,
)
from adapters.console.front import FrontEnd, GoneError, Said
from adapters.console.once import Once
from bot.local_socket import connect

_CLOSED = "The sayso at {} is closed to this user. Its bot.socket_group setting names who may reach it."


class NobodyThereError(Exception):
    """No sayso serves here."""


def talk(socket: Path, *, history: Path | None, first: str = "") -> int:
    """Hold a conversation over `socket` and return the exit code.

    Args:
        first: what is said before anybody types; "" for nothing.

    Raises:
        NobodyThereError: nothing listens there.
    """
    try:
        connection = connect(socket)
    except PermissionError:
        print(_CLOSED.format(socket))  # noqa: T201  # this is a command's output
        return 1
    except OSError:
        raise NobodyThereError(str(socket)) from None
    return asyncio.run(_over(connection, choose_front(history=history, first=first)))


def ask(socket: Path, text: str) -> list[str]:
    """Say one line over `socket` and return what is answered.

    Raises:
        NobodyThereError: nothing listens there.
    """
    try:
        connection = connect(socket)
    except PermissionError:
        return [_CLOSED.format(socket)]
    except OSError:
        raise NobodyThereError(str(socket)) from None
    front = Once(text)
    asyncio.run(_over(connection, front))
    return front.answer


async def _over(connection: socket_module.socket, front: FrontEnd) -> int:
    connection.setblocking(False)  # the standard library's signature
    reader, writer = await asyncio.open_unix_connection(sock=connection, limit=MAX_SERVER_FRAME_BYTES)
    return await Client(reader, writer, front).run()


class Client:
    """One front end on one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, front: FrontEnd) -> None:
        self._reader = reader
        self._writer = writer
        self._front = front
        self._nonce = secrets.token_hex(8)
        self._spoken = 0
        self._stored: dict[str, asyncio.Future[None]] = {}
        self._settled: dict[str, asyncio.Future[None]] = {}
        self._farewell = ""

    async def run(self) -> int:
        """Talk until either side has enough; 1 when the server hung up."""
        reading = asyncio.create_task(self._read())
        talking = asyncio.create_task(self._front.run(self._send))
        try:
            await asyncio.wait({reading, talking}, return_when=asyncio.FIRST_COMPLETED)
            if talking.done():
                return talking.result()
            reading.result()
            # Let a turn that waits hear of it first: then it says so itself.
            await asyncio.wait({talking}, timeout=0.2)
            if talking.done():
                return talking.result()
            self._front.hint(self._farewell)
            return 1
        finally:
            for task in (reading, talking):
                task.cancel()
            await asyncio.wait({reading, talking})
            self._writer.close()

    async def _send(self, said: Said) -> "asyncio.Future[None]":
        if self._farewell:
            raise GoneError(self._farewell)
        self._spoken += 1
        event = f"{self._nonce}:{self._spoken}"
        loop = asyncio.get_running_loop()
        stored, settled = loop.create_future(), loop.create_future()
        self._stored[event], self._settled[event] = stored, settled
        what = {"press": said.token} if said.token else {"text": said.text}
        self._writer.write(encode({"id": event, **what}))
        await stored
        return settled

    async def _read(self) -> None:
        try:
            while line := await self._reader.readline():
                if self._take(read_server(line)):
                    break
        except (ConnectionError, FrameError, ValueError):
            pass  # whatever it was, the conversation is over; who waits is told below
        self._farewell = self._farewell or "The connection to sayso is gone. What it had started goes on."
        for waiting in (*self._stored.values(), *self._settled.values()):
            if not waiting.done():
                waiting.set_exception(GoneError(self._farewell))
                waiting.exception()  # somebody may wait for it, or nobody: both are fine

    def _take(self, frame: FromServer) -> bool:
        """Act on a frame; True for the last one."""
        if frame.show is not None and frame.message is not None:
            self._front.show(frame.show, unpack(frame.message))
        if frame.hint is not None:
            self._front.hint(frame.hint)
        if frame.refused is not None:
            self._front.hint(f"Not stored, so nothing was done. {frame.why}")
        for event in (frame.stored, frame.refused):
            _finish(self._stored, event)
        for event in (frame.settled, frame.refused):
            _finish(self._settled, event)
        if frame.bye is not None:
            self._farewell = frame.bye
        return frame.bye is not None


def _finish(waiting: dict[str, "asyncio.Future[None]"], event: str | None) -> None:
    future = waiting.pop(event, None) if event is not None else None
    if future is not None and not future.done():
        future.set_result(None)
