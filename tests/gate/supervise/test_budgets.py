"""Budgets: looked at before the attempt (R20)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.supervise.budgets import (
    Tally,
    may_retry,
    no_entry,
    no_question,
    out_of_time,
    too_many_deviations,
)
from gate.supervise.domain import Limits, Retry, StepId
from tests.gate.supervise.runs import NOW, after


@given(size=st.integers(1, 400), added=st.lists(st.integers(0, 399), max_size=50))
def test_a_tally_counts_and_never_changes(size: int, added: list[int]) -> None:
    inside = [at for at in added if at < size]
    empty = tally = Tally.of(size)
    for at in inside:
        tally = tally.add(at)
    assert [tally.count(at) for at in range(size)] == [inside.count(at) for at in range(size)]
    assert tally.total == len(inside)
    assert empty.total == 0


@pytest.mark.parametrize(("entries", "total", "why"), [(1, 4, None), (2, 4, "2 times"), (1, 5, "5 steps")])
def test_entries(entries: int, total: int, why: str | None) -> None:
    said = no_entry(Limits(entries=2, steps=5), entries=entries, total=total)
    assert (said is None) if why is None else (why in (said or ""))


def test_entries_without_a_sum() -> None:
    assert no_entry(Limits(steps=None), entries=1, total=10_000) is None


@pytest.mark.parametrize(("seconds", "over"), [(60, False), (60.5, True)])
def test_time(seconds: float, *, over: bool) -> None:
    said = out_of_time(Limits(wall_clock_s=60), started_at=NOW, now=after(seconds))
    assert (said is not None) is over


def test_retries_questions_and_deviations() -> None:
    retry = Retry(max=3, target=StepId("a"))
    assert [may_retry(retry, taken=taken) for taken in range(5)] == [True, True, True, False, False]
    assert [no_question(Limits(asks=2), asked=asked) is None for asked in range(4)] == [
        True,
        True,
        False,
        False,
    ]
    assert [too_many_deviations(Limits(), deviations=count) for count in range(5)] == [False] * 3 + [True] * 2
