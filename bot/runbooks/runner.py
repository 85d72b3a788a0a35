"""Starts runs. For now it only says that it cannot: the supervised runner takes this module's place."""

from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.planning.drafts import RunbookPlan
from bot.text import Text


def start(_core: Core, outcome: Outcome, _speaker: Speaker, plan: RunbookPlan, *, said: str) -> None:
    """Start a run of `plan`, in which nothing is missing any more.

    Args:
        said: what was asked for, in words that hold no secret.
    """
    outcome.say(Text.of(f"{plan.document.title}: runbooks cannot be run yet. Nothing ran.", said))
