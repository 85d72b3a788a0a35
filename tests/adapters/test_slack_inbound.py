"""What Slack sends, read: who spoke and where, what is one and the same, and what is no fresh word."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack import inbound
from adapters.slack.inbound import Reader
from bot.ports import Inbound, InboundKind, PlaceRef
from tests.simulators.slack.world import BOT, BOT_USER, TEAM, Json, typed

READER = Reader(team=TEAM, user=BOT_USER, bot=BOT)
TS = "1772366400.000100"


def message(text: str = "hello", **more: Any) -> Json:
    said = {
        "type": "message",
        "channel": "C_OPS",
        "user": "U_ANA",
        "team": TEAM,
        "ts": TS,
        **typed(text),
        **more,
    }
    return {key: value for key, value in said.items() if value is not None}


def read(event: Json, reader: Reader = READER) -> Inbound:
    found = reader.event({"type": "event_callback", "event": event})
    assert found is not None
    return found


def nothing(event: Json) -> bool:
    return READER.event({"type": "event_callback", "event": event}) is None


# ---------------------------------------------------------------- messages


def test_a_message_in_a_channel_opens_its_own_thread() -> None:
    """Report 10: the answer goes into a thread under the question."""
    heard = read(message("@sayso uptime"))
    assert heard.place == PlaceRef(platform="slack", tenant=TEAM, channel="C_OPS", thread=TS)
    assert (heard.addressed, heard.direct, heard.reply_to) == (True, False, None)
    assert heard.position == 1_772_366_400_000_100
    assert heard.sent_at == datetime(2026, 3, 1, 12, 0, 0, 100, tzinfo=UTC)


def test_a_reply_stays_in_its_thread() -> None:
    """Reports 9 and 10: thread_ts, not the reply's own ts, and a string from end to end."""
    heard = read(message(thread_ts="1772366300.123456", parent_user_id="U_BO"))
    assert heard.place.thread == "1772366300.123456"
    assert not heard.addressed


def test_a_direct_message_has_no_thread_and_is_for_us() -> None:
    heard = read(message(channel="D_ANA", channel_type="im"))
    assert heard.place.thread == ""
    assert (heard.direct, heard.addressed) == (True, True)
    assert read(message(channel="D_ANA", thread_ts="1.000001")).place.thread == "1.000001"


def test_a_reply_to_a_message_of_ours_refers_to_it() -> None:
    heard = read(message(thread_ts="1772366300.000001", parent_user_id=BOT_USER))
    assert heard.addressed
    assert heard.reply_to is not None
    assert heard.reply_to.message == "1772366300.000001"
    assert heard.reply_to.place == PlaceRef(platform="slack", tenant=TEAM, channel="C_OPS")


def test_whoever_opened_a_thread_with_us_needs_no_mention_in_it() -> None:
    knowing = Reader(team=TEAM, user=BOT_USER, bot=BOT, is_ours=lambda _channel, thread: thread == "9.000001")
    assert read(message(thread_ts="9.000001", parent_user_id="U_ANA"), knowing).addressed
    assert not read(message(thread_ts="9.000001", parent_user_id="U_BO"), knowing).addressed
    assert not read(message(thread_ts="8.000001", parent_user_id="U_ANA"), knowing).addressed


def test_a_mention_and_a_message_are_one() -> None:
    """Reports 2 and 3: two events, one message; either alone is enough."""
    both = [read(message("@sayso uptime", type=kind)) for kind in ("message", "app_mention")]
    assert both[0].event_id == both[1].event_id == f"m:C_OPS:{TS}"
    assert both[0] == both[1]


@pytest.mark.parametrize("own", [{"user": BOT_USER}, {"user": None, "bot_id": BOT}, {"bot_id": BOT}])
def test_what_we_say_is_not_heard(own: Json) -> None:
    """Reports 11 and 50."""
    assert nothing(message(**own))


@pytest.mark.parametrize(
    "marks",
    [
        {"bot_id": "B_OTHER"},
        {"app_id": "A_OTHER"},
        {"bot_profile": {"id": "B_OTHER"}},
        {"subtype": "bot_message", "user": None, "bot_id": "B_OTHER"},
        {"user": "USLACKBOT"},
    ],
)
def test_what_an_app_had_a_hand_in_is_a_bot(marks: Json) -> None:
    """P6 and report 50: also an app that speaks with a person's token."""
    assert read(message("yes", **marks)).account.is_bot


def test_a_person_is_known_by_workspace_and_id() -> None:
    assert read(message()).account.key == "slack:T1:U_ANA"
    assert read(message(user_team="T2", team="T2")).account.key == "slack:T2:U_ANA"
    assert read(message(team=None)).account.key == "slack:T1:U_ANA"


@pytest.mark.parametrize("mark", [{"is_share": True}, {"is_msg_unfurl": True}])
def test_a_forwarded_message_is_marked(mark: Json) -> None:
    assert read(message("", attachments=[{**mark, "text": "yes"}])).forwarded
    assert not read(message("yes", attachments=[{"text": "a preview"}])).forwarded


def test_a_quoted_message_is_marked() -> None:
    assert read(message("> yes")).forwarded


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast"])
def test_subtypes_in_which_somebody_speaks(subtype: str) -> None:
    assert read(message(subtype=subtype)).kind is InboundKind.MESSAGE


@pytest.mark.parametrize(
    "subtype", ["channel_join", "channel_topic", "message_deleted", "me_message", "reminder_add", "tombstone"]
)
def test_news_about_a_channel_says_nothing(subtype: str) -> None:
    assert nothing(message(subtype=subtype))


@pytest.mark.parametrize(
    "event", [{}, {"type": "message"}, {"type": "reaction_added"}, {"type": "team_join"}]
)
def test_what_is_no_message_says_nothing(event: Json) -> None:
    assert nothing(event)


@pytest.mark.parametrize("ts", ["", "x", "1e9", "-1.0", "١.٢", None])
def test_a_message_without_a_time_is_none(ts: str | None) -> None:
    assert nothing({**message(), "ts": ts})


# ---------------------------------------------------------------- edits


def changed(now: Json, before: Json) -> Json:
    return {
        "type": "message",
        "subtype": "message_changed",
        "channel": "C_OPS",
        "ts": "1772366500.000001",
        "message": now,
        "previous_message": before,
    }


EDITED = {"edited": {"user": "U_ANA", "ts": "1772366450.000000"}}


def test_an_edit_is_one_and_never_a_message() -> None:
    """Report 36."""
    heard = read(changed(message("yes", **EDITED), message("no")))
    assert (heard.kind, heard.text, heard.account.user) == (InboundKind.EDIT, "yes", "U_ANA")
    assert heard.event_id == f"e:C_OPS:{TS}:1772366450.000000"
    assert heard.place.thread == TS


@pytest.mark.parametrize(
    ("now", "before"),
    [
        (message("yes"), message("yes")),  # a reply or an unfurl
        (message("yes", reply_count=1), message("yes")),
        (message("yes", attachments=[{"title": "x"}]), message("yes")),
        (message("yes", **EDITED), message("yes", **EDITED, reply_count=2)),
        (message("new", user=BOT_USER, **EDITED), message("old", user=BOT_USER)),
        (message("new", user=None, bot_id=BOT, **EDITED), message("old", user=None, bot_id=BOT)),
        (message("new", bot_id="B_OTHER", **EDITED), message("old", bot_id="B_OTHER")),
    ],
)
def test_changes_in_which_nobody_spoke_say_nothing(now: Json, before: Json) -> None:
    """Reports 11, 12 and 13: our own edits, unfurls, replies and broadcasts change no words of a person."""
    assert nothing(changed(now, before))


def test_a_message_first_heard_in_its_edited_form_is_an_edit() -> None:
    """An edit that adds a mention, or one made while nobody listened: the first words are not known."""
    heard = read(message("@sayso yes", type="app_mention", **EDITED))
    assert heard.kind is InboundKind.EDIT


# ---------------------------------------------------------------- presses and forms


def press(**more: Any) -> Json:
    return {
        "type": "block_actions",
        "user": {"id": "U_BO", "name": "bo", "team_id": TEAM},
        "container": {"type": "message", "message_ts": TS, "channel_id": "C_OPS"},
        "message": {"ts": TS},
        "actions": [{"action_id": "s1:0", "value": "s1:tok", "action_ts": "1772366460.000001"}],
        **more,
    }


def test_a_press_says_who_where_and_what() -> None:
    heard = READER.press(press())
    assert heard is not None
    assert (heard.kind, heard.token, heard.account.user, heard.account.display) == (
        InboundKind.CLICK,
        "tok",
        "U_BO",
        "bo",
    )
    assert heard.place == PlaceRef(platform="slack", tenant=TEAM, channel="C_OPS")
    assert heard.position == 0


def test_a_press_on_a_card_in_a_thread_is_in_that_thread() -> None:
    """Report 49's kin: a card that got replies names itself as their thread, and stands outside."""
    container = {"message_ts": TS, "channel_id": "C_OPS", "thread_ts": "1772366300.000001"}
    assert READER.card(press(container=container)).place.thread == "1772366300.000001"  # type: ignore[union-attr]
    assert READER.card(press(message={"ts": TS, "thread_ts": TS})).place.thread == ""  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "more",
    [
        {"actions": []},
        {"actions": [{"value": "other:tok", "action_ts": "1.0"}]},
        {"actions": [{"value": None, "action_ts": "1.0"}]},
        {"actions": [{"value": "s1:tok", "action_ts": ""}]},
        {"actions": [{"value": "s1:a", "action_ts": "1.0"}, {"value": "s1:b", "action_ts": "1.0"}]},
        {"container": {}, "message": {}},
    ],
)
def test_what_is_no_press_of_ours_is_none(more: Json) -> None:
    assert READER.press(press(**more)) is None


@pytest.mark.parametrize(
    "view",
    [
        {},
        {"callback_id": "other"},
        {"callback_id": "sayso_form_1"},
        {"callback_id": "sayso_form_1", "private_metadata": "{}"},
        {"callback_id": "sayso_form_1", "private_metadata": "[]"},
        {"callback_id": "sayso_form_1", "private_metadata": '{"c":"C","t":"","m":"1.0","k":"other"}'},
    ],
)
def test_what_is_no_form_of_ours_is_none(view: Json) -> None:
    assert READER.form({"view": view}, now=datetime(2026, 3, 1, tzinfo=UTC)) is None


# ---------------------------------------------------------------- timestamps


@given(st.integers(min_value=1, max_value=4_000_000_000_000_000))
def test_timestamps_lose_no_digit(at: int) -> None:
    """Report 9."""
    assert inbound.micros(inbound.timestamp(at)) == at
    assert inbound.timestamp(at).split(".")[1].__len__() == 6


@pytest.mark.parametrize(
    ("event", "stamp"),
    [
        ("m:C1:1772366400.000100", 1_772_366_400_000_100),
        ("c:C1:1772366400.000200:U1:1.0", 1_772_366_400_000_200),
        ("f:C1:1772366400.000300:V1", 1_772_366_400_000_300),
        ("e:C1:1772366400.000100:1772366500.000000", 1_772_366_500_000_000),
        ("x:C1:1.0", 0),
        ("m:C1", 0),
        ("", 0),
    ],
)
def test_an_event_id_says_until_when_a_place_was_read(event: str, stamp: int) -> None:
    assert inbound.stamp_of(event) == stamp
