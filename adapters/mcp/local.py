r"""The socket that `sayso mcp` talks to: one connection is one agent's, from its first line on.

The first line of a client says who it is, as JSON: {"agent": name or "", "secret": "…" or ""}. With a secret
that decides; without, the user of this machine at the other end does, by the kernel's word. The answer is
{"welcome": name} or {"refused": why}; what follows is MCP as over stdio, a message a line.
"""

import asyncio
import contextlib
import json
import logging
from pathlib import Path
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from adapters.mcp.serving import server_for
from bot.callers import Callers
from bot.local_socket import answers, listener_at, peer_login

log = logging.getLogger(__name__)

#: Bytes of one line of a client, and seconds for its first and for it to take what it is sent.
MAX_LINE = 262_144
_FIRST_LINE_S, _WRITE_S = 10.0, 10.0
#: Connections at a time.
MOST = 64


class SocketInUseError(Exception):
    """Something already listens on the socket for agents; stop that sayso first."""


class Local:
    """Listens on a Unix socket for agents of this machine."""

    def __init__(self, callers: Callers, *, path: Path, group: str = "") -> None:
        self._callers = callers
        self._path = path
        self._group = group
        self._open: set[asyncio.Task[None]] = set()
        self._closing = asyncio.Event()
        self.is_listening = False

    async def listen(self) -> None:
        """Answer until closed. The caller holds the ledger's lock, so a file left behind is nobody's.

        Raises:
            SocketInUseError: something answers there all the same.
            OSError: it cannot be had.
        """
        if answers(self._path):
            raise SocketInUseError(f"{SocketInUseError.__doc__} ({self._path})")
        self._closing.clear()
        listener = listener_at(self._path, group=self._group)
        server = await asyncio.start_unix_server(self._connected, sock=listener, limit=MAX_LINE)
        self.is_listening = True
        try:
            await self._closing.wait()
        finally:
            self.is_listening = False
            server.close()
            self._path.unlink(missing_ok=True)
            for task in list(self._open):
                task.cancel()
            if self._open:
                await asyncio.wait(list(self._open))

    async def close(self) -> None:
        """Stop answering."""
        self._closing.set()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._open.add(task)
            task.add_done_callback(self._open.discard)
        try:
            agent = await self._let_in(reader, writer)
            if agent is not None:
                await _serve(agent, self._callers, reader, writer)
        except (ConnectionError, TimeoutError):
            pass
        except asyncio.CancelledError:
            return  # it is closing, and the loop would only complain
        except Exception:
            log.exception("a connection of an agent")
        finally:
            writer.close()

    async def _let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str | None:
        """Return whose connection it is; None once somebody was told that they are nobody here."""
        login = peer_login(writer.get_extra_info("socket"))
        async with asyncio.timeout(_FIRST_LINE_S):
            try:
                said = _read_first(await reader.readline())
            except ValueError:
                said = None
        agent, why = None, "That was no first line of an agent."
        if len(self._open) > MOST:
            why = "Too many agents are connected."
        elif said is not None:
            agent, why = self._known(*said, login=login)
        line: dict[str, str] = {"refused": why} if agent is None else {"welcome": agent}
        writer.write(json.dumps(line).encode() + b"\n")
        await writer.drain()
        return agent

    def _known(self, name: str, secret: str, *, login: str) -> tuple[str | None, str]:
        if secret:
            found = self._callers.of_secret(secret)
            why = "That secret is no agent's here."
        else:
            found = self._callers.of_login(login)
            why = (
                f"{login} is no agent here. Whoever runs sayso can add one in the config:"
                f' [agents.NAME] login = "{login}", or give it a secret.'
            )
        if found is not None and name and name != found:
            return None, f"That is not agent {name[:40]!r}."
        return found, why


def _read_first(line: bytes) -> tuple[str, str] | None:
    said = json.loads(line)
    match said:
        case {"agent": str(name), "secret": str(secret)} if len(said) == 2:  # noqa: PLR2004 - those two
            return name, secret
        case _:
            return None


async def _serve(
    agent: str, callers: Callers, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    server = server_for(agent, callers)
    heard, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, to_say = anyio.create_memory_object_stream[SessionMessage](0)
    async with heard, read, write, to_say, anyio.create_task_group() as tasks:
        tasks.start_soon(_hear, reader, heard)
        tasks.start_soon(_say, to_say, writer)
        await server.run(read, write, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _hear(
    reader: asyncio.StreamReader, heard: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    async with heard:
        while True:
            try:
                line = await reader.readline()
            except ValueError:  # longer than may be; where the next begins is not known any more
                return
            if not line:
                return
            if line.strip():
                await heard.send(_message(line))


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:  # the server answers what is no message
        return error


async def _say(to_say: MemoryObjectReceiveStream[SessionMessage], writer: asyncio.StreamWriter) -> None:
    async with to_say:
        with contextlib.suppress(ConnectionError, TimeoutError):
            async for one in to_say:
                document: dict[str, Any] = one.message.model_dump(
                    by_alias=True, mode="json", exclude_unset=True
                )
                writer.write(json.dumps(document, separators=(",", ":")).encode() + b"\n")
                async with asyncio.timeout(_WRITE_S):
                    await writer.drain()
            return
    writer.close()  # it takes nothing any more: whoever waits for it is let go
