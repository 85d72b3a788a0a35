"""Letting one invocation go: the supervisor's last word, in the batch that starts the command (C17, R10).

A person's yes becomes a grant for exactly this command in exactly this entry, and is used up by it. What is
about to run is compared once more with what the step may run; what is something else never starts, and is
recorded as a deviation.
"""

from dataclasses import dataclass

from bot.core import Core
from bot.planning.drafts import PlanSource
from bot.runbooks import ends, going
from bot.runbooks.closing import tell_end
from bot.runbooks.offering import command_of, name_of, offered
from bot.runbooks.restoring import Restored, restore
from gate.domain import ProposalId, Reason, ReasonCode
from gate.lifecycle import RunStatus
from gate.supervise import proposal
from gate.supervise import run as runs
from gate.supervise.approval import Decision
from gate.supervise.binding import Unbound, command_digest
from gate.supervise.domain import StepKind
from gate.supervise.errors import SupervisionError
from gate.supervise.events import Event
from gate.supervise.invocation import Invocation, invocation
from gate.supervise.state import Moved
from ledger.kinds import Draft, Expectation, LostRaceError, RunIsAt
from ledger.run_events import draft_of
from ledger.views import ActionView


@dataclass(frozen=True, slots=True, kw_only=True)
class Let:
    """It may go, if this is written with its start; nothing at all for what is no step of a run."""

    drafts: tuple[Draft, ...] = ()
    expects: tuple[Expectation, ...] = ()


def let(core: Core, view: ActionView) -> Let | Reason:
    """Return whether the supervisor lets the action `view` start now.

    Raises:
        LedgerUnwritableError: a deviation could not be recorded; it does not start.
    """
    name = ProposalId(view.action.id.rpartition(".")[0])
    parent = core.queries.proposal(name)
    if parent is None or parent.source != PlanSource.RUNBOOK:
        return Let()
    run = core.queries.run_of(name)
    restored = None if run is None or run.is_over or run.proposal != name else restore(core, run.id)
    step = None if restored is None else restored.state.step
    if restored is None or step is None:
        return Reason(code=ReasonCode.DRIFTED, text="the run that it was a step of has gone on; nothing ran")
    bound = invocation(restored.state, step)
    if isinstance(bound, Unbound):
        return Reason(code=ReasonCode.DRIFTED, text="its step has no usable value any more; nothing ran")
    if restored.state.status is RunStatus.RUNNING:
        return _permitted(core, restored, view, bound)
    return _granted(core, restored, view, bound)


def _permitted(core: Core, restored: Restored, view: ActionView, bound: Invocation) -> Let | Reason:
    """Let go what needed nobody: the supervisor permitted it when it was proposed."""
    mine = command_digest(
        tool=bound.tool, target=name_of(core, bound, view.action), command=command_of(view.action)
    )
    if mine != bound.digest:
        return Reason(code=ReasonCode.DRIFTED, text="it is not what its step may run; nothing ran")
    return _with(restored, Moved(state=restored.state))


def _granted(core: Core, restored: Restored, view: ActionView, bound: Invocation) -> Let | Reason:
    """Let go what a person agreed to, if it is that."""
    state, step, approval = restored.state, restored.state.step, view.approval
    if step is None or approval is None or approval.decided_by is None or approval.decided_at is None:
        return Reason(code=ReasonCode.STRICTER_NOW, text="nobody agreed to this step; nothing ran")
    request = "" if state.request is None else state.request.id
    said = Decision(run=state.run, request_id=request, decided_by=str(approval.decided_by))
    try:
        grant = runs.grant(state, said, identities=ends.identities(core), now=approval.decided_at)
        moved = runs.apply_grant(state, grant, now=approval.decided_at)
    except SupervisionError as error:
        return Reason(code=ReasonCode.STRICTER_NOW, text=f"{error} Nothing ran.")
    if step.spec.kind is StepKind.APPROVAL:
        return _with(restored, moved)
    offer = offered(
        core,
        moved.state,
        step,
        target=name_of(core, bound, view.action),
        command=command_of(view.action),
    )
    ruling = proposal.propose(moved.state, offer, now=core.now())
    if isinstance(ruling, proposal.Permit):
        return _with(restored, Moved(state=ruling.state, events=(*moved.events, *ruling.events)))
    _record(core, restored, (*moved.events, *ruling.events))
    return Reason(code=ReasonCode.DRIFTED, text=f"{_reason(ruling)}; nothing ran")


def _reason(ruling: proposal.RequireApproval | proposal.Block) -> str:
    return ruling.reason if isinstance(ruling, proposal.Block) else "it has to be asked about again"


def _with(restored: Restored, moved: Moved) -> Let:
    return Let(
        drafts=tuple(draft_of(event, run=restored.view.id) for event in moved.events),
        expects=(RunIsAt(restored.view.id, restored.view.seq),),
    )


def _record(core: Core, restored: Restored, events: tuple[Event, ...]) -> None:
    """Record what was blocked; where the run has moved meanwhile, the next look finds that."""
    outcome = going.new_outcome(core, restored.view.place)
    outcome.expect(RunIsAt(restored.view.id, restored.view.seq))
    going.write(outcome, restored.view.id, events)
    going.refresh(outcome, going.Going.of(restored))
    tell_end(core, outcome, going.Going.of(restored), restored.state, events)
    try:
        core.ledger.append(outcome.batch())
    except LostRaceError:
        return
