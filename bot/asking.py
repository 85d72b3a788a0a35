"""Requests: from words to a proposal, a question or the nearest things that can be done.

Plans what was asked, proposes it, and keeps the choices that an unclear request leads to. A choice is never
consent (C11): picking one is handled as if its full request had been typed, gate and all.
"""

import json
from dataclasses import replace
from datetime import timedelta

from bot import tokens
from bot.answering import Speaker, record_denial, supersede
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import clock_time
from bot.planning.drafts import ActionDraft, Plan, Question, Unplaced
from bot.planning.drafts import Outcome as Planned
from bot.planning.plan import plan
from bot.proposing import Asked, Denied, bind, propose
from bot.text import Span, Text, muted
from gate.domain import ProposalId, Reason, ReasonCode
from gate.lifecycle import ClarificationState
from gate.redact import redact_command
from ledger.codec import instant
from ledger.kinds import ClarificationIs, Json, Kind
from ledger.views import ClarificationView, ProposalView

#: The most buttons that fit under a message anywhere; of more options only the numbers are shown.
MAX_BUTTONS = 25
#: What the token of a choice's Cancel is bound to.
_DROP = "drop"


def ask(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """Handle words that answer nothing that waits."""
    choice = _open_choice(core, outcome, speaker)
    if choice is not None:
        request = _chosen(choice, speaker.said)
        if request is not None:
            _end_choice(outcome, choice, Kind.CLARIFICATION_ANSWERED, speaker, picked=request)
            _request(core, outcome, speaker, request, purpose=choice.said)
            return
    _request(core, outcome, speaker, speaker.said, choice=choice)


def requested(core: Core, text: str) -> tuple[ActionDraft, ...]:
    """Return what `text` asks for without doubt, on a target that it names; () when it does not.

    "run uptime on web1" asks for something whatever waits; "run it" and "run 1 and 3" do not.
    """
    read = planned(core, text)
    if not isinstance(read, Plan) or read.confidence < 1:
        return ()
    names = {*map(str, core.inventory.targets), *(f"@{tag}" for tag in core.inventory.tags)}
    words = {word.strip(".,:;?!").casefold() for word in text.split()}
    return tuple(read.drafts) if names & words else ()


def can_place(core: Core, text: str) -> bool:
    """Whether `text` can be read as something that is done here, if only as a choice."""
    read = planned(core, text)
    return isinstance(read, Plan) or (isinstance(read, Question) and bool(read.options))


def planned(core: Core, text: str) -> Planned:
    """Return how the planner reads `text`."""
    return plan(
        text,
        targets=tuple(str(name) for name in core.inventory.targets),
        tags=tuple(core.inventory.tags),
        services={name: tuple(map(str, one.on)) for name, one in core.inventory.services.items()},
        library=core.library,
    )


def _request(
    core: Core,
    outcome: Outcome,
    speaker: Speaker,
    text: str,
    *,
    choice: ClarificationView | None = None,
    purpose: str = "",
) -> None:
    """Plan and propose `text`; `purpose` is what was really said, where an option stands for it."""
    read = planned(core, text)
    if isinstance(read, Plan | Question) and choice is not None:
        _end_choice(outcome, choice, Kind.CLARIFICATION_SUPERSEDED, speaker, picked="")
    match read:
        case Plan():
            _propose(core, outcome, speaker, read, purpose=purpose)
        case Question():
            _clarify(core, outcome, speaker, read)
        case Unplaced() | None:
            _cannot(outcome, speaker, read)


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
        outcome.say(Text.of(_shown(core, read).text))
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
        asked = Asked(
            requester=speaker.operator.id,
            place=outcome.place,
            shown_in=outcome.place if replaces is None else replaces.shown_in,
            source=planned.source.value,
            replaces=None if replaces is None else replaces.id,
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


def _cannot(outcome: Outcome, speaker: Speaker, planned: Unplaced | None) -> None:
    nearest = () if planned is None else planned.nearest
    quoted = ", ".join(f'"{one}"' for one in nearest)
    closest = f"Closest: {quoted}. " if nearest else ""
    text = f"Nothing here does that. {closest}Or say  run <command> on <target>.  help lists more."
    outcome.say(Text.of(text))
    reason = Reason(code=ReasonCode.CANNOT_PLACE, text=text)
    record_denial(outcome, reason, person=speaker.operator.id, said=speaker.said)


# ---------------------------------------------------------------- choices


def _clarify(core: Core, outcome: Outcome, speaker: Speaker, question: Question) -> None:
    question = _shown(core, question)
    if not question.options:
        outcome.say(Text.of(question.text))
        reason = Reason(code=ReasonCode.CANNOT_PLACE, text=question.text)
        record_denial(outcome, reason, person=speaker.operator.id, said=speaker.said)
        return
    clarification = core.ids.short_id()
    deadline = outcome.at + timedelta(seconds=core.policy.clarification_s)
    choices = [[option.label, option.request] for option in question.options]
    outcome.write(
        Kind.CLARIFICATION_ASKED,
        correlation_id=clarification,
        body={
            "clarification": clarification,
            "place": outcome.place,
            "person": speaker.operator.id,
            "deadline_at": instant(deadline),
        },
        words={
            "question": question.text,
            "choices": json.dumps(choices, ensure_ascii=False),
            "said": speaker.said,
        },
    )
    lines: list[str | Span | list[Span | str]] = [question.text]
    lines += [f"{number}  {option.label}" for number, option in enumerate(question.options, start=1)]
    until = clock_time(deadline, zone=speaker.zone, now=outcome.at)
    fits = len(question.options) < MAX_BUTTONS
    how = "Press one, or say its number or name." if fits else "Say its number or name."
    lines.append(f"{how} cancel drops it. until {until}")
    buttons = [
        (
            option.label,
            tokens.make(
                core.token_key,
                choice=tokens.PICK,
                subject=f"{clarification}:{number}",
                shown=option.request,
            ),
            "neutral",
        )
        for number, option in enumerate(question.options if fits else (), start=1)
    ]
    drop = tokens.make(core.token_key, choice=tokens.DROP, subject=clarification, shown=_DROP)
    outcome.say(
        Text.of(*lines), buttons=(*buttons, (tokens.LABELS[tokens.DROP], drop, "stop")), choice=clarification
    )


def _shown(core: Core, question: Question) -> Question:
    """Return `question` with secrets masked where people look; what an option runs stays as typed."""

    def masked(text: str) -> str:
        return redact_command(text, extra=core.secrets).text

    options = tuple(replace(option, label=masked(option.label)) for option in question.options)
    return replace(question, text=masked(question.text), options=options)


def pick(core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str) -> None:
    """Handle a pressed option."""
    name, _, number = claim.subject.partition(":")
    choice = core.queries.clarification(name)
    if choice is None or choice.deadline_at <= outcome.at:
        outcome.note(Text.of("That choice is not open any more. Nothing ran. Ask again."))
        return
    index = int(number) if number.isascii() and number.isdigit() else 0
    if not 1 <= index <= len(choice.options):
        outcome.note(Text.of("That button belongs to nothing here. Nothing ran."))
        return
    option = choice.options[index - 1]
    if not tokens.is_valid(core.token_key, token, shown=option.request):
        outcome.note(Text.of("That button belongs to nothing here. Nothing ran."))
        return
    if choice.person != speaker.operator.id:
        outcome.note(Text.of(f"That question is {choice.person}'s. Ask it anew to choose yourself."))
        return
    _end_choice(outcome, choice, Kind.CLARIFICATION_ANSWERED, speaker, picked=option.request)
    _request(core, outcome, speaker, option.request, purpose=choice.said)


def drop(core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str) -> None:
    """Handle a pressed Cancel of a choice."""
    choice = core.queries.clarification(claim.subject)
    if choice is None or not tokens.is_valid(core.token_key, token, shown=_DROP):
        outcome.note(Text.of("That choice is not open any more. Nothing ran."))
    elif choice.person != speaker.operator.id:
        outcome.note(Text.of(f"That question is {choice.person}'s."))
    else:
        _end_choice(outcome, choice, Kind.CLARIFICATION_CANCELLED, speaker, picked="")
        outcome.say(Text.of("Dropped. Nothing ran."))


def drop_choice(core: Core, outcome: Outcome, speaker: Speaker) -> bool:
    """Cancel the open choice of a speaker; False where there is none."""
    choice = _open_choice(core, outcome, speaker)
    if choice is None:
        return False
    _end_choice(outcome, choice, Kind.CLARIFICATION_CANCELLED, speaker, picked="")
    return True


def _open_choice(core: Core, outcome: Outcome, speaker: Speaker) -> ClarificationView | None:
    mine = [
        one
        for one in core.queries.clarifications()
        if one.place == outcome.place and one.person == speaker.operator.id and one.deadline_at > outcome.at
    ]
    return mine[-1] if mine else None


def _chosen(choice: ClarificationView, said: str) -> str | None:
    """Return the request of the option that `said` names by number or label, exactly."""
    word = said.strip().rstrip(".").casefold()
    found = [
        option.request
        for number, option in enumerate(choice.options, start=1)
        if word in (str(number), option.label.casefold())
    ]
    # Labels may be alike once their secrets are masked; then only the number names one.
    return found[0] if len(found) == 1 else None


def _end_choice(
    outcome: Outcome, choice: ClarificationView, kind: Kind, speaker: Speaker, *, picked: str
) -> None:
    outcome.expect(ClarificationIs(choice.id, ClarificationState.PENDING))
    body: dict[str, Json] = {"clarification": choice.id, "by": speaker.operator.id}
    outcome.write(kind, correlation_id=choice.id, body=body, words={"said": speaker.said, "picked": picked})
    label = next((one.label for one in choice.options if picked and one.request == picked), "")
    show_end(outcome, choice, f"→ {label}" if label else _ENDS[kind])


_ENDS = {
    Kind.CLARIFICATION_ANSWERED: "answered",
    Kind.CLARIFICATION_CANCELLED: "dropped, nothing ran",
    Kind.CLARIFICATION_SUPERSEDED: "something else was asked, nothing ran from this",
}


def show_end(outcome: Outcome, choice: ClarificationView, how: str) -> None:
    """Let the posted choice show how it ended, without buttons (C25)."""
    outcome.close_choice(choice.id, Text.of(choice.question, muted(how)), place=choice.place)
