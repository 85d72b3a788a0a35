"""Reminders: a tool's own time counts beside what a person said, and never over it."""

import pytest

from gate.resolve import remind, timing
from gate.resolve.decision import Clarify, Decision
from gate.resolve.times import Times, Width
from tests.gate.reminding import ONE_ON_ONE, SYNC, UNDATED, allowed, labels, times


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
