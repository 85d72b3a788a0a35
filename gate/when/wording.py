"""Which words of a text are about its time, in their own spelling: "to call Bo" of "to call Bo at 5pm".

Takes out what `scan` reads as time, with the event that "before" or "after" governs and the small words in
front of either. It judges nothing: whether the time is understood is `gate.when.resolve`'s to say, and words
about time that were not understood stay where they are.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from gate.when.events import Remembered
from gate.when.pieces import Event, Piece, Trouble, Word, Zone
from gate.when.scan import scan_places
from gate.when.sentence import Sentence
from gate.when.text import names_in, plain

_TOKEN = re.compile(r"(?:`+[^`]*`+|\S)+")
#: Small words that belong to the time behind them.
_BEFORE_TIME = frozenset({
    "at", "on", "in", "by", "for", "from", "and", ",", "@", "في", "ب", "عند", "يوم", "الساعه",
})  # fmt: skip
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A text taken apart.

    Attributes:
        rest: what is left without the words of time, single blanks between its words.
        time: the words of time, likewise; "" where there are none.
        events: the mentions of remembered events in `rest`.
        head: the words of time that the text begins with, as typed; "" where it begins otherwise.
        after_head: what follows them, as typed.
        tail: the words of time that the text ends in, as typed.
        before_tail: what stands before them, as typed.
    """

    rest: str
    time: str = ""
    events: tuple[Event, ...] = ()
    head: str = ""
    after_head: str = ""
    tail: str = ""
    before_tail: str = ""


def take_apart(text: str, *, remembered: Remembered, zones: Mapping[str, tzinfo]) -> Wording:
    """Return what `text` says beside its time, and which words tell that.

    Args:
        text: as typed: "remind me to call Bo at 5pm".
        remembered: the events, as for `gate.when.resolve`.
        zones: zones by folded name.
    """
    tokens = list(_TOKEN.finditer(text))
    words = [token[0] for token in tokens]
    folded, owners = _fold(words)
    if folded != plain(text):  # a sign that changes what stands beside it: nothing is taken out
        return Wording(rest=" ".join(words))
    scanned = scan_places(folded, remembered, zones, names_in(text))
    pieces = [piece for piece, _, _ in scanned]
    gone = _about_time(pieces, remembered)
    taken: set[int] = set()
    kept: set[int] = set()
    for place, (_, begins, ends) in enumerate(scanned):
        if any(char.isalnum() or char == "\u2400" for char in folded[begins:ends]):
            (taken if place in gone else kept).update(owners[begins:ends])
    time = taken - kept
    head = next((number for number in range(len(tokens)) if number not in time), len(tokens))
    tail = next((number + 1 for number in reversed(range(len(tokens))) if number not in time), 0)
    head_ends = tokens[head - 1].end() if head else 0
    tail_begins = tokens[tail].start() if tail < len(tokens) else len(text)
    events = [piece for place, piece in enumerate(pieces) if isinstance(piece, Event) and place not in gone]
    return Wording(
        rest=" ".join(word for number, word in enumerate(words) if number not in time),
        time=" ".join(words[number] for number in sorted(time)),
        events=tuple(events),
        head=text[:head_ends].strip(),
        after_head=text[head_ends:].strip(),
        tail=text[tail_begins:].strip(),
        before_tail=text[:tail_begins].strip(),
    )


def _fold(tokens: Sequence[str]) -> tuple[str, list[int]]:
    """Return the folded text, and for each of its characters the token that it comes from."""
    folded = ""
    owners: list[int] = []
    for number, token in enumerate(tokens):
        word = plain(token)
        blank = " " if folded and word else ""
        folded += blank + word
        owners += [number] * len(blank + word)
    return folded, owners


def _about_time(pieces: Sequence[Piece], remembered: Remembered) -> set[int]:
    """Return the places of the pieces that are about time."""
    gone = {place for place, piece in enumerate(pieces) if _is_time(piece)}
    said = Sentence(pieces=tuple(pieces), request_at=_NEVER, zone=UTC, nearby_days=0, remembered=remembered)
    if said.relation is not None and said.governed_at is not None:
        gone |= set(range(said.relation, said.governed_at + 1))
    for place in sorted(gone):
        before = place - 1
        while before >= 0 and isinstance(word := pieces[before], Word) and word.text in _BEFORE_TIME:
            gone.add(before)
            before -= 1
    return gone


def _is_time(piece: Piece) -> bool:
    return not isinstance(piece, Word | Event | Trouble) and piece != Zone(None)
