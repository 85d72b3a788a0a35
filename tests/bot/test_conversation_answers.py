"""Answers about the past, and about what depends on something, as the conversation gives them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot import answering, deadlines
from bot.core import Core
from bot.inventory import ServiceConfig
from gate.domain import PendingApproval
from ledger.views import ProposalView
from tests.bot.test_digest import Ends
from tests.kit import ScriptedClock, ScriptedPort, conversation, local_inventory


async def test_a_history_that_stops_at_its_limit_says_so(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        for number in range(4):
            await kit.say(f"run echo {number} on local")
        assert "3 of 4 shown, newest first;   history last 9  shows more" in await kit.say("history last 3")
        assert "shown" not in await kit.say("history last 9")


async def test_what_depends_on_a_service_needs_no_target(tmp_path: Path) -> None:
    services = {
        "caddy": ServiceConfig(on=("web1", "web2")),
        "blog": ServiceConfig(depends_on=("caddy",)),
    }
    inventory = local_inventory(services)
    async with conversation(tmp_path, executor=Ends, inventory=inventory) as kit:
        assert await kit.say("what depends on caddy?") == "caddy → blog"
        assert await kit.say("what depends on caddy on web2?") == "caddy → blog"


async def test_what_ended_while_it_was_asked_about_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, views = ScriptedClock(), answering._views
    async with conversation(tmp_path, executor=Ends, clock=clock) as kit:
        await kit.say("run systemctl restart caddy on web1")
        await kit.say("run systemctl restart caddy on web2")

        def late(core: Core, approvals: Sequence[PendingApproval]) -> list[ProposalView]:
            if not deadlines.close_due(core):
                clock.advance(3600)
                deadlines.close_due(core)
            return views(core, approvals)

        monkeypatch.setattr(answering, "_views", late)
        shown = await kit.say("yes")
        assert "Which one" not in shown
        assert "turn:crashed" not in kit.kinds()
        assert "action:started" not in kit.kinds()


async def test_a_question_with_more_choices_than_buttons_fit_is_shown(tmp_path: Path) -> None:
    port = ScriptedPort(max_buttons=3)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        for number in range(5):
            await kit.say(f"run systemctl restart caddy{number} on web1")
        shown = await kit.say("yes")
        assert shown.count("restart caddy") == 5
        assert len(kit.card.message.buttons) == 3
