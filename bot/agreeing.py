"""Agreeing: what a yes writes and says, whether it grants, is one of several, or is not enough.

It decides nothing; `bot.answering` hands over what gate.decide made of the words. The exact words of
everybody who agreed go into an entry of their own (N24).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.fanout.naming import several
from bot.outcome import Outcome
from bot.phrasing import clock_time, listed
from bot.text import Text, strong
from gate import quorum
from gate.decide import Challenged, Granted, Voted
from gate.lifecycle import ActionState, ApprovalState
from ledger.kinds import ActionIs, ApprovalIs, Json, Kind, VotesAre

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.answering import Speaker
    from bot.core import Core
    from gate.domain import PendingApproval, PlaceId, ProposalId


def agree(core: Core, outcome: Outcome, decision: Granted | Voted, speaker: Speaker) -> None:
    """Write a yes that counts."""
    if isinstance(decision, Granted):
        _grant(core, outcome, decision, speaker)
    else:
        _vote(core, outcome, decision, speaker)
    if decision.challenge is not None:
        challenge(outcome, Challenged(approval=decision.challenge))


def _grant(core: Core, outcome: Outcome, decision: Granted, speaker: Speaker) -> None:
    for pending in decision.approvals:
        outcome.expect(
            ApprovalIs(pending.approval, ApprovalState.PENDING),
            ActionIs(pending.action.id, ActionState.WAITING),
            VotesAre(pending.approval, len(pending.votes)),
        )
        body = {**_yes(core, outcome, pending, decision, speaker), "alone": decision.alone}
        if decision.needed > 1:
            body["voters"] = list(quorum.counted(pending, core.policy_now()))
        outcome.write(
            Kind.APPROVAL_GRANTED,
            correlation_id=pending.proposal,
            body=body,
            words={"said": speaker.said},
        )
        outcome.write(
            Kind.ACTION_QUEUED,
            correlation_id=pending.proposal,
            body={"action": pending.action.id, "grant": pending.approval, "because": ""},
        )
    for proposal, place in cards_of(decision.approvals):
        outcome.refresh(proposal, place=place)
        outcome.work.append(proposal)
    if core.switches().stopped:
        outcome.say(
            Text.of(
                "Recorded. sayso is stopped, so it does not start. Say resume to go on; a yes lasts 15 min."
            )
        )


def _vote(core: Core, outcome: Outcome, decision: Voted, speaker: Speaker) -> None:
    """Record a yes that is not enough, and say who else has to say it."""
    for pending in decision.approvals:
        outcome.expect(
            ApprovalIs(pending.approval, ApprovalState.PENDING),
            VotesAre(pending.approval, len(pending.votes)),
        )
        outcome.write(
            Kind.APPROVAL_VOTED,
            correlation_id=pending.proposal,
            body=_yes(core, outcome, pending, decision, speaker),
            words={"said": speaker.said},
        )
    for proposal, place in cards_of(decision.approvals):
        outcome.refresh(proposal, place=place)
        outcome.shows.append(proposal)
    first, policy = decision.approvals[0], core.policy_now()
    count = len({*quorum.counted(first, policy), speaker.operator.id})
    others = [str(name) for name in quorum.missing(first, policy) if name != speaker.operator.id]
    who = f"Who may say the next one: {listed(others)}." if others else "Nobody else may say the next one."
    waits = still_waits(core, first, speaker)
    outcome.say(Text.of(f"Yes, {count} of {decision.needed}. Nothing ran yet. {waits} {who}"))


def _yes(
    core: Core, outcome: Outcome, pending: PendingApproval, decision: Granted | Voted, speaker: Speaker
) -> dict[str, Json]:
    """Return what is recorded of a yes, whether it grants or is one of several."""
    body: dict[str, Json] = {
        **ids_of(pending),
        "decider": speaker.operator.id,
        "manner": decision.manner.value,
        "event": speaker.event,
        "action_digest": pending.action_digest,
        "list_digest": pending.list_digest,
        "policy_revision": core.policy.revision,
        "place": outcome.place,
        "rehearsal": core.rehearsal,
    }
    return {**body, "needed": decision.needed} if decision.needed > 1 else body


def challenge(outcome: Outcome, decision: Challenged) -> None:
    """Say which phrase has to be typed."""
    phrase = decision.approval.phrase or ""
    start = "That is not the phrase. Type:  " if decision.near else "Not enough for this one. Type:  "
    outcome.say(Text.of([start, strong(phrase)]))


def still_waits(core: Core, pending: PendingApproval, speaker: Speaker) -> str:
    """Return "#k7f3a2, restart caddy on web1, still waits until 15:04."; of a fan-out, on how many."""
    until = clock_time(pending.deadline_at, zone=speaker.zone, now=core.now())
    view = core.queries.proposal(pending.proposal)
    many = view.pending if view is not None and view.fanout is not None else ()
    what = several(many or [core.queries.action(pending.action.id)], secrets=core.secrets)
    return f"#{pending.proposal}, {what}, still waits until {until}."


def ids_of(pending: PendingApproval) -> dict[str, Json]:
    """Return what names an approval in the body of an entry."""
    return {
        "approval": pending.approval,
        "proposal": pending.proposal,
        "action": pending.action.id,
    }


def cards_of(approvals: Sequence[PendingApproval]) -> list[tuple[ProposalId, PlaceId]]:
    """Return each card that shows any of `approvals`, with its place."""
    return list(dict.fromkeys((one.proposal, one.shown_in) for one in approvals))
