"""Rates, bounds, drift, trend, cautions and suggestions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.domain import Risk
from gate.learning import (
    SURE,
    WINDOWS,
    Asked,
    Caution,
    Rate,
    Trend,
    Z,
    caution,
    course,
    drift,
    suggest_trust,
    trend,
)

OUTCOMES = st.lists(st.booleans(), max_size=120)


@st.composite
def rates(draw: st.DrawFn) -> Rate:
    total = draw(st.integers(min_value=1, max_value=100_000))
    return Rate(good=draw(st.integers(min_value=0, max_value=total)), total=total)


# ---------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    ("good", "total", "low", "high"),
    [
        (41, 41, 0.9143, 1.0),
        (0, 10, 0.0, 0.2775),
        (8, 10, 0.4902, 0.9433),
        (1, 1, 0.2065, 1.0),
        (50, 100, 0.4038, 0.5962),
    ],
)
def test_bounds_are_those_of_wilson(good: int, total: int, low: float, high: float) -> None:
    rate = Rate(good=good, total=total)
    assert rate.low == pytest.approx(low, abs=5e-5)
    assert rate.high == pytest.approx(high, abs=5e-5)


def test_of_nothing_nothing_is_known() -> None:
    assert (Rate.of([]).low, Rate.of([]).high) == (0.0, 1.0)


@pytest.mark.parametrize(("good", "total"), [(-1, 1), (2, 1), (0, -1)])
def test_what_cannot_be_counted_is_refused(good: int, total: int) -> None:
    with pytest.raises(ValueError, match="is no rate"):
        Rate(good=good, total=total)


@given(rates())
def test_bounds_hold_the_rate_and_stay_within_0_and_1(rate: Rate) -> None:
    assert 0.0 <= rate.low <= rate.good / rate.total <= rate.high <= 1.0


@given(rates())
def test_bounds_solve_the_equation_that_they_come_from(rate: Rate) -> None:
    # |p - good/total| = Z * sqrt(p (1 - p) / total) at both bounds, except where they are cut off.
    for bound in (rate.low, rate.high):
        if 0.0 < bound < 1.0:
            wanted = Z * math.sqrt(bound * (1 - bound) / rate.total)
            assert math.isclose(abs(bound - rate.good / rate.total), wanted, rel_tol=1e-6, abs_tol=1e-9)


@given(rates())
def test_bounds_of_failures_mirror_those_of_successes(rate: Rate) -> None:
    mirrored = Rate(good=rate.total - rate.good, total=rate.total)
    assert math.isclose(rate.low, 1 - mirrored.high, abs_tol=1e-12)
    assert math.isclose(rate.high, 1 - mirrored.low, abs_tol=1e-12)


@given(rates())
def test_one_more_success_moves_no_bound_down_and_one_more_failure_none_up(rate: Rate) -> None:
    better = Rate(good=rate.good + 1, total=rate.total + 1)
    worse = Rate(good=rate.good, total=rate.total + 1)
    assert better.low >= rate.low - 1e-12
    assert worse.high <= rate.high + 1e-12


@given(rates(), st.integers(min_value=2, max_value=50))
def test_more_of_the_same_narrows_the_bounds(rate: Rate, times: int) -> None:
    more = Rate(good=rate.good * times, total=rate.total * times)
    assert more.high - more.low <= rate.high - rate.low


# ---------------------------------------------------------------- drift and trend


def test_what_worked_and_keeps_failing_drifts() -> None:
    found = drift([True] * 20 + [False] * 5)
    assert found is not None
    assert (found.before, found.lately) == (Rate(good=20, total=20), Rate(good=0, total=5))


@pytest.mark.parametrize(
    "outcomes",
    [
        [],
        [True] * 40,
        [False] * 40,
        [True, False] * 20,
        [False] * 5,
        [True] * 2 + [False] * 5,  # too little is known of before
        [False] * 10 + [True] * 10,  # it got better
        [True] * 20 + [False, True, False, True, True],
    ],
)
def test_what_never_worked_or_still_may_does_not_drift(outcomes: list[bool]) -> None:
    assert drift(outcomes) is None


def test_a_slow_decay_shows_in_a_longer_window() -> None:
    outcomes = [True] * 60 + [False] * 5 + [True, True, True, False, True]
    assert Rate.of(outcomes[-5:]).high >= Rate.of(outcomes[:-5]).low
    found = drift(outcomes)
    assert found is not None
    assert found.lately.total == WINDOWS[1]


@given(OUTCOMES)
def test_drift_is_never_told_while_bounds_overlap(outcomes: list[bool]) -> None:
    found = drift(outcomes)
    if found is not None:
        assert found.lately.high < found.before.low
        assert found.before.total + found.lately.total == len(outcomes)


@pytest.mark.parametrize(
    ("outcomes", "wanted"),
    [
        ([], Trend.STEADY),
        ([True], Trend.STEADY),
        ([True] * 20, Trend.STEADY),
        ([False] * 10 + [True] * 10, Trend.BETTER),
        ([True] * 10 + [False] * 10, Trend.WORSE),
        ([True] * 20 + [False] * 5, Trend.WORSE),
        ([False] * 20 + [True] * 5, Trend.BETTER),
        ([True, False] * 10, Trend.STEADY),
    ],
)
def test_trend(outcomes: list[bool], wanted: Trend) -> None:
    assert trend(outcomes) is wanted


@given(OUTCOMES)
def test_what_drifts_gets_worse_and_never_better(outcomes: list[bool]) -> None:
    if drift(outcomes) is not None:
        assert trend(outcomes) is Trend.WORSE
    if trend(outcomes) is Trend.BETTER:
        assert trend([not one for one in outcomes]) is Trend.WORSE


@given(OUTCOMES, st.integers(min_value=1, max_value=30))
def test_the_course_is_the_rate_of_the_newest_at_each(outcomes: list[bool], window: int) -> None:
    wanted = [Rate.of(outcomes[max(0, end - window) : end]) for end in range(1, len(outcomes) + 1)]
    assert list(course(outcomes, window=window)) == wanted


# ---------------------------------------------------------------- cautions


@pytest.mark.parametrize(
    ("outcomes", "wanted"),
    [
        ([], None),
        ([False], None),  # the card says how the last run went
        ([True, False], None),
        ([False, False], Caution(failed=2, tries=2)),
        ([True, False, False, False], Caution(failed=3, tries=4)),
        ([False, False, True, True], Caution(failed=2, tries=4)),
        ([False, False, True, True, True], None),
        ([True] * 9, None),
    ],
)
def test_caution(outcomes: list[bool], wanted: Caution | None) -> None:
    assert caution(outcomes) == wanted


# ---------------------------------------------------------------- suggestions


def asked(
    answers: list[bool],
    *,
    ends: list[bool] | None = None,
    risk: Risk = Risk.REVERSIBLE_LOW,
    command: str = "systemctl restart caddy",
) -> Asked:
    return Asked(
        command=command,
        where=("@web",),
        answers=tuple(answers),
        ends=tuple([True] * len(answers) if ends is None else ends),
        risk=risk,
    )


def test_what_was_always_agreed_to_and_works_is_suggested_in_words() -> None:
    found = suggest_trust(asked([True] * 41))
    assert found is not None
    assert found.because == (
        "approved 41 of 41 of `systemctl restart caddy` on @web (at least 91 % with 95 % confidence)"
    )
    assert found.say == "trust `systemctl restart caddy` on @web for 30 days"


@pytest.mark.parametrize(
    "one",
    [
        asked([]),
        asked([True] * 34),
        asked([True] * 41 + [False, False]),
        asked([True] * 41, ends=[]),
        asked([True] * 41, ends=[True] * 8 + [False] * 3),
        asked([True] * 41, risk=Risk.DESTRUCTIVE),
        asked([True] * 41, risk=Risk.READ_ONLY),
        asked([True] * 41, command="echo `id`"),
        asked([True] * 41, command="a\nb"),
    ],
)
def test_what_is_less_certain_is_not_suggested(one: Asked) -> None:
    assert suggest_trust(one) is None


@given(st.lists(st.booleans(), max_size=200), st.sampled_from(Risk))
def test_a_suggestion_is_never_made_below_its_bound(answers: list[bool], risk: Risk) -> None:
    if suggest_trust(asked(answers, risk=risk)) is not None:
        assert Rate.of(answers).low >= SURE
        assert risk not in (Risk.DESTRUCTIVE, Risk.READ_ONLY)
