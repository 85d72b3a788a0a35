"""Jobs as the resolvers make them, written straight into a ledger."""

from datetime import datetime

from bot.core import Core
from bot.places import place_id, place_ref_doc
from bot.ports import PlaceRef
from ledger.codec import instant
from ledger.kinds import Batch, Draft, Json, Kind

OPS = PlaceRef(platform="script", channel="ops")


def make(
    core: Core,
    text: str,
    *,
    at: datetime,
    rrule: str = "",
    act: str = "remind",
    missed: str = "",
    person: str = "ana",
    zone: str = "Europe/Vienna",
    place: PlaceRef = OPS,
) -> str:
    """Write a job, in a place that somebody spoke in; return its id."""
    job = core.ids.short_id()
    commitment = f"cmt_{job}"
    body: dict[str, Json] = {
        "job": job,
        "act": act,
        "place": place_id(place),
        "person": person,
        "zone": zone,
        "first_at": instant(at),
        "rrule": rrule,
        "missed": missed or ("late" if act == "remind" else "ask"),
        "next_at": instant(at),
        "commitment": commitment,
    }
    turn: dict[str, Json] = {
        "turn": job,
        "place": place_id(place),
        "place_ref": place_ref_doc(place),
        "direct": False,
        "person": person,
        "consumes_window": True,
    }
    words = {"text": text.encode(), "said": f"scheduled: {text}".encode()}
    made = Draft(kind=Kind.JOB_MADE, correlation_id=commitment, body=body, words=words)
    core.ledger.append(Batch(at=core.now(), drafts=(Draft(kind=Kind.TURN_RECEIVED, body=turn), made)))
    return job
