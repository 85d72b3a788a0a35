r"""The other end of the socket: what `sayso mcp` is, between an agent's stdin and stdout and a running sayso.

It passes lines on and reads no more of them than it has to. Where sayso is gone, requests in hand are
answered with an error that says so, and the next line connects again; a client of the older generation, which
shook hands once, has that done again for it. It knows the SDK no more than it knows the core.
"""

import asyncio
import contextlib
import json
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from bot.local_socket import connect

#: Bytes of one line of sayso's, which may hold the output of several commands.
_MAX_LINE = 8_388_608
#: Seconds that a connection is tried again for, and the pause between two tries.
_AGAIN_S, _PAUSE_S = 10.0, 0.2
#: An error of the server, for JSON-RPC.
_SERVER_ERROR = -32000

_GONE = (
    "sayso was stopped or restarted. What you asked for is recorded, and goes on or waits as before: ask"
    " status or history."
)
_AWAY = "No sayso serves here now. Nothing was asked for. Try again later."


class RefusedError(Exception):
    """sayso did not let this agent in."""


def talk(
    socket: Path,
    *,
    agent: str,
    secret: str,
    stdin: BinaryIO | None = None,
    stdout: BinaryIO | None = None,
    stderr: Any = None,  # noqa: ANN401  # whatever can be printed to
) -> int:
    """Pass lines on until stdin ends; return the exit code, 1 where nobody was there or let it in.

    Args:
        agent: its name; "" for the one that runs as this user.
        secret: "" for none.
    """
    ends = (stdin or sys.stdin.buffer, stdout or sys.stdout.buffer)
    if not all(_can_be_waited_for(end) for end in ends):
        why = "An agent starts this and talks to it over pipes; a file is none. docs/agents.md says how."
        print(why, file=stderr or sys.stderr)
        return 1
    pipe = Pipe(socket, agent=agent, secret=secret)
    try:
        asyncio.run(pipe.run(*ends))
    except RefusedError as error:
        print(error, file=stderr or sys.stderr)
        return 1
    except OSError:
        print(f"No sayso serves here ({socket}). Start it:  sayso serve", file=stderr or sys.stderr)
        return 1
    return 0


def _can_be_waited_for(end: BinaryIO) -> bool:
    """Whether `end` is a pipe, a socket or a terminal."""
    mode = os.fstat(end.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or end.isatty()


class Pipe:
    """One agent's stdin and stdout."""

    def __init__(self, socket: Path, *, agent: str, secret: str) -> None:
        self._socket = socket
        self._first = json.dumps({"agent": agent, "secret": secret}).encode() + b"\n"
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None
        self._out: asyncio.StreamWriter | None = None
        # Requests that are not answered yet, by their id as JSON.
        self._open: dict[str, Any] = {}
        # What an older client shook hands with, and the id of the answer to it that is not passed on again.
        self._handshake: list[bytes] = []
        self._swallow = ""

    async def run(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        """Pass lines on until `stdin` ends.

        Raises:
            RefusedError: sayso did not let this agent in.
            OSError: nobody is there, at the start.
        """
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_MAX_LINE)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), stdin)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, stdout)
        self._out = asyncio.StreamWriter(transport, protocol, None, loop)
        await self._connect()
        try:
            while line := await reader.readline():
                if line.strip():
                    await self._pass_on(line)
        finally:
            await self._hang_up()

    # ------------------------------------------------------------ to sayso

    async def _pass_on(self, line: bytes) -> None:
        message = _read(line)
        if self._writer is None and not await self._again():
            await self._fail(message, _AWAY)
            return
        self._note(message, line)
        if self._writer is None:
            await self._fail(message, _GONE)
            return
        try:
            self._writer.write(line if line.endswith(b"\n") else line + b"\n")
            await self._writer.drain()
        except ConnectionError:
            await self._lost()

    def _note(self, message: Mapping[str, Any], line: bytes) -> None:
        """Remember what has to be answered, and what has to be said again after a restart."""
        method, name = message.get("method"), message.get("id")
        if method is not None and name is not None:
            self._open[json.dumps(name)] = name
        if method == "initialize":
            self._handshake = [line]
        elif method == "notifications/initialized" and len(self._handshake) == 1:
            self._handshake.append(line)

    async def _again(self) -> bool:
        """Connect again, as somebody who shook hands already; whether that could be done soon."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_AGAIN_S):
                while True:
                    try:
                        await self._connect()
                    except (OSError, RefusedError):
                        await asyncio.sleep(_PAUSE_S)
                    else:
                        break
        writer = self._writer
        if writer is None:
            return False
        if len(self._handshake) > 1:
            self._swallow = json.dumps(_read(self._handshake[0]).get("id"))
            writer.writelines(self._handshake)
        return True

    # ------------------------------------------------------------ from sayso

    async def _connect(self) -> None:
        connection = connect(self._socket)
        connection.setblocking(False)  # the standard library's signature
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=_MAX_LINE)
        writer.write(self._first)
        answer = _read(await reader.readline())
        if "welcome" not in answer:
            writer.close()
            raise RefusedError(str(answer.get("refused", "sayso hung up.")))
        self._writer = writer
        self._listening = asyncio.ensure_future(self._listen(reader, writer))

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                message = _read(line)
                name = json.dumps(message.get("id"))
                if "method" not in message:
                    if self._swallow and name == self._swallow:
                        self._swallow = ""
                        continue
                    self._open.pop(name, None)
                await self._say(line)
        except (ConnectionError, ValueError):
            pass
        if self._writer is writer:
            await self._lost()

    async def _lost(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
        for name in list(self._open.values()):
            await self._fail({"id": name}, _GONE)

    async def _fail(self, message: Mapping[str, Any], why: str) -> None:
        """Answer a request with an error; what is none is answered by nobody."""
        name = message.get("id")
        if name is None:
            return
        self._open.pop(json.dumps(name), None)
        error = {"code": _SERVER_ERROR, "message": why}
        await self._say(json.dumps({"jsonrpc": "2.0", "id": name, "error": error}).encode() + b"\n")

    async def _say(self, line: bytes) -> None:
        if self._out is not None:
            self._out.write(line)
            await self._out.drain()

    async def _hang_up(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait([self._listening])
        if self._writer is not None:
            self._writer.close()


def _read(line: bytes) -> Mapping[str, Any]:
    """Return a line as JSON; {} for what is none, which sayso says more about."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
