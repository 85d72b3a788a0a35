"""Presses: wrong ones are answered privately, and a choice takes those that were offered."""

from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from bot import asking as choosing
from bot import tokens
from bot.answering import Speaker
from bot.outcome import text_of
from bot.planning.drafts import Option, Question
from bot.ports import InboundKind
from tests.bot.filling import LITTLE, RESTART, labels, ran
from tests.bot.test_digest import Ends
from tests.kit import conversation, person

# ---------------------------------------------------------------- private answers


async def test_wrong_presses_are_answered_privately(tmp_path: Path) -> None:
    people = (person("ana"), person("bo", LITTLE))
    async with conversation(tmp_path, operators=people, executor=Ends) as kit:
        await kit.say(RESTART)
        card, proposal = replace(kit.card), kit.newest_id()
        await kit.press(card, "Approve", by="mallory")
        assert kit.port.notes.pop() == ("mallory", "Only operators decide here. Nothing ran.")
        await kit.press(card, "Approve", by="bo")
        who, words = kit.port.notes.pop()
        assert who == "bo"
        assert "bo may not approve" in words
        await kit.press(card, "Approve")
        assert kit.port.notes == []
        kit.clock.advance(60)
        await kit.press(card, "Deny", by="bo")
        assert kit.port.notes.pop() == ("bo", f"#{proposal} was already approved by ana at 14:00.")
        unknown = replace(kit.inbound("", by="bo"), kind=InboundKind.CLICK, token="a.k99999.0123456789abcdef")
        await kit.send(unknown)
        assert kit.port.notes.pop() == (
            "bo",
            "That button belongs to nothing here. pending lists what waits.",
        )
        assert ran(kit) == ["systemctl restart caddy"]


async def test_a_bots_press_is_not_answered(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        pressed = kit.inbound("")
        pressed = replace(
            pressed,
            kind=InboundKind.CLICK,
            token=kit.card.token("Approve"),
            account=replace(pressed.account, is_bot=True),
        )
        assert await kit.send(pressed) == ""
        assert kit.states() == ["waiting"]


# ---------------------------------------------------------------- choices

UNCLEAR = "tail the error log of caddy on web1 and restart it if it flaps"


async def test_a_choice_is_dropped_by_its_button(tmp_path: Path) -> None:
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people, executor=Ends) as kit:
        await kit.say(UNCLEAR)
        card, first = kit.card, kit.card.message.buttons[0].label
        before = replace(card)  # as it looks on a screen that was not told yet
        assert labels(kit)[-1] == "Cancel"
        await kit.press(card, "Cancel", by="bo")
        assert kit.port.notes.pop() == ("bo", "That question is ana's.")
        await kit.press(card, first, by="bo")
        assert kit.port.notes.pop() == (
            "bo",
            "That question is ana's. Ask it anew to choose yourself.",
        )
        assert "Dropped. Nothing ran." in await kit.press(card, "Cancel")
        assert kit.kinds().count("clarification:cancelled") == 1
        assert card.message.buttons == ()
        for label in ("Cancel", first):
            await kit.press(before, label)
            assert "That choice is not open any more." in kit.port.notes.pop()[1]
        assert ran(kit) == []


async def test_a_pressed_option_must_be_one_that_was_offered(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(UNCLEAR)
        real = kit.card.message.buttons[2].token
        name = tokens.parse(real)
        assert name is not None
        clarification = name.subject.partition(":")[0]
        for subject in (f"{clarification}:99", f"{clarification}:x", f"{clarification}:1"):
            forged = tokens.make(kit.core.token_key, choice=tokens.PICK, subject=subject, shown="another")
            await kit.send(replace(kit.inbound(""), kind=InboundKind.CLICK, token=forged))
            assert kit.port.notes.pop()[1] == "That button belongs to nothing here. Nothing ran."
        await kit.send(replace(kit.inbound(""), kind=InboundKind.CLICK, token=real))
        assert kit.states() == ["waiting"]


@pytest.mark.parametrize(("count", "buttons"), [(24, 25), (25, 1), (40, 1)])
async def test_more_options_than_buttons_fit_are_numbered_only(
    tmp_path: Path, count: int, buttons: int
) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        inbound = kit.inbound("run uptime")
        outcome = kit.app.conversation._turns.nothing(inbound)
        operator = kit.core.find(inbound.account.key)
        assert operator is not None
        speaker = Speaker(operator=operator, said=inbound.text, event=inbound.event_id, zone=UTC)
        options = tuple(
            Option(label=f"host{number}", request=f"`uptime` on host{number}")
            for number in range(1, count + 1)
        )
        choosing._clarify(kit.core, outcome, speaker, Question(text="On which?", options=options))
        (effect,) = outcome.effects
        shown, made = text_of(effect.body["text"]).plain(), effect.body["buttons"]
        assert isinstance(made, list)
        assert len(made) == buttons
        assert f"{count}  host{count}" in shown
        assert ("Press one, or say its number or name." in shown) == (buttons > 1)
        assert "number or name." in shown
