"""Updates of Telegram become events: whose words, where, and addressed to whom."""

from datetime import UTC, datetime
from typing import Any

import pytest
from telegram import Update

from adapters.telegram.heard import Me
from adapters.telegram.inbound import chat_of, from_update
from bot.ports import Inbound, InboundKind
from tests.simulators.telegram.limits import found

ME = Me(4200, "sayso_bot")
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ANA = {"id": 7, "is_bot": False, "first_name": "Ana", "last_name": "Lima", "username": "ana"}
SAYSO = {"id": 4200, "is_bot": True, "first_name": "sayso", "username": "sayso_bot"}
GROUP = {"id": -100500, "type": "supergroup", "title": "ops"}
PRIVATE = {"id": 7, "type": "private"}


def message(text: str = "hi", **more: Any) -> dict[str, Any]:
    base = {"message_id": 12, "from": ANA, "chat": GROUP, "date": 1772366400, "text": text}
    return base | {"entities": found(text)} | more


def heard(doc: dict[str, Any], *, kind: str = "message") -> Inbound | None:
    return from_update(Update.de_json({"update_id": 1, kind: doc}), me=ME, now=NOW)


def said(text: str, **more: Any) -> Inbound:
    inbound = heard(message(text, **more))
    assert inbound is not None
    return inbound


def entity(kind: str, text: str, part: str, **more: Any) -> dict[str, Any]:
    units = len(text[: text.index(part)].encode("utf-16-le")) // 2
    return {"type": kind, "offset": units, "length": len(part.encode("utf-16-le")) // 2, **more}


# ---------------------------------------------------------------- who, where, when


def test_a_message_says_who_where_and_when() -> None:
    inbound = said("hi")
    assert inbound.event_id == "m:-100500:12"
    assert inbound.account.key == "telegram::7"
    assert inbound.account.display == "Ana Lima"
    assert (inbound.place.channel, inbound.place.thread, inbound.place.tenant) == ("-100500", "", "")
    assert inbound.sent_at == NOW
    assert inbound.position == 12
    assert not inbound.direct
    assert not inbound.addressed


def test_a_private_chat_is_direct_and_addressed() -> None:
    inbound = said("hi", chat=PRIVATE)
    assert inbound.direct
    assert inbound.addressed


def test_what_the_bot_said_itself_is_not_heard() -> None:
    assert heard(message("hi", **{"from": SAYSO})) is None


def test_another_bot_is_heard_as_a_bot() -> None:
    """Report 50."""
    assert said("yes", **{"from": {**ANA, "is_bot": True}}).account.is_bot


def test_whoever_speaks_as_the_group_is_nobody() -> None:
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
    assert said("yes", **{"from": anonymous, "sender_chat": GROUP}).account.is_bot
    assert said("yes", sender_chat={"id": -1009, "type": "channel", "title": "news"}).account.is_bot


def test_a_channel_is_no_place_to_decide_in() -> None:
    assert heard(message("yes", chat={"id": -1009, "type": "channel", "title": "news"})) is None


@pytest.mark.parametrize("kind", ["sticker", "photo"])
def test_what_has_no_words_is_not_heard(kind: str) -> None:
    doc = message()
    del doc["text"]
    del doc["entities"]
    doc[kind] = [] if kind == "photo" else {
        "file_id": "1", "file_unique_id": "1", "width": 1, "height": 1, "is_animated": False,
        "is_video": False, "type": "regular",
    }  # fmt: skip
    assert heard(doc) is None


def test_a_caption_is_words() -> None:
    doc = message(caption="run df -h on web1")
    del doc["text"]
    inbound = heard(doc)
    assert inbound is not None
    assert inbound.text == "run df -h on web1"


def test_smart_quotes_stay_as_they_were_typed() -> None:
    """Report 16: they are folded where a command is parsed, never in what was said."""
    assert said("run echo “a” —b on web1").text == "run echo “a” —b on web1"


# ---------------------------------------------------------------- topics


def test_a_topic_is_a_thread() -> None:
    """Report 38."""
    assert said("hi", message_thread_id=44, is_topic_message=True).place.thread == "44"


def test_general_and_false_thread_ids_are_no_thread() -> None:
    """Report 38: a thread id counts in topics only; groups without topics carry some too."""
    assert said("hi", message_thread_id=44).place.thread == ""
    assert said("hi", chat={**GROUP, "is_forum": True}).place.thread == ""


@pytest.mark.parametrize(
    "begun", [{"message_id": 44}, {"message_id": 45, "forum_topic_created": {"name": "ops", "icon_color": 1}}]
)
def test_the_beginning_of_a_topic_is_not_what_one_replies_to(begun: dict[str, Any]) -> None:
    reply = message(**begun, **{"from": SAYSO})
    inbound = said("hi", message_thread_id=44, is_topic_message=True, reply_to_message=reply)
    assert inbound.reply_to is None
    assert not inbound.addressed


# ---------------------------------------------------------------- replies, forwards, edits


def test_a_reply_to_the_bot_is_addressed_and_says_to_what() -> None:
    inbound = said("yes", reply_to_message=message("card", message_id=9, **{"from": SAYSO}))
    assert inbound.addressed
    assert inbound.reply_to is not None
    assert (inbound.reply_to.message, inbound.reply_to.position) == ("9", 9)


def test_a_reply_to_somebody_else_is_not_addressed() -> None:
    inbound = said("yes", reply_to_message=message("hm", message_id=9))
    assert not inbound.addressed
    assert inbound.reply_to is not None


@pytest.mark.parametrize(
    "more",
    [
        {"forward_origin": {"type": "user", "date": 1, "sender_user": ANA}},
        {"forward_origin": {"type": "hidden_user", "date": 1, "sender_user_name": "x"}},
        {"via_bot": {"id": 5, "is_bot": True, "first_name": "inline"}},
    ],
)
def test_what_others_wrote_is_forwarded(more: dict[str, Any]) -> None:
    assert said("yes", **more).forwarded


def test_an_edit_is_an_edit() -> None:
    """Report 36: never a new message, though it holds the whole text."""
    first = heard(message("approve", edit_date=1772366460), kind="edited_message")
    assert first is not None
    assert first.kind is InboundKind.EDIT
    assert first.event_id == "e:-100500:12:1772366460"
    second = heard(message("approve", edit_date=1772366461), kind="edited_message")
    assert second is not None
    assert second.event_id != first.event_id
    assert second.position == first.position == 12


# ---------------------------------------------------------------- commands


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("/approve@sayso_bot k7f3a2", "approve k7f3a2"),
        ("/approve@SAYSO_bot k7f3a2", "approve k7f3a2"),
        ("/approve k7f3a2", "approve k7f3a2"),
        ("/stop", "stop"),
        ("/run@sayso_bot df -h on web1", "run df -h on web1"),
        ("/run\ndf -h on web1", "run\ndf -h on web1"),
        ("/start", "help"),
        ("/start@sayso_bot", "help"),
        ("/start ABCD-1234", "start ABCD-1234"),
    ],
)
def test_a_command_is_words_to_us(typed: str, text: str) -> None:
    """Report 39: the way in while privacy mode hides everything else."""
    inbound = said(typed)
    assert (inbound.text, inbound.addressed) == (text, True)


def test_a_command_to_another_bot_is_not_ours() -> None:
    assert heard(message("/approve@other_bot k7f3a2")) is None
    assert heard(message("/approve@sayso_bot2 k7f3a2")) is None


def test_a_path_is_no_command() -> None:
    text = "/etc/init.d/x restart"
    assert said(text).text == text
    assert said(text, entities=[entity("bot_command", text, "/etc")]).text == text
    assert not said(text).addressed


# ---------------------------------------------------------------- mentions


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("@sayso_bot run df -h on web1", "run df -h on web1"),
        ("@SAYSO_BOT: run df -h on web1", "run df -h on web1"),
        ("run df -h on web1 @sayso_bot", "run df -h on web1"),
        ("😀 @sayso_bot", "😀"),
        ("@sayso_bot @sayso_bot yes", "yes"),
        ("@sayso_bot @bo yes", "@bo yes"),
        ("run echo @sayso_bot on web1", "run echo @sayso_bot on web1"),
        ("@sayso_bot", ""),
    ],
)
def test_our_own_mention_is_taken_off_the_ends(typed: str, text: str) -> None:
    """Report 51."""
    inbound = said(typed)
    assert (inbound.text, inbound.addressed) == (text, True)


@pytest.mark.parametrize(
    "typed", ["@bo run df -h", "ask sayso_bot", "mail me@sayso_bot.org", "@sayso_bot2 yes"]
)
def test_other_names_are_not_ours(typed: str) -> None:
    inbound = said(typed)
    assert (inbound.text, inbound.addressed) == (typed, False)


def test_a_mention_without_a_name_is_known_by_its_id() -> None:
    text = "Sayso, yes"
    assert said(text, entities=[entity("text_mention", text, "Sayso", user=SAYSO)]).text == "yes"
    assert not said(text, entities=[entity("text_mention", text, "Sayso", user=ANA)]).addressed


# ---------------------------------------------------------------- code


def test_a_block_gets_its_fence_back() -> None:
    text = "run\nset -e\ndf -h\non web1"
    inbound = said(text, entities=[entity("pre", text, "set -e\ndf -h")])
    assert inbound.text == "run\n```\nset -e\ndf -h\n```\non web1"


def test_code_gets_its_backticks_back_after_an_emoji() -> None:
    text = "😀 df -h on web1"
    assert said(text, entities=[entity("code", text, "df -h")]).text == "😀 `df -h` on web1"


@pytest.mark.parametrize("kind", ["code", "pre"])
def test_a_phrase_pasted_from_a_card_stays_the_phrase(kind: str) -> None:
    text = "destroy ct-112 on pve1"
    assert said(text, entities=[entity(kind, text, text)]).text == text


def test_a_block_of_several_lines_is_fenced_even_alone() -> None:
    text = "a\nb"
    assert said(text, entities=[entity("pre", text, text)]).text == "```\na\nb\n```"


def test_code_that_holds_backticks_stays_as_it_is() -> None:
    text = "say a`b now"
    assert said(text, entities=[entity("code", text, "a`b")]).text == text


# ---------------------------------------------------------------- presses and moves


def press(data: str | None, **more: Any) -> Inbound | None:
    card = message("card", message_id=9, **{"from": SAYSO})
    doc = {"id": "q1", "from": ANA, "chat_instance": "1", "message": card, "data": data} | more
    return heard(doc, kind="callback_query")


def test_a_press_says_who_pressed_what_where() -> None:
    inbound = press("s1:tok")
    assert inbound is not None
    assert (inbound.kind, inbound.token, inbound.event_id) == (InboundKind.CLICK, "tok", "c:q1")
    assert (inbound.account.user, inbound.place.channel, inbound.sent_at) == ("7", "-100500", NOW)


@pytest.mark.parametrize("data", ["tok", "", None, "s1:", "s2:tok", "s1:" + "a" * 33, "s1:é"])
def test_what_is_no_token_of_ours_is_nobodys(data: str | None) -> None:
    assert press(data) is None


def test_a_press_on_a_message_of_an_inline_bot_is_nobodys() -> None:
    assert press("s1:tok", message=None, inline_message_id="x") is None


def test_a_press_on_an_old_card_has_its_place() -> None:
    inbound = press("s1:tok", message={"chat": GROUP, "message_id": 9, "date": 0})
    assert inbound is not None
    assert inbound.place.channel == "-100500"


def test_a_press_in_a_topic_has_its_place() -> None:
    """Report 38."""
    card = message("card", message_id=9, message_thread_id=44, is_topic_message=True, **{"from": SAYSO})
    inbound = press("s1:tok", message=card)
    assert inbound is not None
    assert inbound.place.thread == "44"


def test_both_sides_of_a_move_are_one_event() -> None:
    """Report 37."""
    old, new = (
        {"id": -5, "type": "group", "title": "ops"},
        {"id": -1005, "type": "supergroup", "title": "ops"},
    )
    one = heard(message(chat=old, migrate_to_chat_id=-1005))
    two = heard(message(chat=new, migrate_from_chat_id=-5))
    assert one is not None
    assert two is not None
    assert one.kind is two.kind is InboundKind.MOVED
    assert one.event_id == two.event_id
    assert one.place == two.place
    assert one.moved_to == two.moved_to
    assert (one.place.channel, one.moved_to and one.moved_to.channel) == ("-5", "-1005")


def test_the_chat_of_an_update_is_known_before_it_is_read() -> None:
    assert chat_of({"message": message()}) == "-100500"
    assert chat_of({"edited_message": message()}) == "-100500"
    assert chat_of({"callback_query": {"message": message()}}) == ""
    assert chat_of({"message": "?"}) == ""
