"""The record of an act: what was asked for, how it was resolved, and what became of it (K30 to K35).

Writes entries into an outcome and nothing else; every act is recorded, the one that is allowed without a word
too (K35).
"""

import json
from datetime import datetime, timedelta

from bot.acts.handler import ActRequest
from bot.outcome import Outcome
from gate.domain import AGENT, PersonId
from gate.resolve.decision import Act, Allow, Clarify, Confirm, Decision, Deny, Slots
from ledger.codec import instant
from ledger.commitments import CommitmentView
from ledger.kinds import Json, Kind, RowIs

#: Seconds that a question about a reminder stays open: longer than another, since nothing waits for it (C2).
REMIND_OPEN_S = 24 * 60 * 60


def word_of(decision: Decision) -> str:
    """Return the word that stands for a decision in the record."""
    match decision:
        case Allow():
            return "allow"
        case Clarify():
            return "clarify"
        case Confirm():
            return "confirm"
        case Deny():
            return "deny"


def open_s(act: Act, decision: Decision, *, clarification_s: int, approval_s: int) -> int:
    """Return the seconds that `decision` waits for a person; 0 where it does not."""
    match decision:
        case Clarify():
            return REMIND_OPEN_S if act is Act.REMIND else clarification_s
        case Confirm():
            return approval_s
        case _:
            return 0


def made(
    outcome: Outcome,
    request: ActRequest,
    decision: Decision,
    *,
    commitment: str,
    person: PersonId,
    audit: dict[str, Json],
    waits_s: int,
) -> None:
    """Record that an act was asked for and how it was resolved."""
    outcome.expect(RowIs("commitment", commitment, None))
    body, words = _resolved(outcome, decision, waits_s)
    outcome.write(
        Kind.COMMITMENT_MADE,
        correlation_id=commitment,
        body={
            **body,
            "commitment": commitment,
            "act": request.act.value,
            "tool": request.tool,
            "place": outcome.place,
            "person": person,
            "request_at": instant(request.request_at),
            "audit": audit,
        },
        words={**words, "said": request.said},
    )


def answered(
    outcome: Outcome, view: CommitmentView, decision: Decision, *, option: str, person: PersonId, waits_s: int
) -> None:
    """Record that a question about an act was answered, and how it was resolved with that."""
    outcome.expect(RowIs("commitment", view.id, view.state))
    body, words = _resolved(outcome, decision, waits_s)
    outcome.write(
        Kind.COMMITMENT_CLARIFIED,
        correlation_id=view.id,
        body={**body, "commitment": view.id, "option": option, "by": person, "place": outcome.place},
        words=words,
    )


def _resolved(outcome: Outcome, decision: Decision, waits_s: int) -> tuple[dict[str, Json], dict[str, str]]:
    body: dict[str, Json] = {
        "decision": word_of(decision),
        "because": decision.because,
        "expires_at": instant(outcome.at + timedelta(seconds=waits_s)) if waits_s else "",
    }
    words = {"slots": slots_text(decision.slots)}
    if isinstance(decision, Confirm):
        words["phrase"] = decision.phrase
    if isinstance(decision, Deny):
        body["code"] = decision.reason.code.value
        words["reason"] = decision.reason.text
    return body, words


def slots_text(slots: Slots) -> str:
    """Return slots as stored."""
    return json.dumps(dict(slots), ensure_ascii=False, sort_keys=True)


def committed(outcome: Outcome, commitment: str) -> None:
    """Record that the act was done, in the batch that does it."""
    outcome.write(
        Kind.COMMITMENT_COMMITTED, correlation_id=commitment, body={"commitment": commitment, "how": "done"}
    )


def left_undone(outcome: Outcome, commitment: str) -> None:
    """Record that what was allowed was not there any more to be done."""
    outcome.write(
        Kind.COMMITMENT_ABORTED,
        correlation_id=commitment,
        body={"commitment": commitment, "how": "nothing_left", "by": AGENT},
    )


def confirmed(outcome: Outcome, view: CommitmentView, *, said: str, by: PersonId, alone: bool) -> None:
    """Record that the phrase of an act was typed."""
    outcome.expect(RowIs("commitment", view.id, view.state))
    outcome.write(
        Kind.COMMITMENT_CONFIRMED,
        correlation_id=view.id,
        body={"commitment": view.id, "by": by, "alone": alone, "place": outcome.place},
        words={"said": said},
    )


def aborted(outcome: Outcome, view: CommitmentView, *, how: str, by: PersonId = AGENT) -> None:
    """Record that an act that waited never will be done; `how` as "cancelled" or "pending_cap"."""
    outcome.expect(RowIs("commitment", view.id, view.state))
    outcome.write(
        Kind.COMMITMENT_ABORTED,
        correlation_id=view.id,
        body={"commitment": view.id, "how": how, "by": by},
    )


def expired(outcome: Outcome, view: CommitmentView) -> None:
    """Record that nobody answered in time."""
    outcome.expect(RowIs("commitment", view.id, view.state))
    outcome.write(
        Kind.COMMITMENT_EXPIRED, correlation_id=view.id, body={"commitment": view.id, "how": "expired"}
    )


def revive_refused(outcome: Outcome, view: CommitmentView, *, said: str, by: PersonId) -> None:
    """Record an answer that came too late to count (K32)."""
    outcome.write(
        Kind.COMMITMENT_REVIVE_REFUSED,
        correlation_id=view.id,
        body={"commitment": view.id, "by": by, "place": outcome.place},
        words={"said": said},
    )


def request_of(view: CommitmentView, *, patch: Slots, at: datetime | None = None) -> ActRequest:
    """Return the request of a recorded act with an answer merged in.

    Args:
        at: when the answer was given, where it is words; else the time stays the request's (K25).
    """
    return ActRequest(
        act=Act(view.act),
        slots={**view.slots, **patch},
        said=view.said,
        request_at=view.request_at if at is None else at,
        tool=view.tool,
    )
