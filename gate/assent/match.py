"""Reading tokens in one language: the longest known phrase at each place, in the likeliest languages.

Owns which words count as which sense, which name pending actions, and which language reads a message best:
the one that leaves the fewest words unknown. It decides nothing about the message.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from gate.assent.case import COURTESY
from gate.assent.lexicon import ALONE, Lexicon, Lexicons
from gate.assent.normalise import Kind, Token, words_of
from gate.assent.pending import Pending
from gate.assent.senses import Sense
from gate.assent.spans import is_before_edge, position, span_at, unseen
from gate.assent.typos import mend, unstretch
from gate.assent.units import Sort, Unit, unit_of

_MAX_GAP = 7
_DENIES = frozenset({Sense.NO, Sense.NOT})
_HOSTS = frozenset({"webserver", "database"})
_COMPANIONS = frozenset(
    {Sense.POLITE, Sense.ADDRESS, Sense.AHEAD, Sense.YES, Sense.ORDER, Sense.ACK, Sense.FINE}
)
_OPAQUE = frozenset({Kind.CODE, Kind.QUOTE, Kind.MENTION})
_APART = _OPAQUE | {Kind.BREAK}
_TIME = re.compile(r"@?\d{1,2}(?::\d{2}(?::\d{2})?)?(?:am|pm|uhr|h|utc|z)?|@?\d{1,2}h\d{2}")
_STARTS_SENTENCE = frozenset({Sense.REF, Sense.IS})
#: A mention that holds one of these is this bot.
OURSELVES = ("bot", "sayso")


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
        denied = any(lexicon.phrases.get((one.text,)) in _DENIES for one in clause[: place or 0])
        if place and not denied and joined[at] is token:
            joined.insert(at + 1, joined.pop(at + 1 + place))
    return joined


def _is_deed(unit: Unit) -> bool:
    return unit.sort is Sort.VERB or unit.sense is Sense.DO or unit.orders


def _unit_at(tokens: Sequence[Token], at: int, lexicon: Lexicon, pending: Pending) -> tuple[Unit, int]:
    token = tokens[at]
    if token.kind is Kind.BREAK:
        return unit_of(Sort.BREAK, tokens[at : at + 1]), 1
    if token.kind in _OPAQUE:
        # NOTE: a quoted or fenced "yes" is somebody's word for it, never a word of the lexicon.
        return _single(token, lexicon, pending), 1
    sneer = _sneer(tokens, at, lexicon)
    if sneer:
        return unit_of(Sort.SENSE, tokens[at : at + sneer], sense=Sense.HEDGE), sneer
    if pending.count > 1 and is_before_edge(tokens[at : at + 3], lexicon, pending):
        sense = _sense_at(tokens, at, (token.text,), lexicon, pending)
        if sense is not None:
            return _sensed(tokens[at : at + 1], sense), 1
    found = span_at(tokens, at, lexicon, pending) or _phrase_at(tokens, at, lexicon, pending)
    if found is not None:
        return found
    return _single(token, lexicon, pending), 1


def _sneer(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> int:
    """Return the width of a hedge that was written with a comma: "yeah, right", "agreed, it is"; else 0."""
    first = tokens[at].text
    if at + 2 >= len(tokens) or tokens[at + 1].text != ",":
        return 0
    longest = lexicon.longest.get(first, 0)
    run = takewhile(lambda one: one.kind not in _APART, tokens[at + 2 : at + 1 + longest])
    rest = tuple(one.text for one in run)
    widths = range(len(rest), 0, -1)
    width = next((i for i in widths if lexicon.phrases.get((first, *rest[:i])) is Sense.HEDGE), 0)
    return width + 2 if width else 0


def _phrase_at(
    tokens: Sequence[Token], at: int, lexicon: Lexicon, pending: Pending
) -> tuple[Unit, int] | None:
    """Return the longest phrase or verb that starts here, with its width."""
    token = tokens[at]
    longest = lexicon.longest.get(token.text, 0)
    run = tuple(takewhile(lambda one: one.kind not in _APART, tokens[at : at + longest]))
    for width in range(len(run), 0, -1):
        words = tuple(one.text for one in run[:width])
        alone = lexicon.phrases.get((*words, ALONE))
        beside = _COMPANIONS if alone is Sense.YES_ALONE else COURTESY
        if alone is not None and _is_alone(tokens, at, at + width, lexicon, beside):
            said = Sense.YES if alone is Sense.YES_ALONE else alone
            return unit_of(Sort.SENSE, run[:width], sense=said), width
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
            return unit_of(Sort.ITEM, run[:width], items=items), width
        if sense is not None:
            starts = lexicon.phrases.get(words[:1]) in _STARTS_SENTENCE
            return replace(_sensed(run[:width], sense), states=width > 1 and starts), width
    return None


def _is_too_many(words: tuple[str, ...], lexicon: Lexicon, pending: Pending) -> bool:
    """Tell hosts where one thing waits: "the web servers" is more than web1."""
    hosts = _HOSTS.intersection(lexicon.nouns.get(words, ()))
    return pending.count == 1 and not pending.several and words[-1].endswith("s") and bool(hosts)


def _sensed(tokens: Sequence[Token], sense: Sense) -> Unit:
    if sense is Sense.ORDER:
        return replace(unit_of(Sort.SENSE, tokens, sense=Sense.YES), orders=True)
    return unit_of(Sort.SENSE, tokens, sense=sense)


def _sense_at(
    tokens: Sequence[Token], at: int, words: tuple[str, ...], lexicon: Lexicon, pending: Pending
) -> Sense | None:
    """Return the sense of a phrase at this place; some words have theirs in certain places only."""
    sense = lexicon.phrases.get(words)
    if sense is Sense.WARN and (pending.meant_by(tokens[at]) or pending.terms.get(words[-1])):
        return None  # "prod" warns, unless that is where it is to run
    if sense is Sense.NOTE and pending.terms.get(words[-1]):
        return None  # "the api" is a remark's subject, unless it is what waits
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
    return unit_of(Sort.VERB, tokens, sense=sense, items=items)


def _is_alone(
    tokens: Sequence[Token], start: int, end: int, lexicon: Lexicon, after: frozenset[Sense]
) -> bool:
    """Tell whether tokens[start:end] stands between breaks, beside politeness and names at most."""
    before = start == 0 or _is_companion(tokens[start - 1], lexicon)
    return before and (end == len(tokens) or _is_companion(tokens[end], lexicon, after))


def _is_companion(token: Token, lexicon: Lexicon, senses: frozenset[Sense] = _COMPANIONS) -> bool:
    if token.kind in {Kind.BREAK, Kind.EMOJI}:
        return True
    return lexicon.phrases.get((token.text,)) in senses


def _single(token: Token, lexicon: Lexicon, pending: Pending) -> Unit:
    """Return what one token is that starts no phrase."""
    if token.kind in _OPAQUE:
        return _opaque(token, pending)
    place = position(token, lexicon, pending)
    if place is not None:
        return unit_of(Sort.ITEM, (token,), items=frozenset({place}), by_index=True)
    items = pending.meant_by(token)
    if items:
        return unit_of(Sort.ITEM, (token,), items=items)
    number = lexicon.numbers.get(token.text) if token.kind is Kind.WORD else None
    if number is not None and (number == pending.count or str(number) in pending.terms):
        return unit_of(Sort.SENSE, (token,), sense=Sense.REF)
    if token.kind is Kind.VALUE and _TIME.fullmatch(token.text):
        return unit_of(Sort.SENSE, (token,), sense=Sense.DEFER)
    is_value = token.kind in {Kind.VALUE, Kind.NUMBER}
    names = unseen(token, lexicon) if pending.several and not pending.count else frozenset[int]()
    unit = unit_of(Sort.VALUE if is_value else Sort.UNKNOWN, (token,), items=names)
    return unit if token.kind is Kind.WORD or is_value else replace(unit, opaque=True)


def _opaque(token: Token, pending: Pending) -> Unit:
    """Quotes and mentions are strange, or mean this bot; code refers where one action has all of it."""
    if token.kind is not Kind.CODE:
        ours = token.kind is Kind.MENTION and any(name in token.text for name in OURSELVES)
        if ours:
            return unit_of(Sort.SENSE, (token,), sense=Sense.ADDRESS)
        return replace(unit_of(Sort.UNKNOWN, (token,)), opaque=True)
    words = [one for one in words_of(token.text) if one.kind is not Kind.BREAK]
    if words and pending.terms:
        items = [pending.terms.get(one.text, frozenset()) for one in words]
        shared = frozenset.intersection(*items) if pending.count else frozenset.union(*items)
        if shared and all(items):
            return unit_of(Sort.ITEM, (token,), items=shared)
    return replace(unit_of(Sort.UNKNOWN, (token,)), opaque=True)
