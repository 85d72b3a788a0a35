"""Ending: what becomes of the questions about a signal once it is over.

What nobody answered is withdrawn, and so is what would run by itself and has not begun; what somebody said
yes to goes on, and so does what runs.
"""

from bot import choices
from bot.answering import cancel_action
from bot.core import Core
from bot.outcome import Outcome
from gate.domain import AGENT, ProposalId
from gate.lifecycle import NOT_STARTED, ActionState, ApprovalState, ClarificationState
from gate.supervise.domain import RunId
from ledger.kinds import ApprovalIs, ClarificationIs, Kind
from ledger.signal_views import How, SignalActView

_WHY = "the alert is over"


def withdraw(core: Core, outcome: Outcome, act: SignalActView) -> None:
    """Withdraw what `act` asked and nobody answered."""
    match act.how:
        case How.ASKED:
            _drop_choice(core, outcome, act.ref)
        case How.PROPOSED:
            _drop_proposal(core, outcome, ProposalId(act.ref))
            _drop_unasked(core, outcome, ProposalId(act.ref))
        case How.RUN:
            run = core.queries.run(RunId(act.ref))
            if run is not None and not run.is_over and run.proposal is not None:
                _drop_proposal(core, outcome, run.proposal)
        case How.NOTED | How.DENIED:
            pass


def _drop_choice(core: Core, outcome: Outcome, name: str) -> None:
    choice = core.queries.clarification(name)
    if choice is None:
        return
    outcome.expect(ClarificationIs(choice.id, ClarificationState.PENDING))
    outcome.write(
        Kind.CLARIFICATION_CANCELLED,
        correlation_id=choice.id,
        body={"clarification": choice.id, "by": AGENT},
    )
    choices.show_end(outcome, choice, f"{_WHY}, nothing ran")


def _drop_proposal(core: Core, outcome: Outcome, proposal: ProposalId) -> None:
    view = core.queries.proposal(proposal)
    if view is None or not view.pending:
        return
    for one in view.actions:
        approval = one.approval
        if approval is not None and approval.state is ApprovalState.PENDING:
            outcome.expect(ApprovalIs(approval.id, ApprovalState.PENDING))
            outcome.write(
                Kind.APPROVAL_WITHDRAWN,
                correlation_id=proposal,
                body={
                    "approval": approval.id,
                    "proposal": proposal,
                    "action": one.action.id,
                    "decider": AGENT,
                    "why": _WHY,
                },
            )
        if one.state in (ActionState.WAITING, ActionState.PROPOSED):
            cancel_action(outcome, one, note=f"withdrawn: {_WHY}, nothing ran")
    outcome.refresh(proposal, place=view.shown_in)


def _drop_unasked(core: Core, outcome: Outcome, proposal: ProposalId) -> None:
    """Drop what would run by itself and waits for its turn, where nobody said yes to anything of it."""
    view = core.queries.proposal(proposal)
    if view is None or any(one.approval is not None for one in view.actions):
        return
    left = [one for one in view.actions if one.state in NOT_STARTED]
    for one in left:
        cancel_action(outcome, one, note=f"withdrawn: {_WHY}, nothing ran")
    if left:
        outcome.refresh(proposal, place=view.shown_in)
