"""Judging: what the gate says of an action at this moment: its verdict, radius, route and digest.

Gathers what the gate reads and hands it over; it decides nothing itself. What many actions of one moment have
in common is read once, as a `Standing`, and the same command is classified once for all of its targets.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.core import Core
from gate import blast
from gate.blast import Graph
from gate.digest import action_digest
from gate.domain import Action, Digest, Radius, Risk, Route, TargetId, Verdict
from gate.policy import Policy, Switches
from gate.resolve.exec import never_reason
from gate.route import route
from gate.shell.classify import classify
from gate.trust_rules import TrustRule, allows
from ledger.views import ActionView

#: The act that runs nothing: a step of a runbook at which a person says go on.
AGREE = "agree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One action with everything the gate said of it."""

    action: Action
    verdict: Verdict
    radius: Radius
    route: Route
    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What every judgement of one moment reads."""

    policy: Policy
    switches: Switches
    frozen: tuple[TargetId, ...]
    trusted: tuple[TrustRule, ...]
    graph: Graph
    now: datetime
    _verdicts: dict[tuple[object, ...], Verdict] = field(default_factory=dict)

    def verdict(self, core: Core, action: Action) -> Verdict:
        """Return the verdict on a command, which does not depend on which target it is for."""
        key = (
            *(action.act, action.command, action.verify, action.workdir, action.declared_risk),
            *(bool(action.target.become), _as_root(action)),
        )
        found = self._verdicts.get(key)
        if found is None:
            found = _agreement(action) if action.act == AGREE else _of_command(core, action)
            self._verdicts[key] = found
        return found


def standing(core: Core) -> Standing:
    """Return what judgements of this moment read."""
    return Standing(
        policy=core.policy_now(),
        switches=core.switches(),
        frozen=core.queries.frozen(),
        trusted=core.trust_rules(),
        graph=core.inventory.graph(),
        now=core.now(),
    )


def judge(core: Core, action: Action, *, at: Standing | None = None) -> Judged:
    """Return what the gate says of `action` now, or at the moment that `at` was read."""
    at = at or standing(core)
    verdict = at.verdict(core, action)
    radius = blast.radius(verdict.touches, action.target.id, at.graph)
    return Judged(
        action=action,
        verdict=verdict,
        radius=radius,
        route=_routed(core, action, verdict, radius=radius, at=at),
        digest=action_digest(action),
    )


def judge_all(core: Core, actions: Iterable[Action]) -> tuple[Judged, ...]:
    """Return what the gate says of each of `actions` at this moment."""
    at = standing(core)
    return tuple(judge(core, action, at=at) for action in actions)


def widened(core: Core, one: Judged, *, radius: Radius, at: Standing) -> Judged:
    """Return `one` routed as part of something on which all of `radius` depends."""
    return replace(one, route=_routed(core, one.action, one.verdict, radius=radius, at=at))


def _routed(core: Core, action: Action, verdict: Verdict, *, radius: Radius, at: Standing) -> Route:
    return route(
        action,
        verdict,
        policy=at.policy,
        switches=at.switches,
        radius=radius,
        frozen=at.frozen,
        trusted=allows(at.trusted, action, verdict, known=core.rules, policy=at.policy, now=at.now),
    )


def _agreement(action: Action) -> Verdict:
    """Return the verdict on what runs nothing: only that somebody agrees is asked for."""
    return Verdict(
        risk=Risk(action.declared_risk or Risk.READ_ONLY),
        auto_run=False,
        reasons=("a person has to agree before the run goes on",),
    )


def _of_command(core: Core, action: Action) -> Verdict:
    verdict = classify(
        action.command,
        rules=core.rules,
        declared_risk=action.declared_risk,
        become=bool(action.target.become),
        as_root=_as_root(action),
    )
    verdict = _in_its_folder(core, action, verdict)
    if sum(part.risk is Risk.DESTRUCTIVE for part in verdict.parts) > 1:
        # A name for one of several destructions would hide the others, on the card and in the phrase (C16).
        verdict = replace(verdict, deed=None)
    return verdict if action.verify is None else _with_verify(core, action, verdict)


def _in_its_folder(core: Core, action: Action, verdict: Verdict) -> Verdict:
    """Put what would wipe the folder that it runs in on the never list, where that is a home or the like."""
    if verdict.never is not None or verdict.risk is Risk.READ_ONLY:
        return verdict
    never = never_reason(action.command, workdir=action.workdir, rules=core.rules, as_root=_as_root(action))
    if never is None:
        return verdict
    return replace(verdict, risk=Risk.DESTRUCTIVE, never=never, reasons=(never, *verdict.reasons))


def _as_root(action: Action) -> bool:
    return "root" in (action.target.user, action.target.become)


def _with_verify(core: Core, action: Action, verdict: Verdict) -> Verdict:
    """A verify command must be read-only (D17); one that is not makes the whole action as strict as it is."""
    check = classify(
        action.verify or "", rules=core.rules, become=bool(action.target.become), as_root=_as_root(action)
    )
    if check.auto_run:
        return verdict
    return replace(
        verdict,
        risk=max(verdict.risk, check.risk, Risk.CONFIG_MUTATION, key=lambda risk: risk.rank),
        auto_run=False,
        never=verdict.never or check.never,
        reasons=(*verdict.reasons, f"its verify command is not certainly read-only: {check.reasons[0]}"),
    )


def rejudge(core: Core, view: ActionView, *, at: Standing | None = None) -> Judged:
    """Return what the gate says now of a recorded action, its target resolved anew."""
    if view.action.act == AGREE:
        return judge(core, view.action, at=at)
    target = core.inventory.identify(view.action.target)
    action = view.action if target == view.action.target else replace(view.action, target=target)
    return judge(core, action, at=at)
