"""The story of the README and the flapping service (N41), against a real SSH server and this machine.

`systemctl` and `journalctl` are small programs that stand first on the PATH commands get there, since this
machine may run no systemd; everything else is real.
"""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.execution import wrap
from bot.inventory import Inventory, ServiceConfig, TargetConfig, build
from gate.domain import TargetKind
from tests.kit import Kit, conversation
from tests.sshd import Server, running

SYSTEMCTL = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
case "$1" in
  show) echo "NRestarts=7" ;;
  status) echo "caddy.service active (running)" ;;
esac
"""
JOURNALCTL = """#!/bin/sh
echo "caddy: error: upstream timed out"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("sshd"), alias="web1") as started:
        yield started


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, text in (("systemctl", SYSTEMCTL), ("journalctl", JOURNALCTL)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    environment = dict(wrap.ENVIRONMENT) | {"PATH": f"{folder}:/usr/bin:/bin"}
    monkeypatch.setattr(wrap, "ENVIRONMENT", tuple(environment.items()))
    return folder


def fleet(server: Server) -> Inventory:
    services = {
        "caddy": ServiceConfig(on=("web1",)),
        "blog": ServiceConfig(depends_on=("caddy",)),
        "wiki": ServiceConfig(depends_on=("caddy",)),
    }
    targets = {"web1": TargetConfig(), "local": TargetConfig(kind=TargetKind.LOCAL)}
    return build(targets, services, ssh_config=server.config)


@pytest_asyncio.fixture
async def kit(tmp_path: Path, server: Server, tools: Path) -> AsyncIterator[Kit]:
    async with conversation(tmp_path / "state", inventory=fleet(server)) as started:
        yield started


def restarts(tools: Path) -> int:
    calls = tools / "calls"
    return calls.read_text().splitlines().count("restart caddy") if calls.exists() else 0


def granted_words(kit: Kit) -> list[str]:
    ledger = kit.core.ledger
    rows = ledger.reader().execute("SELECT body FROM entry WHERE kind='approval:granted' ORDER BY seq")
    hashes = [json.loads(row[0])["said"]["payload"] for row in rows]
    contents = [
        ledger.reader().execute("SELECT content FROM payload WHERE hash=?", (one,)).fetchone()[0]
        for one in hashes
    ]
    return [bytes(content).decode() for content in contents]


async def test_readme_story(kit: Kit, tools: Path, tmp_path: Path) -> None:
    assert "load average" in await kit.say("uptime on web1")

    card = await kit.say("run systemctl restart caddy on web1")
    assert "◔ web1 · restart caddy" in card
    assert "reversible: " in card
    assert "2 services depend on it (blog, wiki)" in card
    assert restarts(tools) == 0

    assert "Nothing ran." in await kit.say("maybe later")
    assert restarts(tools) == 0

    done = await kit.say("go ahead")
    assert 'approved by ana, "go ahead"' in done
    assert restarts(tools) == 1
    assert granted_words(kit) == ["go ahead"]

    assert "Nothing waits" in await kit.say("yes")
    assert restarts(tools) == 1

    doomed = tmp_path / "doomed"
    doomed.mkdir()
    card = await kit.say(f"run rm -rf {doomed} on web1")
    phrase = next(one.phrase for one in kit.core.queries.pending())
    assert phrase is not None
    assert phrase in card
    assert "Not enough for this one" in await kit.say("yes")
    assert doomed.exists()
    await kit.say(f"{phrase}x")
    assert doomed.exists()
    await kit.say(phrase)
    assert not doomed.exists()
    assert granted_words(kit) == ["go ahead", phrase]


async def test_no_stops_at_once_and_asks_why(kit: Kit, tools: Path) -> None:
    await kit.say("run systemctl restart caddy on web1")
    assert "Why?" in await kit.say("no")
    assert "Noted" in await kit.say("backup is running")
    assert "Nothing waits" in await kit.say("yes")
    assert restarts(tools) == 0


async def test_expired_yes_says_so(kit: Kit, tools: Path) -> None:
    await kit.say("run systemctl restart caddy on web1")
    kit.clock.advance(901)
    assert "expired at 14:15, nothing ran" in await kit.say("go ahead")
    assert restarts(tools) == 0


async def test_flapping_service_is_looked_at_and_restarted_after_a_yes(kit: Kit, tools: Path) -> None:
    assert "upstream timed out" in await kit.say("tail the error log of caddy on web1")
    assert "NRestarts=7" in await kit.say("is caddy flapping on web1?")
    assert restarts(tools) == 0
    card = await kit.say("restart caddy on web1")
    assert "◔ web1 · restart caddy" in card
    assert restarts(tools) == 0
    assert "✓ ok" in await kit.say("go ahead")
    assert restarts(tools) == 1
    assert granted_words(kit) == ["go ahead"]
    assert kit.kinds().count("action:started") == 3


async def test_compound_sentence_never_restarts_by_itself(kit: Kit, tools: Path) -> None:
    await kit.say("tail the error log of caddy on web1 and restart it if it flaps")
    assert restarts(tools) == 0


async def test_what_depends_on_it_is_answered_and_keeps_the_question_open(kit: Kit, tools: Path) -> None:
    await kit.say("run systemctl restart caddy on web1")
    answer = await kit.say("what depends on it?")
    assert "caddy on web1 → blog, wiki" in answer
    assert "still waits" in answer
    await kit.say("go ahead")
    assert restarts(tools) == 1


async def test_unknown_target_is_refused_with_the_nearest(kit: Kit) -> None:
    assert "No target webb1. Did you mean web1?" in await kit.say("run uptime on webb1")


async def test_changed_host_key_between_card_and_yes_voids_the_grant(
    kit: Kit, server: Server, tools: Path
) -> None:
    await kit.say("run systemctl restart caddy on web1")
    trusted = server.known_hosts.read_text()
    server.known_hosts.write_text("")
    try:
        shown = await kit.say("go ahead")
    finally:
        server.known_hosts.write_text(trusted)
    assert "is not what was shown" in shown
    assert restarts(tools) == 0
    assert kit.states() == ["cancelled"]
