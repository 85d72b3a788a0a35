"""Offering a step: what would be done is put to the gate and to the supervisor, and proposed if both let it.

The gate can add a question to what the supervisor rules, and never take one away. What the supervisor blocks
is recorded and not proposed; what the gate refuses for now holds the run, what it refuses for good ends it.
"""

from dataclasses import replace

from bot.core import Core
from bot.delegates import scope
from bot.inventory.hostkeys import KnownHostsError
from bot.inventory.ssh_config import SshConfigError
from bot.judging import AGREE, Judged, judge
from bot.outcome import Outcome
from bot.planning.drafts import PlanSource
from bot.planning.model import dial
from bot.proposing import Asked, Denied, propose_judged
from bot.runbooks.closing import tell_end
from bot.runbooks.going import Going, write
from bot.runbooks.restoring import digest_now
from bot.signals import dial as signal_dial
from gate.autonomy import Level, at_least
from gate.domain import (
    AGENT,
    Action,
    ActionId,
    PersonId,
    ProposalId,
    Reason,
    ReasonCode,
    RouteKind,
    Target,
    TargetId,
    TargetKind,
)
from gate.supervise import proposal
from gate.supervise import run as runs
from gate.supervise.binding import Unbound, bind_command
from gate.supervise.domain import DECLARED, StepKind
from gate.supervise.envelope import StepPolicy
from gate.supervise.invocation import Invocation, invocation
from gate.supervise.state import RunState

#: The setting that says how far a runbook goes by itself.
DIAL = "runbooks.autonomy"
#: Why the gate refuses something for now; whoever waits may go on later.
_FOR_NOW = frozenset({ReasonCode.FROZEN_TARGET, ReasonCode.STOPPED})
#: Stands for a target where a person agrees to something that is on none.
_NOWHERE = Target(id=TargetId("run"), kind=TargetKind.LOCAL)


def offer(core: Core, outcome: Outcome, going: Going, state: RunState, step: StepPolicy) -> RunState:
    """Propose the step that a run has entered, if that may be; return where the run stands then."""
    bound = invocation(state, step)
    if isinstance(bound, Unbound):
        said = offered(core, state, step, target=state.target, command=None)
        return _ruled(core, outcome, going, state, proposal.propose(state, said, now=outcome.at))
    name = ProposalId(core.ids.short_id())
    action = action_of(core, going, state, step, bound, name=name)
    if isinstance(action, Reason):
        return _refused(core, outcome, going, state, action)
    judged = _with_preview(judge(core, action), state, step)
    reason = judged.route.reason or scope.objection(core, going.person, [(action, judged.verdict)])
    if reason is not None:
        return _refused(core, outcome, going, state, reason)
    because = waits(core) or _asker_waits(core, going.person) or _planned(core, going, judged)
    said = offered(
        core,
        state,
        step,
        target=name_of(core, bound, action),
        command=command_of(action),
        asks=judged.route.kind is not RouteKind.AUTO or bool(because),
        name=name,
    )
    ruling = proposal.propose(state, said, now=outcome.at)
    after = _ruled(core, outcome, going, state, ruling)
    match ruling:
        case proposal.Permit():
            _propose(core, outcome, going, judged, waits="", unasked=state.alone)
        case proposal.RequireApproval(request=request):
            because = because or f"runbook {state.envelope.runbook}"
            open_s = request.expires_in_s
            _propose(core, outcome, going, judged, waits=because, unasked=state.alone, open_s=open_s)
        case proposal.Block():
            pass
    return after


def _planned(core: Core, going: Going, judged: Judged) -> str:
    """Return the setting because of which a step of a run that a model began waits for a yes; "" for none."""
    if going.source != PlanSource.MODEL or dial.reads(judged):
        return ""
    return dial.waits(core)


def _with_preview(judged: Judged, state: RunState, step: StepPolicy) -> Judged:
    """Return `judged` with the dry run that the runbook knows for it, which is no part of what runs."""
    if step.spec.preview is None:
        return judged
    dry = bind_command(step.spec.preview, state.inputs, inputs=state.envelope.inputs)
    if isinstance(dry, Unbound):
        return judged
    return replace(judged, verdict=replace(judged.verdict, dry_run=dry.text))


def offered(
    core: Core,
    state: RunState,
    step: StepPolicy,
    *,
    target: str,
    command: str | None,
    asks: bool = False,
    name: str = "",
) -> proposal.Offer:
    """Return what is about to be done as the supervisor is told it."""
    return proposal.Offer(
        tool=step.tools[0] if step.tools else "",
        target=target,
        command=command,
        digest=digest_now(core, state.envelope.runbook),
        by=AGENT,
        asks=asks,
        proposal=name,
    )


def command_of(action: Action) -> str | None:
    """Return the command that an action runs; None where somebody only agrees."""
    return None if action.act == AGREE else action.command


def _ruled(core: Core, outcome: Outcome, going: Going, before: RunState, ruling: proposal.Ruling) -> RunState:
    """Write a ruling; return where the run stands after it."""
    write(outcome, going.run, ruling.events)
    tell_end(core, outcome, going, before, ruling.events)
    core.runs.held.pop(going.run, None)
    if isinstance(ruling, proposal.Block):
        core.runs.held[going.run] = f"blocked: {ruling.reason}"
    return ruling.state


def _refused(core: Core, outcome: Outcome, going: Going, state: RunState, reason: Reason) -> RunState:
    """Hold a run where the gate refuses for now, and end it where it refuses for good."""
    if reason.code in _FOR_NOW:
        core.runs.held[going.run] = reason.text
        return state
    moved = runs.escalate(state, why=reason.text, now=outcome.at)
    write(outcome, going.run, moved.events)
    tell_end(core, outcome, going, state, moved.events)
    return moved.state


def _asker_waits(core: Core, person: PersonId) -> str:
    """Return why every step of a run waits for a yes that no person asked for; "" for no such reason."""
    return scope.waits(core, person) or signal_dial.waits(core, person)


def waits(core: Core) -> str:
    """Return the setting because of which every step waits for a yes; "" for none."""
    dial = core.settings.value(DIAL)
    return "" if at_least(dial.level, Level.RUN) else dial.lowered or f"{DIAL} {dial.level}"


# ---------------------------------------------------------------- the action


def action_of(
    core: Core, going: Going, state: RunState, step: StepPolicy, bound: Invocation, *, name: ProposalId
) -> Action | Reason:
    """Return the one action that a step is, or why there is none."""
    spec = step.spec
    agrees = spec.kind is StepKind.APPROVAL
    if bound.target:
        target = _target(core, bound.target)
    elif agrees:
        target = _NOWHERE
    else:
        text = f"{going.title}: step {spec.id} is on no target. Nothing ran."
        target = Reason(code=ReasonCode.UNKNOWN_TARGET, text=text)
    if isinstance(target, Reason):
        return target
    return Action(
        id=ActionId(f"{name}.1"),
        index=1,
        act=AGREE if agrees else "exec",
        target=target,
        command=bound.title if agrees else bound.command or "",
        purpose=f"runbook {going.title}, step {step.index + 1}: {bound.title}",
        timeout_s=spec.timeout_s or core.settings.number("bot.action_timeout_s"),
        runbook=f"{state.envelope.digest}#{spec.id}",
        declared_risk=DECLARED[spec.risk],
    )


def _target(core: Core, words: str) -> Target | Reason:
    found = core.inventory.select(words)
    if not isinstance(found, tuple):
        return found.reason
    if len(found) > 1:
        text = f'"{words}" names {len(found)} targets, and a step is on one. Nothing ran.'
        return Reason(code=ReasonCode.UNKNOWN_TARGET, text=text)
    try:
        return core.inventory.identify(found[0])
    except (SshConfigError, KnownHostsError) as error:
        return Reason(code=ReasonCode.UNKNOWN_TARGET, text=f"{words}: {error}. Nothing ran.")


def name_of(core: Core, bound: Invocation, action: Action) -> str:
    """Return the target of `action` in the words of its runbook, where they mean that one."""
    if not bound.target:
        return ""
    found = core.inventory.select(bound.target)
    mine = isinstance(found, tuple) and [one.id for one in found] == [action.target.id]
    return bound.target if mine else str(action.target.id)


def _propose(
    core: Core,
    outcome: Outcome,
    going: Going,
    judged: Judged,
    *,
    waits: str,
    unasked: bool,
    open_s: int | None = None,
) -> None:
    asked = Asked(
        requester=going.person,
        on_behalf=scope.behalf(core, going.person),
        place=going.place,
        shown_in=going.place,
        source=PlanSource.RUNBOOK.value,
        waits=waits,
        open_s=open_s,
        quiet=True,  # the card of the run tells of it
        unasked=unasked,
    )
    made = propose_judged(core, outcome, [judged], asked)
    if isinstance(made, Denied):  # it was judged right above, and was not denied
        raise TypeError(made.reason.text)
