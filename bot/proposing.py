"""From drafts of a plan to a proposal: resolve, classify, measure, route, digest, write down.

The same path for whoever asks (D20). Everything it decides is the gate's; this module only gathers what the
gate reads and turns the answer into entries. A draft that is refused never becomes part of a proposal, and
one refusal refuses the whole list: half of what somebody asked for is something else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot import origin, routing
from bot.core import Core
from bot.delegates import scope
from bot.inventory.hostkeys import KnownHostsError
from bot.inventory.ssh_config import SshConfigError
from bot.opening import open_approval
from bot.outcome import Outcome
from bot.places import place_name
from bot.planning.drafts import ActionDraft
from bot.text import Text
from gate import authority, blast, sequence
from gate.digest import action_digest, list_digest
from gate.domain import (
    Action,
    ActionId,
    Digest,
    PersonId,
    PlaceId,
    ProposalId,
    Radius,
    Reason,
    ReasonCode,
    Risk,
    Route,
    RouteKind,
    Target,
    Verdict,
)
from gate.lifecycle import ActionState
from gate.resolve.exec import never_reason
from gate.route import route
from gate.shell.classify import classify
from gate.trust_rules import allows
from ledger.codec import Doc, action_doc, radius_doc, verdict_doc
from ledger.kinds import Json, Kind, ProposalIsNew
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
class Denied:
    """Why nothing was proposed. `command` is what was asked for, where that is known."""

    reason: Reason
    command: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who asked for what, where, and where the card goes.

    Attributes:
        routed: the config says where the card goes.
        waits: what keeps all of it from running at once, whatever the gate lets run; "" for none.
        open_s: how long its questions stay open; None for as long as usual.
        quiet: no card is shown of what waits for nobody.
        on_behalf: whom the requester works for, where that is a delegate; None for most.
        unasked: it comes by itself, so that no words count without saying what they answer (D2).
    """

    requester: PersonId
    place: PlaceId
    shown_in: PlaceId
    source: str
    replaces: ProposalId | None = None
    routed: bool = False
    waits: str = ""
    open_s: int | None = None
    quiet: bool = False
    on_behalf: PersonId | None = None
    unasked: bool = False

    @property
    def owner(self) -> PersonId:
        """Whose request it counts as (C4)."""
        return self.on_behalf or self.requester


def judge(core: Core, action: Action) -> Judged:
    """Return what the gate says of `action` at this moment."""
    verdict = _agreement(action) if action.act == AGREE else _of_command(core, action)
    radius = blast.radius(verdict.touches, action.target.id, core.inventory.graph())
    policy = core.policy_now()
    way = route(
        action,
        verdict,
        policy=policy,
        switches=core.switches(),
        radius=radius,
        frozen=core.queries.frozen(),
        trusted=allows(core.trust_rules(), action, verdict, known=core.rules, policy=policy, now=core.now()),
    )
    return Judged(action=action, verdict=verdict, radius=radius, route=way, digest=action_digest(action))


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


def bind(core: Core, drafts: Sequence[ActionDraft], *, proposal: ProposalId) -> tuple[Action, ...] | Denied:
    """Return the ordered actions that `drafts` mean, their targets resolved, or why there are none."""
    bound: list[Action] = []
    for draft in drafts:
        for words in draft.target_words:
            found = core.inventory.select(words)
            if not isinstance(found, tuple):
                return Denied(reason=found.reason, command=draft.command, target=words)
            try:
                more = [
                    _bound(core, draft, target, proposal=proposal, index=len(bound) + offset)
                    for offset, target in enumerate(found, start=1)
                ]
            except (SshConfigError, KnownHostsError) as error:
                reason = Reason(code=ReasonCode.UNKNOWN_TARGET, text=f"{words}: {error}. Nothing ran.")
                return Denied(reason=reason, command=draft.command, target=words)
            bound.extend(more)
    return tuple(bound)


def _bound(core: Core, draft: ActionDraft, target: Target, *, proposal: ProposalId, index: int) -> Action:
    return Action(
        id=ActionId(f"{proposal}.{index}"),
        index=index,
        target=core.inventory.identify(target),
        command=draft.command,
        purpose=draft.purpose,
        workdir=draft.workdir,
        timeout_s=draft.timeout_s or core.settings.number("bot.action_timeout_s"),
        verify=draft.verify,
        runbook=draft.runbook,
        declared_risk=draft.declared_risk or None,
    )


def propose(core: Core, outcome: Outcome, actions: Sequence[Action], asked: Asked) -> ProposalId | Denied:
    """Write a proposal of `actions` into `outcome`: its entry, its approvals, its card and its first move."""
    return propose_judged(core, outcome, [judge(core, action) for action in actions], asked)


def propose_judged(
    core: Core, outcome: Outcome, found: Sequence[Judged], asked: Asked
) -> ProposalId | Denied:
    """Write a proposal of actions that the gate has just judged; see `propose`."""
    judged = tuple(_waiting(one, asked.waits) for one in found)
    denied = _denied(core, judged, asked)
    if denied is not None:
        return denied
    proposal = ProposalId(judged[0].action.id.rpartition(".")[0])
    asked = _routed(core, judged, asked)
    digest = list_digest([one.digest for one in judged])
    outcome.expect(ProposalIsNew(proposal))
    outcome.write(
        Kind.PROPOSAL_MADE,
        correlation_id=proposal,
        body=_body(core, outcome, asked, judged, proposal=proposal, digest=digest),
        words=_words(judged),
    )
    _open(core, outcome, judged, asked, digest=digest)
    if not asked.quiet or any(one.route.kind is not RouteKind.AUTO for one in judged):
        outcome.card(proposal, place=asked.shown_in)
    elsewhere = _places_of_seconds(core, judged, asked)
    for place in elsewhere:
        outcome.card(proposal, place=place)
    for place in dict.fromkeys([*elsewhere, asked.shown_in]):
        if place != outcome.place:
            show_in(outcome, proposal, place=place)
    if any(one.route.kind is not RouteKind.AUTO for one in judged):
        outcome.shows.append(proposal)
        if asked.routed:
            outcome.say(Text.of(f"#{proposal} waits in {place_name(core, asked.shown_in)}."))
        speaks = not asked.unasked and not origin.is_machine(asked.requester)
        if speaks and asked.shown_in == asked.place:
            outcome.window = (asked.requester, proposal)
    outcome.work.append(proposal)
    return proposal


def _denied(core: Core, judged: Sequence[Judged], asked: Asked) -> Denied | None:
    """Return why nothing of a list is proposed: what the gate denies, or what an agent may not ask for."""
    for one in judged:
        reason = one.route.reason if one.route.kind is RouteKind.DENY else None
        reason = reason or scope.objection(core, asked.requester, [(one.action, one.verdict)])
        if reason is not None:
            return Denied(reason=reason, command=one.action.command, target=str(one.action.target.id))
    return None


def _open(core: Core, outcome: Outcome, judged: Sequence[Judged], asked: Asked, *, digest: Digest) -> None:
    """Ask about every action whose turn it is to be asked about."""
    steps = [sequence.Step(ActionState.PROPOSED, one.route.kind) for one in judged]
    for index in sequence.opens_at_once(steps):
        one = judged[index]
        open_approval(
            core,
            outcome,
            one.action,
            risk=one.verdict.risk,
            requester=asked.owner,
            phrase=one.route.phrase if one.route.kind is RouteKind.PHRASE else None,
            list_digest=digest,
            action_digest=one.digest,
            open_s=asked.open_s,
        )


def _waiting(one: Judged, because: str) -> Judged:
    """Return `one` as it waits for a yes where it would have run at once; "" changes nothing."""
    if not because or one.route.kind is not RouteKind.AUTO:
        return one
    return replace(one, route=Route(kind=RouteKind.APPROVAL, because=because))


def _routed(core: Core, judged: Sequence[Judged], asked: Asked) -> Asked:
    """Return `asked` with the place that the config names for what needs a yes, where it names one."""
    needs_yes = [
        (one.action.target, one.verdict.risk) for one in judged if one.route.kind is not RouteKind.AUTO
    ]
    if asked.shown_in != asked.place or not needs_yes:
        return asked
    place = routing.place_of(core, needs_yes, asked_in=asked.place)
    return replace(asked, shown_in=place, routed=place != asked.place)


def show_in(outcome: Outcome, proposal: ProposalId, *, place: PlaceId) -> None:
    """Write that a pending card came up in another place: no words said there before count after it (D2)."""
    outcome.write(
        Kind.TURN_ANSWERED,
        correlation_id=proposal,
        body={"turn": outcome.turn, "place": place, "shows": [proposal], "window": None},
    )


def _places_of_seconds(core: Core, judged: Sequence[Judged], asked: Asked) -> list[PlaceId]:
    """Return where those who have to decide instead of the requester are reached alone on the same platform.

    In a shared channel the card stands already, and another one has other readers; on consoles each person
    has a place of theirs.
    """
    if asked.routed:
        return []
    people = [
        name
        for one in judged
        for name in authority.seconds(
            core.policy, target=one.action.target, risk=one.verdict.risk, requester=asked.owner
        )
    ]
    found = [core.queries.place_of(name, like=asked.shown_in) for name in dict.fromkeys(people)]
    return [place for place in dict.fromkeys(found) if place is not None and place != asked.shown_in]


def rejudge(core: Core, view: ActionView) -> Judged:
    """Return what the gate says now of a recorded action, its target resolved anew."""
    if view.action.act == AGREE:
        return judge(core, view.action)
    target = core.inventory.identify(view.action.target)
    return judge(core, replace(view.action, target=target))


def _body(
    core: Core,
    outcome: Outcome,
    asked: Asked,
    judged: Sequence[Judged],
    *,
    proposal: ProposalId,
    digest: Digest,
) -> dict[str, Json]:
    actions: list[Json] = [_action_body(one) for one in judged]
    return {
        "proposal": proposal,
        "turn": outcome.turn,
        "requester": asked.requester,
        "asked_in": asked.place,
        "shown_in": asked.shown_in,
        "source": asked.source,
        **({} if asked.on_behalf is None else {"on_behalf": asked.on_behalf}),
        **({"unasked": True} if asked.unasked else {}),
        "replaces": asked.replaces,
        "list_digest": digest,
        "policy_revision": core.policy.revision,
        "rules_revision": core.rules.revision,
        "posture": core.policy_now().posture.value,
        "rehearsal": core.rehearsal,
        "actions": actions,
    }


def _action_body(one: Judged) -> Doc:
    return {
        "slots": action_doc(one.action),
        "verdict": verdict_doc(one.verdict),
        "radius": radius_doc(one.radius),
        "route": one.route.kind.value,
        "because": one.route.because,
        "rule": one.route.rule,
        "phrase": one.route.phrase,
        "digest": one.digest,
    }


def _words(judged: Sequence[Judged]) -> dict[str, str]:
    words = {"purpose": judged[0].action.purpose}
    for one in judged:
        words[f"command_{one.action.index}"] = one.action.command
        if one.action.verify is not None:
            words[f"verify_{one.action.index}"] = one.action.verify
    return words
