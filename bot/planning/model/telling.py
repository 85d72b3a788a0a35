"""What people are told of a plan: its answer as the model's words, how it ended, and what it took.

What a model wrote stands in a block of its own, masked and capped, so that it pings nobody and looks like no
card.
"""

from collections.abc import Mapping

from bot.core import Core
from bot.planning.model.budget import Spent, budget_of, told
from bot.planning.model.masking import capped, masked
from bot.text import Text, block, muted
from ledger.kinds import Draft, Json, Kind

#: Characters of an answer that are shown.
_MOST = 3000

STANDS = "Nothing ran from this. What ran before stands above."
RUBBISH = f"The model keeps asking for what cannot be read, so the plan ends here. {STANDS}"
EMPTY = f"The model answered nothing. {STANDS}"
CHANGED = "The record of this plan is not what was written, so it ends here and nothing runs from it."


def shown(core: Core, text: str) -> str:
    """Return words of a model as people may see them; "" where there are none."""
    return capped(masked(core, text).strip(), most=_MOST)


def answer(core: Core, text: str, spent: Spent) -> Text:
    """Return the last words of a model, marked as its own."""
    return Text.of("The model says:", block(text), muted(_took(core, spent)))


def ended(core: Core, words: str, spent: Spent) -> Text:
    """Return how a plan ended without an answer."""
    return Text.of(masked(core, words), muted(_took(core, spent)))


def _took(core: Core, spent: Spent) -> str:
    name = "" if core.thinker is None else f"{core.thinker.name} · "
    return f"{name}{told(budget_of(core.settings), spent)}"


def draft(kind: Kind, plan: str, *, body: Mapping[str, Json], words: Mapping[str, str]) -> Draft:
    """Return an entry of a plan."""
    encoded = {name: text.encode("utf-8", "surrogateescape") for name, text in words.items()}
    return Draft(kind=kind, correlation_id=plan, body=body, words=encoded)
