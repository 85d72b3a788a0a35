"""What is remembered, kept between two turns: read anew only where an entry changed it.

Holds the facts that count and the events among them as one index for `gate.when`: one that everybody may be
told of, and one for each person who was alone with sayso. Asking costs the same for ten facts and for ten
thousand. Where the facts cannot be read, there are none, and that is said (K4). It decides nothing.
"""

import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from bot.scheduling.recurring import following
from gate.domain import PersonId
from gate.resolve import stated
from gate.when import Anchor, Remembered, remember
from gate.when.naming import called
from ledger.beliefs import BeliefReader, BeliefView, Fact

#: What a fact says about its subject: when it is, or anything else.
AT, IS = "at", "is"

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
            self._revision = revision
        key = person, str(zone)
        kept = self._kept.get(key)
        if kept is None or (kept.until is not None and kept.until <= now):
            if len(self._kept) >= _MOST_PEOPLE:
                self._kept.clear()
            kept = self._kept[key] = _index(self._live.values(), person, zone, now)
        return kept.recalled


def _index(live: Iterable[BeliefView], person: PersonId | None, zone: tzinfo, now: datetime) -> _Kept:
    beliefs = tuple(one for one in live if not one.private or one.person == person)
    anchors: list[Anchor] = []
    until: datetime | None = None
    for one in beliefs:
        if one.predicate != AT or one.fact is None:
            continue
        at, comes_again = _next(one.fact, zone, now)
        anchors.append(Anchor(name=one.id, at=at, aliases=names(one.fact)))
        if comes_again and at is not None and (until is None or at < until):
            until = at
    return _Kept(recalled=Recalled(beliefs=beliefs, remembered=remember(anchors)), until=until)


def names(fact: Fact) -> tuple[str, ...]:
    """Return what an event is called, the way it was told first."""
    return (fact.about, *called(fact.about, fact.kind))


def _next(fact: Fact, zone: tzinfo, now: datetime) -> tuple[datetime | None, bool]:
    """Return when an event is next, None where that cannot be read, and whether it comes again."""
    found = stated.read(fact.object, zone)
    if found is None or not found.rrule:
        return (None if found is None else found.at), False
    counted_in = ZoneInfo(found.zone) if found.zone else found.at.tzinfo or zone
    return following(found.at, found.rrule, counted_in, after=now) or found.at, True
