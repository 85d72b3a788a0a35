"""Entries about proposals and their approvals, as the core writes them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from gate.digest import action_digest, list_digest
from gate.domain import Action, PlaceId, ProposalId, Radius, Risk, RouteKind, Verdict
from gate.fanout import Brake
from gate.ladder import Rung
from ledger.codec import Doc, action_doc, instant, radius_doc, verdict_doc
from ledger.kinds import Draft, Json, Kind
from tests.gate.makers import HERE, P1, action, verdict
from tests.ledger.story import LATER


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One action of a proposal to be, with what the gate said of it."""

    action: Action
    verdict: Verdict
    route: RouteKind = RouteKind.APPROVAL
    phrase: str | None = None
    rule: str = ""


def planned(
    *,
    index: int = 1,
    proposal: ProposalId = P1,
    route: RouteKind = RouteKind.APPROVAL,
    risk: Risk = Risk.REVERSIBLE_LOW,
    command: str = "systemctl restart caddy",
) -> Planned:
    """Return an action of a proposal on web1."""
    return Planned(
        action=action(command, index=index, proposal=proposal),
        verdict=verdict(risk),
        route=route,
        phrase="destroy it" if route is RouteKind.PHRASE else None,
    )


def made(
    *actions: Planned,
    replaces: str | None = None,
    purpose: bytes | None = b"as asked",
    shown_in: PlaceId = HERE,
    requester: str = "ana",
    on_behalf: str | None = None,
    source: str = "literal",
) -> Draft:
    """A proposal was made of `actions`, in order."""
    proposal = actions[0].action.id.rpartition(".")[0]
    docs: list[Json] = [_planned_doc(one) for one in actions]
    words = {f"command_{one.action.index}": one.action.command.encode() for one in actions}
    words |= {
        f"verify_{one.action.index}": one.action.verify.encode()
        for one in actions
        if one.action.verify is not None
    }
    if purpose is not None:
        words["purpose"] = purpose
    body: dict[str, Json] = {
        "proposal": proposal,
        "requester": requester,
        **({} if on_behalf is None else {"on_behalf": on_behalf}),
        "asked_in": HERE,
        "shown_in": shown_in,
        "source": source,
        "replaces": replaces,
        "policy_revision": "r1",
        "actions": docs,
    }
    return Draft(kind=Kind.PROPOSAL_MADE, correlation_id=proposal, body=body, words=words)


def _planned_doc(one: Planned) -> Doc:
    return {
        "rule": one.rule,
        "slots": action_doc(one.action),
        "verdict": verdict_doc(one.verdict),
        "radius": radius_doc(Radius(known=True, origin=("caddy",), services=("blog",))),
        "route": one.route.value,
        "because": "",
        "phrase": one.phrase,
        "digest": action_digest(one.action),
    }


def fanned_out(*actions: Planned) -> tuple[Draft, Draft]:
    """A fan-out was made of `actions`, one command on several targets: its head, and what it lists."""
    head, first = made(*actions), actions[0].action
    words = {"command": first.command.encode(), "purpose": b"as asked"}
    if first.verify is not None:
        words["verify"] = first.verify.encode()
    fanout: Json = {"brake": asdict(Brake(canary=1, batch=10, stop_after=1)), "selector": ["@web"]}
    listed = ("proposal", "requester", "source", "actions")
    return (
        replace(head, body={**head.body, "fanout": fanout, "actions": []}, words=words),
        replace(head, kind=Kind.PROPOSAL_LISTED, body={key: head.body[key] for key in listed}, words={}),
    )


def let_go(*actions: Planned, rule: str = "") -> Draft:
    """Actions of a fan-out that need nobody's yes were queued together."""
    proposal = actions[0].action.id.rpartition(".")[0]
    names: list[Json] = [one.action.id for one in actions]
    return about(actions[0], Kind.PROPOSAL_QUEUED, {"proposal": proposal, "actions": names, "rule": rule})


def told(one: Planned) -> Draft:
    """The end of a proposal was told where it was asked."""
    return about(one, Kind.PROPOSAL_TOLD, {"proposal": one.action.id.rpartition(".")[0], "place": HERE})


def opened(
    one: Planned, *, name: str = "a", deadline_at: datetime = LATER, phrase: str | None = None
) -> Draft:
    """An approval was opened for an action."""
    body: dict[str, Json] = {
        "approval": f"{one.action.id}/{name}",
        "proposal": one.action.id.rpartition(".")[0],
        "action": one.action.id,
        "deadline_at": instant(deadline_at),
        "phrase": phrase,
        "list_digest": list_digest([action_digest(one.action)]),
    }
    return about(one, Kind.APPROVAL_OPENED, body)


def decided(
    one: Planned,
    kind: Kind,
    *,
    name: str = "a",
    by: str = "ana",
    extra: Mapping[str, Json] | None = None,
    words: Mapping[str, bytes] | None = None,
) -> Draft:
    """An approval ended."""
    body: dict[str, Json] = {
        "approval": f"{one.action.id}/{name}",
        "proposal": one.action.id.rpartition(".")[0],
        "action": one.action.id,
        "decider": by,
        "place": HERE,
        **(extra or {}),
    }
    return about(one, kind, body, words={"said": b"go ahead", **(words or {})})


def climbed(one: Planned, rung: Rung, *, name: str = "a", extra: Mapping[str, Json] | None = None) -> Draft:
    """A step of the ladder was taken."""
    kind = Kind.APPROVAL_NUDGED if rung is Rung.NUDGE else Kind.APPROVAL_ESCALATED
    body: dict[str, Json] = {"approval": f"{one.action.id}/{name}", "action": one.action.id, **(extra or {})}
    return about(one, kind, body)


def voted(one: Planned, by: str, *, name: str = "a", needed: int = 2) -> Draft:
    """One of several people who have to agree did."""
    return decided(one, Kind.APPROVAL_VOTED, name=name, by=by, extra={"needed": needed})


def about(
    one: Planned, kind: Kind, body: Mapping[str, Json], *, words: Mapping[str, bytes] | None = None
) -> Draft:
    """Something happened to an action."""
    return Draft(kind=kind, correlation_id=one.action.id.rpartition(".")[0], body=body, words=words or {})
