"""A dial that is lowered counts for what waits for its turn too, and not for what a person said yes to."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.execution.executor import FleetExecutor
from bot.inventory import Inventory
from bot.ports import Captured, Ended, EndKind, OutputSink
from bot.signals.rules import SignalRule
from gate.domain import Action
from gate.policy import Policy, Posture
from tests.bot.delegates.asking import asking
from tests.bot.planning.planned import UNREAD, layers, run
from tests.bot.signals.alerting import Sender, alert, alerting, at_rest
from tests.kit import Kit, conversation
from tests.simulators.model.double import Scripted, calls

#: A restart runs unasked, and takes its target for itself.
RESTARTS = Policy(revision="r" * 64, posture=Posture.APPROVE_CONFIG)
RESTART = "systemctl restart caddy"
DEPLOY = "run sh -c 'deploy' on web1"


class Busy(FleetExecutor):
    """Runs nothing: a deploy goes on until it is let, and everything else is over at once."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__(inventory)
        self.ran: list[str] = []
        self.done, self.runs = asyncio.Event(), asyncio.Event()

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        self.ran.append(action.command)
        if "deploy" in action.command:
            self.runs.set()
            await self.done.wait()
        return Ended(kind=EndKind.EXITED, exit_code=0, output=Captured(head=b"", total=0))


def busy(kit: Kit) -> Busy:
    assert isinstance(kit.core.executor, Busy)
    return kit.core.executor


async def deploying(kit: Kit) -> None:
    """Let a deploy take web1 for itself."""
    await kit.say(DEPLOY)
    await kit.hand_over(kit.inbound("go ahead"))
    await busy(kit).runs.wait()


async def says(kit: Kit, text: str, *, until: str) -> None:
    """Say something, and wait for the entry that it leads to: the turn itself ends with the deploy."""
    before = kit.kinds().count(until)
    await kit.hand_over(kit.inbound(text))
    await has(kit, lambda: kit.kinds().count(until) > before)


async def has(kit: Kit, come: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(60):
        while not come():  # noqa: ASYNC110 - the ledger is looked at, and tells nobody
            await asyncio.sleep(0.01)


async def over(kit: Kit) -> None:
    busy(kit).done.set()
    await at_rest(kit)


@pytest.mark.parametrize("said", ["set signals.autonomy to advise", "set autonomy.max to propose"])
async def test_what_an_alert_led_to_and_waits_for_its_turn_runs_no_more(tmp_path: Path, said: str) -> None:
    rule = SignalRule(labels={"alertname": "CaddyDown"}, command=RESTART)
    async with alerting(tmp_path, level="run", executor=Busy, policy=RESTARTS, signal_rules=(rule,)) as kit:
        await deploying(kit)
        await Sender(kit).hand_over(alert("CaddyDown"))
        await has(kit, lambda: kit.states() == ["queued"])
        await says(kit, said, until="setting:changed")
        await over(kit)
        assert RESTART not in busy(kit).ran
        assert kit.states() == ["cancelled"]


@pytest.mark.parametrize("said", ["set delegates.autonomy to propose", "set delegates.autonomy to off"])
async def test_what_an_agent_asked_for_and_waits_for_its_turn_runs_no_more(tmp_path: Path, said: str) -> None:
    async with asking(tmp_path, executor=Busy, policy=RESTARTS) as it:
        kit = it.kit
        await deploying(kit)
        asked = asyncio.ensure_future(it.run(RESTART))
        await has(kit, lambda: kit.states() == ["queued"])
        await says(kit, said, until="setting:changed")
        await over(kit)
        answer = await asked  # which waits for its end for a while only
        answer = await it.result(answer.data["id"])
        assert RESTART not in busy(kit).ran
        assert answer.data["state"] == "cancelled"
        assert "delegates.autonomy" in answer.text


@pytest.mark.parametrize("level", ["propose", "off"])
async def test_what_a_model_wanted_and_waits_for_its_turn_runs_no_more(tmp_path: Path, level: str) -> None:
    model = Scripted([calls(run(RESTART, on="web1"))])
    settings = layers(planner__autonomy="run")
    async with conversation(
        tmp_path, thinker=model, executor=Busy, policy=RESTARTS, settings=settings
    ) as kit:
        await deploying(kit)
        await kit.hand_over(kit.inbound(UNREAD))
        await has(kit, lambda: kit.states() == ["queued"])
        await says(kit, f"set planner.autonomy to {level}", until="setting:changed")
        await over(kit)
        assert RESTART not in busy(kit).ran
        assert kit.states() == ["cancelled"]


async def test_what_a_person_said_yes_to_runs_whatever_the_dial_says_now(tmp_path: Path) -> None:
    async with asking(tmp_path, executor=Busy) as it:
        kit = it.kit
        await deploying(kit)
        answer = await it.run(RESTART)
        await says(kit, f"approve {answer.data['id']}", until="approval:granted")
        await has(kit, lambda: kit.states() == ["queued"])
        await says(kit, "set delegates.autonomy to off", until="setting:changed")
        await over(kit)
        assert busy(kit).ran[-1] == RESTART
