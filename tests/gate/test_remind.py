"""Reminders: from words to one time, a question with options, or why not."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from gate.domain import ReasonCode
from gate.resolve import remind, timing
from gate.resolve.decision import Allow, Clarify, Decision, Deny
from gate.resolve.times import Times, Width, slots_of, slots_time, zone_name
from gate.when import Anchor, Grain, Remembered, Resolved, names_of, remember

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)  # Monday, 10:00 in Berlin
SYNC = Anchor(
    name="b1", at=datetime(2026, 12, 1, 14, tzinfo=BERLIN), aliases=("project sync", "meeting", "اجتماع")
)
ONE_ON_ONE = Anchor(
    name="b2", at=datetime(2026, 12, 2, 10, tzinfo=BERLIN), aliases=("1:1 with Bo", "meeting")
)
RESET = Anchor(
    name="grok_next_reset", at=datetime(2026, 12, 20, tzinfo=UTC), aliases=names_of("grok_next_reset")
)
UNDATED = Anchor(name="b4", at=None, aliases=("the audit",))


def times(*events: Anchor, **changes: Any) -> Times:
    facts: dict[str, Any] = {
        "request_at": NOW,
        "now": NOW,
        "zone": BERLIN,
        "remembered": remember(events),
    }
    return Times(**{**facts, **changes})


def asks(text: str, *events: Anchor, about: str | None = None, **slots: str) -> Decision:
    facts = times(*events)
    return resolved(text, facts, about=about, **slots)


def resolved(text: str, facts: Times, *, about: str | None = None, **slots: str) -> Decision:
    said = text.replace("remind me", "") if about is None else about
    return remind.resolve({"words": text, "about": said, **slots}, times=facts)


def labels(decision: Decision) -> list[tuple[str, str]]:
    assert isinstance(decision, Clarify)
    return [(one.id, one.label) for one in decision.options]


def allowed(decision: Decision) -> tuple[str, str]:
    assert isinstance(decision, Allow), decision
    return decision.slots["fire_at"], decision.slots["text"]


# ---------------------------------------------------------------- what it says, and when


@pytest.mark.parametrize(
    ("text", "fire_at", "said"),
    [
        ("remind me to call Bo at 5pm", "2026-11-30T17:00:00+01:00", "call Bo"),
        ("remind me on Friday at 10 about the deploy, please.", "2026-12-04T10:00:00+01:00", "the deploy"),
        ("remind me in 20 minutes: check the oven", "2026-11-30T10:20:00+01:00", "check the oven"),
        ("remind me in 20 minutes", "2026-11-30T10:20:00+01:00", "remind me in 20 minutes"),
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


# ---------------------------------------------------------------- asked


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


# ---------------------------------------------------------------- width


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


# ---------------------------------------------------------------- denied


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


# ---------------------------------------------------------------- answers


def answered(question: Decision, words: str, facts: Times) -> Decision:
    assert isinstance(question, Clarify)
    return remind.resolve({**question.slots, question.free: words}, times=facts)


def test_the_answer_to_at_what_time_completes_the_words_that_lacked_it() -> None:
    later = times(request_at=NOW + timedelta(minutes=5), now=NOW + timedelta(minutes=5))
    question = asks("remind me every monday to dance")
    decision = answered(question, "at 9", later)
    assert isinstance(decision, Allow)
    assert decision.slots["rrule"].startswith("FREQ=WEEKLY;BYDAY=MO;BYHOUR=9")
    assert decision.slots["text"] == "dance"
    assert allowed(answered(question, "tomorrow at 9", later)) == ("2026-12-01T09:00:00+01:00", "dance")


def test_an_answer_counts_from_when_it_was_given() -> None:
    later = times(request_at=NOW + timedelta(minutes=5), now=NOW + timedelta(minutes=5))
    decision = answered(asks("remind me to pay"), "in 10 minutes", later)
    assert allowed(decision) == ("2026-11-30T10:15:00+01:00", "pay")


def test_an_answer_may_be_unclear_too_and_ends_in_options() -> None:
    decision = answered(asks("remind me to pay"), "next Tuesday", times())
    assert [one for one, _ in labels(decision)] == ["reading_1", "reading_2"]
    assert isinstance(decision, Clarify)
    patch = decision.options[1].patch or {}
    assert allowed(remind.resolve({**decision.slots, **patch}, times=times())) == (
        "2026-12-08T10:00:00+01:00",
        "pay",
    )


def test_a_bare_yes_is_no_time_and_is_not_asked_about_without_end() -> None:
    first = answered(asks("remind me to pay"), "yes", times())
    assert isinstance(first, Clarify)
    assert first.question.startswith('"yes" names no time.')
    second = answered(first, "yes", times())
    assert isinstance(second, Deny)
    assert second.reason.text.startswith("Not set: no time was said.")
    assert isinstance(answered(first, "sometime next year", times()), Deny)


def test_an_answer_without_a_time_leaves_the_options_open() -> None:
    question = asks("remind me next Tuesday")
    first = answered(question, "the one when Bo is back from his long holiday", times())
    assert labels(first) == labels(question)
    assert isinstance(first, Clarify)
    assert first.question == (
        '"the one when Bo is back from …" names no time. That can be read in several ways. Which one?'
    )


def test_an_answer_that_is_not_understood_is_asked_about_once_more() -> None:
    first = answered(asks("remind me to pay"), "an hour before the flight", times())
    assert isinstance(first, Clarify)
    assert first.question.startswith("That event is not remembered")


def test_an_answer_with_an_impossible_time_is_denied() -> None:
    assert isinstance(answered(asks("remind me to pay"), "on 2020-01-01", times()), Deny)


def test_a_picked_time_that_has_passed_meanwhile_is_asked_again() -> None:
    question = asks("remind me about the meeting an hour before", SYNC, ONE_ON_ONE)
    assert isinstance(question, Clarify)
    patch = question.options[0].patch or {}
    late = times(SYNC, ONE_ON_ONE, now=datetime(2026, 12, 1, 13, 30, tzinfo=BERLIN))
    decision = remind.resolve({**question.slots, **patch}, times=late)
    assert isinstance(decision, Clarify)
    assert decision.question.startswith("Tue 1 Dec 13:00 CET has passed meanwhile. When instead?")
    assert (decision.free, decision.because) == ("when", "passed meanwhile")
    assert "fire_at" not in decision.slots


def test_a_time_that_passed_before_it_was_decided_is_asked_again() -> None:
    decision = resolved("remind me in 5 minutes", times(now=NOW + timedelta(hours=1)))
    assert isinstance(decision, Clarify)
    assert decision.because == "passed meanwhile"


def test_guesses_are_offered_and_never_taken() -> None:
    guess = datetime(2027, 9, 1, tzinfo=BERLIN)
    facts = times(guesses=(guess, NOW - timedelta(days=1)))
    decision = resolved("remind me on 01/09/2027 to pay", facts)
    assert labels(decision) == [("date_1", "Wed 1 Sep 2027 00:00")]
    assert isinstance(decision, Clarify)
    assert decision.question == "At this time?"
    again = answered(answered(asks("remind me to pay"), "yes", times()), "01/09/2027", facts)
    assert labels(again) == [("date_1", "Wed 1 Sep 2027 00:00")]


# ---------------------------------------------------------------- a tool's own time


@pytest.mark.parametrize(
    ("timing_said", "checked"),
    [
        ("2026-12-02T09:30:00+01:00", (timing.Consistency.CONSISTENT, "b2")),
        ("2026-12-01T10:00:00+01:00", (timing.Consistency.CONSISTENT, "b1")),
        ("2027-01-15T00:00:00+00:00", (timing.Consistency.CONFLICT, "")),
        ("next week", (timing.Consistency.NOT_ABSOLUTE, "")),
    ],
)
def test_a_tools_time_is_compared_with_what_is_remembered(
    timing_said: str, checked: tuple[timing.Consistency, str]
) -> None:
    found = timing.check(timing_said, times(SYNC, ONE_ON_ONE))
    assert (found.consistency, found.matched) == checked


def test_without_memory_nothing_speaks_against_a_tools_time() -> None:
    found = timing.check("2027-01-15T00:00:00+00:00", times(UNDATED))
    assert found.consistency is timing.Consistency.NO_MEMORY


def by_tool(said: str, timing_said: str, facts: Times) -> Decision:
    return remind.resolve({"words": said, "about": "", "timing": timing_said, "text": "x"}, times=facts)


def test_a_tools_time_counts_where_the_words_name_none() -> None:
    decision = by_tool("yes", "2026-12-01T09:30:00+01:00", times(SYNC))
    assert allowed(decision) == ("2026-12-01T09:30:00+01:00", "x")
    assert allowed(by_tool("yes", "1386m", times()))[0] == "2026-12-01T09:06:00+01:00"
    assert isinstance(by_tool("yes", "blue", times()), Clarify)
    assert isinstance(by_tool("yes", "2026-12-01T09:30:00+01:00", times(now=ONE_ON_ONE.at)), Clarify)


def test_beside_words_that_were_not_understood_a_tools_time_is_offered() -> None:
    decision = by_tool("at the end of the month", "2026-12-01T09:30:00+01:00", times(SYNC))
    assert labels(decision) == [("as_asked", "Tue 1 Dec 09:30")]
    assert labels(by_tool("at the end of the month", "2d", times())) == []


def test_a_tools_time_that_fits_nothing_remembered_is_asked_about() -> None:
    decision = by_tool("try again", "2026-12-10T00:00:00+01:00", times(SYNC, ONE_ON_ONE))
    assert labels(decision) == [
        ("memory_anchor_1", "Project sync, Tue 1 Dec 14:00"),
        ("memory_anchor_2", "1:1 with Bo, Wed 2 Dec 10:00"),
        ("as_asked", "Thu 10 Dec 00:00"),
    ]


def test_a_tools_time_never_overrides_what_a_person_said() -> None:
    decision = by_tool("remind me in 3 days", "2026-12-10T00:00:00+01:00", times())
    assert allowed(decision)[0] == "2026-12-03T10:00:00+01:00"
    assert isinstance(by_tool("remind me next Tuesday", "2026-12-08T10:00:00+01:00", times()), Clarify)


def test_where_questions_are_strict_a_tools_time_is_asked_about() -> None:
    decision = by_tool("yes", "2026-12-01T09:30:00+01:00", times(SYNC, width=Width.STRICT))
    assert labels(decision) == [("as_asked", "Tue 1 Dec 09:30")]


# ---------------------------------------------------------------- slots


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
