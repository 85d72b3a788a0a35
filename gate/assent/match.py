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
_NAMED = re.compile(r"#?([^\W\d_]*)(\d{1,5})")
_TO = 2
_PAIR = 2
_MAX_GAP = 7
_HOSTS = frozenset({"webserver", "database"})
_MAX_STEPS = 20
_UNSEEN = 1000  # positions of things that a question may have and that answers number
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
        mended = _joined(mend(self._tokens, lexicon, self._lexicons, self._pending), lexicon)
        units: list[Unit] = []
        at = 0
        while at < len(mended):
            unit, width = _unit_at(mended, at, lexicon, self._pending)
            if unit.sense is Sense.ME and units and _is_deed(units[-1]):
                unit = replace(unit, sense=Sense.SELF)  # "mach ich", "doe ik": they do it themselves
            units.append(unit)
            at += width
        if len(units) > 1 and units[-1].sense is Sense.BUT and units[-2].items and self._pending.count != 1:
            units[-1] = replace(units[-1], sense=Sense.ONLY)  # Arabic "web1 بس"
        return tuple(units)


def _joined(tokens: Sequence[Token], lexicon: Lexicon) -> Sequence[Token]:
    """Bring the end of a parted verb to its beginning: "starte caddy neu" is "starte neu caddy"."""
    if not any(token.text in lexicon.particles for token in tokens):
        return tokens
    joined = list(tokens)
    for at, token in enumerate(tokens):
        clause = list(takewhile(lambda one: one.kind is not Kind.BREAK, joined[at + 1 : at + _MAX_GAP]))
        ends = lexicon.particles.get(token.text, ())
        place = next((i for i, one in enumerate(clause) if one.text in ends), None)
        if place and joined[at] is token:
            joined.insert(at + 1, joined.pop(at + 1 + place))
    return joined


def _is_deed(unit: Unit) -> bool:
    return unit.sort is Sort.VERB or unit.sense is Sense.DO or unit.orders


def _unit_at(tokens: Sequence[Token], at: int, lexicon: Lexicon, pending: Pending) -> tuple[Unit, int]:
    token = tokens[at]
    if token.kind is Kind.BREAK:
        return _unit(Sort.BREAK, tokens[at : at + 1]), 1
    if token.kind in _OPAQUE:
        # NOTE: a quoted or fenced "yes" is somebody's word for it, never a word of the lexicon.
        return _single(token, lexicon, pending), 1
    if _is_sneer(tokens[at : at + 3], lexicon):
        return _unit(Sort.SENSE, tokens[at : at + 3], sense=Sense.HEDGE), 3
    if pending.count > 1 and _is_before_edge(tokens[at : at + 3], lexicon, pending):
        sense = _sense_at(tokens, at, (token.text,), lexicon, pending)
        if sense is not None:
            return _sensed(tokens[at : at + 1], sense), 1
    found = _span_at(tokens, at, lexicon, pending) or _phrase_at(tokens, at, lexicon, pending)
    if found is not None:
        return found
    return _single(token, lexicon, pending), 1


def _is_sneer(tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    """Tell whether a hedge of two words was written with a comma: "yeah, right"."""
    return (
        len(tokens) == 3  # noqa: PLR2004 - a word, a comma, a word
        and tokens[1].text == ","
        and lexicon.phrases.get((tokens[0].text, tokens[2].text)) is Sense.HEDGE
    )


def _span_at(tokens: Sequence[Token], at: int, lexicon: Lexicon, pending: Pending) -> tuple[Unit, int] | None:
    """Read "1-3", "1 to 3", "app1-app3", "first two", "step two" and "web one" as what they name."""
    token = tokens[at]
    if token.kind not in {Kind.NUMBER, Kind.VALUE, Kind.WORD} or not (pending.count or pending.several):
        return None
    following = tokens[at + 1 : at + 3]
    found = _range(token, following, pending) if pending.count else None
    if found is not None:
        items, by_index, width = found
        return _unit(Sort.ITEM, tokens[at : at + width], items=items, by_index=by_index), width
    if not following or token.kind is Kind.VALUE:
        return None
    edge = _edge(token, following[0], lexicon, pending)
    if edge:
        sort = Sort.ITEM if pending.count else Sort.UNKNOWN
        return _unit(sort, tokens[at : at + 2], items=edge, by_index=True), 2
    return _counted(tokens, at, lexicon, pending)


def _range(
    token: Token, following: Sequence[Token], pending: Pending
) -> tuple[frozenset[int], bool, int] | None:
    """Return what "1-3", "app1-app3" or "1 to 3" names, whether by position, and its width."""
    span = _SPAN.fullmatch(token.text)
    if span is not None:
        same = span[3] in {"", span[1]}
        items = _between(span[1], int(span[2]), int(span[4]), pending) if same else frozenset[int]()
        return (items, not span[1], 1) if items else None
    if len(following) < _TO or following[0].text not in _TOS:
        return None
    low, high = _NAMED.fullmatch(token.text), _NAMED.fullmatch(following[1].text)
    if low is None or high is None or low[1] != high[1]:
        return None
    items = _between(low[1], int(low[2]), int(high[2]), pending)
    return (items, not low[1], 3) if items else None


def _edge(one: Token, other: Token, lexicon: Lexicon, pending: Pending) -> frozenset[int]:
    """Return the first or last few: "first two", "last 2", "los dos primeros"."""
    for place, amount in ((one, other), (other, one)):
        ordinal = lexicon.ordinals.get(place.text)
        number = _number(amount, lexicon)
        if ordinal in {1, -1} and number is not None and number <= (pending.count or _MAX_STEPS):
            if not pending.count:
                return frozenset(_UNSEEN + place for place in range(ordinal, ordinal + number))
            return frozenset(range(number) if ordinal == 1 else range(pending.count - number, pending.count))
    return frozenset()


def _is_before_edge(tokens: Sequence[Token], lexicon: Lexicon, pending: Pending) -> bool:
    """Tell "los dos primeros" from "los dos": the article is not part of "both"."""
    return (
        len(tokens) == _TO + 1
        and _number(tokens[0], lexicon) is None
        and tokens[0].text not in lexicon.ordinals
        and bool(_edge(tokens[1], tokens[2], lexicon, pending))
    )


def _counted(tokens: Sequence[Token], at: int, lexicon: Lexicon, pending: Pending) -> tuple[Unit, int] | None:
    """Read "step two", "one and two", "all 3" and "web one"."""
    first = lexicon.phrases.get((tokens[at].text,))
    number = _number(tokens[at + 1], lexicon)
    if number is None:
        pair = [_number(token, lexicon) for token in tokens[at : at + 3 : 2]]
        joins = lexicon.phrases.get((tokens[at + 1].text,)) is Sense.AND and len(pair) == _PAIR
        numbers = [one for one in pair if one is not None and one <= pending.count]
        if joins and len(numbers) == _PAIR and tokens[at].kind is Kind.WORD:
            items = frozenset(one - 1 for one in numbers)
            return _unit(Sort.ITEM, tokens[at : at + 3], items=items, by_index=True), 3
        return None
    if first is Sense.ALL and number == pending.count:
        return _unit(Sort.SENSE, tokens[at : at + 2], sense=Sense.ALL), 2
    if first is Sense.BEFORE_NAME and number <= pending.count and tokens[at + 1].kind is Kind.WORD:
        return _unit(Sort.ITEM, tokens[at : at + 2], items=frozenset({number - 1}), by_index=True), 2
    items = pending.terms.get(f"{tokens[at].text}{number}", frozenset())
    if items and tokens[at].kind is Kind.WORD:
        return _unit(Sort.ITEM, tokens[at : at + 2], items=items), 2
    return None


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
        nouns = (
            ()
            if words[0] in pending.terms or _is_too_many(words, lexicon, pending)
            else lexicon.nouns.get(words, ())
        )
        items = pending.meant_by_any(lexicon.stands_for[name] for name in nouns)
        if items:
            return _unit(Sort.ITEM, run[:width], items=items), width
        if sense is not None:
            return _sensed(run[:width], sense), width
    return None


def _is_too_many(words: tuple[str, ...], lexicon: Lexicon, pending: Pending) -> bool:
    """Tell hosts where one thing waits: "the web servers" is more than web1."""
    hosts = _HOSTS.intersection(lexicon.nouns.get(words, ()))
    return pending.count == 1 and not pending.several and words[-1].endswith("s") and bool(hosts)


def _sensed(tokens: Sequence[Token], sense: Sense) -> Unit:
    if sense is Sense.ORDER:
        return replace(_unit(Sort.SENSE, tokens, sense=Sense.YES), orders=True)
    return _unit(Sort.SENSE, tokens, sense=sense)


def _sense_at(
    tokens: Sequence[Token], at: int, words: tuple[str, ...], lexicon: Lexicon, pending: Pending
) -> Sense | None:
    """Return the sense of a phrase at this place; some words have theirs in certain places only."""
    sense = lexicon.phrases.get(words)
    if sense is Sense.WARN and pending.meant_by(tokens[at]):
        return None  # "prod" warns, unless that is where it is to run
    if sense is Sense.ASK_FIRST:
        return Sense.ASK if _is_first(tokens, at, lexicon) else None
    if sense is Sense.BEFORE_NAME:
        following = tokens[at + len(words)] if at + len(words) < len(tokens) else None
        names = following is not None and (
            following.kind in {Kind.VALUE, Kind.NUMBER}
            or following.text in lexicon.numbers
            or bool(pending.meant_by(following))
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
    literal = pending.terms.get(words[0], frozenset()) if len(words) == 1 else frozenset()
    items = literal or pending.meant_by_any(stems)
    sense = lexicon.phrases.get(words)
    # "stop", "cancel" and "drop" refuse, unless they are what is pending; then they keep the doubt.
    if not items and sense is not None:
        return _sensed(tokens, sense)
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
    unseen = _unseen(token, lexicon) if pending.several and not pending.count else frozenset[int]()
    unit = _unit(Sort.VALUE if is_value else Sort.UNKNOWN, (token,), items=unseen)
    return unit if token.kind is Kind.WORD or is_value else replace(unit, opaque=True)


def _unseen(token: Token, lexicon: Lexicon) -> frozenset[int]:
    """Return the position that a number or ordinal names where only a question is known."""
    place = lexicon.ordinals.get(token.text)
    if place is None:
        place = _number(token, lexicon) if token.kind is Kind.NUMBER else None
    return frozenset() if place is None else frozenset({_UNSEEN + place})


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
    elif token.text in lexicon.ordinals and pending.count > 1:
        number = lexicon.ordinals[token.text]
        number = pending.count if number < 0 else number
    else:
        return None
    return number - 1 if 1 <= number <= pending.count else None
