"""What follows what: the next step, a retry, an end (R5, R16, R20, R22).

The supervisor takes the route that the document says, never one that somebody asks for. Budgets are looked
at before a step is entered; one that is spent leads to `on_fail`, where that is another way, and else to a
person. Who may run something is `proposal`'s.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from gate.domain import PersonId
from gate.errors import TransitionError
from gate.lifecycle import RunStatus
from gate.supervise import budgets, expect
from gate.supervise.binding import Unbound
from gate.supervise.compare import UnevaluableError, holds
from gate.supervise.domain import OUTCOMES, Outcome, StepId, StepKind, Terminal
from gate.supervise.envelope import StepPolicy
from gate.supervise.errors import SelfApprovalError, StaleEvidenceError
from gate.supervise.events import Consumed, EndCause, Ended, Entered, Judged, Via, WaitBegan, WaitEnded
from gate.supervise.expect import Ending, Evidence
from gate.supervise.graph import FAILURE, terminal_of, turns_back
from gate.supervise.state import Moved, RunState

# ---------------------------------------------------------------- where it goes on


def enter_first(moved: Moved, *, now: datetime) -> Moved:
    """Return a run that was just started, in its first step."""
    state = moved.state
    first = state.first or state.envelope.first
    return moved.then(_entry(state, first, via=Via.START, edge=None, now=now))


def go_on(moved: Moved, *, now: datetime) -> Moved:
    """Return a run whose step was judged, in the next step or at its end."""
    state, step = moved.state, _current(moved.state)
    spent = _tries_spent(state, step)
    for lead, via in _leads(state, step, tries=not spent):
        terminal = terminal_of(lead)
        if terminal is not None:
            ended = Ended(
                outcome=OUTCOMES[terminal], cause=EndCause.TERMINAL, terminal=terminal, why=spent, at=now
            )
            return moved.then(ended)
        refusal = _refusal(state, StepId(lead), now=now)
        if refusal is None:
            edge = step.spec.id if via is Via.RETRY else None
            return moved.then(_entry(state, StepId(lead), via=via, edge=edge, now=now))
        spent = refusal
    ended = Ended(
        outcome=Outcome.ESCALATED, cause=EndCause.BUDGET, terminal=Terminal.ESCALATE, why=spent, at=now
    )
    return moved.then(ended)


def _tries_spent(state: RunState, step: StepPolicy) -> str:
    """Return the words for a step that would be tried again and has no try left, "" for any other."""
    retry = step.spec.retry
    if retry is None or _goes_on(state, step) or budgets.may_retry(retry, taken=state.retried(step.spec.id)):
        return ""
    return f"all {retry.max} retries of {step.spec.id} are spent"


def _goes_on(state: RunState, step: StepPolicy) -> bool:
    return bool(state.passed) and not turns_back(step.spec)


def _leads(state: RunState, step: StepPolicy, *, tries: bool) -> Iterator[tuple[str, Via]]:
    """Yield where the run goes on, and where else if a budget forbids that; nothing left is for a person."""
    spec = step.spec
    goes_on = _goes_on(state, step)
    if goes_on:
        yield (state.branch, Via.BRANCH) if state.branch else (step.next, Via.NEXT)
    elif spec.retry is not None and tries:
        yield spec.retry.target, Via.RETRY
    if spec.on_fail and not (spec.retry is not None and spec.on_fail == spec.retry.target):
        yield spec.on_fail, Via.ON_FAIL
    elif not goes_on and spec.retry is None:
        yield FAILURE, Via.ON_FAIL


def _refusal(state: RunState, step: StepId, *, now: datetime) -> str | None:
    """Return the budget that keeps the run from entering `step`."""
    limits = state.envelope.limits
    return budgets.no_entry(limits, entries=state.entered(step), total=state.number) or budgets.out_of_time(
        limits, started_at=state.started_at or now, now=now
    )


def _entry(state: RunState, step: StepId, *, via: Via, edge: StepId | None, now: datetime) -> Entered:
    return Entered(
        step=step, number=state.number + 1, attempt=state.entered(step) + 1, via=via, edge=edge, at=now
    )


# ---------------------------------------------------------------- what came of a step


def advance(state: RunState, evidence: Evidence, *, now: datetime) -> Moved:
    """Return the run after its step ended: judged by what was captured, and gone on.

    What nobody knows the end of is never tried again and never passed over: a person has to look.

    Raises:
        StaleEvidenceError: the evidence is of another entry, or nothing was let go in this one.
    """
    if state.status is not RunStatus.RUNNING or (evidence.step, evidence.number) != (
        state.current,
        state.number,
    ):
        raise StaleEvidenceError
    step = _current(state)
    judged = expect.judge(step.spec.expect, evidence, values=state.inputs, inputs=state.envelope.inputs)
    passed, why, captured = judged.passed, judged.why, None
    if passed and step.spec.capture is not None:
        captured = _captured(state, step, evidence)
        if captured is None:
            passed, why = False, f"what it wrote is no {step.spec.capture.type} for {step.spec.capture.input}"
    moved = Moved(state=state).then(
        Judged(
            step=step.spec.id,
            number=state.number,
            passed=passed,
            why=why,
            exit_code=evidence.exit_code,
            captured=captured,
            at=now,
        )
    )
    if evidence.ending is Ending.LOST:
        return moved.then(Ended(outcome=Outcome.ESCALATED, cause=EndCause.LOST, why=why, at=now))
    return go_on(moved, now=now)


def _captured(state: RunState, step: StepPolicy, evidence: Evidence) -> tuple[str, str] | None:
    capture = step.spec.capture
    value = evidence.stdout.strip()
    if capture is None or evidence.cut:
        return None
    # The bounds of the input count, which may lie beyond those of its type.
    return (capture.input, value) if state.envelope.inputs[capture.input].accepts(value) else None


def fail_unbound(state: RunState, unbound: Unbound, *, now: datetime) -> Moved:
    """Return the run after a step that cannot run, since an input has no value that fits."""
    names = ", ".join((*unbound.missing, *unbound.unfit))
    return go_on(
        _judged(Moved(state=state), passed=False, why=f"no usable value for {names}", now=now), now=now
    )


def _judged(moved: Moved, *, passed: bool, why: str, now: datetime, branch: str = "") -> Moved:
    state = moved.state
    step = _current(state).spec.id
    return moved.then(Judged(step=step, number=state.number, passed=passed, why=why, branch=branch, at=now))


# ---------------------------------------------------------------- steps that run nothing


def move_on(state: RunState, *, now: datetime) -> Moved:
    """Return the run after everything that needs nobody: notes, decisions, waits that are over.

    It stops where something has to be proposed, where a person is asked, in a wait, and at the end.
    """
    moved = Moved(state=state)
    while (after := _moved_on(moved, now=now)) is not None:
        moved = after
    return moved


def _moved_on(moved: Moved, *, now: datetime) -> Moved | None:
    state = moved.state
    if state.current is None:
        return None
    step, after = _current(state), None
    match step.spec.kind, state.status:
        case StepKind.NOTE, RunStatus.ENTERED:
            after = _judged(moved, passed=True, why="said", now=now)
        case StepKind.DECISION, RunStatus.ENTERED:
            after = _decided(moved, step, now=now)
        case StepKind.WAIT, RunStatus.ENTERED:
            until = now + timedelta(seconds=step.spec.duration_s or 0)
            return moved.then(WaitBegan(step=step.spec.id, number=state.number, until=until, at=now))
        case StepKind.WAIT, RunStatus.WAITING if state.until is not None and now >= state.until:
            after = moved.then(WaitEnded(step=step.spec.id, number=state.number, at=now))
        case StepKind.APPROVAL, RunStatus.GRANTED if state.grant is not None:
            used = Consumed(
                step=step.spec.id,
                number=state.number,
                request=state.grant.request_id,
                command_digest=state.grant.command_digest,
                at=now,
            )
            after = _judged(moved.then(used), passed=True, why="agreed to", now=now)
        case _:
            pass
    return None if after is None else go_on(after, now=now)


def _decided(moved: Moved, step: StepPolicy, *, now: datetime) -> Moved:
    state = moved.state
    for branch in step.spec.branches:
        try:
            if branch.when is not None and not holds(branch.when, values=state.inputs):
                continue
        except UnevaluableError as error:
            return _judged(moved, passed=False, why=f"cannot decide: {error}", now=now)
        why = (
            "nothing else holds"
            if branch.when is None
            else (f"{branch.when.input} {branch.when.compare.replace('_', ' ')} {branch.when.value}")
        )
        return _judged(moved, passed=True, why=why, branch=branch.next, now=now)
    return _judged(moved, passed=False, why="cannot decide: no branch holds", now=now)


def cut_short(state: RunState, *, by: PersonId, now: datetime) -> Moved:
    """Return the run after a person ended its wait before its time.

    Raises:
        SelfApprovalError: the agent did.
        TransitionError: it is in no wait.
    """
    if by == state.agent:
        raise SelfApprovalError
    if state.status is not RunStatus.WAITING:
        raise TransitionError(f"run {state.run} is in no wait")
    ended = WaitEnded(step=_current(state).spec.id, number=state.number, by=by, at=now)
    return go_on(Moved(state=state).then(ended), now=now)


def _current(state: RunState) -> StepPolicy:
    if state.step is None:
        raise TransitionError(f"run {state.run} is in no step")
    return state.step
