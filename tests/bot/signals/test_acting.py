"""Acting by itself: what the gate lets run, what forbids it, what switches it off, and how it is told."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.inventory import TargetConfig, build
from bot.signals.rules import SignalRule
from gate.domain import ProposalId, RouteKind, TargetKind
from gate.policy import Policy, Posture, Switches
from tests.bot.signals.alerting import Sender, Told, alert, alerting, at_rest, cards, executor, telling, texts
from tests.kit import Kit
from tests.runbooks import library_of

RESTART = "systemctl restart caddy"
CHECK = "systemctl is-active caddy"
SAYS = {RESTART: [(0, "")], CHECK: [(0, "active")]}
DOWN = alert("CaddyDown", labels={"service": "caddy"}, says="caddy is down")
RULE = SignalRule(labels={"alertname": "CaddyDown"}, command=RESTART, verify=CHECK)
LETS = Policy(revision="r" * 64, posture=Posture.APPROVE_CONFIG)


def acting(folder: Path, *, rules: Sequence[SignalRule] = (RULE,), level: str = "run", **changes: Any) -> Any:
    """Return a conversation in which the gate would let RESTART run at once."""
    changes = {"policy": LETS, "executor": telling(SAYS), **changes}
    return alerting(folder, level=level, signal_rules=tuple(rules), **changes)


def ran(kit: Kit) -> list[str]:
    return executor(kit).ran


async def test_what_posture_lets_run_is_run_checked_recorded_and_shown(tmp_path: Path) -> None:
    async with acting(tmp_path) as kit:
        await Sender(kit).send(DOWN)
        await at_rest(kit)
        assert ran(kit) == [RESTART, CHECK]
        (card,) = cards(kit)
        assert "your rule → systemctl restart caddy, certain" in card
        assert "restart caddy on web1: ok in" in card
        assert "check ok" in card
        assert "undo: " in card or "cannot be undone" in card
        action = kit.core.queries.proposal(ProposalId(kit.newest_id())).actions[0]  # type: ignore[union-attr] # it is there
        assert (action.route, action.because) == (RouteKind.AUTO, "posture approve_config")
        kinds = kit.kinds()
        assert kinds.index("signal:received") < kinds.index("proposal:made") < kinds.index("action:started")
        assert "action:verified" in kinds
        assert any("asked by alert am" in text and "restart caddy" in text for text in texts(kit))
        assert "1 at once" in await kit.say("what did you do today?")


async def test_a_check_that_fails_is_told_as_one(tmp_path: Path) -> None:
    async with acting(tmp_path, executor=telling({**SAYS, CHECK: [(3, "failed")]})) as kit:
        await Sender(kit).send(DOWN)
        await at_rest(kit)
        assert "check failed, exit 3" in cards(kit)[0]
        assert "check ok" not in cards(kit)[0]


async def test_what_did_not_work_is_never_told_as_done(tmp_path: Path) -> None:
    async with acting(tmp_path, executor=telling({**SAYS, RESTART: [(1, "no such unit")]})) as kit:
        await Sender(kit).send(DOWN)
        await at_rest(kit)
        assert "✗ #" in cards(kit)[0]
        assert "exit 1" in cards(kit)[0]
        assert CHECK not in ran(kit)
    async with acting(
        tmp_path / "gone", executor=telling({**SAYS, RESTART: [(None, "no route to host")]})
    ) as kit:
        await Sender(kit).send(DOWN)
        await at_rest(kit)
        assert "✗ #" in cards(kit)[0]
        assert "no route to host" in cards(kit)[0]


async def test_a_trust_rule_lets_its_exact_command_run(tmp_path: Path) -> None:
    plain = SignalRule(labels={"alertname": "CaddyDown"}, command=RESTART)
    async with acting(tmp_path, rules=[plain], policy=Policy(revision="r" * 64)) as kit:
        sender = Sender(kit)
        await sender.send(DOWN)
        assert ran(kit) == []
        await sender.send(replace(DOWN, status=alert(status="resolved").status))
        await kit.say(f"trust {RESTART} on web1 for 30 days")
        await kit.say(_phrase(kit))
        kit.clock.advance(60)
        await sender.send(replace(DOWN, starts_at=kit.clock.now()))
        await at_rest(kit)
        assert ran(kit) == [RESTART]


def _phrase(kit: Kit) -> str:
    row = kit.core.queries.open_commitments()
    return row[-1].phrase


FORBIDDEN: dict[str, dict[str, Any]] = {
    "posture": {"policy": Policy(revision="r" * 64)},
    "approve all": {"policy": Policy(revision="r" * 64, posture=Posture.APPROVE_ALL)},
    "auto off": {"floor": Switches(auto_off=True)},
    "never auto": {"floor": Switches(never_auto_act=("web1",))},  # type: ignore[dict-item] # a name
    "approve everything": {"floor": Switches(approve_everything=True)},
    "the target": {
        "inventory": build({"web1": TargetConfig(kind=TargetKind.LOCAL, never_auto_act=True)}, {}),
    },
}


@pytest.mark.parametrize("how", FORBIDDEN)
async def test_what_forbids_it_makes_it_wait_for_a_yes(tmp_path: Path, how: str) -> None:
    async with acting(tmp_path, **FORBIDDEN[how]) as kit:
        await Sender(kit).send(DOWN)
        await at_rest(kit)
        assert ran(kit) == []
        assert "Proposed, and waits for a yes" in cards(kit)[0]
        assert kit.states() == ["waiting"]


async def test_when_all_is_stopped_nothing_starts(tmp_path: Path) -> None:
    async with acting(tmp_path) as kit:
        await kit.say("stop")
        await Sender(kit).send(DOWN)
        await at_rest(kit)
        assert ran(kit) == []
        assert "sayso is stopped" in cards(kit)[0]


async def test_a_word_of_anybody_switches_it_off_between_two_alerts(tmp_path: Path) -> None:
    async with acting(tmp_path) as kit:
        sender = Sender(kit)
        await sender.send(DOWN)
        await at_rest(kit)
        await kit.say("auto off")
        await sender.send(replace(DOWN, fingerprint="other", group="other"))
        await at_rest(kit)
        assert ran(kit) == [RESTART, CHECK]
        assert "waits because of: auto off" in kit.card.text


async def test_switched_off_between_its_proposal_and_its_start_it_does_not_start(tmp_path: Path) -> None:
    async with acting(tmp_path) as kit:
        loop = asyncio.get_running_loop()

        def probe(moment: str) -> None:
            if moment == "action.queued":
                object.__setattr__(kit.core, "probe", lambda _moment: None)
                asyncio.run_coroutine_threadsafe(kit.say("auto off", settle=False), loop).result(timeout=30)
                while not kit.core.switches().auto_off:
                    pass

        object.__setattr__(kit.core, "probe", probe)
        await Sender(kit).send(DOWN)
        await at_rest(kit)
        assert ran(kit) == []
        assert "action:started" not in kit.kinds()
        assert "ok in" not in cards(kit)[0]


async def test_what_destroys_takes_its_phrase_whoever_reports_what(tmp_path: Path) -> None:
    rule = SignalRule(labels={"alertname": "CaddyDown"}, command="reboot")
    async with acting(tmp_path, rules=[rule]) as kit:
        await Sender(kit).send(DOWN)
        await at_rest(kit)
        assert "reboot" not in ran(kit)
        assert "To run it, type:" in kit.card.text


async def test_what_is_never_done_is_not_proposed(tmp_path: Path) -> None:
    rule = SignalRule(labels={"alertname": "CaddyDown"}, command="rm -rf /")
    async with acting(tmp_path, rules=[rule]) as kit:
        await Sender(kit).send(DOWN)
        assert "Never:" in cards(kit)[0]
        assert "proposal:made" not in kit.kinds()
        assert "request:denied" in kit.kinds()


async def test_a_name_alone_changes_nothing_by_itself(tmp_path: Path) -> None:
    """The alert is called like a document that restarts something, and no rule says to do that."""
    async with acting(tmp_path, rules=[]) as kit:
        await Sender(kit).send(alert("Restart", labels={"service": "caddy"}))
        await at_rest(kit)
        assert ran(kit) == []
        assert "it changes something, and no rule of yours says to do that" in kit.card.text
        await kit.press(kit.card, kit.card.message.buttons[0].label, place="alerts")
        assert ran(kit) == [RESTART]  # somebody asked for it, and posture lets it run


async def test_what_is_not_certain_is_offered_and_not_done(tmp_path: Path) -> None:
    async with acting(tmp_path, rules=[], executor=telling({"df -h": [(0, "")]})) as kit:
        sender = Sender(kit)
        await sender.send(alert("DiskFull", "web1.example.org:9100"))  # a namesake, maybe
        assert "0.80" in cards(kit)[0]
        await sender.send(alert("DiskFull", "nowhere:9100", group="g2"))
        assert "no target is known by its labels" in cards(kit)[1]
        await sender.send(alert("Gremlins", "web1", group="g3"))
        assert "nothing here is for it" in cards(kit)[2]
        await at_rest(kit)
        assert ran(kit) == []


# ---------------------------------------------------------------- runbooks

RUNBOOK = """
version: 1
id: heal
title: heal the web server
steps:
  - id: look
    kind: check
    title: Look
    risk: read-only
    command: systemctl is-active caddy
    timeout: 30s
  - id: restart
    title: Restart
    risk: reversible
    command: systemctl restart caddy
    rollback: none
    timeout: 30s
"""
HEAL = SignalRule(labels={"alertname": "CaddyDown"}, runbook="heal")


def healing(folder: Path, **changes: Any) -> Any:
    return acting(folder, rules=[HEAL], library=library_of(RUNBOOK), **changes)


async def test_a_runbook_of_a_rule_runs_as_far_as_the_gate_lets_it(tmp_path: Path) -> None:
    async with healing(tmp_path) as kit:
        await Sender(kit).send(DOWN)
        await at_rest(kit)
        assert ran(kit) == [CHECK, RESTART]
        assert "runbook heal the web server: completed" in cards(kit)[0]


async def test_at_propose_every_step_of_it_waits(tmp_path: Path) -> None:
    async with healing(tmp_path, level="propose") as kit:
        sender = Sender(kit)
        await sender.send(DOWN)
        await at_rest(kit)
        assert ran(kit) == []
        assert "waits because of: signals.autonomy propose" in "\n".join(texts(kit))
        await kit.say(f"approve {kit.newest_id()}", place="alerts")
        await at_rest(kit)
        assert ran(kit) == [CHECK]
        await sender.send(replace(DOWN, status=alert(status="resolved").status))
        await at_rest(kit)
        assert ran(kit) == [CHECK]
        assert "runbook heal the web server: aborted" in "\n".join(texts(kit))


async def test_lowered_in_the_middle_its_next_step_waits(tmp_path: Path) -> None:
    class Lowers(Told):
        kit: Kit

        async def run(self, action: Any, **more: Any) -> Any:
            if action.command == CHECK:
                await self.kit.say("set signals.autonomy to propose", settle=False)
                while self.kit.core.settings.text("signals.autonomy") != "propose":  # noqa: ASYNC110 - of a turn
                    await asyncio.sleep(0)
            return await super().run(action, **more)

    async with healing(tmp_path, executor=lambda inventory: Lowers(inventory, says=SAYS)) as kit:
        executor(kit).kit = kit  # type: ignore[attr-defined] # this one has it
        await Sender(kit).send(DOWN)
        await at_rest(kit)
        assert ran(kit) == [CHECK]
        assert "waits because of: signals.autonomy propose" in "\n".join(texts(kit))


async def test_a_rule_that_names_what_is_gone_does_nothing(tmp_path: Path) -> None:
    rule = SignalRule(labels={"alertname": "CaddyDown"}, runbook="gone")
    async with acting(tmp_path, rules=[rule]) as kit:
        await Sender(kit).send(DOWN)
        assert "your rule, which names gone" in cards(kit)[0]
        assert ran(kit) == []
