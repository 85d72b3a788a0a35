"""Reminders: what an answer to a question makes of them, and a time that passed meanwhile."""

from datetime import datetime, timedelta

from gate.resolve import remind
from gate.resolve.decision import Allow, Clarify, Deny
from tests.gate.reminding import (
    BERLIN,
    NOW,
    ONE_ON_ONE,
    SYNC,
    allowed,
    answered,
    asks,
    labels,
    resolved,
    times,
)


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
