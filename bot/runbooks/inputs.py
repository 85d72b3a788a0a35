"""What a run needs before it may begin: one target, and a value for each required input (R18).

What is missing is asked for: buttons where there are few values, a form where the platform has forms, else
the next message. An answer is added to the request so far, and the whole goes the way of a request that was
typed, so nothing is kept but words. A secret is asked for where nobody else reads: in a form, or in a direct
message. Nothing is run or proposed here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot import choices, tokens
from bot.answering import Speaker, record_denial
from bot.core import Core
from bot.outcome import Outcome
from bot.planning import runbooks
from bot.planning.drafts import Question, RunbookPlan
from bot.planning.grammar import Known
from bot.planning.library import TARGET_SLOT, Document
from bot.ports import Form
from bot.text import Text
from gate.domain import Reason, ReasonCode
from gate.supervise.domain import InputSpec, InputType
from ledger.views import ClarificationView

#: Of more values than this only a form or words choose.
MAX_OPTIONS = 10
_TITLE_MAX, _LABEL_MAX, _HINT_MAX = 24, 45, 60


# ---------------------------------------------------------------- what is missing


def take(
    core: Core, outcome: Outcome, speaker: Speaker, plan: RunbookPlan, *, said: str
) -> RunbookPlan | None:
    """Return `plan` with its one target once nothing is missing; else None, and what is missing was asked.

    Args:
        said: the words that the run was asked for in, first of all.
    """
    if opened := said_openly(plan, speaker):
        _deny(outcome, speaker, opened)
        return None
    if strange := [name for name in plan.wrong if name not in plan.missing]:
        name = strange[0]  # nobody would ask for it again, and what was meant is not its default
        what = f"{name} does not fit. It has to be {wants(plan.document.inputs[name])}. Nothing ran."
        _deny(outcome, speaker, f"{what} Say it again:  {runbooks.shown(plan)}")
        return None
    placed = _placed(core, outcome, speaker, plan, said=said)
    if placed is None:
        return None
    if not placed.missing:
        return placed
    _ask(core, outcome, speaker, placed, said=said)
    return None


def said_openly(plan: RunbookPlan, speaker: Speaker) -> str:
    """Return what to say where `speaker` said a secret that others read; "" where they did not."""
    if speaker.alone:
        return ""
    secrets = [
        name
        for name, value in plan.inputs.items()
        if plan.document.inputs[name].secret and value and runbooks.says(speaker.said, value)
    ]
    if not secrets:
        return ""
    return (
        f"{secrets[0]} is a secret, and it was said where others read it. Nothing ran, and it was not used. "
        "Change it, then say it to me in a direct message."
    )


def _placed(
    core: Core, outcome: Outcome, speaker: Speaker, plan: RunbookPlan, *, said: str
) -> RunbookPlan | None:
    """Return `plan` on one target, or on none where it needs none; None where that was asked or refused."""
    names: list[str] = []
    for word in plan.target_words:
        found = core.inventory.select(word)
        if not isinstance(found, tuple):
            outcome.say(Text.of(found.reason.text))
            record_denial(outcome, found.reason, person=speaker.operator.id, said=speaker.said)
            return None
        names += [str(target.id) for target in found]
    if not names and not plan.document.needs_target:
        return plan
    known = [str(name) for name in core.inventory.targets]
    if not names and len(known) == 1:
        names = known
    if len(set(names)) == 1:
        return replace(plan, target_words=(names[0],))
    listed = list(dict.fromkeys(names)) or known
    if not listed:
        _deny(outcome, speaker, "No target is known. Add one to [targets] in the config.")
        return None
    options = [
        (name, runbooks.request(replace(plan, target_words=(name,))))
        for name in listed[: choices.MAX_BUTTONS - 1]
    ]
    why = "A run is on one target." if names else ""
    question = f"{why} On which target? {plan.document.title}".strip()
    ask = choices.Choice(
        question=question,
        options=options,
        open_s=core.policy.clarification_s,
        said=said,
        so_far=runbooks.request(replace(plan, target_words=())),
        free="" if TARGET_SLOT in plan.document.inputs else TARGET_SLOT,
    )
    choices.ask(core, outcome, speaker, ask)
    return None


def _ask(core: Core, outcome: Outcome, speaker: Speaker, plan: RunbookPlan, *, said: str) -> None:
    needed = plan.missing
    # What may be said here comes first; in company, secrets wait for a form.
    spoken = [name for name in needed if speaker.alone or not plan.document.inputs[name].secret]
    first = spoken[0] if spoken else ""
    has_form = len(needed) > 1 or not spoken
    ask = choices.Choice(
        question="\n".join(_question(plan, needed, first=first)),
        options=[] if not first else _options(core, plan, first),
        open_s=core.policy.clarification_s,
        said=said,
        free=first,
        so_far=runbooks.request(plan),
        form=has_form,
    )
    choices.ask(core, outcome, speaker, ask)


def _question(plan: RunbookPlan, needed: Sequence[str], *, first: str) -> list[str]:
    document = plan.document
    lines = [f"{name} does not fit. It has to be {wants(document.inputs[name])}." for name in plan.wrong]
    if len(needed) == 1 and first:
        lines.append(f"Which {label(document, first)}? {_sentence(wants(document.inputs[first]))}")
        return lines
    lines.append(f"{document.id} needs:")
    for name in needed:
        called = f"{document.labels[name]}, " if name in document.labels else ""
        lines.append(f"  {name}: {called}{wants(document.inputs[name])}")
    secrets = [name for name in needed if document.inputs[name].secret and name != first]
    if secrets and not first:
        lines.append(f"{', '.join(secrets)}: secret, so say it in the form, or in a direct message:")
        lines.append(f"  {runbooks.shown(plan)}")
    elif first:
        example = ", ".join(f"{name}=…" for name in needed)
        lines.append(f"Say them by name ({example}), or one at a time, first {first}.")
    return lines


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def label(document: Document, name: str) -> str:
    """Return what people call an input."""
    return document.labels.get(name, name)


def _options(core: Core, plan: RunbookPlan, name: str) -> list[tuple[str, str]]:
    """Return the few values that an input may have, each as the whole request with it."""
    return [
        (said, runbooks.request(replace(plan, inputs={**plan.inputs, name: value}, missing=(), wrong=())))
        for said, value in _values(core, plan, plan.document.inputs[name])[:MAX_OPTIONS]
    ]


def _values(core: Core, plan: RunbookPlan, declared: InputSpec) -> list[tuple[str, str]]:
    if declared.enum:
        return [(value, value) for value in declared.enum]
    if declared.type is InputType.BOOLEAN:
        return [("yes", "true"), ("no", "false")]
    if declared.type is not InputType.SERVICE:
        return []
    here = set(plan.target_words)
    return [
        (name, name)
        for name, one in core.inventory.services.items()
        if not here or here & set(map(str, one.on))
    ]


_WANTS: Mapping[InputType, str] = {
    InputType.STRING: "words of letters, digits and _ . , : @ / + = -",
    InputType.INTEGER: "a whole number",
    InputType.BOOLEAN: "true or false",
    InputType.SERVICE: "the name of a service, such as caddy",
    InputType.NAME: "a name of letters, digits and _ . + -",
    InputType.PATH: "a path that begins with /",
    InputType.HOST: "a host name or an address",
    InputType.URL: "an http or https address without a password",
    InputType.DURATION: "a time such as 30s, 5m or 2h",
    InputType.TEXT: "words that do not begin with -",
}


def wants(declared: InputSpec) -> str:
    """Return what a value has to be like, in words."""
    if declared.enum:
        return f"one of {', '.join(declared.enum)}"
    if declared.type is InputType.INTEGER:
        least = declared.minimum or 0
        most = 999_999 if declared.maximum is None else declared.maximum
        return f"a whole number from {least} to {most}"
    return _WANTS[declared.type]


def _deny(outcome: Outcome, speaker: Speaker, text: str) -> None:
    outcome.say(Text.of(text))
    reason = Reason(code=ReasonCode.CANNOT_PLACE, text=text)
    record_denial(outcome, reason, person=speaker.operator.id, said=speaker.said)


# ---------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an answer comes to: the whole request with it, or why it counts for nothing."""

    request: str = ""
    refusal: str = ""


def is_answer(core: Core, choice: ClarificationView, said: str) -> bool:
    """Whether `said` is a value of what was asked, or says values by name."""
    plan = plan_of(core, choice)
    if plan is None:
        return False
    declared = plan.document.inputs
    named = runbooks.said_by_name(said)
    if named and set(named) <= set(declared):
        return True
    return choice.free in declared and declared[choice.free].accepts(said.strip())


def completed(core: Core, choice: ClarificationView, said: str, *, alone: bool) -> Answer:
    """Return the request that `said` makes of what was asked.

    Args:
        alone: nobody else could read `said`.
    """
    plan = plan_of(core, choice)
    if plan is None:
        return Answer(refusal="That is not open any more. Nothing ran. Ask again.")
    named = runbooks.said_by_name(said)
    declared = plan.document.inputs
    if named and not set(named) <= set(declared):
        named = {}
    if not named and choice.free == TARGET_SLOT and TARGET_SLOT not in declared:
        return Answer(request=runbooks.request(replace(plan, target_words=tuple(said.split()))))
    values = named or {choice.free or plan.missing[0]: said.strip()}
    if not alone and any(declared[name].secret for name in values):
        name = next(name for name in values if declared[name].secret)
        return Answer(
            refusal=f"{name} is a secret, and that was said where others read it. It was not used. "
            "Change it, then press Fill in, or say it to me in a direct message."
        )
    return Answer(
        request=runbooks.written(plan.document, {**plan.inputs, **values}, targets=plan.target_words)
    )


def plan_of(core: Core, choice: ClarificationView) -> RunbookPlan | None:
    """Return the plan that an open question is about; None where its runbook is gone, or its words are."""
    known = Known(targets=tuple(str(name) for name in core.inventory.targets))
    found = runbooks.parse(choice.so_far, library=core.library, known=known)
    return None if found is None or isinstance(found, Question) else found


# ---------------------------------------------------------------- the form


def asked(
    core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str
) -> ClarificationView | None:
    """Return the open question that a press or a form is about; None, which is said, where there is none."""
    choice = core.queries.clarification(claim.subject)
    fits = choice is not None and tokens.is_valid(core.token_key, token, shown=choice.so_far)
    if choice is None or not fits or choice.deadline_at <= outcome.at:
        outcome.note(Text.of("That question is not open any more. Nothing ran. Ask again."))
        return None
    if choice.person != speaker.operator.id:
        outcome.note(Text.of(f"That question is {choice.person}'s. Ask it anew to answer yourself."))
        return None
    return choice


def form_for(core: Core, claim: tokens.Claim, token: str, person: str) -> Form | None:
    """Return the form for everything that an open question asks; None where the press opens none."""
    choice = core.queries.clarification(claim.subject)
    if (
        choice is None
        or choice.person != person
        or not tokens.is_valid(core.token_key, token, shown=choice.so_far)
    ):
        return None
    plan = plan_of(core, choice)
    needed = () if plan is None else plan.missing
    if plan is None or not needed:
        return None
    made = tokens.make(core.token_key, choice=tokens.FILL_FORM, subject=choice.id, shown=choice.so_far)
    title = plan.document.title[:_TITLE_MAX]
    if len(needed) == 1:
        name = needed[0]
        hint = wants(plan.document.inputs[name])[:_HINT_MAX]
        return Form(token=made, title=title, label=label(plan.document, name)[:_LABEL_MAX], hint=hint)
    blank = "\n".join(f"{name}: " for name in needed)
    return Form(token=made, title=title, label="One a line, after its colon", initial=blank, lines=True)


def say_form(core: Core, outcome: Outcome, choice: ClarificationView, *, privately: bool) -> None:
    """Say in words what the form asks for: `privately` beside one that may not have opened in time."""
    plan = plan_of(core, choice)
    if plan is None:
        return
    example = ", ".join(f"{name}=…" for name in plan.missing if not plan.document.inputs[name].secret)
    secrets = [name for name in plan.missing if plan.document.inputs[name].secret]
    lines = [f"Say them in your next message:  {example}"] if example else []
    if secrets:
        lines.append(
            f"{', '.join(secrets)}: in a direct message to me:  {runbooks.shown(plan)} with {secrets[0]}=…"
        )
    if privately:
        outcome.note(Text.of(*lines))
    else:
        outcome.say(Text.of(*lines))
