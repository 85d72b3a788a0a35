"""Requests: answers to an open question, acts such as a reminder, and commands.

What is certainly an answer or an act is taken before anything is read as a yes or a no: "cancel my reminder"
drops no card, and "tomorrow at 9" puts nothing off where a time was asked for. What was asked before gives
way to a new request (K34); words that are neither leave it open.
"""

from bot import asking, choices, tokens
from bot.acts import dispatch
from bot.answering import Speaker
from bot.core import Core
from bot.hearing import reader
from bot.outcome import Outcome
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
    return choice is not None and bool(choice.commitment) and _answered(core, outcome, speaker, choice)


def take(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """Handle words that ask for something new, or for nothing that is known here."""
    choice = choices.open_one(core, outcome, speaker)
    if choice is not None and asking.is_request(core, speaker.said):
        _give_way(core, outcome, speaker, choice)
    asking.ask(core, outcome, speaker, speaker.said)


def _answered(core: Core, outcome: Outcome, speaker: Speaker, choice: ClarificationView) -> bool:
    """Handle words said to a question about an act; False where they ask for something else."""
    if asking.requested(core, speaker.said):
        return False
    verdict = reader(core)(speaker.said, ()).verdict
    if verdict is AssentVerdict.REFUSE:
        _drop(core, outcome, speaker, choice)
        outcome.say(Text.of("Dropped. Nothing was done."))
    elif verdict is AssentVerdict.GRANT or not choice.free:
        # A yes says nothing about which (F3); the question stays as it is.
        outcome.say(Text.of(f"{choice.question} Nothing was done. cancel drops it."))
    else:
        choices.end(outcome, choice, Kind.CLARIFICATION_ANSWERED, speaker)
        dispatch.fill(core, outcome, speaker, choice)
    return True


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
        return dispatch.drop(core, outcome, speaker)
    _drop(core, outcome, speaker, choice)
    return True


def _picked(
    core: Core, outcome: Outcome, speaker: Speaker, choice: ClarificationView, option: OptionView
) -> None:
    choices.end(outcome, choice, Kind.CLARIFICATION_ANSWERED, speaker, picked=option)
    if choice.commitment:
        dispatch.pick(core, outcome, speaker, choice, option)
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
