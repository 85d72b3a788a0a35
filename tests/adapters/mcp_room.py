"""A running conversation that agents come into over MCP: real sockets, the official client."""

import asyncio
import contextlib
import hashlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from adapters.mcp.entrance import McpEntrance
from adapters.mcp.settings import Settings
from bot.delegates.delegate import Delegate
from bot.delegates.desk import Desk
from bot.delegates.keys import Keys
from bot.local_socket import login_name
from tests.bot.delegates.asking import Asking, asking

#: The two generations of the protocol, as the official client calls them.
GENERATIONS = ("legacy", "2026-07-28")
WAYS = ("stdio", "http")

_SAYSO = "import sys; from bot.cli import main; sys.exit(main(sys.argv[1:]))"

SECRETS = {"claude": "c" * 40, "codex": "x" * 40}


def keys(*, login: str = "") -> Keys:
    """Return keys of two agents; `login` is that of codex."""
    digests = {name: hashlib.sha256(secret.encode()).digest() for name, secret in SECRETS.items()}
    return Keys(digests, {login: "codex"} if login else {}, tuple(SECRETS.values()))


@dataclass(slots=True, kw_only=True)
class Room:
    """A conversation with both ways in open."""

    asking: Asking
    entrance: McpEntrance
    socket: Path

    @property
    def url(self) -> str:
        """Where HTTP is answered."""
        assert self.entrance.bound is not None
        return f"http://127.0.0.1:{self.entrance.bound[1]}/mcp"

    @contextlib.asynccontextmanager
    async def client(
        self, way: str, generation: str, *, agent: str = "claude", secret: str | None = None, **more: Any
    ) -> AsyncIterator["Agent"]:
        """Connect the official client as an agent."""
        secret = SECRETS[agent] if secret is None else secret
        if way == "stdio":
            async with Client(stdio(self.socket, agent, secret), mode=generation, **more) as client:
                yield Agent(client)
            return
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=generation, **more) as client:
                yield Agent(client)


def stdio(socket: Path, agent: str, secret: str) -> StdioServerParameters:
    """Return how an agent starts `sayso mcp` for the state folder that `socket` lies in."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-c", _SAYSO, "mcp", "--agent", agent],
        env={**os.environ, "SAYSO_HOME": str(socket.parent), "SAYSO_AGENT_TOKEN": secret},
        cwd=str(Path(__file__).parents[2]),
    )


@dataclass(slots=True)
class Agent:
    """The official client, as an agent uses it."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool."""
        found = await self.client.call_tool(tool, arguments)
        assert isinstance(found, CallToolResult)
        return found

    async def run(
        self, command: str, *, target: str = "web1", purpose: str = "to look", **more: Any
    ) -> CallToolResult:
        """Ask for a command."""
        return await self.call("run", target=target, command=command, purpose=purpose, **more)


def data(result: CallToolResult) -> Mapping[str, Any]:
    """Return what a call answered, as values."""
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def text(result: CallToolResult) -> str:
    """Return what a call answered, as the model reads it."""
    return "".join(one.text for one in result.content if one.type == "text")


@contextlib.asynccontextmanager
async def room(
    folder: Path, *delegates: Delegate, socket: Path, settings: Settings | None = None, **changes: Any
) -> AsyncIterator[Room]:
    """Run a conversation that agents come into."""
    login = login_name(os.geteuid())
    async with asking(folder, *delegates, **changes) as it:
        it.desk = Desk(it.kit.core, it.kit.app.conversation, keys(login=login), look_every_s=0.01)
        entrance = McpEntrance(
            settings or Settings(listen="127.0.0.1:0"), callers=it.desk, socket=socket, group=""
        )
        listening = asyncio.ensure_future(entrance.listen(_nothing))
        try:
            while not (await entrance.health()).ok:
                assert not listening.done(), listening.exception()
                await asyncio.sleep(0.01)
            yield Room(asking=it, entrance=entrance, socket=socket)
        finally:
            await it.desk.close()
            await entrance.close()
            await asyncio.wait([listening])


async def until(so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    while not so():  # noqa: ASYNC110  # other processes are part of what is waited for
        await asyncio.sleep(0.01)


async def _nothing(_inbound: object) -> Any:
    raise AssertionError("agents say nothing as people")
