"""The surface that whole conversations use shows what a person sees, and sends what they do."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.ports import Button, Form, InboundKind, Message
from bot.text import Text
from tests.adapters.console_fakes import FakeCore, listening
from tests.adapters.stage_discord import DiscordSurface, surface

CARD = Message(
    body=Text.of("go?"), buttons=(Button(label="Approve", token="yes"), Button(label="Deny", token="no"))
)


@pytest.fixture
def core() -> FakeCore:
    return FakeCore(forms={"no": Form(token="reason", title="Why not?", label="Reason")})


@pytest.fixture
async def on(core: FakeCore, tmp_path: Path) -> AsyncIterator[DiscordSurface]:
    async with surface(tmp_path) as made:
        running = asyncio.create_task(made.port.listen(core.sink))
        await listening(made.port)
        yield made
        await made.port.close()
        await asyncio.wait_for(running, 30)


async def test_words_reach_the_bot_addressed_to_it(on: DiscordSurface, core: FakeCore) -> None:
    said = await on.say("hello")
    await on.say("lunch?", by="bo", addressed=False)
    await on.say("hi", by="bo", place="dm-bo")
    await on.edit(said, "hello again")
    heard = {event.text: event for event in await core.heard_of(4)}
    assert [heard[text].addressed for text in ("hello", "lunch?", "hi")] == [True, False, True]
    assert heard["hello"].account == on.account("ana")
    assert heard["hello again"].kind is InboundKind.EDIT
    assert heard["hi"].place == on.place("dm-bo")


async def test_replies_forwards_and_bots(on: DiscordSurface, core: FakeCore) -> None:
    ref = await on.port.post(on.place("ops"), CARD, nonce="n1")
    await on.say("yes", reply_to=ref.message)
    await on.say("yes", forwarded=True)
    await on.say("yes", by="robot", is_bot=True)
    reply, forward, robot = await core.heard_of(3)
    assert reply.reply_to == ref
    assert forward.forwarded
    assert robot.account.is_bot


async def test_a_card_is_pressed_as_it_was_read_last(on: DiscordSurface, core: FakeCore) -> None:
    ref = await on.port.post(on.place("ops"), CARD, nonce="n1")
    (shown,) = on.screen()
    assert (shown.text, shown.labels, shown.edits) == ("go?", ("Approve", "Deny"), 0)
    await on.port.edit(ref, Message(body=Text.of("expired")))
    await on.press(shown.id, "Approve")
    assert [event.token for event in await core.heard_of(1)] == ["yes"]
    (shown,) = on.screen(by="bo")
    assert (shown.text, shown.labels, shown.edits) == ("expired", (), 1)


async def test_a_form_is_filled_in_by_who_was_asked(on: DiscordSurface, core: FakeCore) -> None:
    ref = await on.port.post(on.place("ops"), CARD, nonce="n1")
    await on.press(ref.message, "Deny", by="bo")
    await on.fill("too risky", by="bo")
    _press, form = await core.heard_of(2)
    assert (form.kind, form.token, form.text, form.account) == (
        InboundKind.FORM, "reason", "too risky", on.account("bo"),
    )  # fmt: skip


async def test_where_no_form_is_open_the_newest_message_is_answered(
    on: DiscordSurface, core: FakeCore
) -> None:
    ref = await on.port.post(on.place("ops"), Message(body=Text.of("Why?"), asks="too risky"), nonce="n1")
    await on.fill("too risky")
    (event,) = await core.heard_of(1)
    assert (event.text, event.reply_to) == ("too risky", ref)


async def test_what_is_private_is_on_one_screen_only(on: DiscordSurface, core: FakeCore) -> None:
    ref = await on.port.post(on.place("ops"), CARD, nonce="n1")
    await on.press(ref.message, "Approve", by="bo")
    await core.heard_of(1)
    await on.port.note(on.place("ops"), on.account("bo"), Message(body=Text.of("not yours to approve")))
    assert [one.private for one in on.screen(by="bo")] == ["", "bo"]
    assert [one.text for one in on.screen()] == ["go?"]
