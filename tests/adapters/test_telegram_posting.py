"""What the bot shows on Telegram: limits, files, the three outcomes of a send, topics, moves, notes."""

import asyncio
from dataclasses import replace

import pytest

from bot.ports import (
    Account,
    BusyError,
    Button,
    InboundKind,
    Message,
    MessageRef,
    RejectedError,
    UncertainError,
)
from bot.text import Text, block, code, strong
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_telegram import QUICK, can_read, talking, text_of
from tests.adapters.telegram_help import APPROVE, at, group, message
from tests.simulators.telegram.faults import flood, gateway, held, nonsense, refused, reset

# ---------------------------------------------------------------- limits


@pytest.mark.parametrize("length", [2001, 3801])
async def test_a_long_command_is_shown_whole_with_its_buttons(length: int) -> None:
    """Reports 26 and 48: nothing of what is being approved is cut."""
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        command = "x" * (length - 3) + "end"
        await port.post(at(chat), message("web1 · run", block(command), buttons=APPROVE), nonce="n")
        (post,) = can_read(chat, "ana")
        assert command in text_of(post)
        assert [button["text"] for button in post.buttons()] == ["Approve", "Deny"]


async def test_a_command_too_long_for_a_message_goes_up_as_a_file_first() -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        command = f"echo {'y' * 5000} end"
        ref = await port.post(at(chat), message("web1 · run", block(command), buttons=APPROVE), nonce="n")
        file, card = can_read(chat, "ana")
        assert file.file is not None
        assert command in file.file.decode()
        assert "whole in card.txt, sha256 " in text_of(card)
        assert card.buttons()
        assert ref.message == str(card.id)
        assert ref.position == card.id


@pytest.mark.parametrize("fault", [refused(400, "Bad Request: file is too big"), reset(performed=True)])
async def test_without_its_file_no_shortened_command_is_shown(fault: object) -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        server.fail("sendDocument", fault)
        with pytest.raises(RejectedError):
            await port.post(at(chat), message("run", block("y" * 5000), buttons=APPROVE), nonce="n")
        assert server.called("sendMessage") == []


async def test_a_file_whose_card_is_refused_is_taken_back() -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        server.fail("sendMessage", refused(400, "Bad Request: something"))
        with pytest.raises(RejectedError, match="Something"):
            await port.post(at(chat), message("run", block("y" * 5000), buttons=APPROVE), nonce="n")
        assert can_read(chat, "ana") == []


async def test_emoji_count_twice() -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        await port.post(at(chat), message(block("😀" * 2049)), nonce="n")
        file, _card = can_read(chat, "ana")
        assert file.file is not None
        assert file.file.decode().strip() == "😀" * 2049


async def test_file_names_and_contents_ping_nobody() -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        await port.post(
            at(chat), message("@ana_tg", attachment=("../@ana_tg.txt", b""), buttons=APPROVE), nonce="n"
        )
        file, _card = can_read(chat, "ana")
        assert file.json["document"]["file_name"] == ".._@ana_tg.txt"
        assert server.world.pings == []
        assert server.called("sendMessage")[0]["link_preview_options"] == {"is_disabled": True}


async def test_too_many_buttons_are_refused_before_anything_is_sent() -> None:
    async with talking(FakeCore()) as (server, port):
        many = tuple(Button(label="x", token=f"t{n}") for n in range(26))
        with pytest.raises(RejectedError, match="26 buttons"):
            await port.post(at(group(server)), message("which?", buttons=many), nonce="n")
        assert server.called("sendMessage") == []


# ---------------------------------------------------------------- outcomes


@pytest.mark.parametrize("fault", [reset(performed=True), gateway(), nonsense(), refused(500, "Internal")])
async def test_a_send_without_a_proper_answer_is_uncertain_and_made_once(fault: object) -> None:
    """Report 32."""
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        server.fail("sendMessage", fault)
        with pytest.raises(UncertainError):
            await port.post(at(chat), message("card"), nonce="n")
        assert len(server.called("sendMessage")) == 1
        with pytest.raises(UncertainError):
            await port.find(at(chat), nonce="n")


async def test_a_send_that_takes_too_long_is_uncertain_though_it_was_shown() -> None:
    """Report 32: TimedOut, and yet delivered."""
    never = asyncio.Event()
    async with talking(FakeCore(), patience=replace(QUICK, answer_s=2)) as (server, port):
        chat = group(server)
        server.fail("sendMessage", held(never))
        with pytest.raises(UncertainError):
            await port.post(at(chat), message("card"), nonce="n")
        assert [text_of(post) for post in can_read(chat, "ana")] == ["card"]
        never.set()


async def test_a_send_that_never_left_can_be_made_later() -> None:
    """Report 32: only what certainly was not sent may be sent again."""
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        address = port._wire.bot._base_url
        port._wire.bot._base_url = "http://127.0.0.1:1/bot"
        with pytest.raises(BusyError):
            await port.post(at(chat), message("card"), nonce="n")
        port._wire.bot._base_url = address
        await port.post(at(chat), message("card"), nonce="n")
        assert len(can_read(chat, "ana")) == 1


async def test_flood_control_is_told_with_its_time() -> None:
    """Report 41."""
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        server.fail("sendMessage", flood(17))
        with pytest.raises(BusyError) as busy:
            await port.post(at(chat), message("card"), nonce="n")
        assert busy.value.retry_after_s == 17
        await port.post(at(chat), message("card"), nonce="n")
        assert len(can_read(chat, "ana")) == 1


@pytest.mark.parametrize(
    "fault", [refused(403, "Forbidden: bot was blocked by the user"), refused(401, "Unauthorized")]
)
async def test_a_refusal_is_certain(fault: object) -> None:
    async with talking(FakeCore()) as (server, port):
        server.fail("sendMessage", fault)
        with pytest.raises(RejectedError):
            await port.post(at(group(server)), message("card"), nonce="n")


async def test_two_senders_of_one_nonce_show_it_once() -> None:
    let = asyncio.Event()
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        server.fail("sendMessage", held(let))
        both = [asyncio.create_task(port.post(at(chat), message("card"), nonce="n")) for _ in range(2)]
        await server.until_called("sendMessage")
        let.set()
        one, two = await asyncio.gather(*both)
        assert one == two
        assert len(can_read(chat, "ana")) == 1


# ---------------------------------------------------------------- topics, replies


async def test_the_answer_goes_to_the_topic_of_the_question() -> None:
    """Report 38."""
    core = FakeCore()
    async with talking(core) as (server, port):
        chat = group(server, -100500, kind="supergroup", is_forum=True)
        topic = server.world.topic(chat)
        server.world.say(chat, server.world.person("ana"), "/help", topic=topic)
        server.world.say(chat, server.world.person("ana"), "/help")
        for inbound in await core.heard_of(2):
            await port.post(inbound.place, message("here"), nonce=inbound.event_id)
        assert [post.json.get("message_thread_id") for post in can_read(chat, "ana")] == [topic, None]
        assert "message_thread_id" not in server.called("sendMessage")[1]
        await port.post(at(chat, topic), message("x", fold=Text.of(block("f" * 5000))), nonce="f")
        assert server.called("sendDocument")[0]["message_thread_id"] == topic


async def test_a_topic_that_is_gone_is_a_certain_failure() -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server, -100500, kind="supergroup", is_forum=True)
        with pytest.raises(RejectedError, match="thread not found"):
            await port.post(at(chat, 77), message("here"), nonce="n")


async def test_a_question_opens_the_field_of_whoever_acted_last() -> None:
    core = FakeCore()
    async with talking(core) as (server, port):
        chat = group(server)
        ana, bo = server.world.person("ana"), server.world.person("bo")
        asked_by = server.world.say(chat, ana, "/run rm")
        server.world.say(chat, bo, "/help")
        ref = await port.post(at(chat), message("go?", buttons=APPROVE), nonce="n0")
        server.world.press(chat, int(ref.message), ana, "s1:yes")
        await core.heard_of(3)
        await port.post(at(chat), message("Type it.", asks="destroy ct-112 " * 9), nonce="n")
        asking = server.called("sendMessage")[-1]
        assert asking["reply_markup"]["selective"] is True
        assert len(asking["reply_markup"]["input_field_placeholder"]) == 64
        assert asking["reply_parameters"]["message_id"] == asked_by
        assert asking["disable_notification"] is True


async def test_the_answer_to_a_question_says_what_it_answers() -> None:
    core = FakeCore()
    async with talking(core) as (server, port):
        chat = group(server)
        server.world.privacy = True
        ref = await port.post(at(chat), message("Type: destroy", asks="destroy"), nonce="n")
        assert server.called("sendMessage")[-1]["reply_markup"]["selective"] is False
        server.world.say(chat, server.world.person("bo"), "destroy", reply_to=int(ref.message))
        (heard,) = await core.heard_of(1)
        assert heard.reply_to == ref
        assert heard.kind is InboundKind.MESSAGE
        assert heard.account.display == "bo"


async def test_buttons_stay_where_a_message_has_both_buttons_and_a_question() -> None:
    async with talking(FakeCore()) as (server, port):
        await port.post(at(group(server)), message("go?", buttons=APPROVE, asks="why"), nonce="n")
        assert "inline_keyboard" in server.called("sendMessage")[-1]["reply_markup"]


# ---------------------------------------------------------------- groups that move


async def test_a_send_follows_a_group_that_became_a_supergroup() -> None:
    """Report 37: the core is told first, then the message goes to the new chat."""
    core = FakeCore()
    async with talking(core) as (server, port):
        old = group(server)
        new = server.world.migrate(old, -100900, tell=False)
        ref = await port.post(
            at(old), message("card", fold=Text.of(block("f" * 5000)), buttons=APPROVE), nonce="n"
        )
        assert ref.place == at(new)
        (moved,) = core.heard
        assert (moved.kind, moved.place, moved.moved_to) == (InboundKind.MOVED, at(old), at(new))
        assert len(can_read(new, "ana")) == 2
        await port.post(at(old), message("again"), nonce="n2")
        assert len(core.heard) == 1
        assert len(server.called("sendMessage")) == 2


async def test_a_move_told_in_the_group_is_told_to_the_core_once() -> None:
    """Report 37."""
    core = FakeCore()
    async with talking(core) as (server, port):
        old = group(server)
        new = server.world.migrate(old, -100900)
        server.world.say(new, server.world.person("ana"), "/help")
        moved, said = await core.heard_of(2)
        assert (moved.kind, moved.moved_to, said.place) == (InboundKind.MOVED, at(new), at(new))
        ref = await port.post(at(old), message("card"), nonce="n")
        assert ref.place == at(new)
        with pytest.raises(RejectedError, match="supergroup"):
            await port.edit(MessageRef(place=at(old), message="5"), message("x"))


async def test_an_edit_that_meets_a_move_tells_the_core_and_fails() -> None:
    """Report 37: what was shown before the move cannot be changed; the core shows it anew."""
    core = FakeCore()
    async with talking(core) as (server, port):
        old = group(server)
        ref = await port.post(at(old), message("card", buttons=APPROVE), nonce="n")
        new = server.world.migrate(old, -100900, tell=False)
        with pytest.raises(RejectedError, match="supergroup"):
            await port.edit(ref, message("done"))
        assert [one.moved_to for one in core.heard] == [at(new)]


async def test_a_move_that_cannot_be_stored_does_not_stop_the_message() -> None:
    core = FakeCore(full=frozenset({""}))
    async with talking(core) as (server, port):
        old = group(server)
        new = server.world.migrate(old, -100900, tell=False)
        assert (await port.post(at(old), message("card"), nonce="n")).place == at(new)
        assert core.heard == []


# ---------------------------------------------------------------- notes in the open


async def test_a_note_without_a_press_is_said_in_the_place() -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        await port.note(at(chat), Account(platform="telegram", user="7"), message("not yours"))
        assert [text_of(post) for post in can_read(chat, "ana")] == ["not yours"]


async def test_styled_lines_read_as_they_are() -> None:
    async with talking(FakeCore()) as (server, port):
        chat = group(server)
        shown = Text.of([strong("web1"), " · ", code("a`b\\*")], block("```\n*x*\n```"))
        await port.post(at(chat), Message(body=shown), nonce="n")
        assert "parse_mode" not in server.called("sendMessage")[0]
        assert text_of(can_read(chat, "ana")[0]) == "web1 · a`b\\*\n  ```\n  *x*\n  ```"
