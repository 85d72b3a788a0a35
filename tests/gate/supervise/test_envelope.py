"""The envelope: derived from the document alone, which makes it stricter and never looser (R2 to R4)."""

from typing import Any

import pytest

from gate.errors import GateError
from gate.policy import Posture
from gate.supervise.domain import Call, Limits, RunbookId, StepRisk
from gate.supervise.envelope import derive
from tests.gate.supervise.runs import book, step

MOST, CONFIG, ALL = Posture.APPROVE_MOST, Posture.APPROVE_CONFIG, Posture.APPROVE_ALL

GATED = [
    ("read-only", None, MOST, False),
    ("read-only", True, MOST, True),
    ("read-only", None, ALL, True),
    ("reversible", None, MOST, True),
    ("reversible", None, CONFIG, False),
    ("mutating", None, CONFIG, True),
    ("mutating", False, CONFIG, True),
    ("destructive", False, CONFIG, True),
    ("irreversible", False, CONFIG, True),
]


@pytest.mark.parametrize(("risk", "says", "posture", "gated"), GATED)
def test_who_is_asked_about(risk: str, says: bool | None, posture: Posture, *, gated: bool) -> None:  # noqa: FBT001
    made = derive(book(step("a", risk=risk, requires_approval=says, rollback="none")), posture=posture)
    assert made.steps[made.first].gated is gated


@pytest.mark.parametrize("posture", Posture)
def test_what_destroys_is_always_asked_about(posture: Posture) -> None:
    for risk in StepRisk:
        for says in (None, True, False):
            made = derive(book(step("a", risk=risk, requires_approval=says)), posture=posture)
            assert made.steps[made.first].gated or not risk.at_least(StepRisk.DESTRUCTIVE)


@pytest.mark.parametrize(
    ("kind", "fields", "gated", "tools"),
    [
        ("check", {}, False, ("run",)),
        ("approval", {"requires_approval": False}, True, ()),
        ("note", {}, False, ()),
        ("wait", {"duration_s": 1}, False, ()),
        ("decision", {}, False, ()),
    ],
)
def test_kinds(kind: str, fields: dict[str, Any], tools: tuple[str, ...], *, gated: bool) -> None:
    made = derive(book(step("a", kind=kind, **fields)), posture=MOST)
    assert made.steps[made.first].gated is gated
    assert made.steps[made.first].tools == tools


def test_the_scope_is_the_tool_of_the_step_and_never_all_of_them() -> None:
    spec = book(step("a", tool="mcp:postgres"), step("b", tool="bash"), capabilities=("mcp:postgres", "bash"))
    assert [one.tools for one in derive(spec, posture=MOST).steps.values()] == [("mcp:postgres",), ("bash",)]


def test_where_steps_go_on_and_what_undoes_them() -> None:
    made = derive(book(step("a", rollback="b"), step("b", rollback="none")), posture=MOST)
    a, b = made.steps.values()
    assert (a.next, a.rollback_to, a.index) == ("b", "b", 0)
    assert (b.next, b.rollback_to, b.index) == ("end:success", None, 1)
    assert made.rollbacks == {"b"}
    assert made.first == "a"


@pytest.mark.parametrize(
    ("own", "elsewhere", "shortest"), [(900, None, 900), (900, 600, 600), (300, 600, 300), (7200, None, 3600)]
)
def test_the_shortest_deadline_counts(own: int, elsewhere: int | None, shortest: int) -> None:
    made = derive(book(step("a"), limits=Limits(approval_s=own)), posture=MOST, approval_s=elsewhere)
    assert made.limits.approval_s == shortest


def test_entries_are_ten_for_each_step_unless_said() -> None:
    assert derive(book(step("a"), step("b")), posture=MOST).limits.steps == 20
    assert derive(book(step("a"), limits=Limits(steps=3)), posture=MOST).limits.steps == 3


def test_calls_have_to_be_laid_open() -> None:
    with pytest.raises(GateError):
        derive(book(step("a", call=Call(runbook=RunbookId("b")))), posture=MOST)
    with pytest.raises(GateError):
        derive(book(), posture=MOST)
