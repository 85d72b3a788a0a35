"""Wanting: what a model asked for, turned into proposals, runs, looks and offers of one batch.

Everything goes the way of what a person asks for: resolved, classified, measured, routed, put on a card.
What the gate denies ends the plan, with nothing of that answer carried out (K5); what cannot be read goes
back to the model. The rules it owns: below `planner.autonomy run` only what certainly reads runs unasked; an
act other than a command is offered as a button and done only as the person's own words; nothing here
decides.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot import asking, choices
from bot.answering import Speaker
from bot.core import Core
from bot.judging import judge_all
from bot.outcome import Outcome
from bot.planning import runbooks
from bot.planning.drafts import ActionDraft, Plan, PlanSource, Question, RunbookPlan
from bot.planning.model import looking
from bot.planning.model.dial import held, waits
from bot.planning.model.masking import one_line
from bot.planning.model.thinking import Call, Result
from bot.planning.model.tools import BY_NAME, Kind, Tool
from bot.proposing import Asked, Denied, bind, paced, propose_judged
from bot.runbooks import runner
from gate.digest import list_digest
from gate.domain import ProposalId, Reason, ReasonCode, Target
from gate.effects import profile_of
from gate.resolve.decision import Act, Allow, Clarify, Confirm, Deny
from gate.resolve.engine import digest_of
from ledger.codec import Doc
from ledger.kinds import Json
from ledger.kinds import Kind as EntryKind
from ledger.plans import PlanView

#: How many calls one answer may hold, and how many offers one plan may make.
MAX_CALLS = 8
_LONGEST = 8000

_OFFERED = {
    "remind": (frozenset({Act.REMIND}), "Set the reminder"),
    "schedule": (frozenset({Act.SCHEDULE}), "Schedule it"),
    "remember": (frozenset({Act.STORE_FACT, Act.REVISE_FACT}), "Remember it"),
    "send": (frozenset({Act.SEND_OUTBOUND}), "Send it"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """What the result of a call waits for.

    Attributes:
        name: of a proposal, or of a run.
        digest: of the proposal's list, as it was shown; "" for a run.
        first, last: the actions of the proposal that the call became, by their index; 0 for a run.
    """

    call: str
    tool: str
    name: str
    digest: str = ""
    first: int = 0
    last: int = 0


@dataclass(slots=True, kw_only=True)
class Wanted:
    """What came of one answer.

    Attributes:
        results: of the calls whose result is known at once.
        made: proposals, runs and choices.
        beliefs: facts that the model was told.
        audit: what is recorded of every call, the ones that were refused too (K3).
        unread: how many calls could not be read.
    """

    results: list[Result] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    beliefs: list[str] = field(default_factory=list)
    audit: list[Json] = field(default_factory=list)
    unread: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why nothing of an answer is carried out; `command` and `target` where it was about one."""

    reason: Reason
    command: str = ""
    target: str = ""


class _UnreadError(Exception):
    """A call that cannot be carried out as it is written; the message tells the model why."""


@dataclass(slots=True, kw_only=True)
class _Drafted:
    """A command to be proposed, and the call that it comes from."""

    call: Call
    draft: ActionDraft
    targets: int


@dataclass(slots=True, kw_only=True)
class Carrying:
    """One answer that is carried out: for which plan, into which outcome, and what came of it so far."""

    core: Core
    outcome: Outcome
    plan: PlanView
    speaker: Speaker
    wanted: Wanted = field(default_factory=Wanted)
    drafted: list[_Drafted] = field(default_factory=list)


def carry_out(answer: Carrying, calls: Sequence[Call]) -> Refused | None:
    """Write what `calls` want into the outcome and tell of it in `wanted`; return why nothing of it may be.

    Where it is refused, the outcome is to be thrown away; `wanted` keeps what is recorded of the calls.
    """
    core, wanted = answer.core, answer.wanted
    wanted.audit = [_audit(one) for one in calls]
    if len(calls) > MAX_CALLS:
        text = f"The model wanted {len(calls)} things at once; {MAX_CALLS} is the most. Nothing ran from it."
        return Refused(reason=Reason(code=ReasonCode.UNFIT, text=text))
    strange = next((one for one in calls if one.tool not in BY_NAME), None)
    if strange is not None:
        name = one_line(core, strange.tool, most=60)
        text = f'The model asked for "{name}", which is no tool that it has. Nothing ran from it.'
        return Refused(reason=Reason(code=ReasonCode.UNKNOWN_TOOL, text=text))
    for call in calls:
        try:
            refused = _one(answer, call)
        except _UnreadError as error:
            wanted.unread += 1
            wanted.results.append(Result(call=call.id, tool=call.tool, text=f"Not done: {error}"))
            continue
        if refused is not None:
            return refused
    return _propose(answer) if answer.drafted else None


def _one(answer: Carrying, call: Call) -> Refused | None:
    core, wanted, tool = answer.core, answer.wanted, BY_NAME[call.tool]
    args = _args(call, tool)
    match tool.kind:
        case Kind.LOOK:
            text, beliefs = looking.look(core, answer.plan, call.tool, _texts(args))
            wanted.beliefs += beliefs
            wanted.results.append(Result(call=call.id, tool=call.tool, text=text))
        case Kind.OFFER:
            _offer(answer, call, _texts(args))
        case Kind.RUN:
            answer.drafted.append(_run(core, call, _texts(args)))
        case Kind.RUNBOOK:
            return _runbook(answer, call, args)
    return None


def _audit(call: Call) -> Doc:
    profile = profile_of(call.tool)
    return {
        "call": call.id,
        "tool": call.tool[:80],
        "effect": profile.effect.value,
        "registered": call.tool in BY_NAME,
        "args_digest": digest_of({"args": call.args}),
    }


# ---------------------------------------------------------------- reading a call


def _args(call: Call, tool: Tool) -> dict[str, object]:
    if len(call.args) > _LONGEST:
        raise _UnreadError(f"its arguments are longer than {_LONGEST} characters.")
    try:
        args = json.loads(call.args or "{}")
    except ValueError:
        raise _UnreadError("its arguments are no JSON.") from None
    if not isinstance(args, dict):
        raise _UnreadError("its arguments are no JSON object.")
    if strange := [name for name in args if name not in tool.known]:
        raise _UnreadError(f"it takes no {strange[0]}. It takes {', '.join(tool.known)}.")
    given = {str(name): value for name, value in args.items() if value not in (None, "")}
    if lacking := [name for name in tool.required if not str(given.get(name, "")).strip()]:
        raise _UnreadError(f"it lacks {lacking[0]}.")
    if wrong := [name for name, value in given.items() if not isinstance(value, str) and name != "inputs"]:
        raise _UnreadError(f"{wrong[0]} has to be text.")
    return given


def _texts(args: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value).strip() for name, value in args.items()}


# ---------------------------------------------------------------- commands


def _run(core: Core, call: Call, args: Mapping[str, str]) -> _Drafted:
    draft = ActionDraft(
        target_words=(args["target"],),
        command=args["command"],
        purpose=one_line(core, args["purpose"]),
        declared_risk=args.get("declared_risk", ""),
        verify=args.get("verify") or None,
    )
    return _Drafted(call=call, draft=draft, targets=_count(core, args["target"]))


def _count(core: Core, words: str) -> int:
    found = core.inventory.select(words)
    return len(found) if isinstance(found, tuple) else 0


def _propose(answer: Carrying) -> Refused | None:
    """Propose the commands of one answer as one ordered list (D4)."""
    core, plan, wanted, drafted = answer.core, answer.plan, answer.wanted, answer.drafted
    proposal = ProposalId(core.ids.short_id())
    drafts = [one.draft for one in drafted]
    bound = bind(core, drafts, proposal=proposal)
    if isinstance(bound, Denied):
        return _denied(bound)
    because = waits(core)
    judged = [held(one, because) for one in judge_all(core, bound)]
    pace, selector = paced(drafts)
    asked = Asked(
        requester=plan.person,
        place=plan.place,
        shown_in=plan.place,
        source=PlanSource.MODEL.value,
        pace=pace,
        selector=selector,
    )
    made = propose_judged(core, answer.outcome, judged, asked)
    if isinstance(made, Denied):
        return _denied(made)
    wanted.made.append(made)
    digest = list_digest([one.digest for one in judged])
    at = 0
    for one in drafted:
        wanted.waits.append(
            Wait(
                call=one.call.id,
                tool=one.call.tool,
                name=made,
                digest=digest,
                first=at + 1,
                last=at + one.targets,
            )
        )
        at += one.targets
    return None


def _denied(denied: Denied) -> Refused:
    return Refused(reason=denied.reason, command=denied.command, target=denied.target)


# ---------------------------------------------------------------- runbooks


def _runbook(answer: Carrying, call: Call, args: Mapping[str, object]) -> Refused | None:
    core, outcome, wanted = answer.core, answer.outcome, answer.wanted
    found = _found(core, args)
    purpose = one_line(core, str(args["purpose"]))
    if isinstance(found, Plan):
        answer.drafted += [
            _Drafted(
                call=call,
                draft=replace(draft, purpose=purpose),
                targets=sum(_count(core, words) for words in draft.target_words),
            )
            for draft in found.drafts
        ]
        return None
    before = len(outcome.drafts)
    runner.start(core, outcome, answer.speaker, found, said=purpose, source=PlanSource.MODEL.value)
    for draft in outcome.drafts[before:]:
        if draft.kind is EntryKind.RUN_STARTED:
            name = str(draft.body["run"])
            wanted.made.append(name)
            wanted.waits.append(Wait(call=call.id, tool=call.tool, name=name))
            return None
    denied = next(one for one in outcome.drafts[before:] if one.kind is EntryKind.REQUEST_DENIED)
    code, text = ReasonCode(str(denied.body["code"])), str(denied.body["reason"])
    return Refused(reason=Reason(code=code, text=text), target=str(args.get("target", "")))


def _found(core: Core, args: Mapping[str, object]) -> Plan | RunbookPlan:
    """Return what a document of the library comes to with these inputs, on that target."""
    document = core.library.documents.get(str(args["runbook"]).casefold())
    if document is None:
        raise _UnreadError("there is no runbook of that id. The tool runbooks finds them by words.")
    inputs = args.get("inputs", {})
    if not isinstance(inputs, dict):
        raise _UnreadError("inputs has to be an object of texts.")
    values = {str(name): str(value) for name, value in inputs.items()}
    if secret := [name for name in values if name in document.inputs and document.inputs[name].secret]:
        raise _UnreadError(f"{secret[0]} is a secret, which a person enters. Tell them to start it.")
    target = str(args.get("target", "")).strip()
    read = asking.planned(core, runbooks.written(document, values, targets=(target,) if target else ()))
    if isinstance(read, Plan):
        return read
    if not isinstance(read, RunbookPlan):
        said = read.text if isinstance(read, Question) else "it cannot be read like that."
        raise _UnreadError(said)
    lacking = [*read.wrong, *read.missing]
    if lacking:
        raise _UnreadError(f"it needs a fitting {lacking[0]}.")
    names = [str(one.id) for words in read.target_words for one in _selected(core, words)]
    if document.needs_target and len(names) != 1:
        raise _UnreadError("a runbook is on exactly one target. Name it.")
    return replace(read, target_words=tuple(names))


def _selected(core: Core, words: str) -> Sequence[Target]:
    found = core.inventory.select(words)
    if not isinstance(found, tuple):
        raise _UnreadError(found.reason.text)
    return found


# ---------------------------------------------------------------- offers


def _offer(answer: Carrying, call: Call, args: Mapping[str, str]) -> None:
    """Put an act to the person as a choice with one button, which stands for words of theirs (C11)."""
    core, outcome, speaker = answer.core, answer.outcome, answer.speaker
    words = " ".join(_words(call.tool, args).split())
    acts, label = _OFFERED[call.tool]
    _check(core, outcome, replace(speaker, said=words), acts)
    choices.ask(
        core,
        outcome,
        speaker,
        choices.Choice(
            question=f"The model offers this; nothing is done before you press it: {words}",
            options=((label, words),),
            open_s=core.policy.clarification_s,
        ),
    )
    asked = outcome.drafts[-1]
    answer.wanted.made.append(str(asked.body["clarification"]))
    text = "Offered to the person as a button. You are not told whether they press it."
    answer.wanted.results.append(Result(call=call.id, tool=call.tool, text=text))


def _words(tool: str, args: Mapping[str, str]) -> str:
    if tool == "remind":
        return f"remind me {args['when']} to {args['text']}"
    if tool == "schedule":
        return f"{args['when']}: run {args['command']} on {args['target']}"
    if tool == "remember":
        return f"remember that {args['text']}"
    return f'send "{args["text"]}" to #{args["to"].lstrip("#")}'


def _check(core: Core, outcome: Outcome, speaker: Speaker, acts: frozenset[Act]) -> None:
    """Raise unless the words of `speaker` ask for one of `acts` that could be done as it stands."""
    for handler in core.acts:
        request = handler.read(core, speaker, outcome.at)
        if request is None:
            continue
        decision = handler.resolve(core, outcome, speaker, request)
        if request.act not in acts:
            break
        match decision:
            case Allow() | Confirm():
                return
            case Clarify(question=question):
                raise _UnreadError(f"it is unclear: {question}")
            case Deny(reason=reason):
                raise _UnreadError(reason.text)
    raise _UnreadError(f"sayso does not understand: {speaker.said}. Say it in other words.")
