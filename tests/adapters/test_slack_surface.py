"""The stage for whole conversations does what its people do, and shows what they would see."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.ports import Button, Form, InboundKind, Message
from bot.text import Text, block
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_slack import SlackSurface, serving, surface


@pytest.fixture
def core() -> FakeCore:
    return FakeCore()


@pytest.fixture
async def on(core: FakeCore, tmp_path: Path) -> AsyncIterator[SlackSurface]:
    async with surface(tmp_path) as opened, serving(opened.port, core):
        yield opened


@pytest.mark.parametrize("place", ["ops", "lab", "dm-bo"])
async def test_what_is_said_is_heard_in_its_place(on: SlackSurface, core: FakeCore, place: str) -> None:
    ts = await on.say("uptime", by="bo", place=place)
    await on.edit(ts, "df", by="bo", place=place)
    said, edited = await core.heard_of(2)
    assert (said.text, said.place, said.account.key) == ("uptime", on.place(place), on.account("bo").key)
    assert (said.addressed, said.forwarded, said.account.is_bot) == (True, False, False)
    assert (edited.kind, edited.text) == (InboundKind.EDIT, "df")


async def test_who_is_meant_and_who_speaks(on: SlackSurface, core: FakeCore) -> None:
    await on.say("lunch?", addressed=False)
    await on.say("yes", forwarded=True)
    await on.say("yes", is_bot=True)
    heard = await core.heard_of(3)
    assert [(one.addressed, one.forwarded, one.account.is_bot) for one in heard] == [
        (False, False, False),
        (False, True, False),
        (True, False, True),
    ]


async def test_a_card_is_seen_pressed_and_filled_in(on: SlackSurface, core: FakeCore) -> None:
    core.forms["t"] = Form(token="f", title="Phrase", label="Type it")
    button = Button(label="Type", token="t")
    card = Message(body=Text.of("▲ pve1", block("pct destroy 112")), buttons=(button,))
    ref = await on.port.post(on.place("ops"), card, nonce="n")
    (seen,) = on.screen()
    assert (seen.text, seen.labels, seen.edits) == ("▲ pve1\n  pct destroy 112", ("Type",), 0)
    await on.port.edit(ref, Message(body=Text.of("expired")))
    await on.press(seen.id, "Type", by="bo")
    await on.fill("destroy ct-112", by="bo")
    press, form = await core.heard_of(2)
    assert (press.kind, press.token, press.place) == (InboundKind.CLICK, "t", on.place("ops"))
    assert (form.kind, form.text, form.account) == (InboundKind.FORM, "destroy ct-112", on.account("bo"))
    (now,) = on.screen()
    assert (now.text, now.labels, now.edits) == ("expired", (), 1)


async def test_a_note_is_seen_by_whom_it_is_for(on: SlackSurface) -> None:
    await on.port.note(on.place("ops"), on.account("bo"), Message(body=Text.of("ask ana")))
    assert [one.text for one in on.screen(by="ana")] == []
    assert [(one.text, one.private) for one in on.screen(by="bo")] == [("ask ana", "bo")]


async def test_a_reply_in_a_direct_message_refers_to_what_it_answers(
    on: SlackSurface, core: FakeCore
) -> None:
    ref = await on.port.post(on.place("dm-ana"), Message(body=Text.of("go?")), nonce="n")
    await on.say("yes", place="dm-ana", reply_to=ref.message)
    assert (await core.heard_of(1))[0].reply_to == ref
