"""Makers of the gate's values for tests: small, named after what they are, everything else default."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from gate.digest import action_digest, list_digest
from gate.domain import (
    Action,
    ActionId,
    ApprovalId,
    Facts,
    PendingApproval,
    PersonId,
    PlaceId,
    ProposalId,
    Risk,
    Target,
    TargetId,
    TargetKind,
    TurnId,
    Verdict,
    Window,
)
from gate.policy import Operator, Permission, Policy

NOW = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
HERE, THERE = PlaceId("here"), PlaceId("there")
P1, P2 = ProposalId("k7f3a2"), ProposalId("m4d1x9")

WEB1 = Target(id=TargetId("web1"), kind=TargetKind.SSH, address="10.0.0.1", tags=("prod",))
PVE1 = Target(id=TargetId("pve1"), kind=TargetKind.SSH, address="10.0.0.9")


def operator(name: str, *may: tuple[Risk, str]) -> Operator:
    """Return an operator who may what is listed, as (risk, target name) pairs."""
    lines = tuple(Permission(risk=risk, targets=(names,)) for risk, names in may)
    return Operator(id=PersonId(name), accounts=(f"console::{name}",), may=lines)


ANA = operator("ana", (Risk.DESTRUCTIVE, "*"))
KIM = operator("kim", (Risk.DESTRUCTIVE, "*"))
#: May approve small things on web1 and nothing else.
BO = operator("bo", (Risk.REVERSIBLE_LOW, "web1"))
#: On the list, with no permission at all.
VIEWER = operator("viewer")
POLICY = Policy(revision="r1", operators=(ANA, KIM, BO, VIEWER), separate_requester=False)


def action(
    command: str = "systemctl restart caddy",
    *,
    index: int = 1,
    proposal: ProposalId = P1,
    target: Target = WEB1,
) -> Action:
    """Return an action of a proposal."""
    return Action(
        id=ActionId(f"{proposal}.{index}"), index=index, target=target, command=command, purpose="as asked"
    )


def verdict(risk: Risk = Risk.REVERSIBLE_LOW, *, auto_run: bool = False, never: str | None = None) -> Verdict:
    """Return a verdict with a reason."""
    return Verdict(risk=risk, auto_run=auto_run, never=never, reasons=("because it is so",))


def pending(
    command: str = "systemctl restart caddy",
    *,
    index: int = 1,
    proposal: ProposalId = P1,
    target: Target = WEB1,
    risk: Risk = Risk.REVERSIBLE_LOW,
    phrase: str | None = None,
    requester: str = "ana",
) -> PendingApproval:
    """Return a live approval, asked and shown HERE, with a quarter of an hour to go."""
    one = action(command, index=index, proposal=proposal, target=target)
    digest = action_digest(one)
    return PendingApproval(
        approval=ApprovalId(f"{one.id}/a"),
        proposal=proposal,
        action=one,
        risk=risk,
        action_digest=digest,
        list_digest=list_digest([digest]),
        requester=PersonId(requester),
        asked_in=HERE,
        shown_in=HERE,
        deadline_at=NOW + timedelta(minutes=15),
        phrase=phrase,
    )


def routed(one: PendingApproval) -> PendingApproval:
    """Return `one` as asked elsewhere and shown HERE."""
    return replace(one, asked_in=THERE)


RESTART = pending()
UPGRADE = pending("apt upgrade -y", index=2, risk=Risk.CONFIG_MUTATION)
OTHER_RESTART = pending("systemctl restart nginx", proposal=P2)
PHRASE = "destroy ct-112 on pve1"
DESTROY = pending("pct destroy 112 --purge", target=PVE1, risk=Risk.DESTRUCTIVE, phrase=PHRASE)


def window(person: str = "ana", *, proposal: ProposalId = P1, place: PlaceId = HERE) -> Window:
    """Return an open window of `person`."""
    return Window(place=place, proposal=proposal, person=PersonId(person), opened_by=TurnId("t1"))


def facts(*live: PendingApproval, opened: Window | None = None) -> Facts:
    """Return what a decision HERE reads."""
    return Facts(place=HERE, head=7, pending=live, window=opened)
