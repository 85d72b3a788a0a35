"""Changes of what the bot shows on Telegram: the newest wins, buttons go, and nothing waits for progress."""

import asyncio

import pytest

from adapters.telegram.editing import MOST_HELD_S, Editing, Pacing
from bot.ports import (
    BusyError,
    Message,
    MessageRef,
    PlaceRef,
    RejectedError,
)
from bot.text import Text, block
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_telegram import can_read, new_port, started, talking, text_of
from tests.adapters.telegram_help import APPROVE, at, group, message
from tests.simulators.telegram.faults import flood, held, refused, reset

# ---------------------------------------------------------------- edits


async def test_an_edit_that_changes_nothing_is_a_success() -> None:
    """Report 33."""
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        ref = await port.post(at(chat), message("card", buttons=APPROVE), nonce="n")
        await port.edit(ref, message("card", buttons=APPROVE))
        (post,) = can_read(chat, "ana")
        assert (post.edits, len(post.buttons())) == (0, 2)


async def test_an_edit_survives_an_answer_that_never_came() -> None:
    """Made twice, an edit is made once."""
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        ref = await port.post(at(chat), message("card", buttons=APPROVE), nonce="n")
        server.fail("editMessageText", reset(performed=True))
        await port.edit(ref, message("done"))
        assert [text_of(post) for post in can_read(chat, "ana")] == ["done"]


async def test_buttons_go_though_the_new_text_is_too_long() -> None:
    """Report 14."""
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        ref = await port.post(at(chat), message("card", buttons=APPROVE), nonce="n")
        await port.edit(ref, message("approved by ana", block("z" * 6000)))
        card = chat.posts[int(ref.message)]
        assert card.buttons() == []
        assert "approved by ana" in text_of(card)
        (file,) = [post for post in can_read(chat, "ana") if post.file]
        assert b"z" * 6000 in (file.file or b"")


@pytest.mark.parametrize(
    ("method", "text"), [("editMessageText", "approved"), ("sendDocument", "approved " + "z" * 6000)]
)
async def test_buttons_go_though_the_new_text_is_refused(method: str, text: str) -> None:
    """Report 14: whatever is wrong with the text."""
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        ref = await port.post(at(chat), message("card", buttons=APPROVE), nonce="n")
        server.fail(method, refused(400, "Bad Request: something"))
        with pytest.raises(RejectedError):
            await port.edit(ref, message(block(text), buttons=APPROVE))
        assert chat.posts[int(ref.message)].buttons() == []


async def test_output_that_grows_is_one_file_not_many() -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        ref = await port.post(at(chat), message("running"), nonce="n")
        for size in (5000, 6000, 6000, 7000):
            await port.edit(ref, message("running", fold=Text.of(block("o" * size))))
        (file,) = [post for post in can_read(chat, "ana") if post.file]
        assert file.file == b"o" * 7000 + b"\n"
        assert (len(server.called("sendDocument")), len(server.called("editMessageMedia"))) == (1, 2)


async def test_a_card_from_before_a_restart_can_be_edited() -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        ref = await port.post(at(chat), message("card", buttons=APPROVE), nonce="n")
        await port.close()
        async with started(new_port(server), FakeCore()) as second:
            await second.edit(MessageRef(place=ref.place, message=ref.message), message("expired"))
        assert [text_of(post) for post in can_read(chat, "ana")] == ["expired"]


async def test_a_deleted_card_is_a_certain_failure() -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        ref = await port.post(at(chat), message("card"), nonce="n")
        del chat.posts[int(ref.message)]
        with pytest.raises(RejectedError, match="not found"):
            await port.edit(ref, message("done"))


# ---------------------------------------------------------------- pacing


class Time:
    """Seconds that pass only when somebody sleeps or says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def read(self) -> float:
        return self.now

    async def pause(self, wait_s: float) -> None:
        self.slept.append(wait_s)
        self.now += wait_s
        await asyncio.sleep(0)


async def test_progress_is_paced_and_never_takes_what_a_card_needs() -> None:
    """Report 41: twenty messages a minute in a group, edits included."""
    time, sent = Time(), []

    async def send(_ref: MessageRef, shown: Message) -> None:
        sent.append((time.now, shown))

    pacing = Pacing(now_s=time.read)
    editing = Editing(send, pacing=pacing, pause=time.pause)
    ref = MessageRef(place=PlaceRef(platform="telegram", channel="-500"), message="1")
    editing.shown(ref, message("card"))
    for number in range(40):
        await editing.edit(ref, message(f"running {number}"))
        assert pacing._budget("-500").left >= 8 - 1e-6
    in_a_minute = [at_s for at_s, _ in sent if at_s < 60]
    assert len(in_a_minute) <= 20 + 12
    assert sent[-1][0] > 60
    assert len([at_s for at_s, _ in sent if 60 <= at_s < 120]) <= 20


async def test_a_change_of_buttons_waits_for_no_progress() -> None:
    time = Time()
    done: list[Message] = []

    async def send(_ref: MessageRef, shown: Message) -> None:
        done.append(shown)

    async def for_ever(_wait_s: float) -> None:
        await asyncio.Event().wait()

    editing = Editing(send, pacing=Pacing(now_s=time.read), pause=for_ever)
    ref = MessageRef(place=PlaceRef(platform="telegram", channel="-500"), message="1")
    editing.shown(ref, message("card", buttons=APPROVE))
    pacing = editing._pacing
    for _ in range(20):
        pacing.sent("-500")
    stuck = asyncio.create_task(editing.edit(ref, message("still there", buttons=APPROVE)))
    await asyncio.sleep(0)
    await editing.edit(ref, message("approved"))
    await stuck
    assert [shown.body.plain() for shown in done] == ["approved"]


async def test_the_newest_of_many_changes_is_shown_and_the_others_are_not() -> None:
    """Report 41: edits are coalesced, the last wins."""
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        ref = await port.post(at(chat), message("card"), nonce="n")
        let = asyncio.Event()
        server.fail("editMessageText", held(let))
        edits = [asyncio.create_task(port.edit(ref, message(f"running {n}"))) for n in range(10)]
        await server.until_called("editMessageText")
        let.set()
        await asyncio.gather(*edits)
        assert [call["text"] for call in server.called("editMessageText")] == ["running 0", "running 9"]


async def test_a_card_is_not_delayed_by_edits_that_wait() -> None:
    """Report 41: cards go before progress."""
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        ref = await port.post(at(chat), message("running"), nonce="n")
        server.fail("editMessageText", flood(30))
        waiting = asyncio.create_task(port.edit(ref, message("running 1 s")))
        await server.until_called("editMessageText")
        await port.post(at(chat), message("card", buttons=APPROVE), nonce="n2")
        assert [text_of(post) for post in can_read(chat, "ana")] == ["running", "card"]
        waiting.cancel()


async def test_progress_leaves_room_for_cards_in_a_group() -> None:
    """Report 41: against a group that takes twenty a minute, as Telegram's do."""
    async with talking(FakeCore()) as (server, port):
        server.per_minute = 20
        chat = group(server)
        ref = await port.post(at(chat), message("running"), nonce="n")
        port._posting._editing._pause = lambda _wait_s: asyncio.Event().wait()
        edits = [asyncio.create_task(port.edit(ref, message(f"running {n}"))) for n in range(3)]
        for number in range(3, 40):
            edits.append(asyncio.create_task(port.edit(ref, message(f"running {number}"))))
            await asyncio.sleep(0)
        for number in range(7):
            await port.post(at(chat), message("card", buttons=APPROVE), nonce=f"n{number}")
        assert [text_of(post) for post in can_read(chat, "ana")][1:] == ["card"] * 7
        for edit in edits:
            edit.cancel()


async def test_an_edit_is_held_as_long_as_telegram_wants_and_no_longer_than_a_minute() -> None:
    time, tries = Time(), [5.0, 3.0, MOST_HELD_S + 1]

    async def send(_ref: MessageRef, _shown: Message) -> None:
        if tries:
            raise BusyError("later", retry_after_s=tries.pop(0))

    editing = Editing(send, pacing=Pacing(now_s=time.read), pause=time.pause)
    ref = MessageRef(place=PlaceRef(platform="telegram", channel="7"), message="1")
    with pytest.raises(BusyError):
        await editing.edit(ref, message("done"))
    assert time.slept == [5.0, 3.0]
    await editing.edit(ref, message("done"))
