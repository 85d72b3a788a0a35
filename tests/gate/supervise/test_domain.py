"""The words of runbooks: order of risks, and what a value of each type may look like."""

import pytest

from gate.domain import Risk
from gate.supervise.domain import DECLARED, OUTCOMES, InputType, Outcome, StepRisk, Terminal
from tests.gate.supervise.runs import book, step, text


def test_risks_are_ordered_and_none_is_declared_as_less() -> None:
    assert [risk.rank for risk in StepRisk] == [0, 1, 2, 3, 4]
    assert StepRisk.IRREVERSIBLE.at_least(StepRisk.DESTRUCTIVE)
    assert not StepRisk.MUTATING.at_least(StepRisk.DESTRUCTIVE)
    ranks = [DECLARED[risk].rank for risk in StepRisk]
    assert ranks == sorted(ranks)
    assert DECLARED[StepRisk.IRREVERSIBLE] is Risk.DESTRUCTIVE


def test_a_rollback_is_a_deliberate_stop() -> None:
    assert {OUTCOMES[one] for one in Terminal} == set(Outcome)
    assert OUTCOMES[Terminal.ROLLBACK] is Outcome.ABORTED


FITS = [
    ("boolean", "true"),
    ("url", "https://example.org"),
    ("url", "http://example.org:8080/a/b?c=d&e=f"),
    ("duration", "30s"),
    ("text", "it's $5; really"),
    ("text", "two\nlines\tof it"),
    ("text", "grün"),
]
NOT = [
    ("boolean", "True"),
    ("url", "https://user:pass@example.org"),
    ("url", "ftp://example.org"),
    ("url", "https://example.org/$(id)"),
    ("url", "https://example.org/'"),
    ("duration", "0s"),
    ("duration", "5"),
    ("text", ""),
    ("text", "-rf"),
    ("text", "\n -rf"),
    ("text", "a\x00b"),
    ("text", "a\x1b[31m"),
    ("text", "a\u202eb"),
    ("text", "a\rb"),
    ("text", "x" * 2001),
]


@pytest.mark.parametrize(("kind", "value"), FITS)
def test_value_that_fits(kind: str, value: str) -> None:
    assert InputType(kind).fits(value)


@pytest.mark.parametrize(("kind", "value"), NOT)
def test_value_that_does_not_fit(kind: str, value: str) -> None:
    assert not InputType(kind).fits(value)


@pytest.mark.parametrize(
    ("least", "most", "value", "fits"),
    [
        (100, None, "100", True),
        (100, None, "99", False),
        (None, 200, "0", True),
        (None, 200, "201", False),
        (None, 10_000_000, "9999999", True),
        (0, None, "1000000", False),
        (0, None, "0x1", False),
        (0, None, "٣", False),
    ],
)
def test_bounds_of_an_integer(least: int | None, most: int | None, value: str, *, fits: bool) -> None:
    assert text("n", type="integer", minimum=least, maximum=most).accepts(value) is fits


def test_enum_narrows() -> None:
    item = text("size", enum=("small", "large"))
    assert item.accepts("small")
    assert not item.accepts("medium")


def test_step_by_its_id() -> None:
    spec = book(step("a"), step("b"))
    assert spec.step("b") is spec.steps[1]
    assert spec.step("c") is None
