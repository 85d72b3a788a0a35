"""Replaying: events give the state, and what does not fit is not taken."""

from dataclasses import replace
from functools import reduce

import pytest

from gate.domain import Digest
from gate.errors import TransitionError
from gate.policy import Posture
from gate.supervise.approval import Grant
from gate.supervise.domain import RunId, StepId
from gate.supervise.events import Deviated, Entered, Event, Granted, Judged, Started, Via
from gate.supervise.state import RunState, apply, fresh
from tests.gate.supervise.runs import ANA, BOT, NOW, RUN, asked, begun, did, envelope, step

MADE = envelope(step("a", risk="mutating"), step("b"))
STARTED = Started(
    run=RUN,
    runbook=MADE.runbook,
    digest=MADE.digest,
    agent=BOT,
    posture=MADE.posture,
    first=StepId("a"),
    at=NOW,
)
ENTERED = Entered(step=StepId("a"), number=1, attempt=1, via=Via.START, at=NOW)


def replayed(*events: Event) -> RunState:
    return reduce(apply, events, fresh(RUN, MADE))


def test_a_run_that_has_not_begun_is_nowhere() -> None:
    state = fresh(RUN, MADE)
    assert (state.step, state.outcome, state.terminal, state.refusal) == (None, None, None, None)


def test_events_give_the_state() -> None:
    state = replayed(STARTED, ENTERED)
    assert state == replace(begun(MADE), target="")
    assert (state.entered(StepId("a")), state.entered(StepId("b"))) == (1, 0)


OTHERS = [
    replace(STARTED, run=RunId("r2")),
    replace(STARTED, digest=Digest("other")),
    replace(STARTED, posture=Posture.APPROVE_ALL),
    replace(STARTED, first=StepId("c")),
]


@pytest.mark.parametrize("other", OTHERS)
def test_the_start_of_something_else_is_not_taken(other: Started) -> None:
    with pytest.raises(TransitionError):
        replayed(other)


@pytest.mark.parametrize(
    "other",
    [
        replace(ENTERED, step=StepId("c")),
        replace(ENTERED, number=2),
        replace(ENTERED, attempt=2),
    ],
)
def test_an_entry_out_of_turn_is_not_taken(other: Entered) -> None:
    with pytest.raises(TransitionError):
        replayed(STARTED, other)


def test_nothing_happens_before_the_start_or_after_the_end() -> None:
    with pytest.raises(TransitionError):
        replayed(ENTERED)
    over = did(did(begun(MADE)))
    with pytest.raises(TransitionError):
        apply(over, replace(ENTERED, number=3, attempt=2))


def test_what_came_of_another_entry_is_not_taken() -> None:
    with pytest.raises(TransitionError):
        apply(did(begun(MADE)), Judged(step=StepId("b"), number=1, passed=True, why="", at=NOW))


@pytest.mark.parametrize("change", [{"request_id": "other"}, {"number": 2}])
def test_a_grant_for_another_question_is_not_taken(change: dict[str, str | int]) -> None:
    state = asked(begun(MADE))
    assert state.request is not None
    fields = {"request_id": state.request.id, "number": 1} | change
    grant = Grant(
        run=RUN,
        request_id=str(fields["request_id"]),
        number=int(fields["number"]),
        step_id=StepId("a"),
        decided_by=ANA,
        command_digest=state.request.command_digest,
    )
    with pytest.raises(TransitionError):
        apply(state, Granted(grant=grant, at=NOW))
    with pytest.raises(TransitionError):
        apply(replace(state, request=None), Granted(grant=grant, at=NOW))


def test_a_deviation_moves_nothing() -> None:
    event = Deviated(
        step=StepId("a"),
        number=1,
        reason="x",
        tool="bash",
        target="",
        command=None,
        scope=("run",),
        by=BOT,
        at=NOW,
    )
    state = begun(MADE)
    assert apply(state, event) == replace(state, deviations=1)
