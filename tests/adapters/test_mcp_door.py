"""Who is let in over MCP, and who is not: secrets, logins, hosts, origins, sizes."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from pydantic import ValidationError

from adapters.mcp import local, tools
from adapters.mcp.settings import Settings
from bot.local_socket import connect
from tests.adapters.mcp_room import SECRETS, Room, data, room, stdio
from tests.bot.delegates.asking import delegate

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}


@pytest.fixture
def socket() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sayso-mcp-") as folder:
        yield Path(folder) / "agents.sock"


async def post(it: Room, *, secret: str = SECRETS["claude"], body: bytes | None = None, **more: str) -> int:
    headers = {**HEADERS, "content-type": "application/json"}
    if secret:
        headers["authorization"] = f"Bearer {secret}"
    async with httpx2.AsyncClient(timeout=60) as http:
        content = json.dumps(LIST).encode() if body is None else body
        found = await http.post(it.url, content=content, headers={**headers, **more})
        return int(found.status_code)


@pytest.mark.parametrize("secret", ["", "wrong", "c" * 39, "c" * 41, "C" * 40, "c" * 5000])
async def test_a_wrong_secret_is_nobodys(tmp_path: Path, socket: Path, secret: str) -> None:
    async with room(tmp_path, socket=socket) as it:
        assert await post(it, secret=secret) == 401
        assert await post(it) == 200


async def test_a_secret_of_an_agent_that_is_gone_lets_nobody_in(tmp_path: Path, socket: Path) -> None:
    async with room(tmp_path, socket=socket) as it:
        assert await post(it, secret=SECRETS["codex"]) == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:7331", "127.0.0.1.evil.example", "[::2]", ""])
async def test_a_request_to_another_name_is_not_answered(tmp_path: Path, socket: Path, host: str) -> None:
    async with room(tmp_path, socket=socket) as it:
        assert await post(it, host=host) in {400, 421}


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:3000"])
async def test_a_web_page_may_not_ask(tmp_path: Path, socket: Path, origin: str) -> None:
    async with room(tmp_path, socket=socket) as it:
        assert await post(it, origin=origin) == 403


async def test_the_owner_lets_a_proxy_and_a_page_in(tmp_path: Path, socket: Path) -> None:
    settings = Settings(listen="127.0.0.1:0", hosts=("sayso.example",), origins=("https://ide.example",))
    async with room(tmp_path, socket=socket, settings=settings) as it:
        assert await post(it, host="sayso.example", origin="https://ide.example") == 200
        assert await post(it, host="sayso.example", origin="https://ide.example.evil") == 403


async def test_what_is_too_large_is_not_read(tmp_path: Path, socket: Path) -> None:
    async with room(tmp_path, socket=socket) as it:
        assert await post(it, body=b"x" * 300_000) == 413
        assert await post(it) == 200


async def test_other_paths_and_methods_lead_nowhere(tmp_path: Path, socket: Path) -> None:
    async with room(tmp_path, socket=socket) as it, httpx2.AsyncClient(timeout=60) as http:
        headers = {**HEADERS, "authorization": f"Bearer {SECRETS['claude']}"}
        assert (await http.get(it.url.replace("/mcp", "/"), headers=headers)).status_code == 404
        assert (await http.delete(it.url, headers=headers)).status_code in {400, 405}


@pytest.mark.parametrize(
    "listen", ["0.0.0.0:7331", "example.org:7331", "127.0.0.1", "127.0.0.1:x", "a@127.0.0.1:1"]
)
def test_it_listens_on_this_machine_alone(listen: str) -> None:
    with pytest.raises(ValidationError):
        Settings(listen=listen)


# ---------------------------------------------------------------- the socket


async def _first(socket: Path, line: bytes) -> dict[str, str]:
    connection = connect(socket)
    connection.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=connection)
    writer.write(line)
    found: dict[str, str] = json.loads(await reader.readline())
    if "refused" in found:
        assert await reader.read() == b""  # and hung up
    writer.close()
    return found


def _line(agent: str = "", secret: str = "") -> bytes:
    return json.dumps({"agent": agent, "secret": secret}).encode() + b"\n"


async def test_a_secret_or_a_login_says_who_it_is(tmp_path: Path, socket: Path) -> None:
    async with room(tmp_path, delegate(), delegate("codex"), socket=socket):
        assert await _first(socket, _line("claude", SECRETS["claude"])) == {"welcome": "claude"}
        assert await _first(socket, _line("", SECRETS["claude"])) == {"welcome": "claude"}
        assert await _first(socket, _line()) == {"welcome": "codex"}  # by the kernel's word


@pytest.mark.parametrize(
    "line",
    [
        _line("claude"),  # this user's agent is another
        _line("codex", SECRETS["claude"]),
        _line("claude", "wrong" * 10),
        _line("ana"),
        b"{}\n",
        b"[]\n",
        b"\xff\n",
        b"GET / HTTP/1.1\r\n",
        b'{"agent": "claude", "secret": ""} {"jsonrpc": "2.0"}\n',
        b"x" * (local.MAX_LINE + 10) + b"\n",
    ],
)
async def test_nobody_else_is_let_in(tmp_path: Path, socket: Path, line: bytes) -> None:
    async with room(tmp_path, delegate(), delegate("codex"), socket=socket):
        assert "refused" in await _first(socket, line)


async def test_a_user_who_is_no_agent_is_told_how_to_become_one(tmp_path: Path, socket: Path) -> None:
    async with room(tmp_path, socket=socket):  # the login is codex's, who may not ask any more
        assert "[agents.NAME] login" in (await _first(socket, _line()))["refused"]


async def test_the_socket_is_open_to_nobody_else(tmp_path: Path, socket: Path) -> None:
    async with room(tmp_path, socket=socket):
        assert _mode(socket) == 0o600
    assert _mode(socket) is None


def _mode(file: Path) -> int | None:
    return file.stat().st_mode & 0o777 if file.exists() else None


def test_without_a_running_sayso_the_command_says_so(socket: Path) -> None:
    how = stdio(socket, "claude", SECRETS["claude"])
    done = subprocess.run(
        [sys.executable, *how.args],
        env=how.env,
        cwd=how.cwd,
        input=b"",
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert b"No sayso serves here" in done.stderr
    assert done.stdout == b""


def test_a_secret_comes_from_a_file_too(tmp_path: Path, socket: Path) -> None:
    how = stdio(socket, "claude", "")
    env = {**os.environ, **(how.env or {})}
    done = subprocess.run(
        [sys.executable, *how.args, "--token-file", str(tmp_path / "gone")],
        env=env,
        cwd=how.cwd,
        input=b"",
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert b"cannot be read" in done.stderr


async def test_a_client_that_is_refused_is_told_why(tmp_path: Path, socket: Path) -> None:
    async with room(tmp_path, socket=socket):
        how = stdio(socket, "claude", "wrong" * 10)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *how.args,
            env=how.env,
            cwd=how.cwd,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        _, said = await process.communicate(b"")
        assert process.returncode == 1
        assert b"no agent's here" in said


def test_no_tool_takes_what_would_decide() -> None:
    words = ("approve", "grant", "confirm", "phrase", "settle", "resume", "policy", "operator", "token")
    for tool in tools.TOOLS:
        assert not any(word in name for name in tool.input_schema["properties"] for word in words)
        assert tool.input_schema["additionalProperties"] is False


async def test_health_names_agents_and_addresses(tmp_path: Path, socket: Path) -> None:
    async with room(tmp_path, socket=socket) as it:
        health = await it.entrance.health()
        assert health.ok
        assert dict(health.facts)["agents"] == "claude"
        assert dict(health.facts)["http"] == it.url
        async with it.client("http", "2026-07-28") as agent:
            assert data(await agent.call("status"))["agent"] == "claude"
    assert not (await it.entrance.health()).ok
