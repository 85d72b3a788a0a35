"""Whole conversations on the surface that transcripts use: several people, groups, private answers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.ports import Button, Inbound, InboundKind, Message
from bot.text import Text
from tests.adapters.console_fakes import FakeCore, listening
from tests.adapters.stage_telegram import TelegramSurface, surface


@pytest.fixture
def core() -> FakeCore:
    return FakeCore()


@pytest.fixture
async def on(core: FakeCore, tmp_path: Path) -> AsyncIterator[TelegramSurface]:
    async with surface(tmp_path) as opened:
        running = asyncio.create_task(opened.port.listen(core.sink))
        await listening(opened.port)
        yield opened
        await opened.port.close()
        await asyncio.wait_for(running, 30)


def card(*labels: str) -> Message:
    return Message(body=Text.of("go?"), buttons=tuple(Button(label=one, token=one) for one in labels))


async def test_people_speak_in_places(on: TelegramSurface, core: FakeCore) -> None:
    await on.say("run uptime", by="ana")
    await on.say("hm", by="bo", place="elsewhere", addressed=False)
    await on.say("yes", by="ana", forwarded=True)
    await on.say("yes", by="ana", is_bot=True)
    heard = {one.text: one for one in (await core.heard_of(4))[:3]}
    assert heard["run uptime"].account == on.account("ana")
    assert heard["run uptime"].place == on.place("ops")
    assert heard["run uptime"].addressed
    assert (heard["hm"].place, heard["hm"].addressed) == (on.place("elsewhere"), False)
    assert heard["yes"].forwarded
    assert core.heard[3].account.is_bot


async def test_what_was_said_can_be_changed(on: TelegramSurface, core: FakeCore) -> None:
    said = await on.say("no")
    await on.edit(said, "yes")
    first, second = await core.heard_of(2)
    assert (first.kind, second.kind, second.text) == (InboundKind.MESSAGE, InboundKind.EDIT, "yes")


async def test_a_button_is_pressed_as_it_was_read(on: TelegramSurface, core: FakeCore) -> None:
    ref = await on.port.post(on.place("ops"), card("Approve", "Deny"), nonce="n")
    (shown,) = on.screen(by="bo")
    assert (shown.text, shown.labels, shown.private) == ("go?", ("Approve", "Deny"), "")
    await on.port.edit(ref, Message(body=Text.of("expired")))
    await on.press(shown.id, "Approve", by="bo")
    (heard,) = await core.heard_of(1)
    assert (heard.token, heard.account) == ("Approve", on.account("bo"))
    (shown,) = on.screen(by="bo")
    assert (shown.text, shown.labels, shown.edits) == ("expired", (), 1)


async def test_a_question_is_answered_and_a_private_answer_is_private(
    on: TelegramSurface, core: FakeCore
) -> None:
    ref = await on.port.post(on.place("ops"), Message(body=Text.of("Type it."), asks="destroy"), nonce="n")
    await on.fill("destroy ct-112", by="ana")
    (heard,) = await core.heard_of(1)
    assert (heard.text, heard.reply_to, heard.addressed) == ("destroy ct-112", ref, True)
    told = asyncio.Event()

    async def refuse(inbound: Inbound) -> None:
        await on.port.note(inbound.place, inbound.account, Message(body=Text.of("not yours")))
        told.set()

    core.answer = refuse
    asked = await on.port.post(on.place("ops"), card("Approve"), nonce="n2")
    await on.press(asked.message, "Approve", by="bo")
    await asyncio.wait_for(told.wait(), 30)
    assert [(one.text, one.private) for one in on.screen(by="bo")][-1] == ("not yours", "bo")
    assert "not yours" not in [one.text for one in on.screen(by="ana")]


async def test_a_reply_needs_no_name(on: TelegramSurface, core: FakeCore) -> None:
    ref = await on.port.post(on.place("ops"), card("Approve"), nonce="n")
    await on.say("yes", reply_to=ref.message)
    (heard,) = await core.heard_of(1)
    assert (heard.text, heard.reply_to, heard.addressed) == ("yes", ref, True)
