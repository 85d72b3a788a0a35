"""A container from its making to its end, lived through with people, on every platform."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from adapters.telegram.editing import Pacing
from tests.adapters.play import at
from tests.adapters.stage import adapter_names, surface_opener
from tests.library.tale import Tale, programs_in, this_machine
from tests.simulators.proxmox.host import Host, proxmox

SCRIPT: Mapping[str, Any] = {"setup": {}, "turn": [{"by": "ana"}]}


@pytest.fixture
def host(tmp_path: Path):  # noqa: ANN201 -- a fixture
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
