"""What is remembered, kept between two turns: read anew only where an entry changed it.

Holds the facts that count and the events among them as one index for `gate.when`: one that everybody may be
told of, and one for each person who was alone with sayso. Asking costs the same for ten facts and for ten
thousand. Where the facts cannot be read, there are none, and that is said (K4). It decides nothing.
"""

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from bot.scheduling.recurring import following
from gate.domain import PersonId
from gate.resolve import stated
from gate.resolve.facts import AT
from gate.when import Anchor, Remembered, remember
from gate.when.naming import bare, called
from gate.when.text import plain
from ledger.beliefs import BeliefReader, BeliefView, Fact

#: People whose index is kept; with one more, all are made anew.
_MOST_PEOPLE = 16

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What may be told.

    Attributes:
        beliefs: the facts that count and may be seen, oldest first.
        remembered: the events among them.
        failed: the facts could not be read, so that these are none.
    """

    beliefs: tuple[BeliefView, ...]
    remembered: Remembered
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    recalled: Recalled
    until: datetime | None


_NOTHING = Recalled(beliefs=(), remembered=remember(()), failed=True)


class Recollection:
    """The facts of one ledger; any thread may ask."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._revision = -1
        self._live: dict[str, BeliefView] = {}
        self._kept: dict[tuple[PersonId | None, str], _Kept] = {}
        self._anchors: dict[tuple[str, str], Anchor] = {}

    def recall(
        self, reader: BeliefReader, *, person: PersonId | None, zone: tzinfo, now: datetime
    ) -> Recalled:
        """Return what may be told at `now` to somebody whose wall clock is in `zone`.

        Args:
            person: who alone listens, and is told what they told in private too; None where others may.
        """
        try:
            with self._mutex:
                return self._recall(reader, person, zone, now)
        except Exception:  # noqa: BLE001 - whatever it is, there are no anchors, and that is said
            _log.exception("what is remembered could not be read")
            return _NOTHING

    def _recall(self, reader: BeliefReader, person: PersonId | None, zone: tzinfo, now: datetime) -> Recalled:
        revision = reader.belief_revision()
        if revision != self._revision:
            self._live = {one.id: one for one in reader.live_beliefs(known=self._live)}
            self._kept.clear()
            self._anchors = {key: one for key, one in self._anchors.items() if key[0] in self._live}
            self._revision = revision
        key = person, str(zone)
        kept = self._kept.get(key)
        if kept is None or (kept.until is not None and kept.until <= now):
            if len(self._kept) >= _MOST_PEOPLE:
                self._kept.clear()
            kept = self._kept[key] = self._index(person, zone, now)
        return kept.recalled

    def _index(self, person: PersonId | None, zone: tzinfo, now: datetime) -> _Kept:
        beliefs = tuple(one for one in self._live.values() if not one.private or one.person == person)
        anchors: list[Anchor] = []
        until: datetime | None = None
        for one in beliefs:
            if one.predicate != AT or one.fact is None:
                continue
            key = one.id, str(zone)
            anchor = self._anchors.get(key)
            if anchor is None:
                at, comes_again = _next(one.fact, zone, now)
                anchor = Anchor(name=one.id, at=at, aliases=names(one.fact))
                if not comes_again:
                    self._anchors[key] = anchor
                elif at is not None and (until is None or at < until):
                    until = at
            anchors.append(anchor)
        return _Kept(recalled=Recalled(beliefs=beliefs, remembered=remember(anchors)), until=until)


def names(fact: Fact) -> tuple[str, ...]:
    """Return what an event is called, the way it was told first."""
    return (fact.about, *called(fact.about, fact.kind))


def speaking_of(beliefs: Sequence[BeliefView], words: str) -> tuple[BeliefView, ...]:
    """Return the facts that `words` speak of, in their order.

    Those of that very name; else those that go by it ("the meeting"); else those that contain its words.
    """
    wanted = plain(bare(words))
    if not wanted:
        return ()
    told = [(one, one.fact) for one in beliefs if one.fact is not None]
    parts = frozenset(wanted.split())
    exact = [one for one, fact in told if plain(bare(fact.about)) == wanted]
    named = [one for one, fact in told if wanted in map(plain, names(fact))]
    return tuple(exact or named or [one for one, fact in told if parts <= _words(fact)])


def _words(fact: Fact) -> frozenset[str]:
    said = f"{fact.about} {fact.said}"
    return frozenset(word.strip(".,:;?!\"'()") for word in plain(said).split())


def _next(fact: Fact, zone: tzinfo, now: datetime) -> tuple[datetime | None, bool]:
    """Return when an event is next, None where that cannot be read, and whether it comes again."""
    found = stated.read(fact.object, zone)
    if found is None or not found.rrule:
        return (None if found is None else found.at), False
    counted_in = ZoneInfo(found.zone) if found.zone else found.at.tzinfo or zone
    return following(found.at, found.rrule, counted_in, after=now) or found.at, True
