"""What every ChatPort must do, whatever the platform. Adapters are found by name; each brings a stage."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.ports import (
    BusyError,
    Button,
    ButtonStyle,
    Inbound,
    InboundKind,
    Message,
    MessageRef,
    PlaceRef,
    RejectedError,
)
from bot.text import Text, block, code, muted, strong
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage import Stage, adapter_names, capabilities_of, lacks, opener

ADAPTERS = adapter_names()


#: Where an acknowledgement means all events before it too; elsewhere each is told by itself.
IN_ORDER = [name for name in ADAPTERS if capabilities_of(name).acks_in_order]


@pytest.fixture
def core() -> FakeCore:
    return FakeCore()


@pytest.fixture(params=ADAPTERS)
async def on(request: pytest.FixtureRequest, core: FakeCore, tmp_path: Path) -> AsyncIterator[Stage]:
    async with opener(request.param)(core, tmp_path) as stage:
        yield stage


def message(*lines: str, **more: object) -> Message:
    return replace(Message(body=Text.of(*lines)), **more)


def test_there_is_an_adapter() -> None:
    assert "console" in ADAPTERS


async def test_a_posted_message_is_read(on: Stage) -> None:
    ref = await on.port.post(on.place, message("web1 · df -h", "ok in 0.2 s"), nonce="n1")
    assert "web1 · df -h\nok in 0.2 s" in await on.reads("ok in 0.2 s")
    assert ref.place == on.place


async def test_an_edit_replaces_what_was_read(on: Stage) -> None:
    ref = await on.port.post(on.place, message("waits until 15:04"), nonce="n1")
    await on.reads("waits until 15:04")
    await on.port.edit(ref, message("approved by ana"))
    assert "waits" not in await on.reads("approved by ana")


async def test_a_repeated_nonce_shows_nothing_twice(on: Stage) -> None:
    await on.port.post(on.place, message("only once"), nonce="n1")
    await on.port.post(on.place, message("only once"), nonce="n1")
    await on.port.post(on.place, message("the end"), nonce="n2")
    assert (await on.reads("the end")).count("only once") == 1


async def test_a_note_reaches_the_person_it_is_for(on: Stage) -> None:
    await on.port.note(on.place, on.account, message("only you see this"))
    assert await on.reads("only you see this")


async def test_a_message_to_a_place_that_is_not_there_is_rejected(on: Stage) -> None:
    nowhere = PlaceRef(platform=on.place.platform, channel="no such place")
    with pytest.raises(RejectedError):
        await on.port.post(nowhere, message("lost"), nonce="n1")


async def test_words_arrive_as_they_were_said(on: Stage, core: FakeCore) -> None:
    await on.say("run df -h on web1", "e1")
    (heard,) = await core.heard_of(1)
    assert (heard.text, heard.kind) == ("run df -h on web1", InboundKind.MESSAGE)
    assert (heard.place, heard.account.key) == (on.place, on.account.key)
    assert not heard.account.is_bot
    assert heard.sent_at.utcoffset() is not None


async def test_a_press_arrives_with_its_token(on: Stage, core: FakeCore) -> None:
    buttons = (Button(label="Approve", token="a" * 32, style=ButtonStyle.GO), Button(label="Deny", token="b"))
    await on.port.post(on.place, message("go?", buttons=buttons), nonce="n1")
    await on.reads("Approve")
    assert on.tokens() == ("a" * 32, "b")
    await on.press("b", "e1")
    (heard,) = await core.heard_of(1)
    assert (heard.kind, heard.token, heard.text) == (InboundKind.CLICK, "b", "")


async def test_buttons_go_away_with_an_edit(on: Stage) -> None:
    ref = await on.port.post(on.place, message("go?", buttons=(Button(label="Yes", token="t"),)), nonce="n1")
    await on.reads("go?")
    await on.port.edit(ref, message("done"))
    await on.reads("done")
    assert on.tokens() == ()


async def test_nothing_is_acknowledged_before_it_is_stored(on: Stage, core: FakeCore) -> None:
    inner, entered, let = core.sink, asyncio.Event(), asyncio.Event()

    async def slow(inbound: Inbound):  # noqa: ANN202
        entered.set()
        await let.wait()
        return await inner(inbound)

    on.port._sink = slow
    await on.say("hello", "e1")
    await entered.wait()
    assert not on.was_acknowledged("e1")
    let.set()
    await on.acknowledged("e1")


async def test_what_cannot_be_stored_is_not_acknowledged(on: Stage, core: FakeCore) -> None:
    core.full = frozenset({"run reboot on web1"})
    await on.say("run reboot on web1", "e1")
    await on.say("hello", "e2")
    if on.port.capabilities.acks_in_order:
        await core.heard_of(1)  # only its acknowledgement waits behind what cannot be stored
    else:
        await on.acknowledged("e2")
    assert not on.was_acknowledged("e1")
    assert [heard.text for heard in core.heard] == ["hello"]


@pytest.mark.parametrize("on", IN_ORDER, indirect=True)
async def test_what_could_not_be_stored_comes_again_where_acknowledging_means_all_before(
    on: Stage, core: FakeCore
) -> None:
    core.full = frozenset({"run reboot on web1"})
    await on.say("run reboot on web1", "e1")
    await on.say("hello", "e2")
    await core.heard_of(1)
    core.full = frozenset()
    await on.acknowledged("e1")
    assert [heard.text for heard in core.heard] == ["hello", "run reboot on web1"]


async def test_an_event_sent_again_is_acknowledged_and_not_heard_twice(on: Stage, core: FakeCore) -> None:
    await on.say("hello", "e1")
    await on.acknowledged("e1")
    await on.say("hello", "e1")
    await on.say("bye", "e2")
    await on.acknowledged("e2")
    assert [heard.text for heard in core.heard] == ["hello", "bye"]


async def test_messages_of_a_place_arrive_in_order(on: Stage, core: FakeCore) -> None:
    for number in range(20):
        await on.say(f"line {number}", f"e{number}")
    assert [heard.text for heard in await core.heard_of(20)] == [f"line {number}" for number in range(20)]


async def test_nobody_waits_for_a_turn_to_say_the_next_thing(on: Stage, core: FakeCore) -> None:
    never = asyncio.Event()

    async def hang(inbound: Inbound) -> None:
        if inbound.text == "run sleep 1000 on web1":
            await never.wait()

    core.answer = hang
    await on.say("run sleep 1000 on web1", "e1")
    await on.say("stop", "e2")
    await on.acknowledged("e2")
    assert [heard.text for heard in core.heard] == ["run sleep 1000 on web1", "stop"]
    never.set()


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\x1b[31m", "\r", "\x00", "\U000e0041"])
async def test_hidden_characters_are_seen(on: Stage, hidden: str) -> None:
    shown = Text.of([code(f"rm{hidden} -rf"), muted(hidden)], block(f"a{hidden}b"), "end")
    await on.port.post(on.place, Message(body=shown), nonce="n1")
    screen = await on.reads("end")
    assert f"rm\\u{{{ord(hidden[0]):x}}}" in screen
    assert hidden[0] not in screen


async def test_markup_of_no_platform_is_interpreted(on: Stage) -> None:
    odd = "<b>*_`~ &amp; <@U1> @everyone [x](y) \\n {0} %s"
    await on.port.post(on.place, message(odd, "end"), nonce="n1")
    assert odd in await on.reads("end")


async def test_an_empty_message_can_be_posted(on: Stage) -> None:
    await on.port.post(on.place, Message(body=Text()), nonce="n1")
    await on.port.post(on.place, message("after"), nonce="n2")
    assert await on.reads("after")


async def test_a_long_message_is_shown_whole(on: Stage) -> None:
    text = "x" * (on.port.capabilities.max_chars - 10) + "the end"
    await on.port.post(on.place, message(text), nonce="n1")
    assert text in await on.reads("the end")


async def test_folded_output_and_attachments_can_be_read(on: Stage) -> None:
    shown = message("done", fold=Text.of(block("one\ntwo")), attachment=("out.txt", b"three\nfour\n"))
    await on.port.post(on.place, shown, nonce="n1")
    screen = await on.reads("four")
    assert "  one\n  two\n" in screen
    assert "out.txt" in screen


async def test_a_styled_line_reads_as_one_line(on: Stage) -> None:
    await on.port.post(on.place, Message(body=Text.of([strong("web1"), " · ", code("df -h")])), nonce="n1")
    assert await on.reads("web1 · df -h")


async def test_after_close_it_is_not_healthy_and_hears_nothing(on: Stage, core: FakeCore) -> None:
    assert (await on.port.health()).ok
    await on.port.close()
    async with asyncio.timeout(30):
        while (await on.port.health()).ok:  # noqa: ASYNC110  # health is all that a port tells
            await asyncio.sleep(0.001)
    health = await on.port.health()
    assert health.detail
    with pytest.raises(RejectedError):
        await on.port.post(on.place, message("too late"), nonce="n1")


@pytest.mark.parametrize("on", [name for name in ADAPTERS if "after close" not in lacks(name)], indirect=True)
async def test_what_cannot_be_shown_after_close_is_for_the_next_process(on: Stage) -> None:
    await on.port.close()
    with pytest.raises(BusyError):
        await on.port.post(on.place, message("too late"), nonce="n1")
    with pytest.raises(BusyError):
        await on.port.edit(MessageRef(place=on.place, message="1"), message("too late"))
