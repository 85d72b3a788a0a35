"""Control words that change something: approvals by id, cancel, settle, again, and the switches.

Tightening takes one word of any operator and acts at once; what loosens stands in bot.loosening, what only
shows something in bot.showing.
"""

from collections.abc import Sequence
from dataclasses import replace

from bot import commands, routing
from bot.answering import Speaker, cancel_action, record_denial, supersede
from bot.core import Core
from bot.fanout.anew import numbered, pace_of
from bot.fanout.folding import folded
from bot.fanout.naming import several
from bot.inventory.hostkeys import KnownHostsError
from bot.inventory.ssh_config import SshConfigError
from bot.origin import asker
from bot.outcome import Outcome
from bot.phrasing import action_ref, listed
from bot.proposing import Asked, Denied, propose
from bot.text import Text
from gate import authority
from gate.domain import ProposalId, Reason, ReasonCode
from gate.fanout import FROM, Pace
from gate.lifecycle import ACTION_ENDED, NOT_STARTED, ActionState, ApprovalState
from gate.policy import Operator
from ledger.kinds import ActionIs, ApprovalIs, Json, Kind, SwitchesAre
from ledger.views import ActionView, ProposalView

#: Names of the switches in the ledger.
STOPPED, AUTO_OFF, POSTURE, NEVER_AUTO = "stopped", "auto_off", "posture", "never_auto_act"

#: So many ways to go on are listed.
_MOST_LINES = 12


# ---------------------------------------------------------------- tightening


def stop(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """Let nothing start any more, and ask whether to cancel what runs."""
    set_switch(core, outcome, speaker, STOPPED, value=True)
    running = core.queries.in_state(ActionState.STARTED)
    lines: list[str] = ["Stopped. Nothing starts, approved work included. Say resume to go on."]
    if running:
        lines.append(f"Still running: {_names(core, running)}. Cancel that too?")
        lines += _ways_to_cancel(running)
    outcome.say(Text.of(*lines))


def auto_off(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """Let nothing start by itself any more."""
    set_switch(core, outcome, speaker, AUTO_OFF, value=True)
    outcome.say(Text.of("Auto is off: reading waits for a yes too. Approved work starts. auto on lifts it."))


def never_auto(core: Core, outcome: Outcome, speaker: Speaker, target: str) -> None:
    """Let nothing start by itself on one target."""
    found = core.inventory.select(target)
    if not isinstance(found, tuple):
        deny(outcome, speaker, found.reason)
        return
    now_held = core.queries.switches().never_auto_act
    held: list[Json] = [*dict.fromkeys([*now_held, *(one.id for one in found)])]
    set_switch(core, outcome, speaker, NEVER_AUTO, value=held)
    outcome.say(Text.of(f"Nothing runs by itself on {listed([str(one.id) for one in found])} any more."))


def set_switch(core: Core, outcome: Outcome, speaker: Speaker, name: str, *, value: Json) -> None:
    """Write a changed switch."""
    outcome.expect(SwitchesAre(core.queries.switch_seq()))
    outcome.write(
        Kind.SWITCH_CHANGED,
        body={"switch": name, "value": value, "by": speaker.operator.id, "place": outcome.place},
        words={"said": speaker.said},
    )


# ---------------------------------------------------------------- on one proposal


def cancel(core: Core, outcome: Outcome, speaker: Speaker, view: ProposalView, index: int | None) -> None:
    """Stop what runs of a proposal and drop what waits."""
    if not may_drop(speaker.operator, view):
        deny(outcome, speaker, _not_theirs(view))
        return
    chosen = [one for one in view.actions if index is None or one.action.index == index]
    running = [one for one in chosen if one.state is ActionState.STARTED]
    waiting = [one for one in chosen if one.state in NOT_STARTED]
    if not running and not waiting:
        outcome.say(Text.of(f"#{view.id} has nothing left to cancel."))
        return
    for one in waiting:
        withdraw(outcome, one, by=str(speaker.operator.id))
    for one in running:
        outcome.cancel[one.action.id] = speaker.operator.id
    words = []
    if running:
        words.append(f"Stopping {_names(core, running)}.")
    if waiting:
        words.append(f"Dropped {_names(core, waiting)}, nothing ran.")
    outcome.say(Text.of(" ".join(words)))
    outcome.refresh(view.id, place=view.shown_in)
    if all(one in waiting for one in view.actions if one.state not in ACTION_ENDED):
        routing.tell_dropped(core, outcome, view, f"cancelled by {speaker.operator.id}")


def may_drop(operator: Operator, view: ProposalView) -> bool:
    """Whether `operator` may cancel: who asked, or who may approve any of it. Stopping all takes one word."""
    return operator.id in (view.requester, view.on_behalf) or any(
        authority.covers(operator, target=one.action.target, risk=one.verdict.risk) for one in view.actions
    )


def _not_theirs(view: ProposalView) -> Reason:
    who = asker(view.requester, view.on_behalf)
    return Reason(
        code=ReasonCode.NOT_AUTHORISED,
        text=f"Only {who}, who asked, or who may approve it can cancel #{view.id}.",
    )


def withdraw(outcome: Outcome, one: ActionView, *, by: str) -> None:
    """End an action that has not started, and its approval with it."""
    if one.approval is not None and one.approval.state is ApprovalState.PENDING:
        outcome.expect(ApprovalIs(one.approval.id, ApprovalState.PENDING))
        outcome.write(
            Kind.APPROVAL_WITHDRAWN,
            correlation_id=one.action.id.rpartition(".")[0],
            body={
                "approval": one.approval.id,
                "proposal": one.action.id.rpartition(".")[0],
                "action": one.action.id,
                "decider": by,
                "why": f"cancelled by {by}",
            },
        )
    cancel_action(outcome, one, note=f"cancelled by {by}, nothing ran", by=by)


def settle(outcome: Outcome, speaker: Speaker, view: ProposalView, wanted: commands.Settle) -> None:
    """Record what a person found out about a lost action, and unfreeze its target."""
    lost = [
        one
        for one in view.actions
        if one.state is ActionState.LOST and wanted.ref.index in (None, one.action.index)
    ]
    if not lost:
        outcome.say(Text.of(f"#{view.id} has nothing with an unknown end."))
        return
    if not wanted.why:
        end = "ran" if wanted.ran else "did-not-run"
        outcome.say(Text.of(f"Say how you know:  settle {view.id} {end}, because …"))
        return
    for one in lost:
        if not authority.covers(speaker.operator, target=one.action.target, risk=one.verdict.risk):
            deny(outcome, speaker, _may_not_settle(speaker, one))
            return
        outcome.expect(ActionIs(one.action.id, ActionState.LOST))
        outcome.write(
            Kind.ACTION_SETTLED,
            correlation_id=view.id,
            body={"action": one.action.id, "by": speaker.operator.id, "ran": wanted.ran},
            words={"why": wanted.why, "said": speaker.said},
        )
    end = "ran" if wanted.ran else "did not run"
    targets = folded([str(one.action.target.id) for one in lost if one.freezes])
    free = f" Changes on {targets} are possible again." if targets else ""
    outcome.say(Text.of(f"Settled: it {end}.{free}"))
    outcome.refresh(view.id, place=view.shown_in)


def _may_not_settle(speaker: Speaker, one: ActionView) -> Reason:
    what = f"{one.verdict.risk.value.replace('_', ' ')} work on {one.action.target.id}"
    return Reason(
        code=ReasonCode.NOT_AUTHORISED,
        text=f"{speaker.operator.id} may not settle {what}. Who may approve it may settle it.",
    )


def again(core: Core, outcome: Outcome, speaker: Speaker, view: ProposalView, index: int | None) -> None:
    """Ask for the same actions anew, or for the one that was named, as a proposal of its own."""
    chosen = [one for one in view.actions if index in (None, one.action.index)]
    if not chosen:
        outcome.say(Text.of(f"#{view.id} has no {index}. It has {len(view.actions)}."))
        return
    made = ask_anew(core, outcome, speaker, view, chosen, source="again")
    if made is not None and any(one in view.pending for one in chosen):
        # Asking again for what still waits replaces it, so that one yes cannot start it twice.
        supersede(core, outcome, view.id, by=made, place=view.shown_in)


def ask_anew(
    core: Core,
    outcome: Outcome,
    speaker: Speaker,
    view: ProposalView,
    chosen: Sequence[ActionView],
    *,
    source: str,
) -> ProposalId | None:
    """Propose `chosen` of `view` to their targets as they are reached now; None where it is denied."""
    proposal = ProposalId(core.ids.short_id())
    actions = []
    for one in chosen:
        found = core.inventory.select(one.action.target.id)
        if not isinstance(found, tuple):
            deny(outcome, speaker, found.reason)
            return None
        try:
            actions.append(replace(one.action, target=core.inventory.identify(found[0])))
        except (SshConfigError, KnownHostsError) as error:
            reason = f"{one.action.target.id}: {error}. Nothing ran."
            deny(outcome, speaker, Reason(code=ReasonCode.UNKNOWN_TARGET, text=reason))
            return None
    asked = Asked(
        requester=speaker.operator.id,
        place=outcome.place,
        shown_in=outcome.place,
        source=source,
        pace=pace_of(view, count=len(actions)),
    )
    made = propose(core, outcome, numbered(actions, proposal=proposal), asked)
    if isinstance(made, Denied):
        deny(outcome, speaker, made.reason, command=made.command, target=made.target)
        return None
    return made


def preview(core: Core, outcome: Outcome, speaker: Speaker, view: ProposalView) -> None:
    """Propose the dry runs of what waits; they pass the gate like anything else."""
    proposal = ProposalId(core.ids.short_id())
    dry = [one for one in view.actions if one.verdict.dry_run is not None]
    if not dry:
        outcome.say(Text.of(f"No dry run is known for #{view.id}."))
        return
    actions = [
        replace(
            one.action,
            command=one.verdict.dry_run or "",
            purpose=f"preview of #{view.id}",
            verify=None,
            declared_risk=None,
        )
        for one in dry
    ]
    asked = Asked(
        requester=speaker.operator.id,
        place=outcome.place,
        shown_in=outcome.place,
        source="preview",
        pace=None if view.fanout is None else Pace(),
    )
    made = propose(core, outcome, numbered(actions, proposal=proposal), asked)
    if isinstance(made, Denied):
        deny(outcome, speaker, made.reason, command=made.command, target=made.target)


def deny(outcome: Outcome, speaker: Speaker, reason: Reason, *, command: str = "", target: str = "") -> None:
    """Say why something was not done, and record it."""
    outcome.say(Text.of(reason.text))
    record_denial(
        outcome, reason, person=speaker.operator.id, said=speaker.said, command=command, target=target
    )


def unknown_id(core: Core, outcome: Outcome, speaker: Speaker, proposal: ProposalId) -> None:
    """Answer an id that nothing has."""
    recent: Sequence[str] = [f"#{one}" for one in core.queries.unfinished()]
    hint = f" Open: {listed(recent)}." if recent else " Nothing is open."
    deny(outcome, speaker, Reason(code=ReasonCode.UNKNOWN_ID, text=f"No #{proposal} here.{hint}"))


def _names(core: Core, actions: Sequence[ActionView]) -> str:
    return several(actions, secrets=core.secrets)


def _ways_to_cancel(running: Sequence[ActionView]) -> list[str]:
    """Return a line for each that runs, one for all of a fan-out, and how many more there are."""
    by_proposal: dict[str, list[ActionView]] = {}
    for one in running:
        by_proposal.setdefault(one.action.id.rpartition(".")[0], []).append(one)
    lines: list[str] = []
    for proposal, members in by_proposal.items():
        if len(members) < FROM:
            lines += [f"  cancel {action_ref(one.action.id, alone=False)}" for one in members]
        else:
            lines.append(f"  cancel #{proposal}   all {len(members)} of it, and what of it has not started")
    more = len(lines) - _MOST_LINES
    return lines if more <= 0 else [*lines[:_MOST_LINES], f"and {more} more: pending lists them"]
