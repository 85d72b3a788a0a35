"""Routed cards: asked in one place, shown in another, told where they were asked when they are over.

Which place it is says gate.routing; a routed card takes a reply, a button or its id, and no window of words
(D2). The end is told once, whatever stops in between: the entry that says it is told expects that it was not.
"""

from collections.abc import Sequence
from dataclasses import replace

from bot.card_words import MARKS
from bot.cards import summary
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import duration
from bot.places import parse
from bot.text import Text
from gate.domain import PlaceId, Risk, Target, TurnId
from gate.lifecycle import ACTION_ENDED, ActionState, ApprovalState
from gate.routing import place_for, places_for
from ledger import waiting
from ledger.kinds import Kind, LostRaceError, Untold
from ledger.views import ActionView, ProposalView


def place_of(core: Core, needs_yes: Sequence[tuple[Target, Risk]], *, asked_in: PlaceId) -> PlaceId:
    """Return where the card goes of actions that need a yes; where it was asked, if no route names them."""
    named = place_for(core.policy.routes, needs_yes)
    return asked_in if named is None else core.place_of(parse(named))


def places_of(core: Core, needs_yes: Sequence[tuple[Target, Risk]]) -> tuple[PlaceId, ...]:
    """Return every place that a route names for some of these actions, in the order of the config."""
    return tuple(core.place_of(parse(named)) for named in places_for(core.policy.routes, needs_yes))


def tell_ends(core: Core) -> bool:
    """Tell the ends of routed proposals that are over and not told yet; whether any was.

    Raises:
        LedgerUnwritableError: nothing was told.
    """
    told = False
    for proposal in waiting.untold(core.ledger.reader()):
        view = core.queries.proposal(proposal)
        told |= view is not None and tell_end(core, view)
    return told


def tell_end(core: Core, view: ProposalView) -> bool:
    """Tell how `view` ended where it was asked, once it is over; whether that was done now."""
    if view.asked_in == view.shown_in or any(one.state not in ACTION_ENDED for one in view.actions):
        return False
    outcome = Outcome(
        at=core.now(), place=view.asked_in, turn=TurnId(core.ids.token()), new_nonce=core.ids.token
    )
    _told(outcome, view)
    outcome.say(Text.of(result(core, view)))
    try:
        core.ledger.append(outcome.batch())
    except LostRaceError:
        return False
    return True


def tell_dropped(core: Core, outcome: Outcome, view: ProposalView, how: str) -> None:
    """Tell with the turn that drops all that is left of `view` that it does; `how` is "refused by kim"."""
    if view.asked_in == view.shown_in or any(one.state is ActionState.STARTED for one in view.actions):
        return
    _told(outcome, view)
    if view.asked_in == outcome.place:
        return  # the answer says it there
    rest = "the rest did not run" if any(one.started_at for one in view.actions) else "nothing ran"
    said = outcome.said(Text.of(f"✗ {summary(view, secrets=core.secrets)}: {how}, {rest}"))
    outcome.effects.append(replace(said, place=view.asked_in))


def _told(outcome: Outcome, view: ProposalView) -> None:
    outcome.expect(Untold(view.id))
    outcome.write(
        Kind.PROPOSAL_TOLD, correlation_id=view.id, body={"proposal": view.id, "place": view.asked_in}
    )


def result(core: Core, view: ProposalView) -> str:
    """Return "✓ #k7f3a2, restart caddy on web1: ok in 0.4 s" of a proposal that is over."""
    worst = max(view.actions, key=lambda one: _WORST.index(one.state))
    what = summary(view, secrets=core.secrets)
    if len(view.actions) == 1:
        return f"{MARKS[worst.state]} {what}: {_end(worst)}"
    counts = [(state, sum(one.state is state for one in view.actions)) for state in _WORST]
    ends = ", ".join(f"{count} {_WORDS[state]}" for state, count in counts if count)
    return f"{MARKS[worst.state]} {what}: {ends}"


_WORST = (ActionState.SUCCEEDED, ActionState.CANCELLED, ActionState.FAILED, ActionState.LOST)
_WORDS = {
    ActionState.SUCCEEDED: "ok",
    ActionState.CANCELLED: "dropped",
    ActionState.FAILED: "failed",
    ActionState.LOST: "unknown",
}


def _end(one: ActionView) -> str:
    ending, approval = one.ending, one.approval
    if one.state is ActionState.LOST:
        return "unknown whether it finished"
    if approval is not None and approval.state is ApprovalState.EXPIRED:
        return "expired, nothing ran"
    if ending is None or one.started_at is None:
        return ending.note if ending is not None and ending.note else "dropped, nothing ran"
    if one.state is ActionState.SUCCEEDED:
        return f"ok in {duration(ending.run_s)}"
    return ending.note if ending.exit_code is None else f"exit {ending.exit_code}"
