"""A container from its making to its end, lived through with people, on every platform."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from adapters.telegram.editing import Pacing
from bot.loading.library import put_together, read_built_in, read_text
from tests.adapters.play import at
from tests.adapters.stage import adapter_names, surface_opener
from tests.kit import conversation
from tests.library.tale import OnScript, Tale, programs_in, this_machine
from tests.simulators.proxmox.host import Host, proxmox

SCRIPT: Mapping[str, Any] = {"setup": {}, "turn": [{"by": "ana"}]}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with proxmox(tmp_path / "node") as made, programs_in(made.path):
        yield made


@pytest.fixture(params=adapter_names())
async def tale(
    request: pytest.FixtureRequest, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Tale]:
    # As on the other platforms of these tests, nothing waits for how many edits Telegram likes.
    monkeypatch.setattr(Pacing, "wait_s", lambda *_, **__: 0.0)
    inventory = {"inventory": this_machine("pve1")}
    async with (
        surface_opener(request.param)(tmp_path) as surface,
        at(surface, SCRIPT, tmp_path, more=inventory) as play,
    ):
        yield Tale(player=play)


async def test_provision_use_destroy(tale: Tale, host: Host) -> None:
    host.faults(vmid_race=1)
    await tale.say(
        f"provision a container with nginx on pve1 with hostname=web7, port={host.state['http_port']}"
    )
    await tale.agree_until("create")
    assert host.guests == []
    await tale.agree()  # somebody else took the VMID meanwhile
    assert tale.run.step == "create", "another command needs another yes"
    assert host.guests == ["100"]
    await tale.agree_until("")
    assert tale.run.outcome == "completed"
    answer = host.run(f"curl -sS http://$(lxc-info -n 101 -iH):{host.state['http_port']}/")
    assert "Welcome to nginx!" in answer.stdout

    await tale.say("destroy container 101 on pve1")
    await tale.say("no")
    assert (tale.run.outcome, tale.run.cause) == ("aborted", "refused")
    await tale.say("still in use")

    await tale.say("destroy container 101 on pve1")
    await tale.wait(901)
    assert (tale.run.outcome, tale.run.cause) == ("aborted", "expired")
    assert host.state["guests"]["101"]["status"] == "running"

    await tale.say("destroy container 101 on pve1")
    await tale.agree_until("destroy")
    await tale.say("yes")
    assert (tale.run.step, host.guests) == ("destroy", ["100", "101"]), "destroying takes its phrase"
    await tale.say("{phrase}")
    assert (tale.run.outcome, host.guests) == ("completed", ["100"])


# ---------------------------------------------------------------- where no platform has a part


@asynccontextmanager
async def told(folder: Path, **more: Any) -> AsyncIterator[Tale]:
    """One life of sayso in `folder`."""
    async with conversation(folder / "state", inventory=this_machine("pve1"), **more) as kit:
        yield Tale(player=OnScript(kit=kit))


def killed_in_create(folder: Path, host: Host) -> None:
    """Let another process provision a container, and kill it without a word while that is being made."""
    host.faults(create_hangs=3)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.library.life", str(folder)], cwd=Path(__file__).parents[2]
    )
    deadline = time.monotonic() + 90
    while host.state["guests"].get("100", {}).get("lock") != "create":
        assert process.poll() is None, "it ended by itself"
        assert time.monotonic() < deadline, "it never came to create"
        time.sleep(0.05)
    process.kill()
    process.wait()


async def test_a_kill_in_the_middle_of_a_step_is_for_a_person_and_is_never_repeated(
    host: Host, tmp_path: Path
) -> None:
    killed_in_create(tmp_path, host)
    async with told(tmp_path) as tale:
        await tale.kit.look()
        assert tale.run.step == "create"
        assert not tale.run.is_over
        (state,) = tale.kit.states(tale.run.proposal)
        assert state == "lost", "nobody knows how it ended"
        await tale.kit.look()
        assert tale.steps().count("create") == 1
        await _until(lambda: "lock" not in host.state["guests"]["100"])
        await tale.say(f"settle #{tale.run.proposal} ran, because pct config shows it")
        assert tale.run.step == "start", "the run goes on where it was"
        await tale.agree_until("")
        assert (tale.run.outcome, tale.steps().count("create")) == ("completed", 1)
    made = [line for line in host.run("pct list").stdout.splitlines() if "web7" in line]
    assert len(made) == 1


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.05)


async def test_a_runbook_that_changes_under_its_run_is_blocked_and_recorded(
    host: Host, tmp_path: Path
) -> None:
    request = f"provision a container with nginx on pve1 with hostname=web7, port={host.state['http_port']}"
    async with told(tmp_path) as tale:
        await tale.say(request)
        await tale.agree_until("create")
    changed = put_together([*read_built_in(), read_text(_with_another_command())])[0]
    async with told(tmp_path, library=changed) as tale:
        if tale.kit.core.queries.pending():
            await tale.agree()
        await tale.rest()
        assert host.guests == [], "what was shown is not what would run"
        assert (tale.run.outcome, tale.run.cause, tale.run.deviations) == ("escalated", "deviations", 3)
        assert not tale.kit.core.queries.pending()


def _with_another_command() -> bytes:
    text = (resources.files("bot") / "library" / "provision-lxc.yaml").read_text()
    assert "--unprivileged 1" in text
    return text.replace("--unprivileged 1", "--unprivileged 0").encode()
