"""Times before and after remembered events, and what is asked where an event is in doubt."""

import random
from datetime import datetime, timedelta

import pytest

from gate.when import Anchor, Ask, Impossible, Outcome, Reason, Resolved, Why, names_of, remember, resolve
from tests.gate.when.when_cases import AUDIT, BERLIN, LICENSE, REQUEST, UTC, event, said, when

BACKUP = event("nightly_backup", "2027-06-18T02:00+00:00")
TEAM, BOARD = (
    event("team_meeting_next", "2027-07-20T09:00+00:00"),
    event("board_meeting", "2027-08-03T15:00+00:00"),
)
TOKEN = event("token_reset", "2027-10-05T00:00+00:00")
UNDATED = event("domain_expiry", None)
OVER = event("spring_release", "2027-05-01T00:00+00:00")
ALL = [AUDIT, LICENSE, TEAM, BOARD, TOKEN, UNDATED, OVER]


@pytest.mark.parametrize(
    ("text", "anchor", "expected"),
    [
        ("half an hour before the audit", AUDIT, "06-21 10:30"),
        ("remind me two days prior to our audit", AUDIT, "06-19 11:00"),
        ("90 minutes ahead of the audit, please", AUDIT, "06-21 09:30"),
        ("ping me before the audit in 3 hours", AUDIT, "06-21 08:00"),
        ("3 hours after the audit", AUDIT, "06-21 14:00"),
        ("a week before the license expires and tell finance", LICENSE, "08-25 00:00"),
        ("2 weeks before the license renewal", LICENSE, "08-18 00:00"),
        ("a day before the next audit", AUDIT, "06-20 11:00"),
        ("a day before the token weekly reset", TOKEN, "10-04 00:00"),
        ("an hour before the team meeting", TEAM, "07-20 08:00"),
        ("قبل انتهاء ترخيص بيومين", LICENSE, "08-30 00:00"),
        ("قبل إعادة تعيين token الأسبوعية بـ3 ساعات", TOKEN, "10-04 21:00"),
        ("ذكرني قبل نصف ساعة من اجتماع الفريق", TEAM, "07-20 08:30"),
        ("بعد اجتماع الفريق بساعة", TEAM, "07-20 10:00"),
        ("بعد ساعتين من اجتماع الفريق واكتب الملخص", TEAM, "07-20 11:00"),
        ("قبل يوم من الاجتماع القادم", TEAM, "07-19 09:00"),
    ],
)
def test_a_length_beside_an_event(text: str, anchor: Anchor, expected: str) -> None:
    known = [one for one in ALL if one is not BOARD]
    outcome = when(text, anchors=known)
    assert isinstance(outcome, Resolved)
    assert (said(outcome), outcome.anchor) == (expected, anchor.name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("an hour before standup", "ask unknown_event"),
        ("a day before the yearly audit", "ask unread"),
        ("30 min before the reset", "ask which_event: 08-31 23:30 | 10-04 23:30"),
        ("two days before friday", "ask unknown_event"),
        ("before lunch", "ask unread"),
        ("an hour before the meeting", "ask which_event: 07-20 08:00 | 08-03 14:00"),
        ("don't let me miss the meeting", "ask which_event: 07-20 09:00 | 08-03 15:00"),
        ("remind me about the audit", "ask which_time: 06-21 11:00"),
        ("remind me about the spring release", "ask which_time"),
        ("an hour before the dentist meeting", "ask unknown_event: 07-20 08:00 | 08-03 14:00"),
        ("an hour before the audit of the cluster", "ask unknown_event: 06-21 10:00"),
        ("an hour before the audit party", "ask unknown_event: 06-21 10:00"),
        ("an hour before or the audit", "ask unknown_event: 06-21 10:00"),
        ("an hour after the audit party", "ask unknown_event"),
        ("an hour, 2 days before the audit of it", "ask unread"),
        ("0 hours before standup and the audit", "ask unknown_event"),
        ("an hour before the domain expiry", "ask event_without_date"),
        ("remind me about the domain expiry", "ask which_time"),
        ("before the audit", "ask which_time"),
        ("an hour before the audit, 2 hours later", "ask unread"),
        ("0 hours before the audit", "ask which_time"),
        ("2 hours before the audit and 1 hour before the token reset", "ask which_event"),
        ("2 hours before, no, after the audit", "ask unknown_event: 06-21 09:00"),
        ("2 hours before the audit, after all", "ask which_event: 06-21 09:00"),
        ("in 2 hours before the audit", "ask event_or_now: 06-21 09:00 | 06-16 15:05"),
        ("after the audit in 2 hours", "ask event_or_now: 06-21 09:00 | 06-16 15:05"),
        ("remind me in 3 days about the token reset", "ask event_or_now: 10-02 00:00 | 06-19 13:05"),
        ("ذكرني باجتماع الفريق بعد يومين", "ask event_or_now: 07-18 09:00 | 06-18 13:05"),
        ("قبل يومين من العيد", "ask unknown_event"),
        ("every day before the audit", "ask unread"),
        ("before the audit every 2 hours", "ask unread"),
        ("before the meeting on friday", "ask unread"),
        ("before the audit at 9 on sunday 10", "ask unread"),
        ("before the domain expiry on friday", "ask unread"),
        ("before standup on friday", "ask unknown_event"),
        ("before the audit, on saturday at 9am", "ask which_reading: 06-19 09:00"),
        ("after the audit, on saturday at 9am", "ask which_reading: 06-19 09:00"),
        ("before the audit, tomorrow at 3", "ask which_reading: 06-17 03:00 | 06-17 15:00"),
        ("on monday about the audit", "ask which_time: 06-21 11:00 | 06-21 13:05"),
        ("on friday about the audit", "06-18 13:05"),
        ("on monday at 9am about the audit", "06-21 09:00"),
        ("in a month before the audit", "ask event_or_now: 07-16 13:05"),
    ],
)
def test_an_event_in_doubt_is_asked_about(text: str, expected: str) -> None:
    assert said(when(text, anchors=ALL, near=0)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 days before the audit", "impossible past, nearest 06-16 13:05"),
        ("an hour before the spring release", "impossible event_passed"),
        ("an hour after the spring release", "impossible past, nearest 06-16 13:05"),
        ("before the audit, on tuesday at 9am", "impossible beyond_event, nearest 06-21 11:00"),
        ("before the spring release, on friday at 9am", "impossible beyond_event"),
        ("before the audit, yesterday at 9am", "impossible past, nearest 06-16 13:05"),
        ("90 years before the audit", "impossible too_far, nearest 06-16 13:05"),
        ("20 years after the audit", "impossible too_far, nearest 06-16 13:05"),
    ],
)
def test_a_time_that_an_event_forbids(text: str, expected: str) -> None:
    assert said(when(text, anchors=ALL)) == expected


def test_the_time_that_was_meant_is_told_with_the_refusal() -> None:
    outcome = when("30 days before the audit", anchors=ALL)
    assert isinstance(outcome, Impossible)
    assert (outcome.reason, f"{outcome.asked_at:%m-%d %H:%M}") == (Reason.PAST, "05-22 11:00")


@pytest.mark.parametrize(
    ("text", "near", "expected"),
    [
        ("in 2 days", 7, "ask near_event: 06-19 11:00 | 06-18 13:05"),
        ("in 2 days", 2, "06-18 13:05"),
        ("in 10 days", 7, "ask near_event: 06-26 13:05"),  # the audit less 10 days has passed
        ("in 30 days", 7, "ask near_event: 06-20 09:00 | 07-16 13:05"),
        ("tomorrow at 9am", 7, "06-17 09:00"),
        ("in 70 days", 30, "ask near_event: 06-23 00:00 | 08-25 13:05"),
    ],
)
def test_a_remembered_event_close_to_a_time_from_now(text: str, near: int, expected: str) -> None:
    known = [one for one in ALL if one is not BOARD]
    assert said(when(text, anchors=known, near=near)) == expected


def test_a_month_before_an_event_with_one_reading_past_is_still_asked_about() -> None:
    soon = event("audit", "2027-07-17T11:00+00:00")
    assert said(when("a month before the audit", anchors=[soon])) == "06-17 11:00"
    later = event("audit", "2027-08-16T12:00+00:00")
    assert said(when("2 months before the audit", anchors=[later])) == "ask which_reading: 06-17 12:00"


def _read(text: str, anchors: list[Anchor]) -> Outcome:
    return resolve(text, request_at=REQUEST, zone=UTC, anchors=remember(anchors))


def test_the_order_of_what_is_remembered_never_matters() -> None:
    texts = ("an hour before the meeting", "in 3 days", "a day before the reset", "about the audit")
    for seed in range(6):
        shuffled = random.Random(seed).sample(ALL, len(ALL))
        assert [_read(text, shuffled) for text in texts] == [_read(text, ALL) for text in texts]


def test_ten_thousand_events_do_not_hide_one() -> None:
    many = [Anchor(name=f"svc{n}_reset", at=TOKEN.at, aliases=(f"svc{n} reset",)) for n in range(10_000)]
    outcome = _read("two days before the svc777 reset", many)
    assert isinstance(outcome, Resolved)
    assert outcome.anchor == "svc777_reset"


def test_an_event_with_a_naive_time_is_refused() -> None:
    naive = Anchor(name="audit", at=REQUEST.replace(tzinfo=None), aliases=("audit",))
    with pytest.raises(ValueError, match="aware"):
        when("an hour before the audit", anchors=[naive])


def test_an_event_without_a_name_is_never_mentioned() -> None:
    nameless = Anchor(name="x", at=REQUEST, aliases=("", "  "))
    assert said(when("an hour before it", anchors=[nameless])) == "ask unknown_event"


@pytest.mark.parametrize(
    ("predicate", "name"),
    [
        ("token_next_reset", "token reset"),
        ("token_next_reset", "token renewal"),
        ("token_next_reset", "اعادة تعيين token"),
        ("token_next_reset", "reset"),
        ("subscription_ends", "subscription renewal"),
        ("subscription_ends", "انتهاء اشتراك"),
        ("weekly-retro", "weekly retro"),
        ("audit", "audit"),
    ],
)
def test_what_an_event_is_called(predicate: str, name: str) -> None:
    assert name in names_of(predicate)


def test_an_id_without_a_word_has_no_name() -> None:
    assert names_of("next_date") == ()


def test_a_clock_set_forward_between_a_length_and_its_event() -> None:
    at = event("audit", "2027-03-29T02:30+02:00")
    outcome = when("a day before the audit", at=REQUEST.replace(month=3, day=1), zone=BERLIN, anchors=[at])
    assert said(outcome) == "impossible no_such_time, nearest 03-28 03:30"


def test_of_many_events_of_one_name_those_that_come_next_are_offered() -> None:
    at = datetime(2026, 11, 30, 9, tzinfo=UTC)
    many = [Anchor(name=f"e{n}", at=at + timedelta(hours=n), aliases=("sync",)) for n in range(-40, 40)]
    outcome = resolve("remind me about the sync", request_at=at, zone=UTC, anchors=many)
    assert isinstance(outcome, Ask)
    assert [one.at for one in outcome.options] == [at + timedelta(hours=n) for n in range(1, 17)]
    over = resolve("remind me about the sync", request_at=at + timedelta(days=90), zone=UTC, anchors=many)
    assert over == Ask(options=(), why=Why.WHICH_EVENT)
    last = resolve("an hour before the sync", request_at=many[-2].at or at, zone=UTC, anchors=many)
    assert isinstance(last, Ask)  # though only one of them is still to come
