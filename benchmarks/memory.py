"""The memory of a real `sayso serve`: idle, with everything on, and after each part of it was used once.

Idle is a daemon without a config. Everything is what runs on this machine without accounts: the model planner
at a local OpenAI-compatible server, MCP over HTTP, webhook signals, metrics, the library of runbooks, and the
three chat platforms against their simulators, which live in this process. Used means: on every platform a
command is asked for and approved, a model plans with one command that reads, an agent reads and leaves
something pending, an alert gets its card, a watch and a scheduled command take their first look, and the
metrics are read. Each row is resident memory (VmRSS), and a ratio to a bare interpreter of the same run. The
exit code is 1 where something that was to be used did not answer.

    python -m benchmarks.memory
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from benchmarks.start import idle_rss_mb, rss_mb, serving
from tests.adapters.play import place_words
from tests.simulators.crowd.people import Crowd, Room, config, open_crowd, secret
from tests.simulators.model.double import call, calls, says
from tests.simulators.model.server import model_server

PLATFORMS = ("slack", "discord", "telegram")
#: Nobody waits longer for anything.
PATIENCE_S = 60.0
SETTLED_S = 3.0
SECRET = "s" * 40
ASK = "why does everything take so long here"
SAYS = "It is well: nothing waits for anything."


class UnansweredError(Exception):
    """Something that was to be used did not answer, so the figures would be of less than they say."""


def main() -> int:
    bare = bare_mb()
    idle = idle_rss_mb()
    try:
        started, used = asyncio.run(everything_mb())
    except UnansweredError as error:
        print(f"unanswered: {error}")
        return 1
    rows = {
        "python alone": bare,
        "sayso serve, idle": idle,
        "everything on": started,
        "everything used": used,
    }
    for name, held in rows.items():
        print(f"{name:<18} {held:6.0f} MB  {held / bare:5.2f} x bare  {held / idle:5.2f} x idle")
    return 0


def bare_mb() -> float:
    """Return what an interpreter holds that does nothing."""
    with subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as bare:
        assert bare.stdout is not None
        bare.stdout.readline()
        held = rss_mb(bare.pid)
        bare.communicate(b"\n")
    return held


async def everything_mb() -> tuple[float, float]:
    """Serve with everything on; return what is held then, and after all of it was used once.

    Raises:
        UnansweredError: a part did not answer.
    """
    look = call("run", target="s000", command="uptime", purpose="look at the load")
    with tempfile.TemporaryDirectory(prefix="sayso-memory-") as scratch:
        folder = Path(scratch)
        async with crowds() as people, model_server(calls(look), says(SAYS)) as model:
            ports = dict(zip(("mcp", "webhook", "metrics"), free_ports(3), strict=True))
            config(folder, people, more=more(folder, people[0], model.url, ports))
            with serving(folder / "state", folder / "config.toml", log=folder / "stderr") as daemon:
                async with asyncio.timeout(PATIENCE_S):
                    while not all(one.is_connected() for one in people):  # noqa: ASYNC110 - they differ
                        await asyncio.sleep(0.05)
                await asyncio.sleep(SETTLED_S)
                started = rss_mb(daemon.pid)
                try:
                    await use(people, ports)
                except (TimeoutError, OSError, UnansweredError) as error:
                    tail = (folder / "stderr").read_text("utf-8", "replace")[-2000:]
                    raise UnansweredError(f"{error!r}\n{tail}") from error
                await asyncio.sleep(SETTLED_S)
                return started, rss_mb(daemon.pid)


@contextlib.asynccontextmanager
async def crowds() -> AsyncIterator[list[Crowd]]:
    """Open every platform with one person on it."""
    async with contextlib.AsyncExitStack() as stack:
        yield [await stack.enter_async_context(open_crowd(name, 1)) for name in PLATFORMS]


def free_ports(count: int) -> list[int]:
    """Return ports of this machine that nobody listens on."""
    import socket  # noqa: PLC0415 - only here

    with contextlib.ExitStack() as stack:
        bound = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in bound:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in bound]


def more(folder: Path, crowd: Crowd, model: str, ports: dict[str, int]) -> str:
    """Return everything of the config beside platforms and people."""
    place = place_words(crowd.place(crowd.rooms[0]))
    files = {name: secret(folder, name, SECRET) for name in ("model", "agent", "alerts")}
    return f"""
[model]
provider = "compatible"
name = "scripted"
base_url = "{model}"
api_key_file = "{files["model"]}"
[metrics]
listen = "127.0.0.1:{ports["metrics"]}"
[places]
ops = "{place}"
[signals]
place = "ops"
autonomy = "propose"
[repair]
autonomy = "run"
[adapters.mcp]
listen = "127.0.0.1:{ports["mcp"]}"
[agents.claude]
token_file = "{files["agent"]}"
place = "ops"
targets = ["*"]
[adapters.webhook]
listen = "127.0.0.1:{ports["webhook"]}"
[adapters.webhook.sources.am]
format = "alertmanager"
token_file = "{files["alerts"]}"
"""


async def use(people: list[Crowd], ports: dict[str, int]) -> None:
    """Use everything once."""
    for crowd in people:
        await approve(crowd, crowd.rooms[0])
    crowd, room = people[0], people[0].rooms[0]
    await heard(crowd, room, "a schedule", "in 2 seconds run uptime on s000", "load average")
    await heard(crowd, room, "a plan of the model", ASK, SAYS)
    await heard(crowd, room, "a watch", "tell me when / on s000 passes 99 %", "99")
    await ask_as_agent(ports["mcp"])
    await alert(crowd, room, ports["webhook"])
    url = f"http://127.0.0.1:{ports['metrics']}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        if "sayso_" not in await answer.text():
            raise UnansweredError("the metrics")


async def approve(crowd: Crowd, room: Room) -> None:
    """Ask for a command on a platform, press Approve, and wait for its end."""
    await crowd.say(room, f"run sh -c : on {room.name}")
    if not await room.until(lambda: crowd.card(room), seconds=PATIENCE_S):
        raise UnansweredError(f"no card on {crowd.platform}")
    card = crowd.card(room)
    await crowd.press(room, card, "Approve")
    if not await room.until(lambda: "✓" in crowd.text(room, card), seconds=PATIENCE_S):
        raise UnansweredError(f"no end on {crowd.platform}")


async def heard(crowd: Crowd, room: Room, what: str, text: str, answer: str) -> None:
    """Say something and wait until a message that was not there says `answer`."""
    before = set(room.posted)

    def came() -> bool:
        return any(answer in crowd.text(room, one) for one in set(room.posted) - before)

    await crowd.say(room, text)
    if not await room.until(came, seconds=PATIENCE_S):
        raise UnansweredError(what)


async def ask_as_agent(port: int) -> None:
    """Read as an agent, and leave a change pending."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {SECRET}"}, timeout=30) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with Client(transport, mode="2026-07-28") as client:
            for command, state in (("uptime", "succeeded"), ("touch /tmp/sayso-memory", "pending")):
                asked = {"target": "s000", "command": command, "purpose": "to measure"}
                found = await client.call_tool("run", asked)
                if (
                    not isinstance(found, CallToolResult)
                    or (found.structured_content or {}).get("state") != state
                ):
                    raise UnansweredError(f"{command} of an agent is not {state}")


async def alert(crowd: Crowd, room: Room, port: int) -> None:
    """Send an alert, and wait for its card."""
    before = set(room.posted)
    one = {
        "status": "firing",
        "labels": {"alertname": "HostOutOfDiskSpace", "instance": "s000"},
        "annotations": {"summary": "the disk of s000 is full"},
        "startsAt": "2026-01-01T00:00:00Z",
        "fingerprint": "f00d",
    }
    body = json.dumps({"version": "4", "groupKey": "g", "status": "firing", "alerts": [one]})
    url = f"http://127.0.0.1:{port}/signals/am"
    headers = {"Authorization": f"Bearer {SECRET}"}
    async with aiohttp.ClientSession(headers=headers) as session, session.post(url, data=body) as answer:
        if answer.status != 200:
            raise UnansweredError(f"an alert: {answer.status} {await answer.text()}")

    def shown() -> bool:
        return any("the disk of s000" in crowd.text(room, one) for one in set(room.posted) - before)

    if not await room.until(shown, seconds=PATIENCE_S):
        raise UnansweredError("no card of the alert")


if __name__ == "__main__":
    os.environ.pop("SAYSO_CONFIG", None)
    sys.exit(main())
