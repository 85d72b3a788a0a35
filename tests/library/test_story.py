"""A container from its making to its end, lived through with people, on every platform.

There are three lives of sayso on one record. The first is a process of its own and is killed while it makes
the container; the second sees that through, and is asked to destroy it; the third finds another document
under the run that it inherits.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from bot.loading.library import put_together, read_built_in, read_text
from gate.supervise.events import Granted
from tests.adapters.console_window import ConsoleWindow
from tests.adapters.play import at, flat
from tests.adapters.stage import LastingSurface, adapter_names, lasting_opener
from tests.adapters.stage_telegram import no_pace
from tests.kit import START, ScriptedClock
from tests.library.life import Elsewhere, elsewhere
from tests.library.tale import PLACE, Tale, programs_in, this_machine
from tests.simulators.proxmox.host import Host, proxmox

SCRIPT: Mapping[str, Any] = {"setup": {}, "turn": [{"by": "ana"}]}
#: How long making a container takes at most: it can be killed in it until it is let go on.
MAKING_S = 120


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with proxmox(tmp_path / "node") as made, programs_in(made.path):
        yield made


class Lives:
    """One platform and its people, while sayso comes and goes."""

    def __init__(self, surface: LastingSurface, platform: str, folder: Path) -> None:
        self.surface, self.platform, self.folder = surface, platform, folder
        self._clock = ScriptedClock(START + timedelta(minutes=5))  # the first life was shorter than that

    @asynccontextmanager
    async def killed(self) -> AsyncIterator[Elsewhere]:
        """A life that is killed at the end of the block."""
        async with elsewhere(self.surface, self.folder, self.platform) as life:
            yield life

    @asynccontextmanager
    async def told(self, **more: Any) -> AsyncIterator[Tale]:
        """A life in this process, on what the last one left."""
        self.surface.restart()
        more = {"inventory": this_machine("pve1"), **more}
        async with at(self.surface, SCRIPT, self.folder, clock=self._clock, more=more) as play:
            if isinstance(self.surface, ConsoleWindow):
                await self.surface.open()  # whoever was there when it was killed comes back
            yield Tale(player=play)

    async def reads(self, text: str) -> None:
        """Wait until ana can read something."""
        try:
            await _until(lambda: text in self.screen())
        except TimeoutError:
            raise AssertionError(f"no {text!r} in\n{self.screen()}") from None

    def screen(self) -> str:
        """All that ana can read."""
        return "\n\n".join(flat(one.text) for one in self.surface.screen(place=PLACE))


@pytest.fixture(params=adapter_names())
async def lives(request: pytest.FixtureRequest, host: Host, tmp_path: Path) -> AsyncIterator[Lives]:
    del host  # before any life, and after all of them
    with no_pace():
        async with lasting_opener(request.param)(tmp_path) as surface:
            yield Lives(surface, request.param, tmp_path)


@pytest.mark.timeout(900)
async def test_provision_use_destroy(lives: Lives, host: Host) -> None:
    host.faults(vmid_race=1, create_hangs=MAKING_S)
    async with lives.killed() as life:
        await _killed_in_create(life, host)
    async with lives.told() as tale:
        await _seen_through(tale, host, lives)
        answer = host.run(f"curl -sS http://$(lxc-info -n 101 -iH):{host.state['http_port']}/")
        assert "Welcome to nginx!" in answer.stdout
        await _refused_and_expired(tale, host, lives)
        await tale.say("destroy container 101 on pve1")
        await tale.agree_until("destroy")
    async with lives.told(library=_with_another_destroy()) as tale:
        await _deviated(tale, host, lives)
        await tale.say("destroy container 101 on pve1")
        await tale.agree_until("destroy")
        await tale.say("yes")
        assert (tale.run.step, host.guests) == ("destroy", ["100", "101"]), "destroying takes its phrase"
        await tale.say("{phrase}")
        assert (tale.run.outcome, host.guests) == ("completed", ["100"])


async def _killed_in_create(life: Elsewhere, host: Host) -> None:
    """Provision until the container is being made; meanwhile somebody else takes the first VMID."""
    await life.say(
        f"provision a container with nginx on pve1 with hostname=web7, port={host.state['http_port']}"
    )
    await life.agree_until(lambda: life.run().step == "create")
    assert host.guests == []
    await life.agree_until(lambda: host.guests == ["100"])
    await life.agree_until(lambda: host.state["guests"].get("101", {}).get("lock") == "create")
    grants = [one for one in life.look(lambda q: q.run_events(life.run().id)) if isinstance(one, Granted)]
    assert [one.grant.step_id for one in grants].count("create") == 2, "another command needs another yes"


async def _seen_through(tale: Tale, host: Host, lives: Lives) -> None:
    """Settle what is lost, and say yes to the rest."""
    await tale.kit.look()
    assert (tale.run.step, tale.run.is_over) == ("create", False)
    (state,) = tale.kit.states(tale.run.proposal)
    assert state == "lost", "nobody knows how it ended"
    await lives.reads(f"the end of this step is unknown: look, then settle #{tale.run.proposal}")
    await tale.kit.look()
    assert tale.steps().count("create") == 2, "it is not repeated"
    host.go_on()
    await _until(lambda: "lock" not in host.state["guests"]["101"])
    await tale.say(f"settle #{tale.run.proposal} ran, because pct config shows it")
    assert tale.run.step == "start", "the run goes on where it was"
    await tale.agree_until("")
    assert (tale.run.outcome, tale.steps().count("create")) == ("completed", 2)
    made = [line for line in host.run("pct list").stdout.splitlines() if "web7" in line]
    assert len(made) == 1


async def _refused_and_expired(tale: Tale, host: Host, lives: Lives) -> None:
    await tale.say("destroy container 101 on pve1")
    await tale.say("no")
    assert (tale.run.outcome, tale.run.cause) == ("aborted", "refused")
    await lives.reads("refused by ana at step 5")
    await tale.say("still in use")

    await tale.say("destroy container 101 on pve1")
    await tale.wait(901)
    assert (tale.run.outcome, tale.run.cause) == ("aborted", "expired")
    await lives.reads("nobody answered in time at step 5")
    assert host.state["guests"]["101"]["status"] == "running"


async def _deviated(tale: Tale, host: Host, lives: Lives) -> None:
    """Agree to what was asked about before the document changed."""
    await tale.say("{phrase}")
    await lives.reads("the runbook changed since the run began; nothing ran")
    await lives.reads("blocked too often")
    assert host.guests == ["100", "101"], "what was shown is not what would run"
    assert (tale.run.outcome, tale.run.cause, tale.run.deviations) == ("escalated", "deviations", 3)
    assert not tale.kit.core.queries.pending()


def _with_another_destroy() -> Any:
    text = (resources.files("bot") / "library" / "destroy-lxc.yaml").read_text()
    assert "--purge" in text
    return put_together([*read_built_in(), read_text(text.replace("--purge", "--force --purge").encode())])[0]


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.05)
