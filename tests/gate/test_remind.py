"""Reminders: from words to one time, a question with options, or why not."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from gate.domain import ReasonCode
from gate.resolve import remind
from gate.resolve.decision import Allow, Clarify, Deny
from gate.resolve.times import Width, slots_of, slots_time, zone_name
from gate.when import Anchor, Grain, Remembered, Resolved, remember
from tests.gate.reminding import (
    BERLIN,
    NOW,
    ONE_ON_ONE,
    RESET,
    SYNC,
    UNDATED,
    allowed,
    asks,
    labels,
    resolved,
    times,
)


@pytest.mark.parametrize(
    ("text", "fire_at", "said"),
    [
        ("remind me to call Bo at 5pm", "2026-11-30T17:00:00+01:00", "call Bo"),
        ("remind me on Friday at 10 about the deploy, please.", "2026-12-04T10:00:00+01:00", "the deploy"),
        ("remind me in 20 minutes: check the oven", "2026-11-30T10:20:00+01:00", "check the oven"),
        ("remind me in 20 minutes", "2026-11-30T10:20:00+01:00", "you asked for this Mon 30 Nov 10:00 CET"),
        ("remind me an hour before the project sync", "2026-12-01T13:00:00+01:00", "Project sync in an hour"),
        ("remind me an hour before the project sync to print", "2026-12-01T13:00:00+01:00", "print"),
        ("remind me 2 days after the grok reset", "2026-12-22T01:00:00+01:00", "Grok reset 2 days ago"),
    ],
)
def test_a_reminder_says_what_the_message_says_beside_its_time(text: str, fire_at: str, said: str) -> None:
    assert allowed(asks(text, RESET, SYNC) if "20 min" not in text else asks(text)) == (fire_at, said)


def test_what_the_event_is_called_alone_is_said_with_how_far_away_it_is() -> None:
    decision = asks("remind me about the meeting an hour before", SYNC, ONE_ON_ONE)
    assert isinstance(decision, Clarify)
    patch = decision.options[0].patch or {}
    assert allowed(remind.resolve({**decision.slots, **patch}, times=times(SYNC, ONE_ON_ONE))) == (
        "2026-12-01T13:00:00+01:00",
        "Project sync in an hour",
    )


def test_what_is_said_beside_the_event_stays() -> None:
    decision = asks("remind me about the slides for the meeting", SYNC)
    assert isinstance(decision, Clarify)
    patch = decision.options[0].patch or {}
    said = allowed(remind.resolve({**decision.slots, **patch}, times=times(SYNC)))[1]
    assert said == "the slides for the meeting"


def test_a_text_that_is_given_stays_and_other_slots_do_too() -> None:
    slots = {"words": "remind me in 2 days", "text": "grok reset", "prompt": "x"}
    decision = remind.resolve(slots, times=times())
    assert isinstance(decision, Allow)
    assert decision.slots == {
        "text": "grok reset",
        "prompt": "x",
        "fire_at": "2026-12-02T10:00:00+01:00",
        "rrule": "",
        "zone": "Europe/Berlin",
        "anchor": "request_at",
        "grain": "day",
    }
    assert decision.because == "anchor request_at"


def test_a_recurrence_keeps_its_rule_and_its_zone() -> None:
    decision = asks("remind me every weekday at 9 to stand up")
    assert isinstance(decision, Allow)
    assert decision.slots["rrule"] == "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0"
    assert decision.slots["zone"] == "Europe/Berlin"


def test_two_events_of_one_name_are_one_option_each() -> None:
    decision = asks("remind me about the meeting", SYNC, ONE_ON_ONE)
    assert isinstance(decision, Clarify)
    assert decision.question == "Two events are known by that name. Which one?"
    assert labels(decision) == [
        ("memory_anchor_1", "Project sync, Tue 1 Dec 14:00"),
        ("memory_anchor_2", "1:1 with Bo, Wed 2 Dec 10:00"),
    ]
    assert decision.free == "when"


def test_from_now_or_before_the_event() -> None:
    decision = asks("remind me about the grok reset in 2 days", RESET)
    assert isinstance(decision, Clarify)
    assert labels(decision) == [
        ("memory_anchor", "Before Grok reset, Fri 18 Dec 01:00"),
        ("from_now", "From now: Wed 2 Dec 10:00"),
    ]
    assert decision.question == "Counted from now, or from the event?"


@pytest.mark.parametrize(
    ("events", "question"),
    [
        ((SYNC,), "Project sync is close to that. Which time is meant?"),
        ((SYNC, ONE_ON_ONE), "2 remembered events are close to that. Which time is meant?"),
    ],
)
def test_an_event_that_lies_close_is_asked_about(events: Sequence[Anchor], question: str) -> None:
    decision = asks("remind me in 2 hours", *events)
    assert isinstance(decision, Clarify)
    assert decision.question == question
    assert decision.options[-1].id == "from_now"


def test_an_event_whose_lead_has_passed_leaves_the_time_from_now() -> None:
    decision = asks("ذكرني بعد يومين", SYNC)
    assert isinstance(decision, Clarify)
    assert decision.question == "A remembered event is close to that. Which time is meant?"
    assert labels(decision) == [("from_now", "From now: Wed 2 Dec 10:00")]


def test_of_many_events_the_few_nearest_are_offered() -> None:
    events = [
        Anchor(name=f"e{n}", at=NOW + timedelta(hours=10 + n), aliases=(f"thing {n}",)) for n in range(40)
    ]
    decision = asks("remind me in 2 hours", *events)
    assert isinstance(decision, Clarify)
    assert [one.id for one in decision.options] == [*(f"memory_anchor_{n}" for n in range(1, 5)), "from_now"]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("remind me to pay", "When? Say it like"),
        ("remind me at the end of the month", "When? Say it like"),
        ("remind me every monday to dance", "At what time?"),
        ("remind me an hour before the flight", "That event is not remembered"),
        ("remind me an hour before the audit", "That event is remembered without a date."),
        ("remind me at 9am Springfield time", "That time zone is not known."),
        ("remind me every day at 9am UTC+5:30", "That time zone is not known."),
    ],
)
def test_what_only_words_can_answer(text: str, question: str) -> None:
    decision = asks(text, UNDATED)
    assert isinstance(decision, Clarify)
    assert decision.question.startswith(question)
    assert (decision.options, decision.free) == ((), "when")


def test_two_readings_are_an_option_each_and_never_both() -> None:
    decision = asks("remind me next Tuesday")
    assert labels(decision) == [("reading_1", "Tue 1 Dec 10:00"), ("reading_2", "Tue 8 Dec 10:00")]
    assert isinstance(decision, Clarify)
    assert decision.question == "That can be read in several ways. Which one?"


def test_the_hour_that_comes_twice_is_told_apart_by_its_zone() -> None:
    before = datetime(2026, 10, 24, 9, tzinfo=UTC)
    facts = times(request_at=before, now=before)
    assert labels(resolved("remind me tomorrow at 02:30 to look", facts)) == [
        ("reading_1", "Sun 25 Oct 02:30 CEST"),
        ("reading_2", "Sun 25 Oct 02:30 CET"),
    ]
    assert labels(resolved("remind me every day at 02:30 to look", facts)) == [
        ("reading_1", "every day at 02:30 CEST"),
        ("reading_2", "every day at 02:30 CET"),
    ]


def test_how_wide_questions_are() -> None:
    near = "remind me in 2 days"
    assert isinstance(resolved(near, times(RESET, width=Width.STRICT)), Clarify)
    assert isinstance(resolved(near, times(RESET)), Allow)
    assert isinstance(resolved(near, times(SYNC)), Clarify)
    relaxed = resolved(near, times(SYNC, width=Width.RELAXED))
    assert allowed(relaxed)[0] == "2026-12-02T10:00:00+01:00"
    assert isinstance(
        resolved("remind me about the meeting in 2 hours", times(SYNC, width=Width.RELAXED)), Clarify
    )


def test_a_short_time_with_a_subject_of_its_own_is_not_asked_about() -> None:
    text = "remind me in 20 minutes to check the oven"
    assert allowed(resolved(text, times(SYNC)))[1] == "check the oven"
    assert isinstance(resolved(text, times(SYNC, width=Width.STRICT)), Clarify)
    assert isinstance(resolved("remind me in 2 days to check the oven", times(SYNC)), Clarify)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "remind me on 2020-01-01",
            "Not set. Wed 1 Jan 2020 00:00 CET has passed. Nearest possible: now.",
        ),
        (
            "remind me 60 days before the project sync",
            "Not set. Fri 2 Oct 14:00 CEST has passed. Nearest possible: now.",
        ),
        (
            "remind me in 20 years",
            "Not set. That is more than ten years ahead. Nearest possible: Sun 30 Nov 2036 10:00 CET.",
        ),
        (
            "remind me on 2027-03-28 at 02:30",
            (
                "Not set. That time does not exist: the calendar lacks it, or the clock is set forward over "
                "it. Nearest possible: Sun 28 Mar 2027 03:30 CEST."
            ),
        ),
    ],
)
def test_what_cannot_be_kept_is_denied_with_the_nearest_that_can(text: str, why: str) -> None:
    decision = asks(text, SYNC)
    assert isinstance(decision, Deny)
    assert decision.reason.text == why
    assert decision.reason.code is ReasonCode.IMPOSSIBLE_TIME


def test_before_an_event_that_is_over_nothing_is_possible() -> None:
    over = Anchor(name="b8", at=NOW - timedelta(days=3), aliases=("the party",))
    decision = asks("remind me an hour before the party", over)
    assert isinstance(decision, Deny)
    assert decision.reason.text == (
        "Not set. The event has passed, so Fri 27 Nov 09:00 CET cannot come any more."
    )


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (BERLIN, "Europe/Berlin"),
        (UTC, "UTC"),
        (timezone(timedelta(hours=3)), "Etc/GMT-3"),
        (timezone(-timedelta(hours=5)), "Etc/GMT+5"),
        (timezone(timedelta(hours=5, minutes=30)), ""),
        (timezone(timedelta(hours=15)), ""),
        (None, ""),
    ],
)
def test_a_zone_is_stored_by_the_name_that_the_database_knows(zone: Any, name: str) -> None:
    assert zone_name(zone) == name


def test_a_time_comes_back_from_its_slots() -> None:
    abroad = datetime(2026, 12, 1, 13, tzinfo=timezone(timedelta(hours=3)))
    for at in (datetime(2026, 12, 1, 13, tzinfo=BERLIN), abroad):
        found = Resolved(at=at, anchor="absolute", grain=Grain.HOUR, rrule="FREQ=DAILY")
        assert slots_time(slots_of(found), BERLIN) == found
    assert slots_time({}, BERLIN) is None
    with pytest.raises(ValueError, match="aware"):
        slots_time({"fire_at": "2026-12-01T13:00:00"}, BERLIN)


def test_an_event_without_a_name_is_called_by_its_id() -> None:
    nameless = Anchor(name="grok_next", at=SYNC.at, aliases=())
    long = Anchor(name="b9", at=ONE_ON_ONE.at, aliases=("the very long name of a meeting that nobody reads",))
    found: Remembered = remember([nameless, long])
    decision = remind.resolve({"words": "remind me in 2 hours", "about": ""}, times=times(remembered=found))
    assert [label.split(",")[0] for _, label in labels(decision)][:2] == [
        "Before Grok next",
        "Before The very long name of a meeti…",
    ]
