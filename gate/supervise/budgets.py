"""Budgets: counted limits, each looked at before an attempt (R20).

Owns what is counted and when it is spent: the tries of a retry, the entries into one step, all entries, the
time since the start, the questions of one entry, the deviations. Counts live in the state of a run, so they
survive a restart with it; what follows from a spent budget is `run`'s.
"""

from dataclasses import dataclass
from datetime import datetime

from gate.supervise.domain import Limits, Retry

_ROW = 128


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts by position, never changed in place; adding one copies a small part, however many there are."""

    rows: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, positions: int) -> "Tally":
        """Return a tally of zeros for so many positions."""
        return cls(((0,) * _ROW,) * -(-positions // _ROW))

    def count(self, position: int) -> int:
        """Return how often `position` was added."""
        return self.rows[position // _ROW][position % _ROW]

    def add(self, position: int) -> "Tally":
        """Return the tally with one more at `position`."""
        number, at = divmod(position, _ROW)
        row = self.rows[number]
        row = (*row[:at], row[at] + 1, *row[at + 1 :])
        return Tally((*self.rows[:number], row, *self.rows[number + 1 :]))

    @property
    def total(self) -> int:
        """All counts together."""
        return sum(map(sum, self.rows))


def out_of_time(limits: Limits, *, started_at: datetime, now: datetime) -> str | None:
    """Return the words for a run whose time is over, None while it has some."""
    if (now - started_at).total_seconds() <= limits.wall_clock_s:
        return None
    return f"its {limits.wall_clock_s} s are over"


def no_entry(limits: Limits, *, entries: int, total: int) -> str | None:
    """Return why a step may not be entered once more, None where it may.

    Args:
        entries: how often this step was entered.
        total: how often any step was.
    """
    if entries >= limits.entries:
        return f"a step was entered {limits.entries} times"
    if limits.steps is not None and total >= limits.steps:
        return f"{limits.steps} steps were entered in all"
    return None


def may_retry(retry: Retry, *, taken: int) -> bool:
    """Whether a try is left, of which `taken` are spent."""
    return taken < retry.max


def no_question(limits: Limits, *, asked: int) -> str | None:
    """Return why nobody is asked once more about this entry, None where somebody may be."""
    return f"it was asked {limits.asks} times" if asked >= limits.asks else None


def too_many_deviations(limits: Limits, *, deviations: int) -> bool:
    """Whether so many deviations end the run."""
    return deviations >= limits.deviations
