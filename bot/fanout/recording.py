"""Recording: what happened to members of a fan-out, many in one batch, and what the brake makes of it.

The batch that records the failure at which the brake stops takes back the grants of everything that has not
started, so that no start can come after it: a start expects its action to be queued still. What is taken back
is asked about anew, as a round of its own, under a phrase that names how many are left.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core import Core
from bot.execution import ending
from bot.fanout import forming, rounds
from bot.opening import open_approval
from bot.outcome import Outcome
from bot.ports import Ended
from gate.digest import list_digest
from gate.domain import ActionId, PersonId, ProposalId, RouteKind, TurnId
from gate.fanout import Brake
from gate.lifecycle import ActionState
from ledger.kinds import ActionIs, FailuresAre, Kind
from ledger.views import ActionView, ProposalView


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A started member ended; `by` is who stopped it."""

    view: ActionView
    ended: Ended
    by: PersonId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The verify command of a member that had ended well ended."""

    view: ActionView
    ended: Ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Voided:
    """A queued member may not start any more."""

    view: ActionView
    note: str


Happened = Ran | Checked | Voided


def record(
    core: Core,
    proposal: ProposalId,
    happened: Sequence[Happened],
    *,
    draws: bool = False,
    halts: bool = False,
) -> bool:
    """Record what happened; return whether the brake took anything back.

    Args:
        draws: the posted cards are to be brought up to date in any case, since nothing else will.
        halts: sayso ended meanwhile; see `rounds.held_back`.

    Raises:
        LostRaceError: something of it changed meanwhile; nothing is recorded.
        LedgerUnwritableError: nothing is recorded.
    """
    head = core.queries.head(proposal)
    outcome = Outcome(
        at=core.now(), place=head.shown_in, turn=TurnId(core.ids.token()), new_nonce=core.ids.token
    )
    failing = {one.view.action.id for one in happened if _write(core, outcome, proposal, one)}
    brake = Brake() if head.fanout is None else head.fanout.brake
    stopped = False
    if halts or (failing and (brake.canary or brake.stop_after)):
        stopped = _brake(core, outcome, proposal, brake, failing=failing, halts=halts)
    if stopped or draws:
        outcome.refresh(proposal, place=head.shown_in)
    core.ledger.append(outcome.batch())
    return stopped


def _write(core: Core, outcome: Outcome, proposal: ProposalId, one: Happened) -> bool:
    """Write one entry; return whether it is a failure."""
    match one:
        case Ran(view=view, ended=ended, by=by):
            outcome.expect(ActionIs(view.action.id, ActionState.STARTED))
            kind = ending.write_end(core, outcome, proposal, view, ended, by=by)
            return kind is not Kind.ACTION_SUCCEEDED
        case Checked(view=view, ended=ended):
            ending.write_check(core, outcome, proposal, view, ended)
            return ended.exit_code != 0
        case Voided(view=view, note=note):
            outcome.expect(ActionIs(view.action.id, ActionState.QUEUED))
            ending.write_void(outcome, proposal, view, note=note)
            return True


def _brake(
    core: Core,
    outcome: Outcome,
    proposal: ProposalId,
    brake: Brake,
    *,
    failing: set[ActionId],
    halts: bool,
) -> bool:
    """Take back what must not start any more, and ask about it; return whether there was any."""
    view = core.queries.proposal(proposal)
    if view is None:
        raise LookupError(f"no proposal {proposal}")
    # Whoever else records a failure meanwhile makes this batch be read anew, so that none goes uncounted.
    outcome.expect(FailuresAre(proposal, rounds.failures(view)))
    held = rounds.held_back(view, brake, failing=failing, halts=halts)
    rest = [one for one in held if one.action.id not in failing]
    for one in rest:
        outcome.expect(ActionIs(one.action.id, ActionState.QUEUED))
        outcome.write(
            Kind.ACTION_UNQUEUED,
            correlation_id=proposal,
            body={
                "action": one.action.id,
                "route": (RouteKind.APPROVAL if one.route is RouteKind.AUTO else one.route).value,
                "why": "sayso ended meanwhile" if halts else "the brake stopped it",
            },
        )
    if rest:
        _ask(core, outcome, view, rest, brake)
    return bool(rest)


def _ask(core: Core, outcome: Outcome, view: ProposalView, rest: Sequence[ActionView], brake: Brake) -> None:
    digest = list_digest([one.digest for one in rest], brake)
    phrase = forming.phrase_again(view.id, rest)
    for one in rest:
        open_approval(
            core,
            outcome,
            one.action,
            risk=one.verdict.risk,
            requester=view.owner,
            phrase=phrase,
            list_digest=digest,
            action_digest=one.digest,
        )
    outcome.card(view.id, place=view.shown_in)
    ending.show_again(outcome, view, window=True)
