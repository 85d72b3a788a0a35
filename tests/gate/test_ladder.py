"""The ladder: which step of an unanswered approval is next, and when (X7)."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.ladder import Ages, Rung, ages, next_rung
from gate.policy import Policy, Posture
from tests.gate.makers import NOW

N, E = Rung.NUDGE, Rung.ESCALATE


@pytest.mark.parametrize(
    ("nudge_s", "escalate_s", "taken", "step"),
    [
        (300, 600, (), (N, 300)),
        (300, 600, (N,), (E, 600)),
        (300, 600, (N, E), None),
        (300, 600, (E,), (N, 300)),
        (0, 600, (), (E, 600)),
        (300, 0, (), (N, 300)),
        (300, 0, (N,), None),
        (0, 0, (), None),
        (600, 300, (), (N, 300)),
        (600, 300, (N,), (E, 300)),
        (300, 300, (N,), (E, 300)),
        (899, 900, (N,), None),
        (900, 0, (), None),
        (2000, 1000, (), None),
    ],
)
def test_each_step_comes_once_in_order_and_before_the_deadline(
    nudge_s: int, escalate_s: int, taken: tuple[Rung, ...], step: tuple[Rung, int] | None
) -> None:
    at = Ages(nudge_s=nudge_s, escalate_s=escalate_s)
    found = next_rung(at, opened_at=NOW, deadline_at=NOW + timedelta(seconds=900), taken=taken)
    assert found == (None if step is None else (step[0], NOW + timedelta(seconds=step[1])))


@pytest.mark.parametrize(
    ("posture", "expected"),
    [
        (Posture.APPROVE_MOST, (300, 600)),
        (Posture.APPROVE_ALL, (60, 600)),
        (Posture.APPROVE_CONFIG, (300, 0)),
    ],
)
def test_a_posture_may_have_its_own(posture: Posture, expected: tuple[int, int]) -> None:
    policy = Policy(posture=posture, ladder=(("approve_all.nudge_s", 60), ("approve_config.escalate_s", 0)))
    found = ages(policy)
    assert (found.nudge_s, found.escalate_s) == expected


@given(st.integers(0, 2000), st.integers(0, 2000), st.integers(10, 2000))
def test_climbing_ends_and_never_turns_back(nudge_s: int, escalate_s: int, approval_s: int) -> None:
    at, deadline = Ages(nudge_s=nudge_s, escalate_s=escalate_s), NOW + timedelta(seconds=approval_s)
    taken: list[Rung] = []
    dues = []
    while (step := next_rung(at, opened_at=NOW, deadline_at=deadline, taken=taken)) is not None:
        taken.append(step[0])
        dues.append(step[1])
    assert taken in ([], [N], [E], [N, E])
    assert dues == sorted(dues)
    assert all(NOW < due < deadline for due in dues)
