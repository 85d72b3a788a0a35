"""Forms and notes on Discord: what is asked of one person, and what is shown to one person only."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.ports import Account, Inbound, InboundKind, Message
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.adapters.discord_room import AT_ONCE, FORM, OPENED, SAID, TAKEN, Room, hold, until_health
from tests.adapters.stage_discord import account_of, playing, port_on
from tests.simulators.discord.rest import Fault
from tests.simulators.discord.simulator import discord
from tests.simulators.discord.world import BOT


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


async def test_a_press_from_before_a_new_login_still_carries_a_note(room: Room) -> None:
    await room.answer(await room.press(await room.card(), user=room.bo))
    await room.gateway.close_all(4011)
    await room.discord.until(lambda: room.gateway.identified == 2)
    await until_health(room.port, lambda health: health.ok)
    await room.port.note(room.place, account_of(room.bo), NOTE)
    assert [who for who, _ in room.private()] == [room.bo.id]


async def test_a_note_to_one_person_never_uses_the_press_of_another(room: Room) -> None:
    await room.answer(await room.press(await room.card(), user=room.bo))
    await room.port.note(room.place, Account(platform="discord", user=str(room.ana.id)), NOTE)
    assert not room.private()
    assert len(room.ops.messages) == 2
