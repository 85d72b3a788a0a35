"""Entries about plans of a model and about what agents ask for, as the core writes them."""

from collections.abc import Sequence

from gate.domain import PlaceId
from ledger.kinds import Draft, Json, Kind
from tests.gate.makers import HERE, P1


def plan_asked(
    plan: str = "p1w3x2", *, person: str = "ana", place: PlaceId = HERE, said: bytes = b"is web1 well?"
) -> Draft:
    """Somebody asked for something that a model has to plan."""
    body: dict[str, Json] = {"plan": plan, "place": place, "person": person, "direct": False}
    return Draft(kind=Kind.PLAN_ASKED, correlation_id=plan, body=body, words={"said": said})


def plan_went(
    kind: Kind, plan: str = "p1w3x2", *, made: Sequence[str] = (), beliefs: Sequence[str] = ()
) -> Draft:
    """A plan went on."""
    body: dict[str, Json] = {"plan": plan, **({"made": list(made)} if made else {})}
    body |= {"beliefs": list(beliefs)} if beliefs else {}
    words = {} if kind is Kind.PLAN_CALLED else {"words": b"{}"}
    return Draft(kind=kind, correlation_id=plan, body=body, words=words)


def plan_ended(plan: str = "p1w3x2", *, how: str = "answered", text: bytes | None = b"It is well.") -> Draft:
    """A plan is over."""
    body: dict[str, Json] = {"plan": plan, "how": how}
    words = {} if text is None else {"text": text}
    return Draft(kind=Kind.PLAN_ENDED, correlation_id=plan, body=body, words=words)


def called(how: str = "proposed", *, agent: str = "agent:claude", subject: str = P1) -> Draft:
    """An agent asked for something."""
    body: dict[str, Json] = {"agent": agent, "how": how, "subject": subject, "tool": "run"}
    return Draft(kind=Kind.DELEGATE_ASKED, correlation_id=subject, body=body, words={"purpose": b"to look"})
