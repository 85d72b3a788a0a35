"""Entries about commitments and the jobs that keep them, as the core writes them."""

from datetime import datetime

from gate.domain import PlaceId
from ledger.codec import instant
from ledger.kinds import Draft, Json, Kind
from tests.gate.makers import HERE, NOW
from tests.ledger.story import LATER


def commitment_made(decision: str, *, commitment: str = "m1", place: PlaceId = HERE) -> Draft:
    """An act was asked for and resolved."""
    words = {"slots": b'{"text": "tea"}', "said": b"remind me of tea"}
    if decision == "confirm":
        words["phrase"] = b"set it"
    body: dict[str, Json] = {
        "commitment": commitment,
        "act": "remind",
        "tool": "remind",
        "decision": decision,
        "because": "",
        "place": place,
        "person": "ana",
        "request_at": instant(NOW),
        "expires_at": instant(LATER) if decision in {"clarify", "confirm"} else "",
    }
    return Draft(kind=Kind.COMMITMENT_MADE, correlation_id=commitment, body=body, words=words)


def job_made(
    job: str = "j1", *, due: datetime = LATER, rrule: str = "", person: str = "ana", place: PlaceId = HERE
) -> Draft:
    """A reminder was made."""
    body: dict[str, Json] = {
        "job": job,
        "act": "remind",
        "place": place,
        "person": person,
        "zone": "Europe/Vienna",
        "first_at": instant(due),
        "rrule": rrule,
        "missed": "late",
        "next_at": instant(due),
        "commitment": f"cmt_{job}",
    }
    words = {"text": b"drink water", "said": b"remind me to drink water in 15 minutes"}
    return Draft(kind=Kind.JOB_MADE, correlation_id=f"cmt_{job}", body=body, words=words)


def occurred(
    job: str = "j1", *, due: datetime = LATER, then: datetime | None = None, is_missed: bool = False
) -> Draft:
    """A job was due, and it was claimed, or it was missed."""
    after = "" if then is None else instant(then)
    body: dict[str, Json] = {"job": job, "fire_at": instant(due), "late_s": 0, "next_at": after}
    if is_missed:
        times: dict[str, Json] = {"from": instant(due), "to": instant(due), "count": 1}
        body = {"job": job, **times, "policy": "skip", "next_at": after}
    return Draft(kind=Kind.OCCURRENCE_MISSED if is_missed else Kind.OCCURRENCE_CLAIMED, body=body)


def job_over(kind: Kind = Kind.JOB_ENDED, job: str = "j1") -> Draft:
    """A job is over."""
    body: dict[str, Json] = {"job": job, "how": "done", "by": "ana", "place": HERE}
    return Draft(kind=kind, body=body)
