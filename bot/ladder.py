"""The ladder in the conversation: a nudge where the card is, then the card in front of somebody else (X7).

Driven by `bot.deadlines` for each proposal that waits; which step is due says gate.ladder. Every step is
an entry that expects not to have been taken, so it is taken once whatever stops in between. Nobody is
mentioned, and nobody's words count by it: a nudge opens no window, a card that comes up closes those there.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.cards import summary
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import clock_time
from bot.places import parse, place_name
from bot.proposing import show_in
from bot.text import Text
from gate import authority
from gate.domain import PersonId, PlaceId, ProposalId, TurnId
from gate.ladder import Ages, Rung, ages, next_rung
from gate.lifecycle import ApprovalState
from ledger import waiting
from ledger.kinds import ApprovalIs, Json, Kind, LostRaceError, NotYet
from ledger.views import ActionView, ApprovalView, ProposalView

_KINDS = {Rung.NUDGE: Kind.APPROVAL_NUDGED, Rung.ESCALATE: Kind.APPROVAL_ESCALATED}


def next_due(core: Core) -> datetime | None:
    """Return when the next step of any approval is due; None when none will be."""
    at = ages(core.policy_now())
    steps = [
        next_rung(at, opened_at=one.opened_at, deadline_at=one.deadline_at, taken=one.taken)
        for one in waiting.climbing(core.ledger.reader())
    ]
    return min((due for step in steps if step is not None for due in step[1:]), default=None)


def due(core: Core, now: datetime) -> frozenset[ProposalId]:
    """Return the proposals for which a step is due, without reading all of what waits."""
    at = ages(core.policy_now())
    first_s = min((one for one in (at.nudge_s, at.escalate_s) if one), default=0)
    if not first_s:
        return frozenset()
    found = waiting.climbing(core.ledger.reader(), opened_by=now - timedelta(seconds=first_s))
    return frozenset(one.proposal for one in found if _is_due_by(at, one, now))


def _is_due_by(at: Ages, one: waiting.Climbing, now: datetime) -> bool:
    step = next_rung(at, opened_at=one.opened_at, deadline_at=one.deadline_at, taken=one.taken)
    return step is not None and step[1] <= now


def climb(core: Core, view: ProposalView, now: datetime) -> bool:
    """Take the steps that are due for `view`, in their order; whether any was taken.

    Raises:
        LedgerUnwritableError: no further one was taken.
    """
    at = ages(core.policy_now())
    taken = False
    for rung in Rung:
        due = [one for one in view.pending if _is_due(at, one.approval, rung, now)]
        if not due:
            continue
        outcome = Outcome(
            at=now, place=view.shown_in, turn=TurnId(core.ids.token()), new_nonce=core.ids.token
        )
        told = _nudge(core, outcome, view, due) if rung is Rung.NUDGE else _escalate(core, outcome, view, due)
        _write(outcome, view, due, rung, told)
        outcome.refresh(view.id, place=view.shown_in)
        try:
            core.ledger.append(outcome.batch())
        except LostRaceError:
            # Somebody answered in the same moment, or another look took this step.
            return taken
        taken = True
        view = core.queries.proposal(view.id) or view
    return taken


def _is_due(at: Ages, approval: ApprovalView | None, rung: Rung, now: datetime) -> bool:
    if approval is None or approval.opened_at is None or approval.deadline_at <= now:
        return False
    taken = [one.rung for one in approval.rungs]
    step = next_rung(at, opened_at=approval.opened_at, deadline_at=approval.deadline_at, taken=taken)
    return step is not None and step[0] is rung and step[1] <= now


def _write(
    outcome: Outcome, view: ProposalView, due: Sequence[ActionView], rung: Rung, told: dict[str, Json]
) -> None:
    for one in due:
        if one.approval is None:
            continue
        outcome.expect(
            ApprovalIs(one.approval.id, ApprovalState.PENDING),
            NotYet(one.approval.id, rung),
        )
        ids: dict[str, Json] = {"approval": one.approval.id, "proposal": view.id, "action": one.action.id}
        outcome.write(_KINDS[rung], correlation_id=view.id, body={**ids, **told})


def _nudge(core: Core, outcome: Outcome, view: ProposalView, due: Sequence[ActionView]) -> dict[str, Json]:
    deadline = min(one.approval.deadline_at for one in due if one.approval is not None)
    until = clock_time(deadline, zone=core.zone_for(view.requester), now=outcome.at)
    outcome.say(Text.of(f"{summary(view, secrets=core.secrets)}, still waits until {until}."))
    return {"place": view.shown_in}


def _escalate(core: Core, outcome: Outcome, view: ProposalView, due: Sequence[ActionView]) -> dict[str, Json]:
    """Show the card to as many people as are missing, or in the place of the config."""
    shown = waiting.shown_in(core.ledger.reader(), view.id) | {view.shown_in}
    found = _named_place(core) or _places_of_next(core, view, due, shown)
    places = [place for place in dict.fromkeys(found.values()) if place not in shown]
    for place in places:
        outcome.card(view.id, place=place)
        show_in(outcome, view.id, place=place)
    if not core.policy.escalation:
        return {"to": list(found), "places": list(places)}
    return {"to": [], "where": next(iter(found)) if places else "", "places": list(places)}


def _named_place(core: Core) -> dict[str, PlaceId]:
    """Return the place that the config names for escalation, by what it is called; {} for none."""
    if not core.policy.escalation:
        return {}
    place = core.place_of(parse(core.policy.escalation))
    return {place_name(core, place): place}


def _places_of_next(
    core: Core, view: ProposalView, due: Sequence[ActionView], shown: frozenset[PlaceId]
) -> dict[str, PlaceId]:
    """Return who is next and where they are reached alone: as many as are missing, in the config's order."""
    found: dict[str, PlaceId] = {}
    for name in _others(core, view, due):
        place = waiting.heard_in(core.ledger.reader(), name)
        if place is not None and place not in shown:
            found[str(name)] = place
    asked = [one.approval for one in due if one.approval is not None]
    missing = max(one.quorum - len(one.votes) for one in asked)
    return dict(list(found.items())[:missing])


def _others(core: Core, view: ProposalView, due: Sequence[ActionView]) -> list[PersonId]:
    """Return who may approve all of it and neither asked for it nor said yes."""
    able = [
        authority.deciders(core.policy, target=one.action.target, risk=one.verdict.risk, requester=view.owner)
        for one in due
    ]
    said = {vote.person for one in due if one.approval is not None for vote in one.approval.votes}
    return [
        name
        for name in able[0]
        if all(name in some for some in able) and name not in said and name != view.owner
    ]
