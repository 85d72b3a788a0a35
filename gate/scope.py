"""Scope tokens: what somebody who works for somebody else may do at most (K54).

A token is a ceiling and never a permission: what it lets pass is still resolved, classified and asked about.
Whoever hands work on hands on a narrower token. Denied is read before allowed, and without a token only
reading is left. Nothing here knows who made a token; the ledger does.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime

from gate.domain import PlaceId, Reason, ReasonCode, Risk, TargetId
from gate.effects import SemanticTier, ToolEffectProfile
from gate.resolve.decision import Act

#: What changes who or what sayso obeys. Nobody does that for somebody else, unless a token says so (X12).
NEVER_BY_DEFAULT = frozenset({Act.CONFIG_CHANGE, Act.SET_GUIDANCE, Act.SET_TRUST, Act.PROMOTE_RUNBOOK})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeToken:
    """How far a delegated caller may go.

    Attributes:
        parent: the commitment that the work is part of.
        place: the one conversation that it may act in.
        expires_at: aware UTC; from then on nothing passes.
        allowed: acts it may do; none by default.
        denied: acts it may not, whatever `allowed` says.
        max_risk: the risk of one act at most.
        max_tier: how much may depend on one act at most; commands are critical, so they need it raised.
        targets: the only targets it may touch or look at; none by default.
    """

    parent: str
    place: PlaceId
    expires_at: datetime
    allowed: frozenset[Act] = frozenset()
    denied: frozenset[Act] = NEVER_BY_DEFAULT
    max_risk: Risk = Risk.CONFIG_MUTATION
    max_tier: SemanticTier = SemanticTier.HIGH
    targets: frozenset[TargetId] = frozenset()


def refusal(
    token: ScopeToken | None,
    profile: ToolEffectProfile,
    *,
    risk: Risk,
    place: PlaceId,
    targets: AbstractSet[TargetId],
    now: datetime,
) -> Reason | None:
    """Return why a delegated caller may not use a tool, None where nothing speaks against it.

    Args:
        token: what it was given; None lets it read and no more.
        risk: of what it would do, which may be more than the tool's own.
        targets: everything that it would touch; empty where the tool touches none.
    """
    if token is None:
        return None if profile.read_only else _out("nobody said how far it may go")
    act, limits = profile.act, _limits(token, risk=risk, tier=profile.semantic_tier, targets=targets)
    checks = (
        (now >= token.expires_at, "the time it was given is over"),
        (place != token.place, "it was let act in another place only"),
        (act in token.denied, f"{act} was ruled out for it"),
        (not profile.read_only and act not in token.allowed, f"{profile.name} is not among what it may do"),
        *limits,
    )
    return next((_out(why) for applies, why in checks if applies), None)


def permits(
    token: ScopeToken | None,
    profile: ToolEffectProfile,
    *,
    risk: Risk,
    place: PlaceId,
    targets: AbstractSet[TargetId],
    now: datetime,
) -> bool:
    """Whether a delegated caller may use a tool, as far as its token goes; see `refusal`."""
    return refusal(token, profile, risk=risk, place=place, targets=targets, now=now) is None


def _limits(
    token: ScopeToken, *, risk: Risk, tier: SemanticTier, targets: AbstractSet[TargetId]
) -> tuple[tuple[bool, str], ...]:
    beyond = ", ".join(sorted(targets - token.targets))
    return (
        (risk.rank > token.max_risk.rank, f"{risk} is more than the {token.max_risk} it may go to"),
        (tier.rank > token.max_tier.rank, f"{tier} is more than the {token.max_tier} it may go to"),
        (bool(beyond), f"it may not touch {beyond}"),
    )


def _out(why: str) -> Reason:
    return Reason(
        code=ReasonCode.OUT_OF_SCOPE,
        text=f"Not done for whoever works for somebody else here: {why}. Ask for it yourself in the chat.",
    )


def narrow(
    token: ScopeToken,
    *,
    parent: str | None = None,
    allowed: AbstractSet[Act] | None = None,
    denied: AbstractSet[Act] = frozenset(),
    max_risk: Risk | None = None,
    max_tier: SemanticTier | None = None,
    targets: AbstractSet[TargetId] | None = None,
    expires_at: datetime | None = None,
) -> ScopeToken:
    """Return a token to hand on: of everything the stricter, whatever is asked for. The place stays."""
    return replace(
        token,
        parent=token.parent if parent is None else parent,
        allowed=token.allowed if allowed is None else token.allowed & allowed,
        denied=token.denied | denied,
        max_risk=min(token.max_risk, max_risk or token.max_risk, key=lambda risk: risk.rank),
        max_tier=min(token.max_tier, max_tier or token.max_tier, key=lambda tier: tier.rank),
        targets=token.targets if targets is None else token.targets & targets,
        expires_at=min(token.expires_at, expires_at or token.expires_at),
    )
