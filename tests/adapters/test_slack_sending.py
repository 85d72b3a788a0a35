"""Sending over the real web client: shown once, whole or not at all, and honest about what is not known."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.port import SlackPort
from bot.ports import Account, BusyError, Button, Message, MessageRef, PlaceRef, RejectedError, UncertainError
from bot.text import Text, block
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_slack import port_for, serving
from tests.simulators.slack.server import Slack, running
from tests.simulators.slack.world import BOT_USER, TEAM, Fault, Json, buttons, shown

DM = PlaceRef(platform="slack", tenant=TEAM, channel="D_ANA")
OPS = replace(DM, channel="C_OPS")
ANA = Account(platform="slack", tenant=TEAM, user="U_ANA")
YES = (Button(label="Yes", token="t"),)


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    async with running() as simulator:
        yield simulator


@pytest.fixture
async def port(slack: Slack, tmp_path: Path) -> AsyncIterator[SlackPort]:
    async with serving(port_for(slack, tmp_path), FakeCore()) as listening:
        yield listening


def say(*lines: Any, **more: Any) -> Message:
    return Message(body=Text.of(*lines), **more)


def ours(slack: Slack, channel: str = "D_ANA") -> list[Json]:
    kept = slack.world.channels[channel].messages.values()
    return [one for one in kept if one.get("user") == BOT_USER]


def texts(slack: Slack, channel: str = "D_ANA") -> list[str]:
    return [shown(one) for one in ours(slack, channel) if not one.get("files")]


# ---------------------------------------------------------------- once


async def test_the_same_nonce_at_once_is_shown_once(slack: Slack, port: SlackPort) -> None:
    refs = await asyncio.gather(*(port.post(DM, say("once"), nonce="n") for _ in range(5)))
    assert len(set(refs)) == 1
    assert texts(slack) == ["once"]


async def test_a_message_carries_its_nonce_and_unfurls_nothing(slack: Slack, port: SlackPort) -> None:
    """Report 12: an unfurl would come back as an edit."""
    await port.post(DM, say("https://example.org"), nonce="n")
    (call,) = slack.world.called("chat.postMessage")
    assert call["metadata"] == {"event_type": "sayso_message", "event_payload": {"nonce": "n"}}
    assert (call["unfurl_links"], call["unfurl_media"], call["link_names"]) == (False, False, False)


async def test_a_reset_after_slack_took_it_is_uncertain_and_not_repeated(
    slack: Slack, port: SlackPort
) -> None:
    """Report 32's kin: the library's default would post twice."""
    slack.world.fail("chat.postMessage", Fault(kind="reset_after"))
    with pytest.raises(UncertainError):
        await port.post(DM, say("once"), nonce="n")
    assert texts(slack) == ["once"]
    found = await port.find(DM, nonce="n")
    assert found == MessageRef(place=DM, message=ours(slack)[0]["ts"])
    assert await port.post(DM, say("once"), nonce="n") == found
    assert texts(slack) == ["once"]


async def test_an_uncertain_post_is_looked_for_before_it_is_sent_again(slack: Slack, port: SlackPort) -> None:
    slack.world.fail("chat.postMessage", Fault(kind="reset_after"))
    with pytest.raises(UncertainError):
        await port.post(DM, say("once"), nonce="n")
    await port.post(DM, say("once"), nonce="n")
    assert texts(slack) == ["once"]


async def test_a_reset_before_slack_took_it_is_uncertain_and_then_not_there(
    slack: Slack, port: SlackPort
) -> None:
    slack.world.fail("chat.postMessage", Fault(kind="reset_before"))
    with pytest.raises(UncertainError):
        await port.post(DM, say("once"), nonce="n")
    assert await port.find(DM, nonce="n") is None
    await port.post(DM, say("once"), nonce="n")
    assert texts(slack) == ["once"]


async def test_a_message_is_found_by_another_process(slack: Slack, port: SlackPort, tmp_path: Path) -> None:
    """P10: the nonce is in Slack's metadata, in a channel and in a thread."""
    root = (await port.post(OPS, say("root"), nonce="root")).message
    for place, nonce in ((OPS, "channel"), (replace(OPS, thread=root), "thread")):
        for number in range(3):
            await port.post(place, say(f"{nonce} {number}"), nonce=f"{nonce}{number}")
    other = port_for(slack, tmp_path)
    for place, nonce in ((OPS, "channel1"), (replace(OPS, thread=root), "thread1")):
        found = await other.find(place, nonce=nonce)
        assert found is not None
        assert found.position > 0
        assert shown(slack.find("C_OPS", found.message)) == f"{nonce[:-1]} 1"
        assert await other.find(place, nonce="never") is None
    await other.close()


async def test_a_nonce_that_somebody_else_uses_is_not_ours(slack: Slack, port: SlackPort) -> None:
    await slack.say("hello", metadata={"event_type": "sayso_message", "event_payload": {"nonce": "n"}})
    assert await port.find(DM, nonce="n") is None


async def test_what_is_not_there_any_more_holds_nothing(slack: Slack, port: SlackPort) -> None:
    assert await port.find(replace(DM, channel="C_GONE"), nonce="n") is None
    assert await port.find(replace(DM, thread="1.000000"), nonce="n") is None
    assert slack.world.refused


@pytest.mark.parametrize(
    "fault",
    [Fault(kind="error", name="not_in_channel"), Fault(kind="limit", retry_after="60"), Fault(kind="junk")],
)
async def test_a_look_that_fails_tells_nothing(slack: Slack, port: SlackPort, fault: Fault) -> None:
    slack.world.fail("conversations.history", replace(fault))
    with pytest.raises(UncertainError):
        await port.find(DM, nonce="n")


async def test_a_place_in_which_too_much_was_said_tells_nothing(slack: Slack, port: SlackPort) -> None:
    for number in range(3_001):
        slack.world.keep("D_ANA", slack.message(f"{number}", by="U_ANA"))
    with pytest.raises(UncertainError):
        await port.find(DM, nonce="n")


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "name", ["channel_not_found", "is_archived", "not_in_channel", "restricted_action", "invalid_blocks"]
)
async def test_a_refusal_is_certain(slack: Slack, port: SlackPort, name: str) -> None:
    slack.world.fail("chat.postMessage", Fault(kind="error", name=name))
    with pytest.raises(RejectedError, match=name) as refused:
        await port.post(DM, say("x"), nonce="n")
    assert not isinstance(refused.value, BusyError)
    assert (await port.health()).ok
    assert texts(slack) == []


@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind="error", name="fatal_error"),
        Fault(kind="error", name="internal_error"),
        Fault(kind="error", name="service_unavailable"),
        Fault(kind="status", status=500),
        Fault(kind="status", status=503),
        Fault(kind="junk"),
    ],
)
async def test_a_fault_of_slack_is_uncertain(slack: Slack, port: SlackPort, fault: Fault) -> None:
    slack.world.fail("chat.postMessage", replace(fault))
    with pytest.raises(UncertainError):
        await port.post(DM, say("x"), nonce="n")
    assert len(slack.world.called("chat.postMessage")) == 1


async def test_no_answer_is_uncertain(slack: Slack, tmp_path: Path) -> None:
    port = port_for(slack, tmp_path)
    port._web._timeout_s = 2  # type: ignore[assignment]
    slow = slack.world.fail("chat.postMessage", Fault(kind="slow"))
    with pytest.raises(UncertainError):
        await port.post(DM, say("x"), nonce="n")
    slow.until.set()
    await slack.world.until(lambda: texts(slack) == ["x"])
    await port.close()


async def test_nobody_there_is_busy_not_uncertain(slack: Slack, tmp_path: Path) -> None:
    """Nothing left this machine, so it may safely be sent again."""
    port = port_for(slack, tmp_path)
    port._web.client.base_url = "http://127.0.0.1:9/api/"
    with pytest.raises(BusyError) as busy:
        await port.post(DM, say("x"), nonce="n")
    assert busy.value.retry_after_s > 0
    await port.close()


async def test_a_short_429_is_waited_out(slack: Slack, port: SlackPort) -> None:
    """Report 41 and P10."""
    slack.world.fail("chat.postMessage", Fault(kind="limit", retry_after="0"))
    await port.post(DM, say("x"), nonce="n")
    assert texts(slack) == ["x"]
    assert len(slack.world.called("chat.postMessage")) == 2


async def test_a_long_429_is_told_with_its_time(slack: Slack, port: SlackPort) -> None:
    slack.world.fail("chat.postMessage", Fault(kind="limit", retry_after="37"))
    with pytest.raises(BusyError) as busy:
        await port.post(DM, say("x"), nonce="n")
    assert busy.value.retry_after_s == 37
    assert len(slack.world.called("chat.postMessage")) == 1


async def test_a_thread_goes_where_it_was_asked(slack: Slack, port: SlackPort) -> None:
    """Reports 9 and 10: the thread's own timestamp, as the string that it is."""
    ts = await slack.say("@sayso uptime", channel="C_OPS")
    ref = await port.post(replace(OPS, thread=ts), say("up 3 days"), nonce="n")
    assert ours(slack, "C_OPS")[0]["thread_ts"] == ts
    assert (ref.place.thread, ref.message) == (ts, ours(slack, "C_OPS")[0]["ts"])


# ---------------------------------------------------------------- edits


async def test_the_buttons_of_a_long_card_go_away(slack: Slack, port: SlackPort) -> None:
    """Report 14: edits go through the same renderer as posts."""
    command = "x" * 9_000
    ref = await port.post(DM, say("go?", block(command), buttons=YES), nonce="n")
    await port.edit(ref, say("approved by ana", block(command)))
    card = slack.find("D_ANA", ref.message)
    assert buttons(card) == []
    assert "approved by ana" in shown(card)
    assert slack.world.refused == []


async def test_the_buttons_go_away_even_when_the_file_cannot_be_sent(slack: Slack, port: SlackPort) -> None:
    ref = await port.post(DM, say("go?", buttons=YES), nonce="n")
    slack.world.fail("files.getUploadURLExternal", Fault(kind="error", name="storage_limit_reached"))
    await port.edit(ref, say("approved by ana", block("x" * 9_000)))
    card = slack.find("D_ANA", ref.message)
    assert buttons(card) == []
    assert "card.txt could not be sent to Slack." in shown(card)


async def test_buttons_that_stay_want_their_file(slack: Slack, port: SlackPort) -> None:
    """Report 26."""
    ref = await port.post(DM, say("go?", buttons=YES), nonce="n")
    slack.world.fail("files.completeUploadExternal", Fault(kind="error", name="file_not_found"))
    with pytest.raises(RejectedError):
        await port.edit(ref, say("go?", block("x" * 9_000), buttons=YES))
    assert shown(slack.find("D_ANA", ref.message)) == "go?"


async def test_an_edit_of_what_is_gone_is_refused(slack: Slack, port: SlackPort) -> None:
    with pytest.raises(RejectedError, match="message_not_found"):
        await port.edit(MessageRef(place=DM, message="1.000000"), say("x"))
    theirs = await slack.say("hello")
    with pytest.raises(RejectedError, match="cant_update_message"):
        await port.edit(MessageRef(place=DM, message=theirs), say("x"))


async def test_an_edit_that_changes_nothing_is_fine(slack: Slack, port: SlackPort) -> None:
    """Report 33's kin."""
    ref = await port.post(DM, say("x"), nonce="n")
    await port.edit(ref, say("x"))
    assert texts(slack) == ["x"]


async def test_an_old_card_is_edited_by_its_ids_alone(slack: Slack, port: SlackPort, tmp_path: Path) -> None:
    """Report 45's kin: nothing about a card is remembered."""
    ref = await port.post(DM, say("go?", buttons=YES), nonce="n")
    other = port_for(slack, tmp_path)
    await other.edit(MessageRef(place=ref.place, message=ref.message), say("expired"))
    assert texts(slack) == ["expired"]
    await other.close()


# ---------------------------------------------------------------- files


async def test_a_long_command_comes_after_its_file(slack: Slack, port: SlackPort) -> None:
    """Report 26: the card never stands without what it was cut from."""
    command = "x" * 20_000
    await port.post(OPS, say("web1", block(command), buttons=YES), nonce="n")
    file, card = ours(slack, "C_OPS")
    assert file["files"][0]["name"] == "card.txt"
    assert command in file["files"][0]["content"].decode()
    assert "whole in card.txt" in shown(card)
    assert len(buttons(card)) == 1


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload", "files.completeUploadExternal"])
@pytest.mark.parametrize(
    "fault", [Fault(kind="status", status=500), Fault(kind="error", name="access_denied", status=403)]
)
async def test_without_its_file_a_card_is_not_posted(
    slack: Slack, port: SlackPort, step: str, fault: Fault
) -> None:
    """Report 26: never a shortened command with live buttons."""
    for _ in range(3):
        slack.world.fail(step, replace(fault))
    with pytest.raises(RejectedError):
        await port.post(OPS, say("web1", block("x" * 20_000), buttons=YES), nonce="n")
    assert ours(slack, "C_OPS") == []


async def test_an_upload_that_broke_is_tried_again(slack: Slack, port: SlackPort) -> None:
    slack.world.fail("files.getUploadURLExternal", Fault(kind="reset_before"))
    slack.world.fail("upload", Fault(kind="status", status=500))
    await port.post(OPS, say("web1", block("x" * 20_000), buttons=YES), nonce="n")
    assert [bool(one.get("files")) for one in ours(slack, "C_OPS")] == [True, False]


async def test_a_file_is_sent_once_for_a_message(slack: Slack, port: SlackPort) -> None:
    """Also over the edits of a card and a post that is tried again."""
    long = say("web1", block("x" * 20_000), buttons=YES)
    slack.world.fail("chat.postMessage", Fault(kind="limit", retry_after="60"))
    with pytest.raises(BusyError):
        await port.post(OPS, long, nonce="n")
    ref = await port.post(OPS, long, nonce="n")
    await port.edit(ref, long)
    await port.edit(ref, replace(long, buttons=()))
    assert len([one for one in ours(slack, "C_OPS") if one.get("files")]) == 1
    await port.edit(ref, say("web1", block("y" * 20_000)))
    files = [one for one in ours(slack, "C_OPS") if one.get("files")]
    assert len(files) == 2
    assert files[1]["thread_ts"] == ref.message


async def test_long_output_is_a_file_with_its_ends_inline(slack: Slack, port: SlackPort) -> None:
    output = "\n".join(f"line {number}" for number in range(5_000))
    await port.post(DM, say("✓ ok", fold=Text.of(block(output))), nonce="n")
    file, message = ours(slack)
    assert file["files"][0]["name"] == "output.txt"
    assert output in file["files"][0]["content"].decode()
    assert "line 0\n" in shown(message)
    assert "line 4999" in shown(message)


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("<!channel>.txt", "channel_.txt"),
        ("../../etc/passwd", "etc_passwd"),
        ("…", "file.txt"),
        ("a b.log", "a_b.log"),
    ],
)
async def test_a_file_name_is_only_that(slack: Slack, port: SlackPort, name: str, sent: str) -> None:
    await port.post(DM, say("x", attachment=(name, b"")), nonce="n")
    file = ours(slack)[0]["files"][0]
    assert (file["name"], file["content"]) == (sent, b"\n")


# ---------------------------------------------------------------- notes


async def test_a_note_is_for_one_person(slack: Slack, port: SlackPort) -> None:
    """Report 21: whoever may not decide is told so alone."""
    ts = await slack.say("@sayso uptime", channel="C_OPS")
    await port.note(replace(OPS, thread=ts), ANA, say("ask bo", buttons=YES))
    (note,) = slack.world.channels["C_OPS"].ephemeral
    assert (note["to"], note["thread_ts"], shown(note)) == ("U_ANA", ts, "ask bo")
    assert len(buttons(note)) == 1
    assert ours(slack, "C_OPS") == []


async def test_a_long_note_comes_in_parts_and_whole(slack: Slack, port: SlackPort) -> None:
    """Nobody else may see a file, so there is none."""
    command = "".join(f"{number:05d}" for number in range(4_000))
    await port.note(OPS, ANA, say("web1", block(command), "the end", buttons=YES))
    notes = slack.world.channels["C_OPS"].ephemeral
    assert command in "".join(shown(one) for one in notes).replace("\n", "")
    assert [len(buttons(one)) for one in notes] == [0] * (len(notes) - 1) + [1]
    assert slack.world.files == {}


async def test_a_note_to_somebody_who_is_not_there_is_refused(slack: Slack, port: SlackPort) -> None:
    with pytest.raises(RejectedError, match="user_not_in_channel"):
        await port.note(OPS, replace(ANA, user="U_GONE"), say("x"))
    assert slack.world.channels["C_OPS"].ephemeral == []


# ---------------------------------------------------------------- no pings


async def test_nothing_that_we_say_pings_anybody(slack: Slack, port: SlackPort) -> None:
    """Report 17: through body, code, block, fold, label, title and file name."""
    odd = "<!channel> <!here> <@U_BO> @everyone @here <!subteam^S1> &lt;!channel&gt;"
    message = Message(
        body=Text.of(odd, block(odd)),
        fold=Text.of(block(odd)),
        buttons=(Button(label=odd[:60], token="t"),),
        attachment=(odd, odd.encode()),
    )
    ref = await port.post(OPS, message, nonce="n")
    await port.edit(ref, message)
    await port.note(OPS, ANA, message)
    assert slack.world.pings == []
    assert odd in shown(slack.find("C_OPS", ref.message))
