"""Reading tokens in one language: the longest known phrase at each place, in the likeliest languages.

Owns which words count as which sense, which name pending actions, and which language reads a message best:
the one that leaves the fewest words unknown. It decides nothing about the message.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import takewhile

from gate.assent.lexicon import ALONE, Lexicon, Lexicons, Sense
from gate.assent.normalise import Kind, Token, words_of
from gate.assent.pending import Pending
from gate.assent.typos import mend, unstretch

_MAX_DIGITS = 6
_SPAN = re.compile(r"#?([^\W\d_]*)(\d{1,5})-#?([^\W\d_]*)(\d{1,5})")
_TO = 2
_COMPANIONS = frozenset({Sense.POLITE, Sense.ADDRESS, Sense.YES, Sense.ACK, Sense.FINE})
_OPAQUE = frozenset({Kind.CODE, Kind.QUOTE, Kind.MENTION})
_APART = _OPAQUE | {Kind.BREAK}
_TIME = re.compile(r"@?\d{1,2}(?::\d{2}(?::\d{2})?)?(?:am|pm|uhr|h|utc|z)?|@?\d{1,2}h\d{2}")
_TOS = frozenset({"to", "bis", "through", "thru", "a", "à", "al", "até", "tot", "الي"})
#: A mention that holds one of these is this bot.
OURSELVES = ("bot", "sayso")


class Sort(Enum):
    """What a unit is when it has no sense."""

    SENSE = auto()
    VERB = auto()  # a verb that is the doing of a pending action, or of none
    ITEM = auto()  # names pending actions by a word of theirs, a number or an ordinal
    UNKNOWN = auto()
    VALUE = auto()  # an unknown value: a flag, a number, a host: somebody wants something else
    BREAK = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One phrase of the message with its meaning in one language.

    Attributes:
        items: 0-based positions of the pending actions it names.
        start, end: offsets in the clean text.
        by_index: it names actions by their position in the list.
        orders: it says yes by telling to act ("go ahead"), which answers nothing else.
        opaque: code, a quote or a mention, whole.
    """

    sort: Sort
    text: str
    start: int
    end: int
    sense: Sense | None = None
    items: frozenset[int] = frozenset()
    by_index: bool = False
    orders: bool = False
    opaque: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A message in one language; `evidence` counts its words that stand in that language's own lexicon."""

    language: str
    units: tuple[Unit, ...]
    evidence: int


def _evidence(units: Sequence[Unit], lexicon: Lexicon) -> int:
    words = (tuple(unit.text.split()) for unit in units if unit.sort is not Sort.BREAK)
    return sum(len(phrase) for phrase in words if phrase in lexicon.own or (*phrase, ALONE) in lexicon.own)


class Reader:
    """Reads one message against one pending set in any language; remembers what words refer to."""

    def __init__(self, tokens: Sequence[Token], *, lexicons: Lexicons, pending: Pending) -> None:
        self._tokens = tokens
        self._lexicons = lexicons
        self._pending = pending
        words = [
            token.text
            for token in tokens
            if token.kind in {Kind.WORD, Kind.EMOJI} and not pending.meant_by(token)
        ]
        self._known_to_some = [word for word in words if word in lexicons.vocabulary]
        self._strange_to_all = [word for word in words if word not in lexicons.vocabulary]

    def best(self) -> list[Reading]:
        """Return the readings of the languages that leave the fewest words unknown."""
        bounds = sorted(
            ((self._least_strange(lexicon), lexicon) for lexicon in self._lexicons.languages),
            key=lambda pair: pair[0],
        )
        fewest = len(self._tokens)
        readings: list[tuple[int, Lexicon, tuple[Unit, ...]]] = []
        for bound, lexicon in bounds:
            if bound > fewest:
                break
            units = self._read(lexicon)
            strange = sum(unit.sort is Sort.UNKNOWN for unit in units)
            fewest = min(fewest, strange)
            readings.append((strange, lexicon, units))
        return [
            Reading(language=lexicon.language, units=units, evidence=_evidence(units, lexicon))
            for strange, lexicon, units in readings
            if strange == fewest
        ]

    def _least_strange(self, lexicon: Lexicon) -> int:
        """Return how many words stand nowhere in a lexicon: no reading leaves fewer unknown, typos aside."""
        known = lexicon.vocabulary
        strange = [word for word in self._strange_to_all if unstretch(word, lexicon) not in known]
        return len(strange) + sum(word not in known for word in self._known_to_some)

    def _read(self, lexicon: Lexicon) -> tuple[Unit, ...]:
        mended = mend(self._tokens, lexicon, self._lexicons, self._pending)
        units: list[Unit] = []
        at = 0
        while at < len(mended):
            unit, width = _unit_at(mended, at, lexicon, self._pending)
            if unit.sense is Sense.ME and units and _is_deed(units[-1]):
                unit = replace(unit, sense=Sense.SELF)  # "mach ich", "doe ik": they do it themselves
            units.append(unit)
            at += width
        return tuple(units)


def _is_deed(unit: Unit) -> bool:
    return unit.sort is Sort.VERB or unit.sense is Sense.DO or unit.orders


def _unit_at(tokens: Sequence[Token], at: int, lexicon: Lexicon, pending: Pending) -> tuple[Unit, int]:
    token = tokens[at]
    if token.kind is Kind.BREAK:
        return _unit(Sort.BREAK, tokens[at : at + 1]), 1
    if token.kind in _OPAQUE:
        # NOTE: a quoted or fenced "yes" is somebody's word for it, never a word of the lexicon.
        return _single(token, lexicon, pending), 1
    found = _span_at(tokens, at, lexicon, pending) or _phrase_at(tokens, at, lexicon, pending)
    if found is not None:
        return found
    return _single(token, lexicon, pending), 1


def _span_at(tokens: Sequence[Token], at: int, lexicon: Lexicon, pending: Pending) -> tuple[Unit, int] | None:
    """Read "1-3", "1 to 3", "app1-app3", "first two" and "web one" as what they name."""
    if pending.count == 0 or tokens[at].kind not in {Kind.NUMBER, Kind.VALUE, Kind.WORD}:
        return None
    token = tokens[at]
    span = _SPAN.fullmatch(token.text)
    if span is not None:
        items = (
            _between(span[1], int(span[2]), int(span[4]), pending)
            if span[3] in {"", span[1]}
            else frozenset()
        )
        return (
            (_unit(Sort.ITEM, tokens[at : at + 1], items=items, by_index=not span[1]), 1) if items else None
        )
    following = tokens[at + 1 : at + 3]
    if len(following) == _TO and following[0].text in _TOS and token.kind is following[1].kind is Kind.NUMBER:
        items = _between("", int(token.text), int(following[1].text), pending)
        return (_unit(Sort.ITEM, tokens[at : at + 3], items=items, by_index=True), 3) if items else None
    number = _number(following[0], lexicon) if following else None
    if number is None or token.kind is not Kind.WORD:
        return None
    if lexicon.ordinals.get(token.text) == 1 and number <= pending.count:
        items = frozenset(range(number))
        return _unit(Sort.ITEM, tokens[at : at + 2], items=items, by_index=True), 2
    items = pending.terms.get(f"{token.text}{number}", frozenset())
    return (_unit(Sort.ITEM, tokens[at : at + 2], items=items), 2) if items else None


def _between(name: str, low: int, high: int, pending: Pending) -> frozenset[int]:
    """Return the actions from `low` to `high`, by position or by the number behind `name`; all must exist."""
    if not low < high <= low + pending.count:
        return frozenset()
    if not name:
        return frozenset(range(low - 1, high)) if low >= 1 and high <= pending.count else frozenset()
    found = [pending.terms.get(f"{name}{number}", frozenset()) for number in range(low, high + 1)]
    return frozenset[int]().union(*found) if all(found) else frozenset()


def _number(token: Token, lexicon: Lexicon) -> int | None:
    if token.kind is Kind.NUMBER and len(token.text) < _MAX_DIGITS:
        return int(token.text)
    return lexicon.numbers.get(token.text)


def _unit(
    sort: Sort,
    tokens: Sequence[Token],
    *,
    sense: Sense | None = None,
    items: frozenset[int] = frozenset(),
    by_index: bool = False,
) -> Unit:
    return Unit(
        sort=sort,
        text=" ".join(token.text for token in tokens),
        start=tokens[0].start,
        end=tokens[-1].end,
        sense=sense,
        items=items,
        by_index=by_index,
    )


def _phrase_at(
    tokens: Sequence[Token], at: int, lexicon: Lexicon, pending: Pending
) -> tuple[Unit, int] | None:
    """Return the longest phrase or verb that starts here, with its width."""
    token = tokens[at]
    longest = lexicon.longest.get(token.text, 0)
    run = tuple(takewhile(lambda one: one.kind not in _APART, tokens[at : at + longest]))
    for width in range(len(run), 0, -1):
        words = tuple(one.text for one in run[:width])
        if (*words, ALONE) in lexicon.phrases and _is_alone(tokens, at, at + width, lexicon):
            return _unit(Sort.SENSE, run[:width], sense=Sense.YES), width
        if words in lexicon.verbs:
            return _verb(run[:width], lexicon, pending), width
        sense = _sense_at(tokens, at, words, lexicon, pending)
        nouns = () if words[0] in pending.terms else lexicon.nouns.get(words, ())
        items = pending.meant_by_any(lexicon.stands_for[name] for name in nouns)
        if items:
            return _unit(Sort.ITEM, run[:width], items=items), width
        if sense is Sense.ORDER:
            return replace(_unit(Sort.SENSE, run[:width], sense=Sense.YES), orders=True), width
        if sense is not None:
            return _unit(Sort.SENSE, run[:width], sense=sense), width
    return None


def _sense_at(
    tokens: Sequence[Token], at: int, words: tuple[str, ...], lexicon: Lexicon, pending: Pending
) -> Sense | None:
    """Return the sense of a phrase at this place; some words have theirs in certain places only."""
    sense = lexicon.phrases.get(words)
    if sense is Sense.ASK_FIRST:
        return Sense.ASK if _is_first(tokens, at, lexicon) else None
    if sense is Sense.BEFORE_NAME:
        following = tokens[at + len(words)] if at + len(words) < len(tokens) else None
        names = following is not None and (
            following.kind in {Kind.VALUE, Kind.NUMBER} or bool(pending.meant_by(following))
        )
        return sense if names else None
    return sense


def _is_first(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    """Tell whether a clause starts here, conjunctions and politeness aside."""
    if at == 0 or _is_companion(tokens[at - 1], lexicon):
        return True
    return lexicon.phrases.get((tokens[at - 1].text,)) in {Sense.BUT, Sense.AND}


def _verb(tokens: Sequence[Token], lexicon: Lexicon, pending: Pending) -> Unit:
    words = tuple(token.text for token in tokens)
    stems = [lexicon.stands_for[name] for name in lexicon.verbs[words]]
    items = pending.meant_by_any((*stems, words) if len(words) == 1 else stems)
    sense = lexicon.phrases.get(words)
    # "stop", "cancel" and "drop" refuse, unless they are what is pending; then they keep the doubt.
    if not items and sense is not None:
        return _unit(Sort.SENSE, tokens, sense=sense)
    return _unit(Sort.VERB, tokens, sense=sense, items=items)


def _is_alone(tokens: Sequence[Token], start: int, end: int, lexicon: Lexicon) -> bool:
    """Tell whether tokens[start:end] stands between breaks, beside politeness and names at most."""
    before = start == 0 or _is_companion(tokens[start - 1], lexicon)
    after = end == len(tokens) or _is_companion(tokens[end], lexicon)
    return before and after


def _is_companion(token: Token, lexicon: Lexicon) -> bool:
    if token.kind in {Kind.BREAK, Kind.EMOJI}:
        return True
    return lexicon.phrases.get((token.text,)) in _COMPANIONS


def _single(token: Token, lexicon: Lexicon, pending: Pending) -> Unit:
    """Return what one token is that starts no phrase."""
    if token.kind in _OPAQUE:
        return _opaque(token, pending)
    position = _position(token, lexicon, pending)
    if position is not None:
        return _unit(Sort.ITEM, (token,), items=frozenset({position}), by_index=True)
    items = pending.meant_by(token)
    if items:
        return _unit(Sort.ITEM, (token,), items=items)
    number = lexicon.numbers.get(token.text) if token.kind is Kind.WORD else None
    if number is not None and (number == pending.count or str(number) in pending.terms):
        return _unit(Sort.SENSE, (token,), sense=Sense.REF)
    if token.kind is Kind.VALUE and _TIME.fullmatch(token.text):
        return _unit(Sort.SENSE, (token,), sense=Sense.DEFER)
    is_value = token.kind in {Kind.VALUE, Kind.NUMBER}
    unit = _unit(Sort.VALUE if is_value else Sort.UNKNOWN, (token,))
    return unit if token.kind is Kind.WORD or is_value else replace(unit, opaque=True)


def _opaque(token: Token, pending: Pending) -> Unit:
    """Quotes and mentions are strange, or mean this bot; code refers where one action has all of it."""
    if token.kind is not Kind.CODE:
        ours = token.kind is Kind.MENTION and any(name in token.text for name in OURSELVES)
        if ours:
            return _unit(Sort.SENSE, (token,), sense=Sense.ADDRESS)
        return replace(_unit(Sort.UNKNOWN, (token,)), opaque=True)
    words = [one for one in words_of(token.text) if one.kind is not Kind.BREAK]
    if words and pending.terms:
        items = [pending.terms.get(one.text, frozenset()) for one in words]
        shared = frozenset.intersection(*items) if pending.count else frozenset.union(*items)
        if shared and all(items):
            return _unit(Sort.ITEM, (token,), items=shared)
    return replace(_unit(Sort.UNKNOWN, (token,)), opaque=True)


def _position(token: Token, lexicon: Lexicon, pending: Pending) -> int | None:
    """Return the 0-based position that a number or an ordinal names in the list of actions."""
    if pending.count == 0 or token.text in pending.terms:
        return None
    if token.kind is Kind.NUMBER and len(token.text) < _MAX_DIGITS:
        number = int(token.text)
    elif token.text in lexicon.ordinals:
        number = lexicon.ordinals[token.text]
        number = pending.count if number < 0 else number
    else:
        return None
    return number - 1 if 1 <= number <= pending.count else None
