"""The remembered events as one index, and their mentions in a folded text.

A name matches whole words, with words of period between or behind them left aside ("grok weekly reset"). The
longest name wins; one name of several events mentions them all, and a person is asked which. Looking up costs
the same for ten events and for ten thousand; building the index is the caller's to do once.
"""

import functools
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gate.when.outcome import Anchor
from gate.when.pieces import Event
from gate.when.text import plain

#: Of more events of one name only so many are looked at, whichever come next.
_FEW = 16
_WORD = re.compile(r"[^\W_]+")
_PERIODS = frozenset({
    "daily", "weekly", "monthly", "yearly", "annual", "quarterly", "يوميه", "اسبوعيه", "شهريه",
    "سنويه",
})  # fmt: skip
_ARTICLE = re.compile(r"(?:بال|وال|ال|لل)(?=[\u0600-\u06ff]{2})")
_PREFIXES = "بلو"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """Remembered events by name and by time; made by `remember`.

    Attributes:
        names: folded words of a name -> the events that go by it, soonest first, the undated last.
        longest: words in the longest name.
        dated: the events whose time is known, in its order.
        times: their times as seconds since 1970, beside `dated`.
        by_id: every event by its id.
    """

    names: Mapping[tuple[str, ...], tuple[Anchor, ...]]
    longest: int
    dated: tuple[Anchor, ...]
    times: tuple[float, ...]
    by_id: Mapping[str, Anchor]

    def near(self, at: datetime, window: timedelta) -> tuple[Anchor, ...]:
        """Return the events within `window` of `at`, either side and both ends included."""
        middle, reach = at.timestamp(), window.total_seconds()
        first, last = bisect_left(self.times, middle - reach), bisect_right(self.times, middle + reach)
        return self.dated[first:last]


def remember(anchors: Sequence[Anchor]) -> Remembered:
    """Index events, in any order.

    Raises:
        ValueError: an event's time is not aware.
    """
    if any(anchor.at is not None and anchor.at.tzinfo is None for anchor in anchors):
        raise ValueError("Give aware times.")
    names: dict[tuple[str, ...], dict[str, Anchor]] = {}
    for anchor in sorted(anchors, key=lambda one: one.name):
        for alias in anchor.aliases:
            names.setdefault(_folded(alias), {})[anchor.name] = anchor
    names.pop((), None)
    dated = sorted((at.timestamp(), place) for place, one in enumerate(anchors) if (at := one.at) is not None)
    return Remembered(
        names={words: tuple(sorted(found.values(), key=when)) for words, found in names.items()},
        longest=max(map(len, names), default=0),
        dated=tuple(anchors[place] for _, place in dated),
        times=tuple(at for at, _ in dated),
        by_id={anchor.name: anchor for anchor in anchors},
    )


def when(anchor: Anchor) -> float:
    """Return an event's time as seconds since 1970; infinity where it has none."""
    return math.inf if anchor.at is None else anchor.at.timestamp()


def soonest(anchors: Sequence[Anchor], after: datetime) -> Sequence[Anchor]:
    """Return the few of many events of one name that a person may mean: the next ones; all of a few."""
    if len(anchors) <= _FEW:
        return anchors
    first = bisect_right(anchors, after.timestamp(), key=when)
    # Two at least: that there are several of the name is what a person is asked about.
    return anchors[min(first, len(anchors) - 2) :][:_FEW]


def mentions(text: str, events: Remembered) -> dict[int, tuple[Event, int]]:
    """Return the mentions in a folded text by where they begin, each with its end; none overlaps another."""
    words = [(found[0], found.start(), found.end()) for found in _WORD.finditer(text)] if events.names else []
    kept: dict[int, tuple[Event, int]] = {}
    place = 0
    while place < len(words):
        found = _longest(words, place, events)
        if found is None:
            place += 1
            continue
        anchors, after = found
        kept[words[place][1]] = Event(anchors=anchors), words[after - 1][2]
        place = after
    return kept


@functools.lru_cache(maxsize=1 << 16)  # of thousands of events, all but a few are as they were
def _folded(alias: str) -> tuple[str, ...]:
    return tuple(_bare(word) for word in _WORD.findall(plain(alias)))


def _bare(word: str) -> str:
    return _ARTICLE.sub("", word, count=1) if _ARTICLE.match(word) else word


def _longest(
    words: Sequence[tuple[str, int, int]], place: int, events: Remembered
) -> tuple[tuple[Anchor, ...], int] | None:
    """Return the events of the longest name that begins at `place`, and the place after it."""
    first = words[place][0]
    starts = [_bare(first), *([_bare(first[1:])] if first[0] in _PREFIXES else [])]
    rest = [_bare(word) for word, _, _ in words[place + 1 : place + 1 + 2 * events.longest]]
    found = [
        (anchors, place + 1 + count)
        for start in starts
        for count in range(len(rest) + 1)
        for name in (
            [start, *rest[:count]],
            [start, *(word for word in rest[:count] if word not in _PERIODS)],
        )
        if (anchors := events.names.get(tuple(name))) is not None
    ]
    return max(found, key=lambda one: one[1], default=None)
