"""Posting, editing and finding on Discord: the three ends of a send, and what each fault means."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.ports import BusyError, Button, Message, MessageRef, PlaceRef, RejectedError, UncertainError
from bot.text import Text, block
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_discord import place_of, playing, port_on
from tests.simulators.discord.limits import MAX_FILE
from tests.simulators.discord.rest import Fault, too_many
from tests.simulators.discord.simulator import Discord, buttons, discord

POST, PATCH, GET = r"POST /channels/\d+/messages", r"PATCH /channels/\d+/messages/\d+", r"GET /channels/.*"
YES = (Button(label="Approve", token="yes"),)


class Room:
    def __init__(self, simulated: Discord, port: Any) -> None:
        self.discord, self.port = simulated, port
        self.ops = simulated.world.channel("ops")
        self.place = place_of(self.ops)

    async def post(self, words: str, nonce: str = "n1", **more: Any) -> MessageRef:
        return await self.port.post(self.place, Message(body=Text.of(words), **more), nonce=nonce)

    async def find(self, nonce: str = "n1") -> MessageRef | None:
        return await self.port.find(self.place, nonce=nonce)

    def shown(self) -> list[str]:
        return [one["content"] for one in self.ops.messages.values()]

    def count(self, method: str) -> int:
        return sum(call.method == method for call in self.discord.rest.calls if "/messages" in call.path)


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with discord() as simulated:
        made = Room(simulated, port_on(simulated))
        async with playing(made.port, FakeCore()):
            yield made


async def test_a_post_carries_its_mark_and_forbids_every_ping(room: Room) -> None:
    """Report 46."""
    ref = await room.post("@everyone look")
    (body,) = [call.body for call in room.discord.rest.calls if call.method == "POST"]
    assert body["enforce_nonce"] is True
    assert len(body["nonce"]) <= 25
    assert body["allowed_mentions"] == {"parse": [], "replied_user": False}
    assert room.discord.rest.pinged == []
    assert ref.position == int(ref.message)


async def test_a_busy_platform_is_waited_for_by_the_library(room: Room) -> None:
    room.discord.rest.fail(POST, too_many(0.01, times=2))
    await room.post("card")
    assert room.shown() == ["card"]


async def test_a_platform_that_is_busy_for_long_says_when(room: Room) -> None:
    room.discord.rest.fail(POST, too_many(120.0))
    with pytest.raises(BusyError) as caught:
        await room.post("card")
    assert caught.value.retry_after_s == 120.0
    assert room.shown() == []


async def test_a_ban_of_the_network_before_discord_is_busy_not_refused(room: Room) -> None:
    room.discord.rest.fail(POST, Fault(status=429, body="error code: 1015", headers={"Retry-After": "7"}))
    with pytest.raises(BusyError) as caught:
        await room.post("card")
    assert caught.value.retry_after_s == 7.0


async def test_progress_never_delays_a_card(room: Room) -> None:
    """Report 41: edits that Discord holds back stand in a queue of their own."""
    ref = await room.post("● running")
    gate = asyncio.Event()
    room.discord.rest.fail(PATCH, Fault(hold=gate))
    editing = asyncio.create_task(room.port.edit(ref, Message(body=Text.of("● running 2 s"))))
    await room.discord.until(lambda: room.count("PATCH") == 1)
    await room.post("◔ a new card", "n2")
    gate.set()
    await editing


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (403, 50013, "give it Send Messages"),
        (403, 50001, "let it in"),
        (404, 10003, "gone"),
        (401, 0, "Reset Token"),
        (400, 50035, "Invalid Form Body"),
    ],
)
async def test_a_refusal_says_what_to_do(room: Room, status: int, code: int, words: str) -> None:
    room.discord.rest.fail(POST, Fault(status=status, body={"code": code, "message": "Invalid Form Body"}))
    with pytest.raises(RejectedError, match=words) as caught:
        await room.post("card")
    assert not isinstance(caught.value, BusyError)


async def test_a_locked_thread_refuses(room: Room) -> None:
    room.ops.locked = True
    with pytest.raises(RejectedError, match="locked"):
        await room.post("card")


@pytest.mark.parametrize("channel", ["", "no such place", "12x", "²", "../users/@me"])
async def test_a_place_that_is_no_id_is_never_asked_for(room: Room, channel: str) -> None:
    before = len(room.discord.rest.calls)
    with pytest.raises(RejectedError):
        await room.port.post(
            PlaceRef(platform="discord", channel=channel), Message(body=Text.of("x")), nonce="n"
        )
    assert len(room.discord.rest.calls) == before


async def test_more_buttons_than_fit_are_refused_before_sending(room: Room) -> None:
    many = tuple(Button(label=str(n), token=str(n)) for n in range(26))
    with pytest.raises(RejectedError, match="26 buttons"):
        await room.post("which?", buttons=many)
    assert room.count("POST") == 0


# ---------------------------------------------------------------- long commands and files (report 26)


@pytest.mark.parametrize("size", [2001, 3801])
async def test_a_long_command_comes_with_the_file_that_holds_it_whole(room: Room, size: int) -> None:
    command = "x" * size
    message = Message(body=Text.of("◔ web1", block(command), "until 15:04"), buttons=YES)
    ref = await room.port.post(room.place, message, nonce="n1")
    shown = room.ops.messages[int(ref.message)]
    assert [one["filename"] for one in shown["attachments"]] == ["card.txt"]
    assert command in room.discord.text(shown)
    assert "whole in card.txt, sha256" in shown["content"]
    assert buttons(shown)


async def test_a_file_that_is_refused_leaves_no_card_with_live_buttons(room: Room) -> None:
    message = Message(body=Text.of("go?"), buttons=YES, attachment=("plan.txt", b"x" * (MAX_FILE + 1)))
    with pytest.raises(RejectedError, match="too large"):
        await room.port.post(room.place, message, nonce="n1")
    assert room.shown() == []


async def test_buttons_go_even_when_the_text_of_the_end_is_refused(room: Room) -> None:
    """Report 14."""
    ref = await room.post("go?", buttons=YES)
    done = Message(body=Text.of("✓ ok"), attachment=("out.txt", b"x" * (MAX_FILE + 1)))
    with pytest.raises(RejectedError):
        await room.port.edit(ref, done)
    assert buttons(room.ops.messages[int(ref.message)]) == []


async def test_an_edit_that_is_too_long_is_fitted_like_a_post(room: Room) -> None:
    """Report 14."""
    ref = await room.post("go?", buttons=YES)
    await room.port.edit(ref, Message(body=Text.of("✓ web1"), fold=Text.of(block("line\n" * 4000))))
    shown = room.ops.messages[int(ref.message)]
    assert [one["filename"] for one in shown["attachments"]] == ["output.txt"]
    assert shown["components"] == []
    await room.port.edit(ref, Message(body=Text.of("✓ web1 · done")))
    assert shown["attachments"] == []


async def test_an_edit_is_one_request_by_ids_after_a_restart_too(room: Room) -> None:
    """Report 45: no cache, no handle of an interaction."""
    ref = await room.post("waits")
    other = port_on(room.discord)
    async with playing(other, FakeCore()):
        before = len(room.discord.rest.calls)
        await other.edit(ref, Message(body=Text.of("expired")))
    assert [call.method for call in room.discord.rest.calls[before:]] == ["PATCH"]
    assert room.shown() == ["expired"]


async def test_a_message_that_is_gone_cannot_be_edited(room: Room) -> None:
    ref = await room.post("waits")
    room.ops.messages.clear()
    with pytest.raises(RejectedError, match="gone"):
        await room.port.edit(ref, Message(body=Text.of("expired")))


async def test_an_old_message_that_was_edited_too_often_is_for_later(room: Room) -> None:
    ref = await room.post("waits")
    room.discord.rest.fail(
        PATCH, Fault(status=400, body={"code": 30046, "message": "Maximum number of edits"})
    )
    with pytest.raises(BusyError):
        await room.port.edit(ref, Message(body=Text.of("expired")))


# ---------------------------------------------------------------- uncertain sends (report 32)


async def test_a_post_whose_answer_is_lost_is_uncertain_and_is_found(room: Room) -> None:
    room.discord.rest.fail(POST, Fault(reset="after"))
    with pytest.raises(UncertainError):
        await room.post("card", buttons=YES)
    found = await room.find()
    assert found is not None
    assert found.message in {str(number) for number in room.ops.messages}
    assert await room.post("card", buttons=YES) == found
    assert len(room.shown()) == 1


async def test_a_post_that_never_arrived_is_uncertain_and_is_not_there(room: Room) -> None:
    room.discord.rest.fail(POST, Fault(reset="before"))
    with pytest.raises(UncertainError):
        await room.post("card")
    assert await room.find() is None
    await room.post("card")
    assert room.shown() == ["card"]


async def test_a_failing_platform_is_uncertain(room: Room) -> None:
    room.discord.rest.fail(POST, Fault(status=503, body="busy"))
    with pytest.raises(UncertainError):
        await room.post("card")


async def test_a_second_try_of_one_post_is_dropped_by_discord_itself(room: Room) -> None:
    """Another process, which remembers nothing, tries the same effect again."""
    ref = await room.post("card")
    other = port_on(room.discord)
    async with playing(other, FakeCore()):
        assert (
            await other.post(room.place, Message(body=Text.of("card")), nonce="n1")
        ).message == ref.message
    assert room.shown() == ["card"]


async def test_a_card_is_found_by_its_buttons_after_a_restart(room: Room) -> None:
    ref = await room.post("card", buttons=YES)
    await room.post("another", "n2", buttons=YES)
    other = port_on(room.discord)
    async with playing(other, FakeCore()):
        assert await other.find(room.place, nonce="n1") == ref
        assert await other.find(room.place, nonce="never") is None


async def test_words_without_buttons_cannot_be_told_apart_after_a_restart(room: Room) -> None:
    """Discord keeps no nonce with a message; what nobody can tell is not guessed."""
    await room.post("words")
    other = port_on(room.discord)
    async with playing(other, FakeCore()):
        with pytest.raises(UncertainError):
            await other.find(room.place, nonce="n1")


async def test_words_are_found_by_their_nonce_where_discord_still_has_it(room: Room) -> None:
    room.discord.rest.keeps_nonces = True
    ref = await room.post("words")
    other = port_on(room.discord)
    async with playing(other, FakeCore()):
        assert await other.find(room.place, nonce="n1") == ref
        assert await other.find(room.place, nonce="never") is None


async def test_words_are_found_by_what_nobody_else_of_us_wrote(room: Room) -> None:
    """The gateway is away, so nothing comes back over it."""
    await room.post("before", "n0")
    room.discord.gateway.sessions.clear()
    room.discord.rest.fail(POST, Fault(reset="after"))
    with pytest.raises(UncertainError):
        await room.post("words *and* more")
    found = await room.find()
    assert found is not None
    assert room.ops.messages[int(found.message)]["content"] == "words \\*and\\* more"


async def test_a_place_that_cannot_be_read_tells_nothing(room: Room) -> None:
    room.discord.rest.fail(GET, Fault(status=403, body={"code": 50001, "message": "Missing Access"}))
    with pytest.raises(UncertainError):
        await room.find()


async def test_a_long_history_hides_what_is_older(room: Room) -> None:
    ref = await room.post("card", buttons=YES)
    user = room.discord.world.user("ana")
    for number in range(100):
        room.discord.world.message(room.ops, user, f"chatter {number}")
    other = port_on(room.discord)
    async with playing(other, FakeCore()):
        with pytest.raises(UncertainError):
            await other.find(room.place, nonce="n1")
    assert ref.message


async def test_before_it_is_connected_a_post_is_for_later() -> None:
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated))
        with pytest.raises(BusyError):  # never refused: it is shown once there is a connection
            await room.post("card")
