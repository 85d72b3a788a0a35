"""From drafts of a plan to a proposal: resolve, classify, measure, route, digest, write down.

The same path for whoever asks (D20). Everything it decides is the gate's; this module only gathers what the
gate reads and turns the answer into entries. A draft that is refused never becomes part of a proposal, and
one refusal refuses the whole list: half of what somebody asked for is something else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot import origin, proposal_entries, routing
from bot.core import Core
from bot.delegates import scope
from bot.fanout import forming
from bot.inventory.hostkeys import KnownHostsError
from bot.inventory.ssh_config import SshConfigError
from bot.judging import Judged, judge_all, standing
from bot.opening import open_approval
from bot.outcome import Outcome
from bot.places import place_name
from bot.planning.drafts import ActionDraft
from bot.text import Text
from gate import authority, sequence
from gate.digest import list_digest
from gate.domain import (
    Action,
    ActionId,
    Digest,
    PersonId,
    PlaceId,
    ProposalId,
    Reason,
    ReasonCode,
    Risk,
    Route,
    RouteKind,
    Target,
    TargetId,
)
from gate.fanout import Brake, Pace
from gate.lifecycle import ActionState
from ledger.kinds import Kind, ProposalIsNew


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
        pace: what was said about how one command on several targets is to go; None where it is not one.
        selector: how its targets were named.
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
    pace: Pace | None = None
    selector: tuple[str, ...] = ()

    @property
    def owner(self) -> PersonId:
        """Whose request it counts as (C4)."""
        return self.on_behalf or self.requester


def bind(core: Core, drafts: Sequence[ActionDraft], *, proposal: ProposalId) -> tuple[Action, ...] | Denied:
    """Return the ordered actions that `drafts` mean, their targets resolved, or why there are none."""
    bound: list[Action] = []
    usual_s = core.settings.number("bot.action_timeout_s")
    for draft in drafts:
        targets: dict[TargetId, Target] = {}  # a target that is named twice is still one
        for words in draft.target_words:
            found = core.inventory.select(words)
            if not isinstance(found, tuple):
                return Denied(reason=found.reason, command=draft.command, target=words)
            try:
                targets.update((one.id, core.inventory.identify(one)) for one in found)
            except (SshConfigError, KnownHostsError) as error:
                reason = Reason(code=ReasonCode.UNKNOWN_TARGET, text=f"{words}: {error}. Nothing ran.")
                return Denied(reason=reason, command=draft.command, target=words)
        for target in targets.values():
            index = len(bound) + 1
            bound.append(
                Action(
                    id=ActionId(f"{proposal}.{index}"),
                    index=index,
                    target=target,
                    command=draft.command,
                    purpose=draft.purpose,
                    workdir=draft.workdir,
                    timeout_s=draft.timeout_s or usual_s,
                    verify=draft.verify,
                    runbook=draft.runbook,
                    declared_risk=draft.declared_risk or None,
                )
            )
    return tuple(bound)


def paced(drafts: Sequence[ActionDraft]) -> tuple[Pace | None, tuple[str, ...]]:
    """Return what was said about the pace of one command, and how its targets were named; None for several.

    Several lines are several ordered actions, whatever they say (D17).
    """
    return (drafts[0].pace, drafts[0].target_words) if len(drafts) == 1 else (None, ())


def propose(core: Core, outcome: Outcome, actions: Sequence[Action], asked: Asked) -> ProposalId | Denied:
    """Write a proposal of `actions` into `outcome`: its entry, its approvals, its card and its first move."""
    return propose_judged(core, outcome, judge_all(core, actions), asked)


def propose_judged(
    core: Core, outcome: Outcome, found: Sequence[Judged], asked: Asked
) -> ProposalId | Denied:
    """Write a proposal of actions that the gate has just judged; see `propose`."""
    proposal = ProposalId(found[0].action.id.rpartition(".")[0])
    brake = forming.brake_of(found, asked.pace)
    if brake is not None:
        found = forming.together(core, found, proposal=proposal, at=standing(core))
    judged = tuple(_waiting(one, asked.waits) for one in found)
    denied = _denied(core, judged, asked)
    if denied is not None:
        return denied
    asked = _routed(core, judged, asked)
    digest = list_digest([one.digest for one in judged], brake)
    outcome.expect(ProposalIsNew(proposal))
    proposal_entries.write(core, outcome, asked, judged, brake, digest=digest)
    _open(core, outcome, judged, asked, brake=brake, digest=digest)
    if brake is not None:
        free = [one for one in judged if one.route.kind is RouteKind.AUTO]
        proposal_entries.write_queued(outcome, proposal, free)
    if not asked.quiet or any(one.route.kind is not RouteKind.AUTO for one in judged):
        outcome.card(proposal, place=asked.shown_in)
    elsewhere = list(
        dict.fromkeys([*_other_places(core, judged, asked), *_places_of_seconds(core, judged, asked)])
    )
    for place in elsewhere:
        outcome.card(proposal, place=place)
    for place in dict.fromkeys([*elsewhere, asked.shown_in]):
        if place != outcome.place:
            show_in(outcome, proposal, place=place)
    if any(one.route.kind is not RouteKind.AUTO for one in judged):
        outcome.shows.append(proposal)
        _tell_where(core, outcome, proposal, asked, others=_other_places(core, judged, asked))
        speaks = not asked.unasked and not origin.is_machine(asked.requester)
        if speaks and asked.shown_in == asked.place:
            outcome.window = (asked.requester, proposal)
    outcome.work.append(proposal)
    return proposal


def _denied(core: Core, judged: Sequence[Judged], asked: Asked) -> Denied | None:
    """Return why nothing of a list is proposed: what the gate denies, or what an agent may not ask for."""
    if (problem := forming.too_many(judged)) is not None:
        return Denied(reason=problem, command=judged[0].action.command)
    for one in judged:
        reason = one.route.reason if one.route.kind is RouteKind.DENY else None
        reason = reason or scope.objection(core, asked.requester, [(one.action, one.verdict)])
        if reason is not None:
            return Denied(reason=reason, command=one.action.command, target=str(one.action.target.id))
    return None


def _open(
    core: Core,
    outcome: Outcome,
    judged: Sequence[Judged],
    asked: Asked,
    *,
    brake: Brake | None,
    digest: Digest,
) -> None:
    """Ask about every action whose turn it is to be asked about; about all of a fan-out at once."""
    steps = [sequence.Step(ActionState.PROPOSED, one.route.kind) for one in judged]
    all_wait = brake is not None and steps[0].route is not RouteKind.AUTO
    for index in range(len(judged)) if all_wait else sequence.opens_at_once(steps):
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
    needs_yes = _needs_yes(judged)
    if asked.shown_in != asked.place or not needs_yes:
        return asked
    place = routing.place_of(core, needs_yes, asked_in=asked.place)
    return replace(asked, shown_in=place, routed=place != asked.place)


def _needs_yes(judged: Sequence[Judged]) -> list[tuple[Target, Risk]]:
    return [(one.action.target, one.verdict.risk) for one in judged if one.route.kind is not RouteKind.AUTO]


def _other_places(core: Core, judged: Sequence[Judged], asked: Asked) -> list[PlaceId]:
    """Return where else the card goes: the places that the config names for some of the actions.

    Whoever answers for those sees them although most of the list is another's; nobody gets rights by it.
    Where a caller has a place of its own for its cards, that place alone counts.
    """
    if asked.shown_in != asked.place and not asked.routed and asked.replaces is None:
        return []
    return [place for place in routing.places_of(core, _needs_yes(judged)) if place != asked.shown_in]


def _tell_where(
    core: Core, outcome: Outcome, proposal: ProposalId, asked: Asked, *, others: Sequence[PlaceId]
) -> None:
    """Say where a card waits that is not only here."""
    if asked.routed:
        names = [place_name(core, place) for place in (asked.shown_in, *others)]
        outcome.say(Text.of(f"#{proposal} waits in {', '.join(names)}."))
    elif others:
        names = [place_name(core, place) for place in others]
        outcome.say(Text.of(f"#{proposal} waits in {', '.join(names)} too."))


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
