"""What may be done next: permit, require approval, or block (R6, R19).

The runner asks before everything it does, and cannot skip it: only a `Permit` lets one invocation go, and its
events use it up. What is outside the envelope is blocked and recorded, and the third time ends the run. A
permission of the gate is another thing: it can add a question to what is ruled here, and never take one away.
"""

from dataclasses import dataclass
from datetime import datetime

from gate.domain import Digest, PersonId
from gate.lifecycle import RunStatus
from gate.supervise import approval, budgets, course
from gate.supervise.approval import ApprovalRequest
from gate.supervise.binding import Unbound
from gate.supervise.domain import Outcome, StepKind
from gate.supervise.envelope import StepPolicy
from gate.supervise.events import Consumed, Deviated, EndCause, Ended, Event, Proposed
from gate.supervise.invocation import Invocation, invocation
from gate.supervise.run import expire
from gate.supervise.state import Moved, RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What is about to be done, as whoever would do it says.

    Attributes:
        digest: of the runbook as it is now; another than the run's means that it changed.
        by: who proposes it.
        asks: the gate asks a person about this command whatever the runbook says; it can only add a question.
        proposal: the id of the proposal that people see.
        request_id: names the question, "" for `<step>@<seconds>`; a run never uses one twice.
    """

    tool: str
    target: str = ""
    command: str | None
    digest: Digest
    by: PersonId
    asks: bool = False
    proposal: str = ""
    request_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """One invocation of exactly this may go, now; the permission is used up by the events."""

    invocation: Invocation
    state: RunState
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequireApproval:
    """A person has to agree first; no events where the question is open already."""

    request: ApprovalRequest
    state: RunState
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """It may not be done. The events record that, and may lead on or end the run."""

    reason: str
    state: RunState
    events: tuple[Event, ...] = ()


Ruling = Permit | RequireApproval | Block


def propose(state: RunState, offer: Offer, *, now: datetime) -> Ruling:
    """Return whether what is about to be done may be."""
    step = state.step
    if step is None:
        return _deviate(state, offer, "the run is over" if state.ended else "the run has not begun", now=now)
    if (wrong := _wrong_moment(state, step, offer)) is not None:
        return _deviate(state, offer, wrong, now=now)
    bound = invocation(state, step)
    if isinstance(bound, Unbound):
        moved = course.fail_unbound(state, bound, now=now)
        return Block(reason="an input has no usable value", state=moved.state, events=moved.events)
    if (outside := _outside(offer, bound)) is not None:
        return _deviate(state, offer, outside, now=now)
    if state.status is RunStatus.AWAITING_APPROVAL and state.request is not None:
        return _still_asked(state, state.request, now=now)
    return _ruled(state, step, offer, bound, now=now)


def _wrong_moment(state: RunState, step: StepPolicy, offer: Offer) -> str | None:
    if offer.digest != state.envelope.digest:
        return "the runbook changed since the run began"
    if step.spec.kind in {StepKind.WAIT, StepKind.NOTE, StepKind.DECISION}:
        return "the wait is not over" if state.status is RunStatus.WAITING else "this step runs nothing"
    return "this step runs already" if state.status is RunStatus.RUNNING else None


def _outside(offer: Offer, bound: Invocation) -> str | None:
    if offer.tool != bound.tool:
        return "the tool is outside the scope of this step"
    if offer.target != bound.target:
        return "the target is not the one of this step"
    return "the command is not the one of this step" if offer.command != bound.command else None


def _still_asked(state: RunState, request: ApprovalRequest, *, now: datetime) -> RequireApproval | Block:
    if not approval.has_expired(request, now=now):
        return RequireApproval(request=request, state=state)
    moved = expire(state, now=now)
    return Block(reason="nobody answered in time", state=moved.state, events=moved.events)


def _ruled(state: RunState, step: StepPolicy, offer: Offer, bound: Invocation, *, now: datetime) -> Ruling:
    """Return the ruling on exactly what the step would run."""
    limits, grant = state.envelope.limits, state.grant
    spent = budgets.out_of_time(limits, started_at=state.started_at or now, now=now)
    if grant is None:
        spent = spent or budgets.no_question(limits, asked=state.asked)
    if spent is not None:
        ended = Ended(outcome=Outcome.ESCALATED, cause=EndCause.BUDGET, why=spent, at=now)
        moved = Moved(state=state).then(ended)
        return Block(reason=spent, state=moved.state, events=moved.events)
    if grant is not None:
        if grant.command_digest != bound.digest:
            return _deviate(state, offer, "something else was agreed to", now=now)
        return _let_go(Moved(state=state), step, bound, request=grant.request_id, now=now)
    if not (step.gated or offer.asks):
        moved = Moved(state=state).then(_proposed(state, step, offer, bound, request=None, now=now))
        return _let_go(moved, step, bound, request=None, now=now)
    request = _request(state, step, bound, name=offer.request_id, now=now)
    moved = Moved(state=state).then(_proposed(state, step, offer, bound, request=request, now=now))
    return RequireApproval(request=request, state=moved.state, events=moved.events)


def _let_go(
    moved: Moved, step: StepPolicy, bound: Invocation, *, request: str | None, now: datetime
) -> Permit:
    state = moved.state
    used = Consumed(
        step=step.spec.id,
        number=state.number,
        request=request,
        command_digest=bound.digest,
        at=now,
    )
    moved = moved.then(used)
    return Permit(invocation=bound, state=moved.state, events=moved.events)


def _proposed(
    state: RunState,
    step: StepPolicy,
    offer: Offer,
    bound: Invocation,
    *,
    request: ApprovalRequest | None,
    now: datetime,
) -> Proposed:
    return Proposed(
        step=step.spec.id,
        number=state.number,
        proposal=offer.proposal,
        command=bound.shown,
        command_digest=bound.digest,
        request=request,
        at=now,
    )


def request_approval(state: RunState, *, now: datetime) -> ApprovalRequest | None:
    """Return what a person would be asked about the current step; None where nobody is."""
    step = state.step
    if step is None or not step.gated:
        return None
    if state.request is not None:
        return state.request
    bound = invocation(state, step)
    return None if isinstance(bound, Unbound) else _request(state, step, bound, name="", now=now)


def _request(
    state: RunState, step: StepPolicy, bound: Invocation, *, name: str, now: datetime
) -> ApprovalRequest:
    # The same second, or a clock that was set back, must not give two questions one name.
    again = (f".{state.number}" if state.number > 1 else "") + (f"+{state.asked}" if state.asked else "")
    return ApprovalRequest(
        id=name or f"{step.spec.id}@{int(now.timestamp())}{again}",
        run=state.run,
        step_id=step.spec.id,
        number=state.number,
        title=bound.title,
        risk=step.spec.risk,
        command=bound.shown,
        command_digest=bound.digest,
        target=bound.target,
        capabilities=step.tools,
        rollback_to=step.rollback_to,
        expires_in_s=state.envelope.limits.approval_s,
        issued_at=now,
    )


def _deviate(state: RunState, offer: Offer, reason: str, *, now: datetime) -> Block:
    """Return a block that is recorded; the n-th ends the run (R19)."""
    step = state.step
    moved = Moved(state=state).then(
        Deviated(
            step=state.current,
            number=state.number,
            reason=reason,
            tool=offer.tool,
            target=offer.target,
            command=offer.command,
            scope=() if step is None else step.tools,
            by=offer.by,
            at=now,
        )
    )
    goes_on = state.ended is None and state.status is not RunStatus.NEW
    if goes_on and budgets.too_many_deviations(state.envelope.limits, deviations=moved.state.deviations):
        moved = moved.then(Ended(outcome=Outcome.ESCALATED, cause=EndCause.DEVIATIONS, why=reason, at=now))
    return Block(reason=reason, state=moved.state, events=moved.events)
