"""Requests: from words to a proposal, a run, a question or the nearest things that can be done.

Plans what was asked and proposes it, or asks which of several readings is meant. What a runbook needs is
asked for by `bot.runbooks.inputs`, and `bot.runbooks.runner` runs it. An option stands for a full request:
picking one is handled as if that had been typed, gate and all (C11).
"""

from dataclasses import replace

from bot import choices
from bot.answering import Speaker, record_denial, supersede
from bot.core import Core
from bot.outcome import Outcome
from bot.planning import groups, runbooks
from bot.planning.drafts import ActionDraft, Plan, Question, RunbookPlan, Unplaced
from bot.planning.drafts import Outcome as Planned
from bot.planning.model import beginning
from bot.planning.plan import plan
from bot.proposing import Asked, Denied, bind, paced, propose
from bot.runbooks import inputs, runner
from bot.text import Text
from gate.domain import ProposalId, Reason, ReasonCode
from ledger.views import ProposalView


def is_request(core: Core, text: str) -> bool:
    """Whether `text` can be read as something that is done here, if only as a choice."""
    return isinstance(planned(core, text), Plan | RunbookPlan | Question)


def requested(core: Core, text: str) -> tuple[ActionDraft, ...]:
    """Return what `text` asks for without doubt, on a target that it names; () when it does not.

    "run uptime on web1" asks for something whatever waits; "run it" and "run 1 and 3" do not. A runbook is
    asked for by its id or its title, and stands here as a draft of its literal request.
    """
    read = planned(core, text)
    if not isinstance(read, Plan | RunbookPlan) or read.confidence < 1:
        return ()
    names = {*map(str, core.inventory.targets), *(f"@{tag}" for tag in core.inventory.tags)}
    words = {word.strip(".,:;?!").casefold() for word in text.split()}
    if isinstance(read, RunbookPlan):
        whole = runbooks.request(read)
        draft = ActionDraft(target_words=read.target_words or ("",), command=whole, purpose=text)
        return (draft,) if names & words or "runbook" in words else ()
    many = any(word.startswith("@") or word == groups.ALL for one in read.drafts for word in one.target_words)
    return tuple(read.drafts) if many or names & words else ()


def is_certain(core: Core, text: str) -> bool:
    """Whether `text` is without doubt something that is done here, on whatever target."""
    read = planned(core, text)
    return isinstance(read, Plan | RunbookPlan) and read.confidence >= 1


def can_place(core: Core, text: str) -> bool:
    """Whether `text` can be read as something that is done here, if only as a choice."""
    read = planned(core, text)
    return isinstance(read, Plan | RunbookPlan) or (isinstance(read, Question) and bool(read.options))


def planned(core: Core, text: str) -> Planned:
    """Return how the planner reads `text`."""
    return plan(
        text,
        targets=tuple(str(name) for name in core.inventory.targets),
        tags=tuple(core.inventory.tags),
        services={name: tuple(map(str, one.on)) for name, one in core.inventory.services.items()},
        library=core.library,
    )


def ask(core: Core, outcome: Outcome, speaker: Speaker, text: str, *, purpose: str = "") -> None:
    """Plan and propose `text`; `purpose` is what was really said, where an option stands for it."""
    match planned(core, text):
        case Plan() as read:
            _propose(core, outcome, speaker, read, purpose=purpose)
        case RunbookPlan() as read:
            _run(core, outcome, speaker, read, purpose=purpose or text)
        case Question(partly=True) as read:
            why = beginning.begin(core, outcome, speaker, said=text)
            if why is not None:
                _clarify(core, outcome, speaker, replace(read, text=f"{read.text} {why}".strip()))
        case Question() as read:
            _clarify(core, outcome, speaker, read)
        case Unplaced() | None as read:
            _think(core, outcome, speaker, read, said=text)


def _think(core: Core, outcome: Outcome, speaker: Speaker, planned: Unplaced | None, *, said: str) -> None:
    """Let a model plan what nothing else reads; small talk only where it goes on with what one answered."""
    talk = planned is None and not beginning.talks(core, outcome, speaker)
    why = "" if talk else beginning.begin(core, outcome, speaker, said=said)
    if why is not None:
        _cannot(outcome, speaker, planned, why=why)


def _run(core: Core, outcome: Outcome, speaker: Speaker, plan: RunbookPlan, *, purpose: str) -> None:
    complete = inputs.take(core, outcome, speaker, plan, said=purpose)
    if complete is None:
        return
    secret = any(plan.document.inputs[name].secret for name in complete.inputs)
    said = runbooks.shown(complete) if secret else purpose
    runner.start(core, outcome, speaker, complete, said=said)


def instead(
    core: Core, outcome: Outcome, speaker: Speaker, old: ProposalView, request: str, *, purpose: str = ""
) -> None:
    """Propose `request` instead of `old`, which waits on where it is no request.

    Args:
        purpose: what was really said, where `request` was composed from it.
    """
    read = planned(core, request)
    if isinstance(read, Plan):
        made = _propose(core, outcome, speaker, read, purpose=purpose, replaces=old)
        if made is not None:
            supersede(core, outcome, old.id, by=made, place=old.shown_in)
            return
    elif isinstance(read, Question):
        outcome.say(Text.of(choices.masked(core, read.text)))
    elif isinstance(read, RunbookPlan):
        outcome.say(Text.of(f"A runbook does not take the place of a card. Ask for it by itself:  {request}"))
    else:
        _cannot(outcome, speaker, read)
    outcome.say(Text.of(f"#{old.id} still waits as it was."))
    outcome.shows.append(old.id)


def _propose(
    core: Core,
    outcome: Outcome,
    speaker: Speaker,
    planned: Plan,
    *,
    purpose: str,
    replaces: ProposalView | None = None,
) -> ProposalId | None:
    """Propose what was planned; None where that was denied, which is said."""
    proposal = ProposalId(core.ids.short_id())
    drafts = [replace(draft, purpose=purpose or draft.purpose) for draft in planned.drafts]
    bound = bind(core, drafts, proposal=proposal)
    if not isinstance(bound, Denied):
        pace, selector = paced(drafts)
        asked = Asked(
            requester=speaker.operator.id,
            place=outcome.place,
            shown_in=outcome.place if replaces is None else replaces.shown_in,
            source=planned.source.value,
            replaces=None if replaces is None else replaces.id,
            pace=pace,
            selector=selector,
        )
        made = propose(core, outcome, bound, asked)
        if not isinstance(made, Denied):
            return made
        bound = made
    outcome.say(Text.of(bound.reason.text))
    record_denial(
        outcome,
        bound.reason,
        person=speaker.operator.id,
        said=speaker.said,
        command=bound.command,
        target=bound.target,
    )
    return None


def _cannot(outcome: Outcome, speaker: Speaker, planned: Unplaced | None, *, why: str = "") -> None:
    nearest = () if planned is None else planned.nearest
    quoted = ", ".join(f'"{one}"' for one in nearest)
    closest = f"Closest: {quoted}. " if nearest else ""
    text = f"Nothing here does that. {closest}Or say  run <command> on <target>.  help lists more."
    outcome.say(Text.of(text, *([why] if why else [])))
    reason = Reason(code=ReasonCode.CANNOT_PLACE, text=f"{text} {why}".rstrip())
    record_denial(outcome, reason, person=speaker.operator.id, said=speaker.said)


def _clarify(core: Core, outcome: Outcome, speaker: Speaker, question: Question) -> None:
    if not question.options:
        text = choices.masked(core, question.text)
        outcome.say(Text.of(text))
        reason = Reason(code=ReasonCode.CANNOT_PLACE, text=text)
        record_denial(outcome, reason, person=speaker.operator.id, said=speaker.said)
        return
    options = [(one.label, one.request) for one in question.options]
    asked = choices.Choice(question=question.text, options=options, open_s=core.policy.clarification_s)
    choices.ask(core, outcome, speaker, asked)
