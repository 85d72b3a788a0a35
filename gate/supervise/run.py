"""A run under supervision: started, answered, stopped (R9 to R12, R18).

Every function takes the state and says what happened as events; nothing is done here. What may be done next
is `proposal`'s, what follows from what came of it `course`'s.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gate.domain import AGENT, PersonId
from gate.errors import TransitionError
from gate.lifecycle import RunStatus
from gate.supervise import approval, course
from gate.supervise.approval import Decision, Grant, Identities
from gate.supervise.binding import as_text
from gate.supervise.domain import Outcome, RunId, Value
from gate.supervise.envelope import Envelope
from gate.supervise.errors import SelfApprovalError, WrongRequestError
from gate.supervise.events import EndCause, Ended, Granted, Started, TakenBack
from gate.supervise.state import Moved, RunState, fresh

# ---------------------------------------------------------------- starting


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStarted:
    """Nothing began (R18).

    Attributes:
        missing: required inputs without a value.
        unknown: values for what is no input, or none that anybody gives.
        unfit: values that are not of their type.
    """

    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()


def lacking(envelope: Envelope, inputs: Mapping[str, Value]) -> NotStarted | None:
    """Return what keeps a run with these inputs from starting, None where nothing does."""
    given = {name: as_text(value) for name, value in inputs.items()}
    own = {name: item for name, item in envelope.inputs.items() if not item.internal}
    found = NotStarted(
        missing=tuple(
            name
            for name, item in own.items()
            if item.required and item.default is None and not given.get(name)
        ),
        unknown=tuple(name for name in given if name not in own),
        unfit=tuple(
            name for name, value in given.items() if name in own and value and not own[name].accepts(value)
        ),
    )
    return None if found == NotStarted() else found


def start(
    envelope: Envelope,
    *,
    run: RunId,
    agent: PersonId,
    inputs: Mapping[str, Value],
    target: str = "",
    now: datetime,
) -> Moved | NotStarted:
    """Return a run in its first step, with its document, its inputs and its envelope pinned.

    Args:
        target: for steps that name none.
    """
    if (refusal := lacking(envelope, inputs)) is not None:
        return refusal
    defaults = {name: item.default for name, item in envelope.inputs.items() if item.default is not None}
    given = {name: value for name, value in inputs.items() if as_text(value)}
    started = Started(
        run=run,
        runbook=envelope.runbook,
        digest=envelope.digest,
        agent=agent,
        posture=envelope.posture,
        inputs={**defaults, **given},
        target=target,
        first=envelope.first,
        at=now,
    )
    return course.enter_first(Moved(state=fresh(run, envelope)).then(started), now=now)


def roll_back(undone: RunState, *, run: RunId, envelope: Envelope, agent: PersonId, now: datetime) -> Moved:
    """Return a run of its own that undoes one which ended, from the step that its document names.

    It has what that one knew, and none of its grants: each of its steps is asked about like any other.

    Args:
        envelope: of the runbook as it is now.

    Raises:
        TransitionError: that run goes on still, or nothing in this runbook undoes it.
    """
    first = undone.undo
    if undone.ended is None or first is None or first not in envelope.rollbacks:
        raise TransitionError(f"nothing undoes run {undone.run}")
    started = Started(
        run=run,
        runbook=envelope.runbook,
        digest=envelope.digest,
        agent=agent,
        posture=envelope.posture,
        inputs=undone.inputs,
        target=undone.target,
        first=first,
        undoes=undone.run,
        at=now,
    )
    return course.enter_first(Moved(state=fresh(run, envelope)).then(started), now=now)


# ---------------------------------------------------------------- answers


def grant(state: RunState, decision: Decision, *, identities: Identities, now: datetime) -> Grant:
    """Return the grant that a yes is; `apply_grant` makes it count.

    Raises:
        SupervisionError: it may not count; see `approval.grant`.
    """
    return approval.grant(state.request, decision, agent=state.agent, identities=identities, now=now)


def apply_grant(state: RunState, grant: Grant, *, now: datetime) -> Moved:
    """Return the run after a person agreed.

    Raises:
        SelfApprovalError: the agent did.
        WrongRequestError: it is for another run, entry, question or command.
    """
    if grant.decided_by in {state.agent, AGENT}:
        raise SelfApprovalError
    asked = state.request
    mine = asked and replace(
        grant,
        run=asked.run,
        request_id=asked.id,
        step_id=asked.step_id,
        number=asked.number,
        command_digest=asked.command_digest,
    )
    if grant != mine or state.status is not RunStatus.AWAITING_APPROVAL:
        raise WrongRequestError
    return Moved(state=state).then(Granted(grant=grant, at=now))


def refuse(state: RunState, decision: Decision, *, identities: Identities, now: datetime) -> Moved:
    """Return the run after a no: it is over, aborted (R11). A missing reason never keeps it open (C1).

    Raises:
        SupervisionError: it may not count; see `approval.refuse`.
    """
    refusal = approval.refuse(state.request, decision, agent=state.agent, identities=identities)
    return Moved(state=state).then(
        Ended(
            outcome=Outcome.ABORTED,
            cause=EndCause.REFUSED,
            refusal=refusal,
            request=refusal.request_id,
            by=refusal.decided_by,
            why=refusal.reason or "",
            at=now,
        )
    )


def expire(state: RunState, *, now: datetime, closed: bool = False) -> Moved:
    """Return the run after nobody answered: over, aborted, and no refusal (R12). Unchanged before its time.

    Args:
        closed: the question was closed elsewhere, by a deadline that is not longer than this one.
    """
    asked = state.request
    if asked is None or state.status is not RunStatus.AWAITING_APPROVAL:
        return Moved(state=state)
    if not closed and not approval.has_expired(asked, now=now):
        return Moved(state=state)
    return Moved(state=state).then(
        Ended(outcome=Outcome.ABORTED, cause=EndCause.EXPIRED, request=asked.id, at=now)
    )


def take_back(state: RunState, *, why: str, now: datetime) -> Moved:
    """Return the run after a permission went before anything started; the step is proposed anew.

    Raises:
        TransitionError: there was no permission, and no question.
    """
    if state.current is None:
        raise TransitionError(f"run {state.run} is in no step")
    return Moved(state=state).then(TakenBack(step=state.current, number=state.number, why=why, at=now))


# ---------------------------------------------------------------- stopping


def escalate(state: RunState, *, why: str, now: datetime) -> Moved:
    """Return the run after whoever runs it could not go on: over, and a person has to look."""
    return _stop(state, Ended(outcome=Outcome.ESCALATED, cause=EndCause.ESCALATED, why=why, at=now))


def abort(state: RunState, *, by: PersonId, why: str = "", now: datetime) -> Moved:
    """Return the run after a person stopped it. A wait, a question or a step that runs is no obstacle."""
    return _stop(state, Ended(outcome=Outcome.ABORTED, cause=EndCause.ABORTED, by=by, why=why, at=now))


def _stop(state: RunState, ended: Ended) -> Moved:
    return Moved(state=state) if state.ended is not None else Moved(state=state).then(ended)
