"""A run: started, answered, stopped (R9 to R12, R18)."""

from dataclasses import replace
from typing import Any

import pytest

from gate.domain import AGENT, Digest, PersonId
from gate.errors import TransitionError
from gate.lifecycle import RunStatus
from gate.supervise import run
from gate.supervise.approval import Decision, Grant
from gate.supervise.domain import Outcome, RunId, StepId
from gate.supervise.errors import SelfApprovalError, StaleDecisionError, WrongRequestError
from gate.supervise.events import EndCause, Entered, Granted, Started, TakenBack, Via
from gate.supervise.run import NotStarted
from gate.supervise.state import Moved, RunState
from tests.gate.supervise.runs import (
    ANA,
    BOT,
    NOW,
    RUN,
    WHO,
    after,
    asked,
    begun,
    did,
    envelope,
    let_go,
    step,
    text,
    yes,
)

CHANGE = envelope(step("change", risk="mutating"))
INPUTS = envelope(
    step("a"),
    inputs=(
        text("host", type="host"),
        text("n", type="integer", default="5"),
        text("late", required=False),
        text("inner", required=False, internal=True, default="x"),
    ),
)


def decision(state: RunState, who: str = "ana", **fields: Any) -> Decision:
    name = state.request.id if state.request else "none"
    return Decision(**{"run": RUN, "request_id": name, "decided_by": who, "reason": "not now"} | fields)


# ---------------------------------------------------------------- starting


def start(**inputs: Any) -> Moved | NotStarted:
    return run.start(INPUTS, run=RUN, agent=BOT, inputs=inputs, target="web1", now=NOW)


def test_a_run_starts_in_its_first_step_with_everything_pinned() -> None:
    moved = start(host="web1", n=0, late="")
    assert isinstance(moved, Moved)
    assert moved.events == (
        Started(
            run=RUN,
            runbook=INPUTS.runbook,
            digest=INPUTS.digest,
            agent=BOT,
            posture=INPUTS.posture,
            inputs={"host": "web1", "n": 0, "inner": "x"},
            target="web1",
            first=StepId("a"),
            at=NOW,
        ),
        Entered(step=StepId("a"), number=1, attempt=1, via=Via.START, at=NOW),
    )
    assert moved.state.status is RunStatus.ENTERED
    assert moved.state.started_at == NOW


@pytest.mark.parametrize(
    ("inputs", "refusal"),
    [
        ({}, NotStarted(missing=("host",))),
        ({"host": ""}, NotStarted(missing=("host",))),
        ({"host": None}, NotStarted(missing=("host",))),
        ({"host": "a", "ghost": "b"}, NotStarted(unknown=("ghost",))),
        ({"host": "a", "inner": "b"}, NotStarted(unknown=("inner",))),
        ({"host": "a b", "n": "x"}, NotStarted(unfit=("host", "n"))),
        ({"ghost": "b", "n": "x"}, NotStarted(missing=("host",), unknown=("ghost",), unfit=("n",))),
    ],
)
def test_a_run_that_lacks_something_does_not_start(inputs: dict[str, Any], refusal: NotStarted) -> None:
    assert start(**inputs) == refusal


# ---------------------------------------------------------------- a yes


def test_a_yes_counts_once_it_is_applied() -> None:
    state = asked(begun(CHANGE))
    grant = run.grant(state, decision(state), identities=WHO, now=after(5))
    assert state.status is RunStatus.AWAITING_APPROVAL
    moved = run.apply_grant(state, grant, now=after(5))
    assert moved.events == (Granted(grant=grant, at=after(5)),)
    assert moved.state.grant == grant


def test_nothing_is_granted_where_nothing_is_asked() -> None:
    for state in (begun(CHANGE), let_go(yes(asked(begun(CHANGE))))):
        with pytest.raises(WrongRequestError):
            run.grant(state, decision(state), identities=WHO, now=NOW)
    with pytest.raises(StaleDecisionError):
        run.grant(asked(begun(CHANGE)), decision(asked(begun(CHANGE))), identities=WHO, now=after(901))


@pytest.mark.parametrize(
    "fields",
    [
        {"run": RunId("r2")},
        {"request_id": "other"},
        {"step_id": StepId("other")},
        {"number": 2},
        {"command_digest": Digest("other")},
    ],
)
def test_a_grant_of_something_else_does_not_count(fields: dict[str, Any]) -> None:
    state = asked(begun(CHANGE))
    grant = run.grant(state, decision(state), identities=WHO, now=NOW)
    with pytest.raises(WrongRequestError):
        run.apply_grant(state, replace(grant, **fields), now=NOW)


def test_a_grant_that_the_agent_made_does_not_count() -> None:
    state = asked(begun(CHANGE))
    grant = run.grant(state, decision(state), identities=WHO, now=NOW)
    for name in (BOT, AGENT):
        with pytest.raises(SelfApprovalError):
            run.apply_grant(state, replace(grant, decided_by=name), now=NOW)


def test_a_grant_counts_once() -> None:
    state = asked(begun(CHANGE))
    grant = run.grant(state, decision(state), identities=WHO, now=NOW)
    for later in (yes(state), let_go(yes(state)), begun(CHANGE)):
        with pytest.raises(WrongRequestError):
            run.apply_grant(later, grant, now=NOW)


# ---------------------------------------------------------------- a no, and nobody


def test_a_no_ends_the_run_and_says_who_and_why() -> None:
    state = asked(begun(CHANGE))
    over = run.refuse(state, decision(state), identities=WHO, now=after(5_000)).state
    assert (over.status, over.outcome, over.terminal) == (RunStatus.ENDED, Outcome.ABORTED, None)
    assert over.refusal is not None
    assert (over.refusal.decided_by, over.refusal.reason, over.refusal.step_id) == (ANA, "not now", "change")
    assert over.ended is not None
    assert over.ended.cause is EndCause.REFUSED


def test_a_reason_that_is_owed_keeps_nothing_open() -> None:
    state = asked(begun(CHANGE))
    over = run.refuse(state, decision(state, reason=None), identities=WHO, now=NOW).state
    assert over.refusal is not None
    assert (over.outcome, over.refusal.reason) == (Outcome.ABORTED, None)
    assert over.ended is not None
    assert over.ended.why == ""


def test_a_yes_may_be_taken_back_until_it_is_used() -> None:
    granted = yes(asked(begun(CHANGE)))
    assert run.refuse(granted, decision(granted), identities=WHO, now=NOW).state.outcome is Outcome.ABORTED
    gone = let_go(granted)
    with pytest.raises(WrongRequestError):
        run.refuse(gone, decision(granted), identities=WHO, now=NOW)


def test_nobody_answered_is_no_refusal() -> None:
    state = asked(begun(CHANGE))
    assert run.expire(state, now=after(900)) == Moved(state=state)
    over = run.expire(state, now=after(901)).state
    assert (over.status, over.outcome, over.refusal) == (RunStatus.ENDED, Outcome.ABORTED, None)
    assert over.ended is not None
    assert state.request is not None
    assert (over.ended.cause, over.ended.request) == (EndCause.EXPIRED, state.request.id)


def test_a_question_that_was_closed_elsewhere_is_over() -> None:
    state = asked(begun(CHANGE))
    assert run.expire(state, now=after(900), closed=True).state.outcome is Outcome.ABORTED


def test_only_what_is_asked_expires() -> None:
    for state in (begun(CHANGE), yes(asked(begun(CHANGE))), let_go(yes(asked(begun(CHANGE))))):
        assert run.expire(state, now=after(5000), closed=True).events == ()


# ---------------------------------------------------------------- taking back, stopping, undoing


def test_a_permission_that_was_not_used_is_asked_for_again() -> None:
    for state in (asked(begun(CHANGE)), yes(asked(begun(CHANGE))), let_go(yes(asked(begun(CHANGE))))):
        moved = run.take_back(state, why="it did not start in time", now=NOW)
        assert isinstance(moved.events[0], TakenBack)
        assert (moved.state.status, moved.state.grant, moved.state.request) == (RunStatus.ENTERED, None, None)
        assert asked(moved.state).asked == 2
    with pytest.raises(TransitionError):
        run.take_back(begun(CHANGE), why="", now=NOW)
    with pytest.raises(TransitionError):
        run.take_back(run.abort(begun(CHANGE), by=ANA, now=NOW).state, why="", now=NOW)


def test_a_run_is_stopped_wherever_it_is_and_once() -> None:
    for state in (begun(CHANGE), asked(begun(CHANGE)), let_go(yes(asked(begun(CHANGE))))):
        over = run.abort(state, by=ANA, why="wrong host", now=NOW).state
        assert (over.outcome, over.current) == (Outcome.ABORTED, None)
        assert run.abort(over, by=ANA, now=NOW).events == ()
        assert run.escalate(over, why="x", now=NOW).events == ()
        given_up = run.escalate(state, why="the target is gone", now=NOW).state
        assert given_up.ended is not None
        assert (given_up.outcome, given_up.ended.cause) == (Outcome.ESCALATED, EndCause.ESCALATED)


UNDO = envelope(
    step("a", risk="mutating", rollback="undo"),
    step("b", "x {{ inputs.host }}", next="end:success", on_fail="end:rollback"),
    step("undo", "rm {{ inputs.host }}", risk="mutating", next="end:rollback"),
    inputs=(text("host"),),
)


def rolled_back(undone: RunState, made: Any = UNDO) -> Moved:
    return run.roll_back(undone, run=RunId("r2"), envelope=made, agent=PersonId("agent-7"), now=NOW)


def test_what_was_done_is_undone_by_a_run_of_its_own_that_asks_again() -> None:
    failed = did(did(begun(UNDO, {"host": "web1"})), exit_code=1)
    assert (failed.outcome, failed.undo) == (Outcome.ABORTED, "undo")
    moved = rolled_back(failed)
    started = moved.events[0]
    assert isinstance(started, Started)
    assert (started.undoes, started.first, started.inputs) == (RUN, "undo", {"host": "web1"})
    assert (moved.state.current, moved.state.target) == ("undo", "web1")
    over = did(replace(moved.state, run=RUN))
    assert (over.outcome, over.undo) == (Outcome.ABORTED, None)


def test_nothing_is_undone_that_goes_on_or_cannot_be() -> None:
    going = did(begun(UNDO, {"host": "web1"}))
    with pytest.raises(TransitionError):
        rolled_back(going)
    with pytest.raises(TransitionError):
        rolled_back(run.abort(begun(UNDO, {"host": "web1"}), by=ANA, now=NOW).state)
    with pytest.raises(TransitionError):
        rolled_back(run.abort(going, by=ANA, now=NOW).state, CHANGE)


def test_a_grant_names_all_that_it_is_for() -> None:
    state = yes(asked(begun(CHANGE)))
    assert state.grant is not None
    assert set(Grant.__slots__) == {
        "run",
        "request_id",
        "step_id",
        "number",
        "decided_by",
        "command_digest",
    }
