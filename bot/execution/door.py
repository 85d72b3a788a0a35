"""The door: the last look before a command runs, and the only place that starts one.

Nothing passes unless the action that is about to run is, digest for digest, the one that was shown and
granted, its grant is fresh or the rule that lets it run counts still, nothing is stopped or frozen, no dial
that let it run unasked was lowered, and the gate still thinks as well of it as it did (M13, X1, X15, D5, D6).
Starting is one transaction of the ledger: queued -> started, on what was read here; when it does not stand,
nothing runs. A reason to hold leaves the action queued; a reason to void ends it.
"""

from dataclasses import dataclass, replace

from bot import dials
from bot.core import Core
from bot.delegates import scope
from bot.inventory.hostkeys import KnownHostsError
from bot.inventory.ssh_config import SshConfigError
from bot.judging import Judged, Standing, rejudge, standing
from bot.lapsing import Lapses, lapses
from bot.planning.drafts import PlanSource
from bot.runbooks import letting
from gate import authority, quorum
from gate.domain import PendingApproval, ProposalId, Reason, ReasonCode, RouteKind
from gate.lifecycle import ActionState, ApprovalState
from gate.policy import Switches
from gate.route import stricter
from ledger import trusting
from ledger.kinds import (
    ActionIs,
    ApprovalIs,
    Batch,
    Draft,
    Expectation,
    Json,
    Kind,
    LostRaceError,
    RowIs,
    SwitchesAre,
)
from ledger.views import ActionView, ProposalView


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """It may not start now, but later: it stays queued."""

    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Void:
    """Its grant does not hold any more: it never starts."""

    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """It may start, on these expectations; `let` is what the supervisor of its run wants written with it."""

    view: ActionView
    parent: ProposalView
    judged: Judged
    expects: tuple[Expectation, ...]
    let: letting.Let

    def running(self) -> ActionView:
        """Return the view of the action as it runs: its target as it was just identified."""
        action = self.judged.action
        return self.view if action is self.view.action else replace(self.view, action=action)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A start to be recorded; `boot_id` is the target's, where its end will be told by it (D7)."""

    cleared: Cleared
    boot_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What every look of one moment at actions of one proposal reads.

    Attributes:
        parent: the proposal, with or without its actions.
        seq: the entry that last changed a switch, read before them.
        lapses: until when a yes to them lasts.
    """

    parent: ProposalView
    seq: int
    at: Standing
    lapses: Lapses


def look(core: Core, proposal: ProposalId) -> Look:
    """Return what looks of this moment at actions of `proposal` read; LookupError for an unknown one."""
    seq = core.queries.switch_seq()
    parent = core.queries.head(proposal)
    return Look(parent=parent, seq=seq, at=standing(core), lapses=lapses(core, parent))


def inspect(core: Core, view: ActionView, seen: Look) -> Cleared | Held | Void:
    """Return whether the queued action `view` may start at the moment of `seen`."""
    if seen.at.switches.stopped:
        return Held(reason=Reason(code=ReasonCode.STOPPED, text="sayso is stopped. Say resume to go on."))
    lapsed = _lapsed(core, view, seen)
    if lapsed is not None:
        return Void(reason=lapsed)
    try:
        judged = rejudge(core, view, at=seen.at)
    except (SshConfigError, KnownHostsError) as error:
        text = f"{view.action.target.id} cannot be resolved any more: {error}; nothing ran"
        return Void(reason=Reason(code=ReasonCode.DRIFTED, text=text))
    objection = (
        _drifted(view, judged)
        or _untrusted(core, view)
        or _stricter(view, judged)
        or _not_theirs(core, view, seen.parent)
        or scope.objection(core, seen.parent.requester, [(judged.action, judged.verdict)])
        or _lowered(core, view, seen.parent, judged)
    )
    if objection is not None:
        return Void(reason=objection)
    let = letting.let(core, view) if seen.parent.source == PlanSource.RUNBOOK else letting.Let()
    if isinstance(let, Reason):
        return Void(reason=let)
    expects: list[Expectation] = [
        *let.expects,
        ActionIs(view.action.id, ActionState.QUEUED),
        SwitchesAre(seen.seq),
    ]
    if view.approval is not None:
        expects.append(ApprovalIs(view.approval.id, ApprovalState.GRANTED))
    elif view.rule:
        expects.append(RowIs("trust_rule", view.rule, trusting.ACTIVE))
    return Cleared(view=view, parent=seen.parent, judged=judged, expects=tuple(expects), let=let)


def start(core: Core, *starts: Start) -> None:
    """Record that these actions start, each consuming its grant; all of them or none.

    Raises:
        LostRaceError: something changed since `inspect`; inspect again.
        LedgerUnwritableError: it is not recorded, so it must not run.
    """
    for one in starts:
        # All of this may be so since `inspect`, and in no entry that the batch expects.
        cleared = one.cleared
        if (
            core.brake.tighten(Switches()).stopped
            or _untrusted(core, cleared.view) is not None
            or _lowered(core, cleared.view, cleared.parent, cleared.judged) is not None
        ):
            raise LostRaceError(cleared.expects[0])
    drafts = [draft for one in starts for draft in (_started(core, one), *one.cleared.let.drafts)]
    expects = dict.fromkeys(expectation for one in starts for expectation in one.cleared.expects)
    core.ledger.append(Batch(at=core.now(), drafts=tuple(drafts), expects=tuple(expects)))


def _started(core: Core, one: Start) -> Draft:
    view, judged = one.cleared.view, one.cleared.judged
    body: dict[str, Json] = {
        "action": view.action.id,
        "grant": None if view.approval is None else view.approval.id,
        "digest": judged.digest,
        "risk": judged.verdict.risk.value,
        "policy_revision": core.policy.revision,
        "boot_id": one.boot_id,
    }
    return Draft(kind=Kind.ACTION_STARTED, correlation_id=one.cleared.parent.id, body=body)


def _lapsed(core: Core, view: ActionView, seen: Look) -> Reason | None:
    lapses_at = seen.lapses.at(view)
    if lapses_at is None or core.now() <= lapses_at:
        return None
    return Reason(
        code=ReasonCode.GRANT_LAPSED,
        text=f"the yes was not used within {core.policy.start_within_s // 60} min, so it lapsed; nothing ran",
    )


def _drifted(view: ActionView, judged: Judged) -> Reason | None:
    if judged.digest == view.digest:
        return None
    return Reason(
        code=ReasonCode.DRIFTED,
        text="what would run is not what was shown: the address, user or host key changed; nothing ran",
    )


def _untrusted(core: Core, view: ActionView) -> Reason | None:
    """Object to what was queued under a trust rule that counts no more; a yes to it needs no rule."""
    if not view.rule or view.approval is not None:
        return None
    if any(one.id == view.rule for one in core.trust_rules()):
        return None
    text = f"rule #{view.rule} was revoked or is over; nothing ran"
    return Reason(code=ReasonCode.STRICTER_NOW, text=text)


def _stricter(view: ActionView, judged: Judged) -> Reason | None:
    now = judged.route
    if now.kind is RouteKind.DENY:
        words = "" if now.reason is None else now.reason.text
        return Reason(code=ReasonCode.STRICTER_NOW, text=f"not allowed any more: {words}")
    if judged.verdict.risk.rank > view.verdict.risk.rank or stricter(now.kind, _held_consent(view)):
        why = f" ({now.because})" if now.because else ""
        return Reason(
            code=ReasonCode.STRICTER_NOW,
            text=f"the rules became stricter since it was allowed{why}; nothing ran",
        )
    return None


def _not_theirs(core: Core, view: ActionView, parent: ProposalView) -> Reason | None:
    """Judge the decider once more: what they may do can have changed since they said yes (D5)."""
    approval = view.approval
    if approval is None:
        return None
    decided_by = approval.decided_by
    decider = None if decided_by is None else core.operator(decided_by)
    pending = PendingApproval(
        approval=approval.id,
        proposal=parent.id,
        action=view.action,
        risk=view.verdict.risk,
        action_digest=view.digest,
        list_digest=approval.list_digest,
        requester=parent.requester,
        on_behalf=parent.on_behalf,
        asked_in=parent.asked_in,
        shown_in=parent.shown_in,
        deadline_at=approval.deadline_at,
        phrase=approval.phrase,
        votes=tuple(dict.fromkeys([*(vote.person for vote in approval.votes), *filter(None, [decided_by])])),
    )
    objected = authority.objection(decider, pending, core.policy)
    if objected is not None:
        return Reason(
            code=ReasonCode.STRICTER_NOW,
            text=f"{decided_by} may not approve this any more; nothing ran",
        )
    needed, have = quorum.needed([pending], core.policy), len(quorum.counted(pending, core.policy))
    if have >= needed:
        return None
    text = f"it takes {needed} people now and {have} said yes that may; nothing ran"
    return Reason(code=ReasonCode.STRICTER_NOW, text=text)


def _lowered(core: Core, view: ActionView, parent: ProposalView, judged: Judged) -> Reason | None:
    """Object to what nobody said yes to, where what asked for it may not go so far by itself any more."""
    if view.approval is not None:
        return None
    because = dials.lowered(core, parent, judged)
    if not because:
        return None
    text = f"it would wait for a yes now ({because}); nothing ran"
    return Reason(code=ReasonCode.STRICTER_NOW, text=text)


def _held_consent(view: ActionView) -> RouteKind:
    """Return the strictest route that the consent it has satisfies."""
    if view.approval is None or view.approval.state is not ApprovalState.GRANTED:
        return RouteKind.AUTO
    return RouteKind.PHRASE if view.approval.phrase is not None else RouteKind.APPROVAL
