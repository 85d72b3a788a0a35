"""Withdrawing: an agent takes back what it asked for, and nothing else.

What waits is withdrawn, what runs is stopped as far as it can be. What others asked for looks as if it
were not there.
"""

from bot.answering import Speaker
from bot.controls import withdraw
from bot.core import Core
from bot.delegates.delegate import Delegate
from bot.delegates.submitting import Submitted, new_outcome, recorded
from bot.runbooks import stopping
from gate.domain import ProposalId, Reason, ReasonCode
from gate.lifecycle import NOT_STARTED, ActionState
from gate.policy import Operator
from gate.supervise.domain import RunId


def take_back(core: Core, delegate: Delegate, name: str) -> Submitted:
    """Withdraw what waits of a request of `delegate`, and stop what runs of it.

    Raises:
        LedgerError: nothing was written, so nothing happens.
    """
    return recorded(core, lambda: _withdrawn(core, delegate, name))


def _withdrawn(core: Core, delegate: Delegate, name: str) -> Submitted:
    outcome = new_outcome(core, delegate)
    view = core.queries.proposal(ProposalId(name))
    run = None if view is not None else core.queries.run(name)
    if run is not None and run.person == delegate.id:
        if run.is_over:
            return Submitted(name=name, denied=_nothing_left(name))
        speaker = Speaker(operator=Operator(id=delegate.id), said="", event=outcome.turn, zone=core.zone)
        stopping.stop(core, outcome, speaker, RunId(name))
        return Submitted(name=name, outcome=outcome)
    if view is None or view.requester != delegate.id:
        return Submitted(denied=unknown(name))
    left = [one for one in view.actions if one.state in NOT_STARTED or one.state is ActionState.STARTED]
    if not left:
        return Submitted(name=name, denied=_nothing_left(name))
    for one in left:
        if one.state is ActionState.STARTED:
            outcome.cancel[one.action.id] = delegate.id
        else:
            withdraw(outcome, one, by=str(delegate.id))
    outcome.refresh(view.id, place=view.shown_in)
    return Submitted(name=name, outcome=outcome)


def unknown(name: str) -> Reason:
    """Return what an agent is told of a name that is none of its requests; others' are not told apart."""
    return Reason(code=ReasonCode.UNKNOWN_ID, text=f"No request {name[:40]!r} of yours. history lists them.")


def _nothing_left(name: str) -> Reason:
    return Reason(code=ReasonCode.ALREADY_DECIDED, text=f"#{name} is over. result tells how it ended.")
