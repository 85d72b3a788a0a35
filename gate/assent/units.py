"""One phrase of a message and what it means in one language. Holds values only."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from gate.assent.normalise import Token
from gate.assent.senses import Sense


class Sort(Enum):
    """What a unit is when it has no sense."""

    SENSE = auto()
    VERB = auto()  # a verb that is the doing of a pending action, or of none
    ITEM = auto()  # names pending actions by a word of theirs, a number or an ordinal
    UNKNOWN = auto()
    VALUE = auto()  # an unknown value: a flag, a number, a host: somebody wants something else
    BREAK = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One phrase of the message with its meaning in one language.

    Attributes:
        items: 0-based positions of the pending actions it names.
        start, end: offsets in the clean text.
        by_index: it names actions by their position in the list.
        orders: it says yes by telling to act ("go ahead"), which answers nothing else.
        opaque: code, a quote or a mention, whole.
        states: a remark that begins as a sentence does, with a pronoun or "is": "het is traag".
    """

    sort: Sort
    text: str
    start: int
    end: int
    sense: Sense | None = None
    items: frozenset[int] = frozenset()
    by_index: bool = False
    orders: bool = False
    opaque: bool = False
    states: bool = False


def unit_of(
    sort: Sort,
    tokens: Sequence[Token],
    *,
    sense: Sense | None = None,
    items: frozenset[int] = frozenset(),
    by_index: bool = False,
) -> Unit:
    """Make a unit of adjacent tokens."""
    return Unit(
        sort=sort,
        text=" ".join(token.text for token in tokens),
        start=tokens[0].start,
        end=tokens[-1].end,
        sense=sense,
        items=items,
        by_index=by_index,
    )
