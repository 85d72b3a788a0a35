"""A scanned text with what judging it needs: its pieces, the message's time, the zone, and its event.

Finds the one event that "before" or "after" governs. A word between them that is no article, or a plain word
right behind the event, makes it another event than the remembered one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from typing import TypeVar

from gate.when.events import Remembered, soonest
from gate.when.outcome import Anchor
from gate.when.pieces import Event, Lead, Piece, Relation, Side, Way, Word

_Kind = TypeVar("_Kind", bound=Piece)

_ARTICLES = frozenset({
    "the", "my", "our", "your", "his", "her", "their", "this", "that", "next", "upcoming", "coming",
    "a", "an", "هذا", "هذه", "موعد", "وقت",
})  # fmt: skip
_OF = frozenset({"من"})
#: What may stand right behind a time without belonging to it.
_BEHIND_TIME = frozenset({
    "to", "in", "by", "and", "about", "on", "so", "that", "for", "please", "at", "with", "because",
    "if", "when", "or", "then", "of", "via", "using", "from", "ب", "عن", "في", "علي", "الي", "ان",
    "لكي", "كي", "حتي", "من", "القادم", "القادمه", "المقبل", "المقبله", "الجاي", "الجايه",
})  # fmt: skip
#: Likewise behind an event; "of", "for" and "in" would make it another one.
_BEHIND_EVENT = frozenset({
    "next", "to", "and", "about", "so", "that", "please", "because", "then", "عن", "لكي", "كي", "حتي",
    "القادم", "القادمه", "المقبل", "المقبله", "الجاي", "الجايه",
})  # fmt: skip
_STOPS = frozenset(',.!?;:)"')


@dataclass(frozen=True, kw_only=True)  # no slots: what is found is kept beside the fields
class Sentence:
    """One scanned text.

    Attributes:
        pieces: in the order of the text.
        request_at: the message's own time, aware.
        zone: where a wall clock is meant.
        nearby_days: a remembered event this close to a time from now is asked about; 0 never asks.
        remembered: every remembered event.
    """

    pieces: tuple[Piece, ...]
    request_at: datetime
    zone: tzinfo
    nearby_days: int
    remembered: Remembered

    def of(self, kind: type[_Kind]) -> list[_Kind]:
        """Return the pieces of one kind."""
        return [piece for piece in self.pieces if isinstance(piece, kind)]

    @cached_property
    def times(self) -> list[Piece]:
        """Every piece about time."""
        return [piece for piece in self.pieces if not isinstance(piece, Word | Event)]

    @cached_property
    def anchors(self) -> tuple[Anchor, ...]:
        """The events that the text mentions, each once; of many of one name those that come next."""
        events = [soonest(event.anchors, self.request_at) for event in self.of(Event)]
        return tuple({anchor.name: anchor for anchors in events for anchor in anchors}.values())

    @cached_property
    def relation(self) -> int | None:
        """Where the first "before" or "after" stands; None when there is none."""
        return next((place for place, piece in enumerate(self.pieces) if self._relates(place, piece)), None)

    def _relates(self, place: int, piece: Piece) -> bool:
        if isinstance(piece, Relation):
            return True
        # Arabic says "before two days of the reset".
        behind = self.pieces[place + 1 : place + 2]
        begins = isinstance(piece, Lead) and piece.way in {Way.BEFORE, Way.AFTER}
        return begins and bool(behind) and isinstance(behind[0], Word) and behind[0].text in _OF

    @cached_property
    def is_before(self) -> bool:
        """Whether the relation is "before"."""
        found = self.pieces[self.relation or 0]
        if isinstance(found, Relation):
            return found.side is Side.BEFORE
        return isinstance(found, Lead) and found.way is Way.BEFORE

    @cached_property
    def governed_at(self) -> int | None:
        """Where the event stands that the relation governs; None when it is not a remembered one."""
        place = (self.relation or 0) + 1
        while (
            place < len(self.pieces)
            and isinstance(word := self.pieces[place], Word)
            and (word.text in _ARTICLES or word.text in _OF)
        ):
            place += 1
        if place >= len(self.pieces) or not isinstance(self.pieces[place], Event):
            return None
        return place if _named_whole(self.pieces, place) else None

    @property
    def governed(self) -> Event | None:
        """The event that the relation governs."""
        found = self.pieces[self.governed_at] if self.governed_at is not None else None
        return found if isinstance(found, Event) else None


def ends(pieces: Sequence[Piece], place: int) -> bool:
    """Whether the time at `place` is whole: no plain word right behind it may go on with it."""
    behind = _word_behind(pieces, place)
    return not behind or behind in _BEHIND_TIME or not behind[0].isalnum() or behind.startswith(("و", "ل"))


def _named_whole(pieces: Sequence[Piece], place: int) -> bool:
    """Whether the event at `place` is named whole: "the reset of my router" is another one."""
    behind = _word_behind(pieces, place)
    return not behind or behind in _BEHIND_EVENT or behind in _STOPS or behind.startswith("و")


def _word_behind(pieces: Sequence[Piece], place: int) -> str:
    """Return the plain word or mark right behind a piece, "" when there is none."""
    behind = pieces[place + 1] if place + 1 < len(pieces) else None
    return behind.text if isinstance(behind, Word) else ""
