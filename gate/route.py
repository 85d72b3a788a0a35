"""Routing: what becomes of an action before anybody is asked (N17-N20, D13-D16).

A table of checks, strictest first; the first that applies decides. The classifier may only lower what the
policy allows, never raise it (N3): `auto_run` is necessary for running at once and never sufficient.
"""

from collections.abc import Sequence

from gate.domain import (
    Action,
    Radius,
    Reason,
    ReasonCode,
    Risk,
    Route,
    RouteKind,
    TargetId,
    TargetState,
    Verdict,
)
from gate.phrases import phrase_for
from gate.policy import Catastrophic, Policy, Posture, Switches
from gate.trust_rules import TrustRule

_NO_SWITCH = Switches()
_ORDER = (RouteKind.AUTO, RouteKind.APPROVAL, RouteKind.PHRASE, RouteKind.DENY)


def stricter(new: RouteKind, old: RouteKind) -> bool:
    """Whether `new` asks for more than `old` did."""
    return _ORDER.index(new) > _ORDER.index(old)


def route(
    action: Action,
    verdict: Verdict,
    *,
    policy: Policy,
    switches: Switches,
    radius: Radius,
    frozen: Sequence[TargetId] = (),
    trusted: TrustRule | None = None,
) -> Route:
    """Return where `action` goes under `policy` and `switches`.

    Args:
        trusted: the rule that covers it (gate.trust_rules.allows). It stands in for the ordinary yes and for
            nothing else: whatever denies, wants a phrase or holds back wins over it.
    """
    refusal = _refusal(action, verdict, policy=policy, frozen=frozen)
    if refusal is not None:
        return Route(kind=RouteKind.DENY, reason=refusal)
    if verdict.risk is Risk.DESTRUCTIVE or verdict.never is not None:
        return Route(kind=RouteKind.PHRASE, phrase=phrase_for(action, verdict.deed))
    if _touches_many(verdict, policy=policy, radius=radius):
        # Where much depends on it, the number is typed, so that it was read (C14).
        return Route(
            kind=RouteKind.PHRASE,
            phrase=f"change {radius.count} on {action.target.id}",
            because=f"policy.force_approval_at {policy.force_approval_at}",
        )
    held = _held_back(action, verdict, policy=policy, switches=switches, radius=radius)
    alone = held
    if switches != _NO_SWITCH:
        alone = _held_back(action, verdict, policy=policy, switches=_NO_SWITCH, radius=radius)
    rule = trusted if alone == "" and not _reaches_many(policy, radius) else None
    if rule is not None:
        held, alone = held or None, None
    # What runs at once by itself has no start to wait for; another switch on top must not soften that.
    if switches.stopped and alone is None:
        return Route(
            kind=RouteKind.DENY,
            reason=Reason(
                code=ReasonCode.STOPPED, text="sayso is stopped, nothing starts. Say resume to go on."
            ),
        )
    if held is not None:
        return Route(kind=RouteKind.APPROVAL, because=held)
    return _at_once(verdict, policy=policy, rule=rule)


def _at_once(verdict: Verdict, *, policy: Policy, rule: TrustRule | None) -> Route:
    """Return the route of what waits for nobody, naming what widened it (D13)."""
    if rule is not None:
        return Route(kind=RouteKind.AUTO, because=rule.named, rule=rule.id)
    because = "" if verdict.risk is Risk.READ_ONLY else f"posture {policy.posture.value}"
    return Route(kind=RouteKind.AUTO, because=because)


def _refusal(
    action: Action, verdict: Verdict, *, policy: Policy, frozen: Sequence[TargetId]
) -> Reason | None:
    target = action.target
    if target.state is TargetState.DESTROYED:
        return Reason(
            code=ReasonCode.DESTROYED_TARGET,
            text=f"{target.id} is marked destroyed in the config. Nothing ran.",
        )
    if not action.purpose.strip():
        return Reason(code=ReasonCode.EMPTY_PURPOSE, text="No purpose was given. Say what it is for.")
    if verdict.never is not None and policy.catastrophic is Catastrophic.DENY:
        return Reason(
            code=ReasonCode.NEVER_LIST,
            text=f"Never: {verdict.never}. Nothing ran, and no yes changes that here.",
        )
    if target.id in frozen and verdict.risk is not Risk.READ_ONLY:
        return Reason(
            code=ReasonCode.FROZEN_TARGET,
            text=f"Changes on {target.id} are frozen: an earlier command there has an unknown end. "
            f"Look, then settle it. history lost lists it.",
        )
    return None


def _touches_many(verdict: Verdict, *, policy: Policy, radius: Radius) -> bool:
    return verdict.risk is Risk.CONFIG_MUTATION and _reaches_many(policy, radius)


def _reaches_many(policy: Policy, radius: Radius) -> bool:
    return policy.force_approval_at is not None and radius.count >= policy.force_approval_at


def _held_back(
    action: Action, verdict: Verdict, *, policy: Policy, switches: Switches, radius: Radius
) -> str | None:
    """Return the rule that makes it wait for a yes, "" for the ordinary one; None: it may run at once."""
    target = action.target
    rules = (
        (switches.approve_everything, "approve everything"),
        (policy.posture is Posture.APPROVE_ALL, "posture approve_all"),
        (switches.auto_off, "auto off"),
        (target.never_auto_act or target.id in switches.never_auto_act, f"never_auto_act {target.id}"),
        # The verdict assumes bash; elsewhere the same text may mean something else (D16).
        (target.shell != "bash", f"shell {target.shell}"),
    )
    for applies, name in rules:
        if applies:
            return name
    if verdict.auto_run and verdict.risk is Risk.READ_ONLY:
        return None
    if verdict.risk is not Risk.REVERSIBLE_LOW or policy.posture is not Posture.APPROVE_CONFIG:
        return ""
    return f"policy.force_approval_at {policy.force_approval_at}" if _reaches_many(policy, radius) else None
