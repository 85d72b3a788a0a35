"""`sayso serve` with an agent at the door: the real process, its socket and its HTTP, until it is killed."""

import asyncio
import os
import pwd
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from bot.local_socket import answers
from tests.adapters.mcp_room import GENERATIONS, Agent, data, stdio
from tests.bot.cli.test_chat import PATIENCE_S, SAYSO, environ, say, serving
from tests.sshd import free_port

__all__ = ["environ"]

SECRET = "s" * 40


def _config(folder: Path, environ: dict[str, str], port: int) -> None:
    token = folder / "claude.token"
    token.write_text(SECRET)
    token.chmod(0o600)
    file = folder / "agents.toml"
    file.write_text(
        f"""
[operators.owner]
accounts = ["console::{environ["LOGIN"]}"]
may = [{{ risk = "destructive" }}]
[targets.local]
kind = "local"
[adapters.mcp]
listen = "127.0.0.1:{port}"
[agents.claude]
token_file = "{token}"
place = "console::{environ["LOGIN"]}"
targets = ["*"]
"""
    )
    environ["SAYSO_CONFIG"] = str(file)


async def _answering(socket: Path) -> None:
    """Wait until another process listens at `socket`; a file may be left there by one that was killed."""
    while not answers(socket):  # noqa: ASYNC110  # of another process
        await asyncio.sleep(0.02)


async def _status(agent: Agent, name: str) -> Mapping[str, Any]:
    """Ask how it stands; again where its `sayso mcp` had not noticed yet that the other end was killed."""
    try:
        return data(await agent.call("status", id=name))
    except MCPError as error:
        if "was stopped or restarted" not in error.message:
            raise
    return data(await agent.call("status", id=name))


async def _approve(environ: dict[str, str], name: str) -> None:
    await asyncio.to_thread(say, f"approve {name}", environ=environ)


async def test_a_kill_while_an_agent_waits_costs_it_nothing(environ: dict[str, str], tmp_path: Path) -> None:
    port = free_port()
    environ["LOGIN"] = pwd.getpwuid(os.geteuid()).pw_name
    _config(tmp_path, environ, port)
    socket = Path(environ["SAYSO_HOME"]) / "agents.sock"
    how = stdio(socket, "claude", SECRET)
    headers = {"Authorization": f"Bearer {SECRET}"}
    url = f"http://127.0.0.1:{port}/mcp"
    file = tmp_path / "made"
    with serving(environ) as daemon:
        await _answering(socket)
        async with Client(how, mode=GENERATIONS[0]) as client:
            agent = Agent(client)
            assert data(await agent.run("echo hello", target="local"))["state"] == "succeeded"
            name = data(await agent.run(f"touch {file}", target="local"))["id"]
            daemon.send_signal(signal.SIGKILL)
            daemon.wait(PATIENCE_S)
            with serving(environ):
                await _answering(socket)
                assert (await _status(agent, name))["state"] == "pending"
                await _approve(environ, name)
                async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http:
                    transport = streamable_http_client(url, http_client=http)
                    async with Client(transport, mode=GENERATIONS[1]) as other:
                        told = await Agent(other).call("result", id=name, wait_s=30)
                        assert data(told)["state"] == "succeeded"
    assert file.exists()


def test_a_file_is_no_agent_and_that_is_said(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "words").write_text("{}\n")
    with (tmp_path / "words").open() as words:
        told = subprocess.run(
            [SAYSO, "mcp"], stdin=words, capture_output=True, text=True, env=environ, timeout=60, check=False
        )
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("An agent starts this and talks to it over pipes")
