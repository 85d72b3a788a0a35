"""What became of a step's action, as the supervisor takes it: an answer, a cancel, output (R9 to R12, R21).

Read from the ledger, so that it does not matter who saw it first. An unknown end is none: the run waits until
a person settles it.
"""

from collections.abc import Mapping
from datetime import datetime

from bot.core import Core
from bot.ports import Ended, EndKind
from gate.domain import AGENT, PersonId, ProposalId
from gate.lifecycle import ACTION_ENDED, ActionState, ApprovalState, RunStatus
from gate.supervise import course
from gate.supervise import run as runs
from gate.supervise.approval import Decision, Identities
from gate.supervise.expect import Ending, Evidence
from gate.supervise.state import Moved, RunState
from ledger.views import ActionView, ApprovalView

#: Ends that a step can be judged by; of the others a person decides.
_ENDINGS = {
    EndKind.EXITED: Ending.EXITED,
    EndKind.TIMED_OUT: Ending.TIMED_OUT,
    EndKind.NOT_STARTED: Ending.NOT_RUN,
}


def after(
    core: Core, state: RunState, one: ActionView, *, files: Mapping[str, bool], now: datetime
) -> Moved | None:
    """Return the run after the end of its step's action; None while that is open or unknown."""
    if one.state not in ACTION_ENDED or one.state is ActionState.LOST:
        return None
    if one.state is ActionState.CANCELLED:
        return _cancelled(core, state, one, now=now)
    if state.status is not RunStatus.RUNNING:
        return Moved(state=state)  # what was agreed to ran nothing
    return course.advance(state, _told(state, one, files), now=now)


def identities(core: Core) -> Identities:
    """Return who is behind a name or an account."""
    people = {str(one.id): one.id for one in core.policy.operators}
    accounts = {account: one.id for one in core.policy.operators for account in one.accounts}
    return Identities(people={**accounts, **people}, machines=frozenset({str(AGENT)}))


def _cancelled(core: Core, state: RunState, one: ActionView, *, now: datetime) -> Moved:
    approval, note = one.approval, "" if one.ending is None else one.ending.note
    by = core.queries.stopped_by(one.action.id)
    if approval is not None and approval.state is not ApprovalState.GRANTED:
        return _unanswered(core, state, approval, now=now)
    if by is not None:
        return runs.abort(state, by=by, why=note, now=now)
    if one.started_at is not None:
        return runs.escalate(state, why=note, now=now)
    return runs.take_back(state, why=note, now=now)


def _unanswered(core: Core, state: RunState, approval: ApprovalView, *, now: datetime) -> Moved:
    """Return the run after its question ended without a yes."""
    by = approval.decided_by or _who_asked_for_another(core, approval)
    match approval.state:
        case ApprovalState.REFUSED if state.request is not None:
            said = Decision(
                run=state.run,
                request_id=state.request.id,
                decided_by=by,
                reason=approval.why.strip() or None,
            )
            return runs.refuse(state, said, identities=identities(core), now=now)
        case ApprovalState.EXPIRED:
            return runs.expire(state, now=now, closed=True)
        case _:
            return runs.abort(state, by=by, why=approval.why, now=now)


def _who_asked_for_another(core: Core, approval: ApprovalView) -> PersonId:
    """Return who asked for something else instead of the step; sayso, where nobody did."""
    old = core.queries.proposal(ProposalId(approval.action.rpartition(".")[0]))
    new = None if old is None or old.replaced_by is None else core.queries.proposal(old.replaced_by)
    return AGENT if new is None else new.requester


def _told(state: RunState, one: ActionView, files: Mapping[str, bool]) -> Evidence:
    """Return what the record holds of an end: masked, shortened and of both streams together."""
    ending = one.ending
    if ending is None or state.current is None:
        raise LookupError(f"{one.action.id} has no end")
    if ending.settled:
        ran = one.state is ActionState.SUCCEEDED
        return Evidence(
            step=state.current,
            number=state.number,
            ending=Ending.EXITED if ran else Ending.NOT_RUN,
            exit_code=0 if ran else None,
            cut=True,
            files=files,
        )
    exited = ending.exit_code is not None
    return Evidence(
        step=state.current,
        number=state.number,
        ending=Ending.EXITED if exited else Ending.TIMED_OUT,
        exit_code=ending.exit_code,
        stdout=ending.output,
        cut=True,
        files=files,
    )


def evidence(state: RunState, ended: Ended, *, files: Mapping[str, bool]) -> Evidence | None:
    """Return what a command that has just ended shows; None where a person has to decide what it means.

    Args:
        files: those that were looked at afterwards, and whether they were there.
    """
    ending = _ENDINGS.get(ended.kind)
    if ending is None or state.current is None:
        return None
    streams = ended.output.streams
    return Evidence(
        step=state.current,
        number=state.number,
        ending=ending,
        exit_code=ended.exit_code,
        stdout="" if streams is None else streams.stdout.decode("utf-8", "surrogateescape"),
        stderr="" if streams is None else streams.stderr.decode("utf-8", "surrogateescape"),
        cut=ended.output.total > 0 if streams is None else streams.cut,
        files=files,
    )
