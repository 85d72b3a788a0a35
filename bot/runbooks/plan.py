"""The plan of a run: what each step would do and who would be asked, executing nothing (X6).

Every step is put to the gate as it would be, with its class, its reasons and what depends on it. What is only
found on the way stands as its name; for the gate, a value of its kind stands in for it. The gate judges again
when a step is reached, and what it says then counts.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bot import learning
from bot.core import Core
from bot.judging import AGREE, Judged, judge
from bot.phrasing import RISK_WORDS, duration
from bot.planning.drafts import RunbookPlan
from bot.runbooks.going import Going
from bot.runbooks.offering import action_of, waits
from bot.runbooks.restoring import laid_open
from gate import blast
from gate.domain import AGENT, PersonId, PlaceId, ProposalId, Reason, RouteKind
from gate.redact import redact, redact_command
from gate.supervise.binding import Unbound, as_text, names, render_command, render_text
from gate.supervise.domain import InputSpec, InputType, RunId, StepKind, Value
from gate.supervise.envelope import Envelope, StepPolicy, derive
from gate.supervise.invocation import invocation
from gate.supervise.state import RunState, fresh

#: Stands in for the id of a proposal, which each gets when it is made.
_UNNAMED = ProposalId("plan00")
#: Stands in for a value that is not known yet, where the gate has to read a command.
_STAND_INS: Mapping[InputType, str] = {
    InputType.STRING: "value0",
    InputType.INTEGER: "100",
    InputType.BOOLEAN: "true",
    InputType.SERVICE: "value0",
    InputType.NAME: "value0",
    InputType.PATH: "/srv/value0",
    InputType.HOST: "value0",
    InputType.URL: "https://value0",
    InputType.DURATION: "1m",
    InputType.TEXT: "value0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """One step as it would be done.

    Attributes:
        command: as it may be shown; "" for a step that runs nothing.
        asks: who would be asked, in words.
        facts: class, reasons, what depends on it.
        preview: the command that shows what it would do; "" for none.
    """

    number: int
    id: str
    kind: StepKind
    title: str
    target: str = ""
    command: str = ""
    asks: str = ""
    facts: tuple[str, ...] = ()
    preview: str = ""


def steps(core: Core, plan: RunbookPlan, *, person: PersonId) -> tuple[PlannedStep, ...]:
    """Return what a run of `plan` would do, in the order of its document; inputs may be missing."""
    if plan.document.spec is None:
        return ()
    spec = laid_open(core, plan.document.spec)
    policy = core.policy_now()
    envelope = derive(spec, posture=policy.posture, approval_s=policy.approval_s)
    going = Going(run=RunId("plan"), title=spec.title, place=PlaceId(""), person=person)
    known = {name: item.default for name, item in spec.inputs.items() if item.default is not None}
    state = replace(
        fresh(going.run, envelope),
        agent=AGENT,
        target=plan.target_words[0] if plan.target_words else "",
        inputs={**known, **plan.inputs},
    )
    policies = sorted(envelope.steps.values(), key=lambda one: one.index)
    return tuple(_step(core, going, state, one) for one in policies)


def _step(core: Core, going: Going, state: RunState, policy: StepPolicy) -> PlannedStep:
    spec, inputs = policy.spec, state.envelope.inputs
    planned = PlannedStep(
        number=policy.index + 1,
        id=spec.id,
        kind=spec.kind,
        title=_shown(core, render_text(spec.title, state.inputs, inputs=inputs)),
    )
    if spec.kind is StepKind.WAIT:
        return replace(planned, asks=f"waits {duration(spec.duration_s or 0)}")
    if spec.kind is StepKind.NOTE:
        return replace(planned, asks="says so")
    if spec.kind is StepKind.DECISION:
        read = dict.fromkeys(one.when.input for one in spec.branches if one.when is not None)
        return replace(planned, asks=f"decides by {', '.join(read)}" if read else "goes on")
    return _running(core, going, state, policy, planned)


def _running(
    core: Core, going: Going, state: RunState, policy: StepPolicy, planned: PlannedStep
) -> PlannedStep:
    spec, inputs = policy.spec, state.envelope.inputs
    stood_in = replace(state, inputs=_stood_in(state.envelope, state.inputs))
    bound = invocation(stood_in, policy)
    if isinstance(bound, Unbound):
        return replace(planned, asks="cannot run: a value does not fit")
    shown = "" if spec.command is None else _unbound(spec.command, state.inputs, inputs)
    preview = "" if spec.preview is None else _unbound(spec.preview, state.inputs, inputs)
    planned = replace(
        planned,
        target=bound.target,
        command=redact_command(shown, extra=core.secrets).text,
        preview=redact_command(preview, extra=core.secrets).text,
    )
    if any(_is_open(state.inputs, name) for name in names(spec.target)):
        on = render_text(spec.target, state.inputs, inputs=inputs)
        return replace(planned, target=on, asks="asked about once its target is known")
    action = action_of(core, going, stood_in, policy, bound, name=_UNNAMED)
    if isinstance(action, Reason):
        return replace(planned, asks=f"cannot run: {action.text}")
    judged = judge(core, action)
    facts = () if action.act == AGREE else _facts(judged)
    unknown = {
        name: stood_in.inputs[name] for name in names(spec.command or "") if _is_open(state.inputs, name)
    }
    asks = _by_name(_asks(core, judged, policy), unknown)
    told = tuple(_shown(core, _by_name(one, unknown)) for one in facts)
    return replace(planned, asks=asks, facts=told)


def _facts(judged: Judged) -> Iterator[str]:
    verdict = judged.verdict
    yield f"{RISK_WORDS[verdict.risk]}: {verdict.reasons[0]}"
    yield from verdict.reasons[1:]
    if judged.radius.known:
        yield blast.words(judged.radius)


def _asks(core: Core, judged: Judged, policy: StepPolicy) -> str:
    route = judged.route
    match route.kind:
        case RouteKind.DENY:
            return f"refused: {'' if route.reason is None else route.reason.text}"
        case RouteKind.PHRASE:
            return f"asks for a typed phrase: {route.phrase}"
        case RouteKind.APPROVAL:
            return f"asks first{f' ({route.because})' if route.because else ''}"
        case RouteKind.AUTO:
            why = waits(core) or ("the runbook" if policy.gated else "")
            return f"asks first ({why})" if why else "runs at once"


def _stood_in(envelope: Envelope, known: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values that are known, and others of their kind for those that are not."""
    return {
        name: _stand_in(item) if _is_open(known, name) else known[name]
        for name, item in envelope.inputs.items()
    }


def _is_open(known: Mapping[str, Value], name: str) -> bool:
    """Whether a value is not known yet."""
    return known.get(name) in (None, "")


def _by_name(text: str, stand_ins: Mapping[str, Value]) -> str:
    """Return what was said of stand-ins with the names of what they stand for: "ct-<vmid>"."""
    by_value: dict[str, list[str]] = {}
    for name, value in stand_ins.items():
        by_value.setdefault(as_text(value), []).append(name)
    for value, of in by_value.items():
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", f"<{' or '.join(of)}>", text)
    return text.replace(_UNNAMED, "<id>")


def _stand_in(item: InputSpec) -> str:
    if item.enum:
        return item.enum[0]
    if item.type is InputType.INTEGER and item.minimum is not None:
        return str(item.minimum)
    return _STAND_INS[item.type]


def _unbound(template: str, known: Mapping[str, Value], inputs: Mapping[str, InputSpec]) -> str:
    """Return a command as people may see it; what is found on the way stands as its name."""
    named = {name: f"<{name}>" for name in inputs if _is_open(known, name)}
    rendered = render_command(template, {**known, **named}, inputs=inputs)
    for name in named.values():
        rendered = rendered.replace(f"'{name}'", name)
    return rendered


def _shown(core: Core, text: str) -> str:
    return redact(text, extra=core.secrets).text


# ---------------------------------------------------------------- in words


def lines(core: Core, plan: RunbookPlan, *, person: PersonId) -> list[str]:
    """Return the plan in words."""
    where = f" on {plan.target_words[0]}" if plan.target_words else ""
    told = [f"{plan.document.title.replace('{', '<').replace('}', '>')}{where}, planned. Nothing ran."]
    if plan.missing:
        told.append(f"It still needs: {', '.join(plan.missing)}.")
    if warned := learning.caution_of_runbook(core.queries, plan.document.id):
        told.append(f"Before it runs again: {warned}")
    for one in steps(core, plan, person=person):
        on = f" · {one.target}" if one.target and one.kind is not StepKind.APPROVAL else ""
        facts = f" · {' · '.join(one.facts)}" if one.facts else ""
        told.append(f"{one.number} {one.title}{on} · {one.asks}{facts}")
        told += [f"    {line}" for line in one.command.splitlines()]
        if one.preview:
            told.append(f"    shows first what it would do: {one.preview}")
    return told
