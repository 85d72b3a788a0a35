"""Requests: words that answer nothing that waits for a yes.

In this order: the answer to an open question of the same person here, an act such as a reminder, a command.
What was asked before gives way to a new request (K34); words that are neither leave it open.
"""

from bot import asking, choices, tokens
from bot.acts import dispatch
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.text import Text
from ledger.kinds import Kind
from ledger.views import ClarificationView, OptionView


def take(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """Handle words that answer nothing that waits."""
    choice = choices.open_one(core, outcome, speaker)
    option = None if choice is None else choices.named(choice, speaker.said)
    if choice is not None and option is not None:
        _picked(core, outcome, speaker, choice, option)
    elif dispatch.take(core, outcome, speaker):
        _give_way(core, outcome, speaker, choice)
    elif choice is not None and choice.free and not asking.requested(core, speaker.said):
        choices.end(outcome, choice, Kind.CLARIFICATION_ANSWERED, speaker)
        dispatch.fill(core, outcome, speaker, choice)
    else:
        if choice is not None and asking.is_request(core, speaker.said):
            _give_way(core, outcome, speaker, choice)
        asking.ask(core, outcome, speaker, speaker.said)


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
