"""Tally: how far each target of a fan-out is, each counted exactly once, in the words of its card."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.phrasing import plural
from gate.domain import TargetKind
from gate.lifecycle import ActionState
from ledger.views import ActionView, EndingView


class Fate(StrEnum):
    """How far one target is, as people count them."""

    OK = "ok"
    FAILED = "failed"
    UNVERIFIED = "unverified"  # it ran well and its check did not
    LOST = "lost"
    KILLED = "killed"
    NOT_RUN = "not_run"  # it never will
    CHECKING = "checking"
    RUNNING = "running"
    QUEUED = "queued"
    WAITING = "waiting"


#: In the order in which they are told, each with its mark and its word.
_WORDS = {
    Fate.OK: "✓ {} ok",
    Fate.FAILED: "✗ {} failed",
    Fate.UNVERIFIED: "✗ {} ran, check failed",
    Fate.LOST: "? {} unknown",
    Fate.KILLED: "✗ {} cancelled",
    Fate.NOT_RUN: "✗ {} did not run",
    Fate.CHECKING: "● {} in their check",
    Fate.RUNNING: "● {} running",
    Fate.QUEUED: "◔ {} to come",
    Fate.WAITING: "◔ {} wait",
}
#: What went wrong, worst for the reader last known first.
BAD = (Fate.LOST, Fate.FAILED, Fate.UNVERIFIED, Fate.KILLED)
_FATES = {
    ActionState.PROPOSED: Fate.WAITING,
    ActionState.WAITING: Fate.WAITING,
    ActionState.QUEUED: Fate.QUEUED,
    ActionState.STARTED: Fate.RUNNING,
    ActionState.SUCCEEDED: Fate.OK,
    ActionState.FAILED: Fate.FAILED,
    ActionState.LOST: Fate.LOST,
}
_UNDER_WAY = (Fate.RUNNING, Fate.CHECKING)


def fate(one: ActionView) -> Fate:
    """Return how far `one` is."""
    if one.state is ActionState.CANCELLED:
        return Fate.NOT_RUN if one.started_at is None else Fate.KILLED
    if one.state is ActionState.SUCCEEDED and one.action.verify is not None:
        return _checked(one.ending)
    return _FATES[one.state]


def _checked(ending: EndingView | None) -> Fate:
    # What a person settled is not checked any more: they looked.
    if ending is None or ending.settled or ending.verify_exit == 0:
        return Fate.OK
    return Fate.UNVERIFIED if ending.checked or ending.verify_exit is not None else Fate.CHECKING


@dataclass(frozen=True, slots=True)
class Tally:
    """The actions of a fan-out by how far they are, in their order."""

    by_fate: dict[Fate, tuple[ActionView, ...]]
    total: int

    @classmethod
    def of(cls, actions: Sequence[ActionView]) -> "Tally":
        """Count `actions`."""
        found: dict[Fate, list[ActionView]] = {}
        for one in actions:
            found.setdefault(fate(one), []).append(one)
        return cls({key: tuple(found[key]) for key in _WORDS if key in found}, len(actions))

    def of_fate(self, *fates: Fate) -> tuple[ActionView, ...]:
        """Return those of `fates`, in that order."""
        return tuple(one for key in fates for one in self.by_fate.get(key, ()))

    @property
    def under_way(self) -> tuple[ActionView, ...]:
        """Those of which something runs now."""
        return self.of_fate(*_UNDER_WAY)

    @property
    def is_over(self) -> bool:
        """Whether nothing runs, is to come or waits."""
        return not self.of_fate(*_UNDER_WAY, Fate.QUEUED, Fate.WAITING)

    @property
    def is_untouched(self) -> bool:
        """Whether nothing came of any of it yet, and something may."""
        return not self.is_over and not self.under_way and not self.of_fate(Fate.OK, *BAD, Fate.NOT_RUN)

    def counts(self, *, ok_of_all: bool = False) -> Iterator[str]:
        """Yield "✓ 5 ok", "✗ 1 failed", …, without what there is none of.

        Args:
            ok_of_all: say "✓ 11 of 12 ok", and "✓ all 12 ok".
        """
        for key, words in _WORDS.items():
            count = len(self.by_fate.get(key, ()))
            if count and key is Fate.OK and ok_of_all:
                many = f"all {count}" if count == self.total else f"{count} of {self.total}"
                yield words.format(many)
            elif count:
                yield words.format(count)


def names(actions: Iterable[ActionView]) -> list[str]:
    """Return the names of the targets, in order."""
    return [str(one.action.target.id) for one in actions]


def counted(actions: Sequence[ActionView], *, count: int | None = None) -> str:
    """Return "12 hosts", or "12 targets" where some of `actions` go to containers."""
    hosts = all(one.action.target.kind in (TargetKind.SSH, TargetKind.LOCAL) for one in actions)
    return plural(len(actions) if count is None else count, "host" if hosts else "target")


def busy_s(actions: Iterable[ActionView], now: datetime) -> float:
    """Return for how many seconds something ran; what lay between two rounds does not count."""
    spans = sorted((one.started_at, one.ended_at or now) for one in actions if one.started_at is not None)
    total, until = 0.0, None
    for start, end in spans:
        begin = start if until is None else max(start, until)
        total += max((end - begin).total_seconds(), 0.0)
        until = end if until is None else max(end, until)
    return total
