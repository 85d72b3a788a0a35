"""Requests: answers to an open question, acts such as a reminder, and commands.

What is certainly an answer or an act is taken before anything is read as a yes or a no: "cancel my reminder"
drops no card, and "tomorrow at 9" puts nothing off where a time was asked for. What was asked before gives
way to a new request (K34); words that are neither leave it open.
"""

from dataclasses import replace

from bot import asking, choices, tokens
from bot.acts import dispatch
from bot.answering import Speaker
from bot.core import Core
from bot.hearing import reader
from bot.outcome import Outcome
from bot.planning.model import beginning
from bot.runbooks import inputs
from bot.text import Text
from gate.domain import AssentVerdict
from ledger.kinds import Kind
from ledger.views import ClarificationView, OptionView


def first(core: Core, outcome: Outcome, speaker: Speaker, *, waits: bool) -> bool:
    """Handle words that are certainly an answer to an open question, or an act; False for all others.

    Args:
        waits: whether the next words of `speaker` count for a card; then they answer no older question.
    """
    choice = None if waits else choices.open_one(core, outcome, speaker)
    option = None if choice is None else choices.named(choice, speaker.said)
    if choice is not None and option is not None:
        _picked(core, outcome, speaker, choice, option)
        return True
    if dispatch.take(core, outcome, speaker):
        _give_way(core, outcome, speaker, choice)
        return True
    waits_for_words = choice is not None and bool(choice.commitment or choice.so_far)
    return choice is not None and waits_for_words and _answered(core, outcome, speaker, choice)


def take(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """Handle words that ask for something new, or for nothing that is known here."""
    choice = choices.open_one(core, outcome, speaker)
    if choice is not None and asking.is_request(core, speaker.said):
        _give_way(core, outcome, speaker, choice)
    asking.ask(core, outcome, speaker, speaker.said)


def _answered(core: Core, outcome: Outcome, speaker: Speaker, choice: ClarificationView) -> bool:
    """Handle words said to a question about an act or a runbook; False where they ask for something else."""
    value = bool(choice.so_far) and inputs.is_answer(core, choice, speaker.said)
    if asking.requested(core, speaker.said) or (
        choice.so_far and not value and asking.is_certain(core, speaker.said)
    ):
        return False
    # A number is one here, though elsewhere "100" is a hearty yes.
    is_number = value and speaker.said.strip().isdigit()
    verdict = AssentVerdict.OTHER if is_number else reader(core)(speaker.said, ()).verdict
    if verdict is AssentVerdict.REFUSE:
        _drop(core, outcome, speaker, choice)
        outcome.say(Text.of("Dropped. Nothing was done."))
    elif verdict is AssentVerdict.GRANT or not (choice.free or value):
        # A yes says nothing about which (F3); the question stays as it is.
        outcome.say(Text.of(*f"{choice.question} Nothing was done. cancel drops it.".splitlines()))
    elif choice.so_far:
        complete(core, outcome, speaker, choice)
    else:
        choices.end(outcome, choice, Kind.CLARIFICATION_ANSWERED, speaker)
        dispatch.fill(core, outcome, speaker, choice)
    return True


def complete(core: Core, outcome: Outcome, speaker: Speaker, choice: ClarificationView) -> None:
    """Take the words of `speaker` as what a runbook lacks, and go on with the whole request."""
    answer = inputs.completed(core, choice, speaker.said, alone=speaker.alone)
    if answer.refusal:
        outcome.note(Text.of(answer.refusal))
        return
    choices.end(outcome, choice, Kind.CLARIFICATION_ANSWERED, speaker)
    asking.ask(core, outcome, speaker, answer.request, purpose=choice.said)


def press_fill(
    core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str, *, opens: bool
) -> None:
    """Handle a pressed Fill in; `opens` where its form was shown."""
    choice = inputs.asked(core, outcome, speaker, claim, token)
    if choice is not None:
        inputs.say_form(core, outcome, choice, privately=opens)


def submit_fill(core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str) -> None:
    """Take what a form for a runbook's inputs brought; nobody else could read it."""
    choice = inputs.asked(core, outcome, speaker, claim, token)
    if choice is not None:
        complete(core, outcome, replace(speaker, alone=True), choice)


def press(core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str) -> None:
    """Handle a pressed option."""
    found = choices.pressed(core, outcome, speaker, claim, token)
    if found is not None:
        _picked(core, outcome, speaker, *found)


def press_drop(core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str) -> None:
    """Handle a pressed Cancel of a choice."""
    choice = choices.dropped(core, outcome, speaker, claim, token)
    if choice is not None:
        _drop(core, outcome, speaker, choice)
        outcome.say(Text.of("Dropped. Nothing ran."))


def drop(core: Core, outcome: Outcome, speaker: Speaker) -> bool:
    """Cancel what a speaker was asked here last; False where nothing is open."""
    choice = choices.open_one(core, outcome, speaker)
    if choice is None:
        return dispatch.drop(core, outcome, speaker) or beginning.drop(core, outcome, speaker)
    _drop(core, outcome, speaker, choice)
    return True


def _picked(
    core: Core, outcome: Outcome, speaker: Speaker, choice: ClarificationView, option: OptionView
) -> None:
    choices.end(outcome, choice, Kind.CLARIFICATION_ANSWERED, speaker, picked=option)
    if choice.commitment:
        dispatch.pick(core, outcome, speaker, choice, option)
    elif core.queries.plan_of(choice.id) is not None:
        # A model offered it, and whoever picks it says it: from here on these are their words (C11).
        dispatch.take(core, outcome, replace(speaker, said=option.request))
    else:
        asking.ask(core, outcome, speaker, option.request, purpose=choice.said)


def _drop(core: Core, outcome: Outcome, speaker: Speaker, choice: ClarificationView) -> None:
    choices.end(outcome, choice, Kind.CLARIFICATION_CANCELLED, speaker)
    if choice.commitment:
        dispatch.abort(core, outcome, choice.commitment, how="cancelled")


def _give_way(core: Core, outcome: Outcome, speaker: Speaker, choice: ClarificationView | None) -> None:
    if choice is None:
        return
    choices.end(outcome, choice, Kind.CLARIFICATION_SUPERSEDED, speaker)
    if choice.commitment:
        dispatch.abort(core, outcome, choice.commitment, how="superseded_by_new_turn")
