"""One message as one language reads it, and what every rule asks about it.

Owns the cut of units into clauses and what "accounted for" means. It gives no verdict.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gate.assent.normalise import Message
from gate.assent.pending import Pending
from gate.assent.senses import HARMLESS, Sense
from gate.assent.units import Sort, Unit

QUESTION_MARKS = "?\u061f"
COURTESY = frozenset({Sense.POLITE, Sense.ADDRESS, Sense.AHEAD})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One message as one language reads it."""

    message: Message
    units: tuple[Unit, ...]
    pending: Pending
    bare_ack_grants: bool
    restraining: frozenset[str] = frozenset()

    @property
    def spoken(self) -> tuple[Unit, ...]:
        """The units without breaks."""
        return tuple(unit for unit in self.units if unit.sort is not Sort.BREAK)

    @property
    def asks(self) -> bool:
        """Whether a question mark or a question word stands anywhere."""
        return self.marked or any(unit.sense is Sense.ASK for unit in self.spoken)

    @property
    def marked(self) -> bool:
        """Whether a question mark stands outside quotes."""
        return any(unit.sort is Sort.BREAK and unit.text in QUESTION_MARKS for unit in self.units)

    def clauses(self) -> Iterator[tuple[Unit, ...]]:
        """Yield the units between breaks, empty clauses left out."""
        clause: list[Unit] = []
        for unit in self.units:
            if unit.sort is not Sort.BREAK and unit.sense is not Sense.THEREFORE:
                clause.append(unit)
            elif clause:
                yield tuple(clause)
                clause = []
        if clause:
            yield tuple(clause)


def has(case: Case, *senses: Sense) -> bool:
    """Tell whether a unit of one of the senses stands anywhere."""
    return any(unit.sense in senses and unit.sort is Sort.SENSE for unit in case.spoken)


def strange_value(case: Case) -> Unit | None:
    """Return the first flag, number or host that nothing pending has; how much something is aside."""
    for clause in case.clauses():
        tells = any(unit.sense in {Sense.IS, Sense.TELLS} for unit in clause)
        for unit in clause:
            if unit.sort is Sort.VALUE and not (tells and is_measure(unit)):
                return unit
    return None


def is_measure(unit: Unit) -> bool:
    """Tell how much or how long from a port or a number of things: 97%, 40s, 3gb."""
    return unit.sort is Sort.VALUE and _MEASURE.fullmatch(unit.text) is not None


_MEASURE = re.compile(r"~?\d+(?:[.,]\d+)?(?:%|ms|s|secs?|m|mins?|h|hrs?|d|[kmgt]i?b|g)")


def is_accounted(unit: Unit) -> bool:
    """Tell whether a unit may be part of a yes."""
    if unit.sort is Sort.SENSE:
        # NOTE: "only" that left nothing out: what restricts is found before.
        return unit.sense in HARMLESS or unit.sense is Sense.ONLY
    return unit.sort in {Sort.ITEM, Sort.VERB} and bool(unit.items)
