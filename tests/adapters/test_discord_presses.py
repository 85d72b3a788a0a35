"""Buttons on Discord: each press is stored, and answered exactly once and in time, whatever goes wrong."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.ports import Inbound, InboundKind, Message, MessageRef, Receipt
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.adapters.discord_room import AT_ONCE, CARD, SAID, TAKEN, Room, hold
from tests.adapters.stage_discord import account_of, place_of, playing, port_on
from tests.simulators.discord.rest import Fault
from tests.simulators.discord.simulator import buttons, discord


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    core = FakeCore()
    async with discord() as simulated:
        made = Room(simulated, port_on(simulated), core)
        async with playing(made.port, core):
            yield made


@pytest.fixture
async def hasty() -> AsyncIterator[Room]:
    core = FakeCore()
    async with discord() as simulated:
        made = Room(simulated, port_on(simulated, pace=AT_ONCE), core)
        async with playing(made.port, core):
            yield made


async def test_a_press_says_who_pressed_what_where(room: Room) -> None:
    pressed = await room.press(await room.card(), user=room.bo)
    (event,) = await room.core.heard_of(1)
    assert (event.kind, event.token, event.event_id) == (InboundKind.CLICK, "yes", f"c:{pressed.id}")
    assert (event.place, event.account) == (room.place, account_of(room.bo))
    assert await room.answer(pressed) == {"type": TAKEN}


async def test_a_press_in_a_thread_and_in_a_direct_conversation_is_in_its_place(room: Room) -> None:
    thread = await room.discord.start_thread(room.ops, "incident")
    direct = room.discord.world.direct("ana")
    for number, channel in enumerate((thread, direct), start=1):
        ref = await room.port.post(place_of(channel), CARD, nonce=f"n{number}")
        card = channel.messages[int(ref.message)]
        await room.discord.press(room.ana, channel, card, buttons(card)[0]["custom_id"])
        assert (await room.core.heard_of(number))[-1].place == place_of(channel)


async def test_a_press_in_a_thread_that_nobody_told_of_is_in_its_place(room: Room) -> None:
    thread = await room.discord.start_thread(room.ops, "old", told=False)
    await room.discord.press(room.ana, thread, await room.card(), "s1:yes")
    assert (await room.core.heard_of(1))[0].place == place_of(thread)


async def test_exactly_one_answer_is_given(room: Room) -> None:
    """Report 43: not the library and we both."""
    card = await room.card()
    for pressed in [await room.press(card) for _ in range(3)]:
        await room.answer(pressed)
    assert room.callbacks() == 3


async def test_two_presses_at_once_both_reach_the_core_and_both_are_answered(room: Room) -> None:
    """Reports 22 and 23: who was first is the core's to say, to both of them."""
    card = await room.card()
    both = [await room.press(card), await room.press(card, "Deny", room.bo)]
    for one in both:
        await room.answer(one)
    assert {event.token for event in room.core.heard} == {"yes", "no"}


async def test_a_press_that_comes_twice_is_heard_once(room: Room) -> None:
    """Report 22."""
    card = await room.card()
    pressed = await room.press(card)
    await room.answer(pressed)
    await room.discord.press(room.ana, room.ops, card, buttons(card)[0]["custom_id"], again=pressed)
    await room.discord.until(lambda: room.callbacks() == 2)
    assert len(room.core.heard) == 1
    assert (await room.port.health()).ok


async def test_a_card_from_before_a_restart_still_works() -> None:
    """Reports 24 and 42: nothing about a card is in memory, and the first press counts."""
    core = FakeCore()
    async with discord() as simulated:
        before = Room(simulated, port_on(simulated), core)
        async with playing(before.port, core):
            card = await before.card()
        after = Room(simulated, port_on(simulated), core)
        async with playing(after.port, core):
            pressed = await after.press(card)
            (event,) = await core.heard_of(1)
            assert event.token == "yes"
            assert await after.answer(pressed) == {"type": TAKEN}


async def test_a_press_is_stored_before_it_is_answered(room: Room) -> None:
    entered, let = hold(room)
    pressed = await room.press(await room.card())
    await entered.wait()
    assert room.callbacks() == 0
    let.set()
    await room.answer(pressed)


async def test_a_slow_core_does_not_cost_the_answer(hasty: Room) -> None:
    """Reports 5 and 44: the press is answered when its time is over, and counts when it is stored."""
    entered, let = hold(hasty)
    pressed = await hasty.press(await hasty.card())
    await entered.wait()
    assert await hasty.answer(pressed) == {"type": TAKEN}
    assert not hasty.core.heard
    let.set()
    (event,) = await hasty.core.heard_of(1)
    assert event.token == "yes"


async def test_a_press_is_not_queued_behind_what_hangs(room: Room) -> None:
    """Reports 27, 28 and 52: the lane of a place may wait, a press never does."""
    entered, let = hold(room)
    await room.discord.say(room.ana, room.ops, "run sleep 1000 on web1")
    await entered.wait()
    room.port._sink = room.core.sink
    await room.answer(await room.press(await room.card()))
    assert [event.token for event in room.core.heard] == ["yes"]
    let.set()


async def test_what_is_to_be_sent_gives_way_to_a_press(room: Room) -> None:
    """Report 41, the other way round: a burst of output costs no press its three seconds."""
    card = await room.card()
    entered, let = hold(room)
    pressed = await room.press(card)
    await entered.wait()
    posting = asyncio.create_task(room.card("n2"))
    assert await room.port.find(room.place, nonce="n3") is None  # a whole request there and back
    assert len(room.ops.messages) == 1
    let.set()
    await room.answer(pressed)
    await posting
    assert [call.path.endswith("/callback") for call in room.discord.rest.calls[-2:]] == [True, False]


async def test_nobody_waits_for_a_turn_to_answer_a_press(room: Room) -> None:
    never = asyncio.Event()

    async def hang(_inbound: Inbound) -> None:
        await never.wait()

    room.core.answer = hang
    await room.answer(await room.press(await room.card()))
    never.set()


async def test_an_answer_that_comes_too_late_undoes_nothing(room: Room) -> None:
    """Report 44: 10062; the decision counts, and the card is edited with the bot's token."""
    card = await room.card()
    entered, let = hold(room)
    pressed = await room.press(card)
    await entered.wait()
    pressed.expired = True
    let.set()
    (event,) = await room.core.heard_of(1)
    assert event.token == "yes"
    ref = MessageRef(place=room.place, message=card["id"])
    await room.port.edit(ref, Message(body=Text.of("✓ approved by ana")))
    assert (card["content"], card["components"]) == ("✓ approved by ana", [])
    assert (await room.port.health()).ok


async def test_another_process_that_answers_first_is_reported(room: Room) -> None:
    """Report 40: 40060; it is told, not fought."""
    entered, let = hold(room)
    pressed = await room.press(await room.card())
    await entered.wait()
    pressed.answers.append({"type": TAKEN})
    let.set()
    await room.core.heard_of(1)
    await room.discord.until(lambda: room.callbacks() == 1)
    async with asyncio.timeout(30):
        while (health := await room.port.health()).ok:  # noqa: ASYNC110  # health is all that a port tells
            await asyncio.sleep(0.001)
    assert "Another process uses this Discord token (this one runs on box)" in health.detail


@pytest.mark.parametrize("reset", ["before", "after"])
async def test_a_connection_that_breaks_while_answering_undoes_nothing(room: Room, reset: str) -> None:
    room.discord.rest.fail(r"POST /interactions/.*", Fault(reset=reset))
    await room.press(await room.card())
    await room.core.heard_of(1)
    second = await room.press(await room.card("n2"), "Deny")
    await room.answer(second)
    assert {event.token for event in room.core.heard} == {"yes", "no"}


async def test_a_press_that_was_not_stored_says_so_to_who_pressed(room: Room) -> None:
    async def full(_inbound: Inbound) -> Receipt:
        room.core.full = frozenset({""})
        return await room.core.sink(_inbound)

    room.port._sink = full
    answer = await room.answer(await room.press(await room.card()))
    assert (answer["type"], answer["data"]["flags"]) == (SAID, 64)
    assert answer["data"]["content"] == "Not stored, so nothing was done."


async def test_a_press_that_was_answered_and_then_not_stored_says_so_too(hasty: Room) -> None:
    hasty.core.full = frozenset({""})
    entered, let = hold(hasty)
    await hasty.answer(await hasty.press(await hasty.card()))
    await entered.wait()
    let.set()
    await hasty.discord.until(lambda: bool(hasty.private()))
    assert hasty.private() == [(hasty.ana.id, "Not stored, so nothing was done.")]


async def test_a_core_that_breaks_leaves_no_press_without_an_answer(room: Room) -> None:
    async def broken(_inbound: Inbound) -> Receipt:
        raise ValueError("oh")

    room.port._sink = broken
    answer = await room.answer(await room.press(await room.card()))
    assert "something broke" in answer["data"]["content"]


@pytest.mark.parametrize("custom_id", ["other:1", "s1:", "s9:yes", "f1:yes"])
async def test_a_button_that_is_none_of_ours_is_answered_and_not_heard(room: Room, custom_id: str) -> None:
    answer = await room.answer(await room.discord.press(room.ana, room.ops, await room.card(), custom_id))
    assert (answer["type"], answer["data"]["flags"]) == (SAID, 64)
    assert answer["data"]["content"] == "That button belongs to nothing here."
    assert not room.core.heard
