"""What experience proves, as numbers: rates with bounds, drift, trend, cautions, suggestions (X8, N32).

Pure arithmetic over outcomes that somebody hands in, oldest first. The rule it owns: learning proposes and
never grants. A suggestion is words that a person may say; saying them goes the way of every other request.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from gate.domain import Risk

#: Standard normal quantile of a two-sided interval of 95 %.
Z = 1.959963984540054
#: Runs that are held against all before them, the shortest that shows it first.
WINDOWS = (5, 10, 20)
#: How many of the newest tries of a command count as a warning before the next.
REMEMBERED = 4
#: What is certain enough to suggest that nobody is asked any more: 35 of 35 is, 34 of 34 is not.
SURE = 0.9
#: And that it does what it is meant to when it runs.
WORKS = 0.75
#: Days that a suggested rule lasts.
SUGGESTED_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often something went well, with the bounds of the true rate (Wilson, 95 %).

    Attributes:
        low, high: 0 to 1; 0 and 1 where nothing is known.

    Source: E. B. Wilson (1927), doi.org/10.1080/01621459.1927.10502953
    """

    good: int
    total: int

    def __post_init__(self) -> None:
        """Refuse what cannot be counted."""
        if not 0 <= self.good <= self.total:
            raise ValueError(f"{self.good} of {self.total} is no rate")

    @classmethod
    def of(cls, outcomes: Sequence[bool]) -> "Rate":
        """Return the rate of `outcomes`."""
        return cls(good=sum(outcomes), total=len(outcomes))

    @property
    def low(self) -> float:
        """The least that the true rate may be."""
        if not self.good:  # exactly, whatever the roots round to
            return 0.0
        return max(0.0, self._middle - self._half)

    @property
    def high(self) -> float:
        """The most that the true rate may be."""
        if self.good == self.total:
            return 1.0
        return min(1.0, self._middle + self._half)

    @property
    def _middle(self) -> float:
        return (self.good + Z * Z / 2) / (self.total + Z * Z)

    @property
    def _half(self) -> float:
        spread = self.good * (self.total - self.good) / self.total
        return Z / (self.total + Z * Z) * math.sqrt(spread + Z * Z / 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What used to work and keeps failing: its newest runs against all before them."""

    before: Rate
    lately: Rate


def drift(outcomes: Sequence[bool]) -> Drift | None:
    """Return the drift of something, oldest outcome first; None while the bounds overlap."""
    for window in WINDOWS:
        before, lately = Rate.of(outcomes[:-window]), Rate.of(outcomes[-window:])
        if before.total and lately.high < before.low:
            return Drift(before=before, lately=lately)
    return None


class Trend(StrEnum):
    """Which way something goes, where that is certain."""

    BETTER = "better"
    WORSE = "worse"
    STEADY = "steady"


def trend(outcomes: Sequence[bool]) -> Trend:
    """Return which way `outcomes` go, oldest first; steady where bounds overlap, and worse wins in doubt."""
    if _falls(outcomes):
        return Trend.WORSE
    return Trend.BETTER if _falls([not one for one in outcomes]) else Trend.STEADY


def _falls(outcomes: Sequence[bool]) -> bool:
    """Whether the newer half is certainly worse than the older, or the newest are than all before them."""
    half = len(outcomes) // 2
    older, newer = Rate.of(outcomes[:half]), Rate.of(outcomes[half:])
    return newer.high < older.low or drift(outcomes) is not None


def course(outcomes: Sequence[bool], *, window: int = 10) -> tuple[Rate, ...]:
    """Return the rate of the `window` newest outcomes at each of them, oldest first."""
    sums = [0, *accumulate(outcomes)]
    return tuple(
        Rate(good=sums[end] - sums[max(0, end - window)], total=min(end, window))
        for end in range(1, len(sums))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Caution:
    """What to know before something is tried again: it failed so often of so many newest tries."""

    failed: int
    tries: int


def caution(outcomes: Sequence[bool]) -> Caution | None:
    """Return what to know before the next try, oldest outcome first; None where it mostly went well."""
    newest = outcomes[-REMEMBERED:]
    failed = len(newest) - sum(newest)
    return Caution(failed=failed, tries=len(newest)) if failed > 1 and failed * 2 >= len(newest) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How people answered one exact command, on the targets that it ran on, and what came of it.

    Attributes:
        command: as it runs; it holds no secret.
        where: targets or one @tag, as they may be said.
        answers: whether each answer was a yes, oldest first; expiries are no answers.
        ends: whether each run went well.
        risk: the worst that the gate found.
    """

    command: str
    where: tuple[str, ...]
    answers: tuple[bool, ...]
    ends: tuple[bool, ...]
    risk: Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A proposal to people: what was seen, and the words that would ask for it. It grants nothing."""

    because: str
    say: str


def suggest_trust(asked: Asked) -> Suggestion | None:
    """Return the suggestion to trust a command; None where it is not as certain as that takes.

    What destroys is never suggested, nor is reading, which nobody is asked about.
    """
    if asked.risk in (Risk.DESTRUCTIVE, Risk.READ_ONLY) or "`" in asked.command or "\n" in asked.command:
        return None
    yes, works = Rate.of(asked.answers), Rate.of(asked.ends)
    if not yes.total or yes.low < SURE or not works.total or works.low < WORKS:
        return None
    where = ", ".join(asked.where)
    return Suggestion(
        because=f"approved {yes.good} of {yes.total} of `{asked.command}` on {where}"
        f" (at least {math.floor(yes.low * 100)} % with 95 % confidence)",
        say=f"trust `{asked.command}` on {where} for {SUGGESTED_DAYS} days",
    )
