"""Buttons and forms on Discord: each is stored, answered exactly once and in time, whatever goes wrong."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.discord.connection import Pace
from bot.ports import Account, Button, Form, Inbound, InboundKind, Message, MessageRef, Receipt
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_discord import account_of, place_of, playing, port_on
from tests.simulators.discord.rest import Fault
from tests.simulators.discord.simulator import Discord, buttons, discord
from tests.simulators.discord.world import BOT, Interaction

CARD = Message(
    body=Text.of("◔ web1 · restart caddy"),
    buttons=(Button(label="Approve", token="yes"), Button(label="Deny", token="no")),
)
FORM = Form(token="reason", title="Why not?", label="Reason", hint="in a few words")
TAKEN, SAID, OPENED = 6, 4, 9
#: The core is given no time at all before a press is answered without it.
AT_ONCE = Pace(ack_s=0.0, identify_pause_s=0.0, retry_s=0.01, slow_s=0.05)


class Room:
    """A channel with people, the bot, and a card."""

    def __init__(self, simulated: Discord, port: Any, core: FakeCore) -> None:
        self.discord, self.port, self.core = simulated, port, core
        self.ops = simulated.world.channel("ops")
        self.place = place_of(self.ops)
        self.ana = simulated.world.user("ana")
        self.bo = simulated.world.user("bo")

    async def card(self, nonce: str = "n1") -> dict[str, Any]:
        ref = await self.port.post(self.place, CARD, nonce=nonce)
        return self.ops.messages[int(ref.message)]

    async def press(self, card: dict[str, Any], label: str = "Approve", user: Any = None) -> Interaction:
        custom_id = next(one["custom_id"] for one in buttons(card) if one["label"] == label)
        return await self.discord.press(user or self.ana, self.ops, card, custom_id)

    async def answer(self, interaction: Interaction) -> dict[str, Any]:
        await self.discord.until(lambda: bool(interaction.answers))
        (only,) = interaction.answers
        return only

    def callbacks(self) -> int:
        """Return how often a first answer was tried."""
        return sum(call.path.endswith("/callback") for call in self.discord.rest.calls)

    def private(self) -> list[tuple[int, str]]:
        """Return what was shown to one person only, with whom."""
        return [(one["for"], one["content"]) for one in self.discord.world.ephemeral]


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


def hold(room: Room) -> tuple[asyncio.Event, asyncio.Event]:
    """Let the core take its time; return what tells that it began, and what lets it go on."""
    inner, entered, let = room.core.sink, asyncio.Event(), asyncio.Event()

    async def slow(inbound: Inbound) -> Receipt:
        entered.set()
        await let.wait()
        return await inner(inbound)

    room.port._sink = slow
    return entered, let


# ---------------------------------------------------------------- presses


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
    async with asyncio.timeout(5):
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


# ---------------------------------------------------------------- forms


async def test_a_form_is_the_first_answer(room: Room) -> None:
    room.core.forms = {"no": FORM}
    answer = await room.answer(await room.press(await room.card(), "Deny"))
    assert (answer["type"], answer["data"]["custom_id"]) == (OPENED, "f1:reason")
    (label,) = answer["data"]["components"]
    assert (answer["data"]["title"], label["label"]) == ("Why not?", "Reason")
    assert label["component"]["placeholder"] == "in a few words"
    assert [event.token for event in room.core.heard] == ["no"]


@pytest.mark.parametrize("old_shape", [False, True])
async def test_a_form_comes_back_in_either_shape(room: Room, old_shape: bool) -> None:  # noqa: FBT001
    sent = await room.discord.submit(room.ana, room.ops, "f1:reason", "too risky\nnow", old_shape=old_shape)
    (event,) = await room.core.heard_of(1)
    assert (event.kind, event.token, event.text) == (InboundKind.FORM, "reason", "too risky\nnow")
    assert (event.place, event.account, event.event_id) == (room.place, account_of(room.ana), f"f:{sent.id}")
    assert await room.answer(sent) == {"type": TAKEN}


async def test_a_form_that_was_opened_before_a_restart_can_be_sent_after_it() -> None:
    """Modals of the library die with the process; ours are read from what comes back."""
    core = FakeCore(forms={"no": FORM})
    async with discord() as simulated:
        before = Room(simulated, port_on(simulated), core)
        async with playing(before.port, core):
            opened = await before.answer(await before.press(await before.card(), "Deny"))
        after = Room(simulated, port_on(simulated), core)
        async with playing(after.port, core):
            sent = await simulated.submit(after.ana, after.ops, opened["data"]["custom_id"], "too risky")
            await after.answer(sent)
            assert [event.text for event in core.heard] == ["", "too risky"]


async def test_a_form_that_discord_wants_words_for_gets_words(room: Room) -> None:
    refusal = {"code": 50035, "message": "Invalid Form Body"}
    room.discord.rest.fail(r"POST /interactions/.*", Fault(status=400, body=refusal))
    answer = await room.answer(await room.discord.submit(room.ana, room.ops, "f1:reason", "too risky"))
    assert (answer["type"], answer["data"]["content"], answer["data"]["flags"]) == (SAID, "Taken.", 64)


async def test_a_core_that_is_slow_gets_no_form_and_the_press_counts(hasty: Room) -> None:
    hasty.core.forms = {"no": FORM}
    entered, let = hold(hasty)
    pressed = await hasty.press(await hasty.card(), "Deny")
    await entered.wait()
    assert await hasty.answer(pressed) == {"type": TAKEN}
    let.set()
    await hasty.core.heard_of(1)
    assert hasty.callbacks() == 1


async def test_a_form_that_could_not_be_opened_in_time_undoes_nothing(room: Room) -> None:
    """Report 8, as Discord has it."""
    room.core.forms = {"no": FORM}
    card = await room.card()
    entered, let = hold(room)
    pressed = await room.press(card, "Deny")
    await entered.wait()
    pressed.expired = True
    let.set()
    assert [event.token for event in await room.core.heard_of(1)] == ["no"]


async def test_a_form_that_is_none_of_ours_is_answered_and_not_heard(room: Room) -> None:
    answer = await room.answer(await room.discord.submit(room.ana, room.ops, "their:form", "hello"))
    assert answer["data"]["content"] == "That button belongs to nothing here."
    assert not room.core.heard


# ---------------------------------------------------------------- notes


NOTE = Message(body=Text.of("@everyone bo may not approve this"))


async def test_a_note_reaches_only_the_one_who_pressed(room: Room) -> None:
    """Report 21: who may not decide is told privately."""
    await room.answer(await room.press(await room.card(), user=room.bo))
    await room.port.note(room.place, account_of(room.bo), NOTE)
    assert room.private() == [(room.bo.id, "\\@everyone bo may not approve this")]
    assert room.discord.rest.pinged == []
    assert len(room.ops.messages) == 1


async def test_a_note_waits_until_the_press_was_answered(room: Room) -> None:
    noted: list[asyncio.Task[None]] = []

    async def refuse(inbound: Inbound) -> None:
        noted.append(asyncio.create_task(room.port.note(room.place, inbound.account, NOTE)))

    room.core.answer = refuse
    gate = asyncio.Event()
    room.discord.rest.fail(r"POST /interactions/.*", Fault(hold=gate))
    await room.press(await room.card())
    await room.discord.until(lambda: room.callbacks() == 1)
    assert not room.private()
    gate.set()
    await room.discord.until(lambda: bool(room.private()))
    await asyncio.gather(*noted)


@pytest.mark.parametrize("end", ["expired", "worn_out"])
async def test_a_note_that_is_too_late_to_be_private_is_said_in_the_open(room: Room, end: str) -> None:
    """Report 45: 50027 after fifteen minutes; and when the press was never answered in time."""
    entered, let = hold(room)
    pressed = await room.press(await room.card())
    await entered.wait()
    setattr(pressed, end, True)
    let.set()
    await room.core.heard_of(1)
    await room.port.note(room.place, account_of(room.ana), NOTE)
    assert not room.private()
    assert [one["content"] for one in room.ops.messages.values()][1:] == [
        "\\@everyone bo may not approve this"
    ]
    assert room.discord.rest.pinged == []


async def test_a_note_without_a_press_answers_what_they_said_and_pings_nobody(room: Room) -> None:
    said = await room.discord.say(room.ana, room.ops, f"<@{BOT}> approve k7f3a2")
    await room.core.heard_of(1)
    await room.port.note(room.place, account_of(room.ana), NOTE)
    shown = list(room.ops.messages.values())[-1]
    assert shown["message_reference"]["message_id"] == said["id"]
    assert room.discord.rest.calls[-1].body["allowed_mentions"] == {"parse": [], "replied_user": False}


async def test_a_note_to_one_person_never_uses_the_press_of_another(room: Room) -> None:
    await room.answer(await room.press(await room.card(), user=room.bo))
    await room.port.note(room.place, Account(platform="discord", user=str(room.ana.id)), NOTE)
    assert not room.private()
    assert len(room.ops.messages) == 2
