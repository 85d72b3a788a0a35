"""Choices: a question with one button per answer, from being asked to its end.

What an option stands for is kept as text and handed back when it is picked; whose it is and what follows is
decided by `bot.requests`. A choice is never consent (C11).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot import tokens
from bot.answering import Speaker
from bot.core import Core
from bot.origin import is_machine
from bot.outcome import Outcome
from bot.phrasing import clock_time
from bot.text import Span, Text, muted
from gate.lifecycle import ClarificationState
from gate.redact import redact_command
from ledger.codec import instant
from ledger.kinds import ClarificationIs, Json, Kind
from ledger.views import ClarificationView, OptionView

#: The most buttons that fit under a message anywhere; of more options only the numbers are shown.
MAX_BUTTONS = 25
#: What the token of a choice's Cancel is bound to.
_DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A question to be.

    Attributes:
        options: (label, what it stands for), in the order of their numbers.
        commitment: the act that waits for the answer; "" for a request.
        free: the slot or input that an answer in words fills; "" where only an option answers.
        so_far: the request that an answer in words completes; "" where it completes none.
        form: whether a press opens a form for everything that is missing.
        said: the words that all of it began with; "" for those that are said now.
        open_s: seconds until it expires.
    """

    question: str
    options: Sequence[tuple[str, str]]
    open_s: int
    commitment: str = ""
    free: str = ""
    so_far: str = ""
    form: bool = False
    said: str = ""


def ask(core: Core, outcome: Outcome, speaker: Speaker, choice: Choice) -> None:
    """Record and post `choice`; secrets in it are masked, what an option stands for stays as it is."""
    question = masked(core, choice.question)
    options = [(masked(core, label), stands_for) for label, stands_for in choice.options]
    clarification = core.ids.short_id()
    deadline = outcome.at + timedelta(seconds=choice.open_s)
    body: dict[str, Json] = {
        "clarification": clarification,
        "place": outcome.place,
        "person": speaker.operator.id,
        "deadline_at": instant(deadline),
        "default": "cancel",  # nobody's silence picks anything (C8)
    }
    if choice.commitment:
        body["commitment"] = choice.commitment
    if choice.commitment or choice.so_far:
        body["free"] = choice.free
    outcome.write(
        Kind.CLARIFICATION_ASKED,
        correlation_id=choice.commitment or clarification,
        body=body,
        words={
            "question": question,
            "choices": json.dumps([list(one) for one in options], ensure_ascii=False),
            "said": choice.said or speaker.said,
            **({"so_far": choice.so_far} if choice.so_far else {}),
        },
    )
    lines: list[str | Span | list[Span | str]] = [question]
    lines += [f"{number}  {label}" for number, (label, _) in enumerate(options, start=1)]
    fits = len(options) < MAX_BUTTONS
    until = clock_time(deadline, zone=speaker.zone, now=outcome.at)
    if is_machine(speaker.operator.id):  # whoever reads it may press; words said there answer no machine
        lines.append(f"Press one, or ask for it in words. until {until}")
    else:
        lines.append(f"{_how(choice, fits=fits)} cancel drops it. until {until}".lstrip())
    buttons = [
        (
            label,
            tokens.make(
                core.token_key, choice=tokens.PICK, subject=f"{clarification}:{number}", shown=stands_for
            ),
            "neutral",
        )
        for number, (label, stands_for) in enumerate(options if fits else (), start=1)
    ]
    if choice.form:
        fill = tokens.make(core.token_key, choice=tokens.FILL, subject=clarification, shown=choice.so_far)
        buttons.append((tokens.LABELS[tokens.FILL], fill, "go"))
    drop = tokens.make(core.token_key, choice=tokens.DROP, subject=clarification, shown=_DROP)
    outcome.say(
        Text.of(*lines), buttons=(*buttons, (tokens.LABELS[tokens.DROP], drop, "stop")), choice=clarification
    )


def _how(choice: Choice, *, fits: bool) -> str:
    free = bool(choice.free)
    if not choice.options:
        said = "Say it in your next message." if free else ""
        return said if not choice.form else f"Press Fill in, or: {said}" if free else "Press Fill in."
    pick = "Press one, or say its number or name" if fits else "Say its number or name"
    return f"{pick}, or say it in words." if free else f"{pick}."


def masked(core: Core, text: str) -> str:
    """Return `text` as people see it."""
    return redact_command(text, extra=core.secrets).text


def pressed(
    core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str
) -> tuple[ClarificationView, OptionView] | None:
    """Return the choice and option of a pressed button; None, which is said, where it counts for nothing."""
    name, _, number = claim.subject.partition(":")
    choice = core.queries.clarification(name)
    if choice is None or choice.deadline_at <= outcome.at:
        outcome.note(Text.of("That choice is not open any more. Nothing ran. Ask again."))
        return None
    index = int(number) if number.isascii() and number.isdigit() else 0
    option = choice.options[index - 1] if 1 <= index <= len(choice.options) else None
    if option is None or not tokens.is_valid(core.token_key, token, shown=option.request):
        outcome.note(Text.of("That button belongs to nothing here. Nothing ran."))
        return None
    if choice.person != speaker.operator.id and not is_machine(choice.person):
        outcome.note(Text.of(f"That question is {choice.person}'s. Ask it anew to choose yourself."))
        return None
    return choice, option


def dropped(
    core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str
) -> ClarificationView | None:
    """Return the choice whose Cancel was pressed; None where the press counts for nothing, which is said."""
    choice = core.queries.clarification(claim.subject)
    if choice is None or not tokens.is_valid(core.token_key, token, shown=_DROP):
        outcome.note(Text.of("That choice is not open any more. Nothing ran."))
        return None
    if choice.person != speaker.operator.id and not is_machine(choice.person):
        outcome.note(Text.of(f"That question is {choice.person}'s."))
        return None
    return choice


def open_one(core: Core, outcome: Outcome, speaker: Speaker) -> ClarificationView | None:
    """Return the newest choice of a speaker that is open here."""
    mine = [
        one
        for one in core.queries.clarifications()
        if one.place == outcome.place and one.person == speaker.operator.id and one.deadline_at > outcome.at
    ]
    return mine[-1] if mine else None


def named(choice: ClarificationView, said: str) -> OptionView | None:
    """Return the option that `said` names by number or label, exactly."""
    word = said.strip().rstrip(".").casefold()
    found = [
        option
        for number, option in enumerate(choice.options, start=1)
        if word in (str(number), option.label.casefold())
    ]
    # Labels may be alike once their secrets are masked; then only the number names one.
    return found[0] if len(found) == 1 else None


def end(
    outcome: Outcome,
    choice: ClarificationView,
    kind: Kind,
    speaker: Speaker,
    *,
    picked: OptionView | None = None,
) -> None:
    """Record how a choice ended, and let the posted one show it without buttons."""
    outcome.expect(ClarificationIs(choice.id, ClarificationState.PENDING))
    outcome.write(
        kind,
        correlation_id=choice.commitment or choice.id,
        body={"clarification": choice.id, "by": speaker.operator.id},
        words={"said": speaker.said, "picked": "" if picked is None else picked.request},
    )
    show_end(outcome, choice, _ENDS[kind] if picked is None else f"→ {picked.label}")


_ENDS = {
    Kind.CLARIFICATION_ANSWERED: "answered",
    Kind.CLARIFICATION_CANCELLED: "dropped, nothing ran",
    Kind.CLARIFICATION_SUPERSEDED: "something else was asked, nothing ran from this",
}


def show_end(outcome: Outcome, choice: ClarificationView, how: str) -> None:
    """Let the posted choice show how it ended, without buttons (C25)."""
    outcome.close_choice(choice.id, Text.of(choice.question, muted(how)), place=choice.place)
