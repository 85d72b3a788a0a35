"""Entries about facts that are remembered, as the core writes them."""

from gate.trust import Source
from ledger.beliefs import Fact, packed
from ledger.kinds import Draft, Json, Kind
from tests.gate.makers import HERE


def stored(
    belief: str = "b1",
    *,
    fact: Fact | None = None,
    subject: str = "s1",
    predicate: str = "at",
    source: Source = Source.USER_EXPLICIT,
    functional: bool = True,
    supersedes: str = "",
    commitment: str = "",
) -> Draft:
    """A fact was remembered."""
    body: dict[str, Json] = {
        "belief": belief,
        "subject": subject,
        "predicate": predicate,
        "source": source.value,
        "functional": functional,
        "private": False,
        "person": "ana",
        "place": HERE,
        "supersedes": supersedes,
    }
    told = fact or Fact(about="sync", object="2026-12-01", kind="", said="sync is on 2026-12-01")
    words = {"fact": packed(told).encode()}
    return Draft(kind=Kind.BELIEF_STORED, correlation_id=commitment, body=body, words=words)


def forgotten(belief: str = "b1", *, source: Source = Source.USER_EXPLICIT) -> Draft:
    """A fact was forgotten."""
    body: dict[str, Json] = {"belief": belief, "by": "ana", "source": source.value}
    return Draft(kind=Kind.BELIEF_FORGOTTEN, body=body)
