"""Forms: a press of Deny stops at once, and its form, a reply or the next words bring the reason."""

from pathlib import Path

import pytest

from tests.bot.filling import RESTART, asking, ran, reasons, view_of, with_forms
from tests.bot.test_digest import Ends
from tests.kit import ScriptedPort, conversation, person


async def test_a_press_of_deny_stops_at_once_and_the_form_brings_the_reason(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        form = await kit.form(kit.card, "Deny")
        assert kit.states() == ["cancelled"]
        assert reasons(kit) == []
        assert f"Noted with #{kit.newest_id()}" in await kit.fill(form, "the backup is running")
        assert reasons(kit) == ["given"]
        assert "No reason is owed" in await kit.fill(form, "once more")
        assert reasons(kit) == ["given"]
        approval = view_of(kit).actions[0].approval
        assert approval is not None
        assert approval.why == "the backup is running"


async def test_an_empty_reason_is_none_and_keeps_nothing_open(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        form = await kit.form(kit.card, "Deny")
        assert await kit.fill(form, "  ") == ""
        assert kit.states() == ["cancelled"]
        kit.clock.advance(901)
        await kit.look()
        assert reasons(kit) == ["not_given"]


async def test_only_who_refused_owes_the_reason(tmp_path: Path) -> None:
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people, executor=Ends, port=with_forms()) as kit:
        await kit.say(RESTART)
        form = await kit.form(kit.card, "Deny")
        assert "No reason is owed" in await kit.fill(form, "not mine", by="bo")
        assert reasons(kit) == []


async def test_a_reply_to_the_message_that_asks_is_the_reason(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, port=ScriptedPort(replies=True)) as kit:
        await kit.say(RESTART)
        await kit.press(kit.card, "Deny")
        asks = asking(kit, "Why?")
        assert asks.message.asks == "why"
        # Words that would be a request anywhere else are a reason in reply to the question.
        shown = await kit.say("disk space on web1?", reply_to=asks)
        assert f"Noted with #{kit.newest_id()}" in shown
        assert reasons(kit) == ["given"]


async def test_the_next_words_after_a_press_of_deny_are_the_reason(tmp_path: Path) -> None:
    """Although they name a diagnostic, and although a press leaves the window of its card open."""
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        await kit.press(kit.card, "Deny")
        assert f"Noted with #{kit.newest_id()}" in await kit.say("the backup is running")
        assert reasons(kit) == ["given"]
        assert ran(kit) == []


@pytest.mark.parametrize("words", ["stop", "auto off", "never auto web1"])
async def test_what_tightens_acts_in_reply_to_a_question_too(tmp_path: Path, words: str) -> None:
    async with conversation(tmp_path, executor=Ends, port=ScriptedPort(replies=True)) as kit:
        await kit.say(RESTART)
        await kit.press(kit.card, "Deny")
        await kit.say(words, reply_to=asking(kit, "Why?"))
        switches = kit.core.switches()
        assert switches.stopped or switches.auto_off or switches.never_auto_act == ("web1",)
        assert reasons(kit) == []
