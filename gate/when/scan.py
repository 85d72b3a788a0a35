"""From a folded text to its pieces, left to right; each reader takes the longest thing it knows.

The order of the readers is the grammar's only priority. After them, a lone figure that stands beside a time
("at 5 or 6", "at 9 30") is a `Trouble`: it may belong to it.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import tzinfo

from gate.when.clocks import read_clock, read_part, read_past
from gate.when.cues import read_days, read_every, read_relation, read_trouble, read_zone
from gate.when.days import read_day
from gate.when.events import Remembered, mentions
from gate.when.lengths import read_lead
from gate.when.numbers import ORDINALS, WORDS
from gate.when.pieces import (
    Clock,
    Event,
    Every,
    Half,
    Lead,
    Moment,
    Piece,
    Relation,
    Trouble,
    Way,
    Weekday,
    Word,
    Zone,
)
from gate.when.sentence import ends

# A name with figures (web2, v1.2, 10.0.0.5) is no number, so it goes whole.
_FIGURES = re.compile(
    r"[\d:./-]+(?:am|pm|a|p|h|hrs?|m|mins?|s|secs?|d|w|st|nd|rd|th|ish)?\d*|"
    r".*(?<![^\W\d_])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-/.]?\d.*"
)
_NAME = re.compile(r"(?=[^\s,;]*[^\W\d_])(?=[^\s,;]*\d)[^\s,;!?()]+|\d{1,3}(?:\.\d{1,3}){3}")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?|[^\s]")
#: What may stand between a time and a figure that belongs to it.
_LINKS = frozenset(
    {"or", "and", "to", "-", "/", ",", "&", "~", ":", ".", "+", "through", "او", "و", "الي", "not"}
)
#: Days of the week that are words of their own: "mon, wed at 9".
_SHORT_DAYS = frozenset({"mon", "sat", "sun"})
#: Between two times that are no list and no length: "4pm and Friday".
_AND = frozenset({"and", "then", "و", "&"})
_COMING = frozenset(Trouble(word) for word in ("القادم", "القادمه", "المقبل", "المقبله"))
_REACH = 6  # pieces
#: Words right before a time that turn it around.
_TURNS = frozenset({"or", "او", "not", "never", "no", "without", "لا", "ليس", "مش", "مو"})
#: Words right before a time that make it part of what is spoken of: "the logs from 3am", "about Friday".
_SPOKEN_OF = frozenset({
    "from", "since", "about", "of", "than", "the", "a", "an", "with", "mid", "post", "pre", "circa",
    "roughly", "almost", "nearly", "alternate", "penultimate", "previous", "prior", "preceding",
    "my", "our", "your", "his", "her", "their", "that", "until", "till", "by", "عن", "من", "حول",
    "منذ",
})  # fmt: skip
#: What may stand between a time and its zone.
_TO_ZONE = frozenset({"in", "(", ",", "by", "/", "ب", "في"})
_NO_PLACE = frozenset({"the", "a", "an", "my", "our", "case", "order"})
_ASKED_FOR = frozenset({
    "reminder", "alarm", "timer", "me", "it", "schedule", "scheduled", "set",
})  # fmt: skip


def scan(
    text: str, remembered: Remembered, zones: Mapping[str, tzinfo], names: frozenset[str]
) -> list[Piece]:
    """Return the pieces of a folded text; `names` are its words that were written like names."""
    return [piece for piece, _, _ in scan_places(text, remembered, zones, names)]


def scan_places(
    text: str, remembered: Remembered, zones: Mapping[str, tzinfo], names: frozenset[str]
) -> list[tuple[Piece, int, int]]:
    """Return the pieces of a folded text, each with where it begins and ends."""
    events = mentions(text, remembered)
    pieces: list[Piece] = []
    places: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        begins = at
        piece, at = events.get(at) or _read(text, at, zones, every=bool(pieces) and pieces[-1] == Every(None))
        pieces.append(piece)
        places.append((begins, at))
    return [
        (Zone(None) if _perhaps_zone(pieces, place, names) else _checked(pieces, place), *places[place])
        for place in range(len(pieces))
    ]


def _checked(pieces: Sequence[Piece], place: int) -> Piece:
    """Return the piece, or a `Trouble` when what stands around it puts it in doubt."""
    piece = pieces[place]
    if isinstance(piece, Word):
        return Trouble(piece.text) if _doubtful(pieces, place, piece.text) else piece
    if piece == Trouble("next") and isinstance(next(iter(pieces[place + 1 :]), None), Event):
        return Word("next")
    if place and isinstance(pieces[place - 1], Event) and piece in _COMING:
        return Word("next")
    if _goes_on(piece) and not ends(pieces, place):
        return Trouble("at")  # "look at 5 servers", "Friday outage"
    if isinstance(piece, Zone):
        return _zoned(pieces, place, piece)
    return Trouble("of") if _spoken_of(pieces, place) else piece


def _perhaps_zone(pieces: Sequence[Piece], place: int, names: frozenset[str]) -> bool:
    """Whether this may be a place whose clock is meant: "9am Lagos", "at 9am in lagos"."""
    word, before = pieces[place], pieces[max(0, place - 2) : place]
    if not isinstance(word, Word) or not before or not word.text.isalpha():
        return False
    if before[-1] == Word("in"):
        return isinstance(before[0], Clock | Moment) and word.text not in _NO_PLACE
    return isinstance(before[-1], Clock | Moment) and word.text in names


def _zoned(pieces: Sequence[Piece], place: int, zone: Zone) -> Piece:
    """Return the zone where it stands behind a time; elsewhere it is spoken of, before a time in doubt."""
    before = place - 1
    while before >= 0 and isinstance(word := pieces[before], Word) and word.text in _TO_ZONE:
        before -= 1
    if before >= 0 and _is_time(pieces[before]):
        return zone
    after = pieces[place + 1 : place + 2]
    return Trouble("zone") if after and _is_time(after[0]) else Word("zone")


def _goes_on(piece: Piece) -> bool:
    """Whether a plain word right behind this piece may belong to it."""
    if isinstance(piece, Clock):
        return piece.half is Half.NONE and not piece.fine
    return isinstance(piece, Every) or (isinstance(piece, Weekday) and not piece.many)


def _spoken_of(pieces: Sequence[Piece], place: int) -> bool:
    piece = pieces[place]
    before = [word.text if isinstance(word, Word) else "" for word in pieces[max(0, place - 2) : place]]
    directed = isinstance(piece, Lead) and piece.way is not Way.BARE
    if not before or directed or not _is_time(piece) or isinstance(piece, Every):
        return False
    if before[-1] == "for":
        return before[0] not in _ASKED_FOR
    return before[-1] in _SPOKEN_OF


def _read(text: str, at: int, zones: Mapping[str, tzinfo], *, every: bool) -> tuple[Piece, int]:
    found = (
        read_days(text, at, every=every)
        or read_past(text, at)
        or read_every(text, at)
        or read_day(text, at)
        or read_lead(text, at)
        or read_clock(text, at)
        or read_part(text, at)
        or read_relation(text, at)
        or read_zone(text, at, zones)
        or read_trouble(text, at)
    )
    if found:
        return found
    token = _NAME.match(text, at) or _TOKEN.match(text, at)
    word = token[0] if token else text[at]
    doubtful = (
        not word.isdigit() and len(word) > 1 and _FIGURES.fullmatch(word) and not _ADDRESS.fullmatch(word)
    )
    return (Trouble(word) if doubtful else Word(word)), at + len(word)


def _doubtful(pieces: Sequence[Piece], place: int, word: str) -> bool:
    around = [_is_time(piece) for piece in pieces[place + 1 : place + 2]]
    if word in _AND:
        around += [_is_time(piece) for piece in pieces[max(0, place - 1) : place]]
        return len(around) > 1 and all(around)
    if word in _TURNS:
        return any(around)
    before, after = pieces[max(0, place - _REACH) : place][::-1], pieces[place + 1 : place + 1 + _REACH]
    near = [*_beyond_links(before), *_beyond_links(after)]
    if any(isinstance(piece, Lead) and piece.way is Way.FORWARD for piece in after[:1]):
        near.pop()  # "ct 101 in 20 min"
    return _counts(pieces, place, word) and any(_is_time(piece) for piece in near)


def _beyond_links(side: Sequence[Piece]) -> Sequence[Piece]:
    """Return what comes first behind "or", "-" and the like: one piece, or nothing."""
    return [piece for piece in side if not (isinstance(piece, Word) and piece.text in _LINKS)][:1]


def _counts(pieces: Sequence[Piece], place: int, word: str) -> bool:
    """Whether the word is a figure, or hangs on what stands before it: "Friday-ish"."""
    joined = place > 0 and pieces[place - 1] in {Word("-"), Word("/"), Word("~")}
    return (
        word.isdigit()
        or word in _SHORT_DAYS
        or word in WORDS
        or word in ORDINALS
        or (joined and word[0].isalnum())
    )


def _is_time(piece: Piece) -> bool:
    return not isinstance(piece, Word | Event | Relation) and piece != Zone(None)
