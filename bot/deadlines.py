"""Deadlines: what ends by itself when its time has come, and what is said before.

Expiry is its own end, never a yes and never a no (C2). Run before every decision and by the timer, so that
nobody can answer what is over. Computed from the ledger each time; the timer holds no truth.
"""

from datetime import datetime, timedelta

from bot import choices, ladder, pairing, reasons, routing
from bot.acts import dispatch
from bot.answering import cancel_action, ending_body
from bot.core import Core
from bot.lapsing import Lapses, lapses
from bot.outcome import Outcome
from gate.domain import AGENT, PlaceId, ProposalId, TurnId
from gate.lifecycle import ActionState, ApprovalState, ClarificationState
from ledger import waiting
from ledger.commitments import OPEN
from ledger.kinds import ActionIs, ApprovalIs, ClarificationIs, Kind, LostRaceError
from ledger.views import ActionView, ProposalView


def close_due(core: Core) -> bool:
    """Close everything whose deadline has passed, and climb the ladder of what waits; whether anything was.

    Raises:
        LedgerUnwritableError: nothing was closed.
    """
    now = core.now()
    closed = False
    within = timedelta(seconds=core.policy.start_within_s)
    over = waiting.overdue(core.ledger.reader(), now=now, queued_by=now - within) | ladder.due(core, now)
    for proposal in core.queries.unfinished() if over else ():
        view = core.queries.proposal(proposal) if proposal in over else None
        if view is not None:
            closed |= _close_proposal(core, view, now) or ladder.climb(core, view, now)
    closed |= routing.tell_ends(core)
    closed |= _close_choices(core, now)
    closed |= _close_acts(core, now)
    closed |= _close_owed(core, now)
    closed |= _close_codes(core, now)
    return closed | _close_loosenings(core, now)


def next_due(core: Core) -> datetime | None:
    """Return when something ends or is said by itself next; None when nothing will."""
    found = [core.queries.next_deadline(), ladder.next_due(core), core.queries.next_run_due()]
    known: dict[ProposalId, Lapses] = {}
    for one in core.queries.in_state(ActionState.QUEUED):
        proposal = ProposalId(one.action.id.rpartition(".")[0])
        if proposal not in known:
            known[proposal] = lapses(core, core.queries.head(proposal))
        found.append(known[proposal].at(one))
    return min((one for one in found if one is not None), default=None)


def _close_proposal(core: Core, view: ProposalView, now: datetime) -> bool:
    expired = [one for one in view.pending if one.approval is not None and one.approval.deadline_at <= now]
    lapsed = _lapsed(core, view, now)
    if not expired and not lapsed:
        return False
    outcome = _outcome(core, view.shown_in, now)
    for one in expired:
        _expire(outcome, view.id, one)
    for one in lapsed:
        minutes = core.policy.start_within_s // 60
        cancel_action(
            outcome, one, note=f"the yes was not used within {minutes} min, so it lapsed; nothing ran"
        )
    ended = {one.action.id for one in (*expired, *lapsed)}
    still_live = any(
        one.state in (ActionState.STARTED, ActionState.QUEUED, ActionState.WAITING)
        and one.action.id not in ended
        for one in view.actions
    )
    if not still_live:
        # What would have followed by itself has nothing left to follow.
        for one in view.actions:
            if one.state is ActionState.PROPOSED and one.action.id not in ended:
                cancel_action(outcome, one, note="what it waited behind expired; nothing ran")
    outcome.refresh(view.id, place=view.shown_in)
    return _append(core, outcome)


def _lapsed(core: Core, view: ProposalView, now: datetime) -> list[ActionView]:
    queued = [one for one in view.actions if one.state is ActionState.QUEUED]
    last = lapses(core, view)
    return [one for one in queued if (at := last.at(one)) is not None and at <= now]


def _expire(outcome: Outcome, proposal: ProposalId, one: ActionView) -> None:
    if one.approval is None:
        return
    outcome.expect(
        ApprovalIs(one.approval.id, ApprovalState.PENDING), ActionIs(one.action.id, ActionState.WAITING)
    )
    outcome.write(
        Kind.APPROVAL_EXPIRED,
        correlation_id=proposal,
        body={
            "approval": one.approval.id,
            "proposal": proposal,
            "action": one.action.id,
            "why": "its deadline passed",
        },
    )
    outcome.write(
        Kind.ACTION_CANCELLED,
        correlation_id=proposal,
        body=ending_body(one.action.id, note="expired, nothing ran. Ask again to get a new one."),
    )


def _close_choices(core: Core, now: datetime) -> bool:
    closed = False
    for choice in core.queries.clarifications():
        if choice.deadline_at > now:
            continue
        outcome = _outcome(core, choice.place, now)
        outcome.expect(ClarificationIs(choice.id, ClarificationState.PENDING))
        outcome.write(
            Kind.CLARIFICATION_EXPIRED,
            correlation_id=choice.id,
            body={"clarification": choice.id, "by": AGENT},
        )
        choices.show_end(outcome, choice, "expired, nothing ran")
        view = core.queries.commitment(choice.commitment) if choice.commitment else None
        if view is not None and view.state in OPEN:
            dispatch.expire(outcome, view)
        closed |= _append(core, outcome)
    return closed


def _close_acts(core: Core, now: datetime) -> bool:
    closed = False
    for view in core.queries.open_commitments():
        if view.phrase and view.expires_at is not None and view.expires_at <= now:
            outcome = _outcome(core, view.place, now)
            dispatch.expire(outcome, view)
            closed |= _append(core, outcome)
    return closed


def _close_owed(core: Core, now: datetime) -> bool:
    closed = False
    for proposal, place in core.queries.overdue_reasons(now):
        outcome = _outcome(core, place, now)
        reasons.close(outcome, proposal)
        closed |= _append(core, outcome)
    return closed


def _close_loosenings(core: Core, now: datetime) -> bool:
    closed = False
    for asked in core.queries.loosenings():
        if asked.deadline_at > now:
            continue
        outcome = _outcome(core, asked.place, now)
        outcome.write(
            Kind.LOOSENING_ENDED,
            body={"loosening": asked.id, "how": "expired", "by": AGENT, "alone": False},
        )
        closed |= _append(core, outcome)
    return closed


def _close_codes(core: Core, now: datetime) -> bool:
    outcome = _outcome(core, PlaceId(""), now)  # nobody is told: the code said until when it is good
    return pairing.close_due(core, outcome) and _append(core, outcome)


def _append(core: Core, outcome: Outcome) -> bool:
    try:
        core.ledger.append(outcome.batch())
    except LostRaceError:
        # Somebody answered in the same moment; what they did stands, the next look sees it.
        return False
    return True


def _outcome(core: Core, place: PlaceId, now: datetime) -> Outcome:
    return Outcome(at=now, place=place, turn=TurnId(core.ids.token()), new_nonce=core.ids.token)
