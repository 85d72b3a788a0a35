"""What a model offers and starts: acts that a press makes, diagnostics, runbooks."""

from pathlib import Path

import pytest

from bot.planning.model.thinking import Call
from ledger.kinds import Kind
from tests.bot.planning.planned import UNREAD, ends
from tests.kit import conversation, person
from tests.simulators.model.double import Scripted, call, calls, read, says

# ---------------------------------------------------------------- offers


async def test_a_reminder_is_made_only_once_its_button_is_pressed(tmp_path: Path) -> None:
    wanted = calls(call("remind", text="check caddy", when="tomorrow at 9"))
    model = Scripted([wanted, says("I offered a reminder.")])
    async with conversation(tmp_path, operators=(person("ana"), person("bo")), thinker=model) as kit:
        shown = await kit.say(UNREAD)
        assert "remind me tomorrow at 9 to check caddy" in shown
        assert Kind.JOB_MADE not in kit.kinds()
        await kit.press(kit.card, "Set the reminder", by="bo")
        assert Kind.JOB_MADE not in kit.kinds()
        assert "✓ Reminder" in await kit.press(kit.card, "Set the reminder")
        assert kit.kinds().count(Kind.JOB_MADE) == 1


@pytest.mark.parametrize(
    ("wanted", "label", "kind"),
    [
        (call("remember", text="the shop sync is on Friday at 14:00"), "Remember it", Kind.BELIEF_STORED),
        (
            call("schedule", target="local", command="uptime", when="every weekday at 9"),
            "Schedule it",
            Kind.JOB_MADE,
        ),
        (call("send", to="ops", text="caddy is well"), "Send it", Kind.COMMITMENT_COMMITTED),
    ],
)
async def test_every_other_act_is_offered_too(tmp_path: Path, wanted: Call, label: str, kind: Kind) -> None:
    model = Scripted([calls(wanted), says("Offered.")])
    places = {"ops": "script::ops", "security": "script::security"}
    async with conversation(tmp_path, thinker=model, places=places) as kit:
        await kit.say(UNREAD)
        assert kind not in kit.kinds()
        await kit.press(kit.card, label)
        assert kind in kit.kinds()


async def test_an_offer_that_nobody_understands_goes_back(tmp_path: Path) -> None:
    model = Scripted([calls(call("send", to="nowhere at all", text="x")), says("ok")])
    async with conversation(tmp_path, thinker=model) as kit:
        await kit.say(UNREAD)
        assert Kind.CLARIFICATION_ASKED not in kit.kinds()
    assert "No place has a name here" in read(model.thoughts[1])


# ---------------------------------------------------------------- diagnostics and runbooks


async def test_a_diagnostic_runs_as_its_commands(tmp_path: Path) -> None:
    wanted = calls(call("start_runbook", runbook="uptime", target="local", purpose="see the load"))
    model = Scripted([wanted, says("ok")])
    async with conversation(tmp_path, thinker=model) as kit:
        assert "ran at once" in await kit.say(UNREAD)
        view = kit.core.queries.proposals(since=kit.clock.now().replace(hour=0), limit=1)[0]
        assert view.source == "model"
        assert view.actions[0].action.runbook
    assert "load average" in read(model.thoughts[1])


async def test_a_runbook_runs_step_by_step_and_its_end_comes_back(tmp_path: Path) -> None:
    wanted = calls(call("start_runbook", runbook="high-load", target="local", purpose="find the load"))
    model = Scripted([wanted, says("Nothing is wrong.")])
    async with conversation(tmp_path, thinker=model) as kit:
        await kit.say(UNREAD)
        run = kit.core.queries.runs()[0]
        assert run.source == "model"
        assert run.is_over
        assert ends(kit) == ["answered"]
    assert f"run #{run.id}" in read(model.thoughts[1])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"runbook": "no-such", "purpose": "x"}, "there is no runbook of that id"),
        ({"runbook": "high-load", "purpose": "x", "inputs": "all"}, "inputs has to be an object"),
        ({"runbook": "high-load", "purpose": "x", "inputs": {"no": "1"}}, "has no input no"),
        ({"runbook": "high-load", "purpose": "x", "target": "@web"}, "exactly one target"),
        ({"runbook": "tail-file", "purpose": "x", "target": "local"}, "path"),
    ],
)
async def test_a_runbook_that_cannot_begin_goes_back(
    tmp_path: Path, args: dict[str, object], words: str
) -> None:
    model = Scripted([calls(call("start_runbook", **args)), says("ok")])
    async with conversation(tmp_path, thinker=model) as kit:
        await kit.say(UNREAD)
    assert words in read(model.thoughts[1])
