"""Finds the document that a request means: first word for word, then by likeness.

Works on words whose targets were already taken out. An exact match has every content word of a title or
alias in its order, with a fitting value in each slot; a like match is scored 0 to 1 after rapidfuzz has cut
the library down to a few candidates. What a score allows is decided in `titles`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from bot.planning.library import MAX_SLOTS, Document, Library, Pattern
from bot.planning.words import CHANGES, COURTESIES, DOUBTS, FILLERS, PRONOUNS, Token

MAX_WORDS = 24
_CANDIDATES = 40
_WORD_LIKENESS = 0.72
_SHORT_WORD = 3
_A_COMMAND = 2
_TYPO_LIKENESS = 75.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A document with the slot values found; `score` is 1.0 only for an exact match."""

    pattern: Pattern
    values: Mapping[str, str] = field(default_factory=dict)
    score: float = 1.0

    @property
    def document(self) -> Document:
        """The document meant."""
        return self.pattern.document

    @property
    def missing(self) -> tuple[str, ...]:
        """Inputs that have no value yet, and no default."""
        return tuple(
            name
            for name, declared in self.document.inputs.items()
            if name not in self.values and declared.default is None
        )


def exact(words: Sequence[Token], *, library: Library) -> tuple[Match, ...]:
    """Return exact matches, fewest slots first.

    A document that changes something tolerates courtesies only, and the small words of its own title: "how do
    I restart caddy" does not restart it.
    """
    content = [token for token in words if token.folded not in FILLERS]
    if not content or len(content) > MAX_WORDS:
        return ()
    fillers = _fillers(words)
    found: dict[str, Match] = {}
    for slots in range(min(MAX_SLOTS, len(content)) + 1):
        for match in _exact_with(content, slots, library):
            if match.document.is_read_only or fillers <= match.pattern.fillers:
                found.setdefault(match.document.id, match)
    return tuple(found.values())


def _fillers(words: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.folded for token in words) & FILLERS - COURTESIES


def _exact_with(content: Sequence[Token], slots: int, library: Library) -> Iterator[Match]:
    for places in combinations(range(len(content)), slots):
        words = tuple(token.folded for index, token in enumerate(content) if index not in places)
        for pattern in library.exact.get(words, ()):
            if tuple(pattern.slots) != places:
                continue
            values = {name: content[index].raw for index, name in pattern.slots.items()}
            if _fit(pattern.document, values):
                yield Match(pattern=pattern, values=values)


def typed(words: Sequence[Token], *, library: Library) -> tuple[Match, ...]:
    """Return the document that only reads and whose whole command `words` are: "df -h" is `disk space`.

    Courtesies aside. A single word does not count: "free" and "last" are words of people too.
    """
    first, last = 0, len(words)
    while last > first and words[last - 1].folded in COURTESIES:
        last -= 1
    while first < last and words[first].folded in COURTESIES:
        first += 1
    if last - first < _A_COMMAND:
        return ()
    command = " ".join(token.raw for token in words[first:last])
    patterns = (one for one in library.patterns if one.document.is_read_only and not one.slots)
    found = (
        one
        for one in patterns
        if not one.document.supervised and [step.command for step in one.document.steps] == [command]
    )
    return tuple(Match(pattern=one) for one in islice(found, 1))


def incomplete(words: Sequence[Token], *, library: Library) -> tuple[Match, ...]:
    """Return what matches word for word but for its slots: "restart" lacks the service."""
    content = tuple(
        token.folded for token in words if token.folded not in FILLERS and token.folded not in PRONOUNS
    )
    fillers = _fillers(words)
    found = {
        pattern.document.id: Match(pattern=pattern)
        for pattern in library.exact.get(content, ())
        if not pattern.document.supervised or fillers <= pattern.fillers
    }
    return tuple(match for match in found.values() if match.missing)


def _fit(document: Document, values: Mapping[str, str]) -> bool:
    return all(
        document.inputs[name].accepts(value) and value.casefold() not in _NO_VALUES
        for name, value in values.items()
    )


#: A word of grammar is never a value: "restart it" names no service, "don't stop" no unit.
_NO_VALUES = PRONOUNS | DOUBTS | {"and", "then", "also", "but", "or"}
#: Nor is a word with which people tell of something: "we saw errors on all servers", "the same errors again".
_NO_VALUES |= {"another", "found", "getting", "got", "lots", "more", "most", "new", "old", "other", "same"}
_NO_VALUES |= {"saw", "seen", "several", "some", "strange", "such", "weird"}


def alike(words: Sequence[Token], *, library: Library, services: Collection[str]) -> tuple[Match, ...]:
    """Return the best match of each document by likeness, best first; scores are 0 to 1."""
    known = {service.casefold() for service in services}
    content = [token for token in words if token.folded not in FILLERS][:MAX_WORDS]
    content = [token for token in content if token.folded in known or not _is_misspelt_filler(token, library)]
    if not content or not library.patterns:
        return ()
    values = [token for token in content if _is_value(token, known, library.vocabulary)]
    literal = [token.folded for token in content if token not in values]
    if not literal:
        return ()
    best: dict[str, Match] = {}
    # What is no plain word is a value before others are.
    scorer = _Scorer(literal, sorted(values, key=lambda token: token.folded.isalpha()))
    for pattern in _candidates(literal, library):
        match = scorer.score(pattern)
        rival = best.get(match.document.id)
        if rival is None or match.score > rival.score:
            best[match.document.id] = match
    return tuple(sorted(best.values(), key=lambda match: (-match.score, match.document.id)))


def _is_value(token: Token, services: Collection[str], vocabulary: Collection[str]) -> bool:
    """Whether a word is rather a slot's value than a (misspelt) word of a title."""
    if token.folded in services:
        return True
    if token.folded in vocabulary or token.folded in _NO_VALUES or token.folded in CHANGES:
        return False
    if token.raw.startswith("/") or not token.folded.isalpha():
        return True
    return (
        process.extractOne(token.folded, vocabulary, scorer=fuzz.ratio, score_cutoff=_TYPO_LIKENESS) is None
    )


def _is_misspelt_filler(token: Token, library: Library) -> bool:
    """Whether a word is one slip away from a word without meaning ("waht"), and from no word of a title."""
    return (
        len(token.folded) > _SHORT_WORD
        and token.folded.isalpha()
        and token.folded not in CHANGES | DOUBTS
        and not is_slip(token.folded, library.vocabulary)
        and is_slip(token.folded, _LONG_FILLERS)
    )


def is_slip(word: str, vocabulary: Collection[str]) -> bool:
    """Whether `word` is in `vocabulary` or one letter (or one swap) away from a word of it."""
    return (
        word in vocabulary
        or process.extractOne(word, vocabulary, scorer=OSA.distance, score_cutoff=1) is not None
    )


_LONG_FILLERS = tuple(word for word in FILLERS if len(word) >= _SHORT_WORD)


def _candidates(literal: Sequence[str], library: Library) -> list[Pattern]:
    asked, shuffled = " ".join(literal), " ".join(sorted(literal))
    hits = process.extract(asked, library.keys, scorer=fuzz.ratio, limit=_CANDIDATES)
    hits += process.extract(shuffled, library.sorted_keys, scorer=fuzz.ratio, limit=_CANDIDATES)
    return [library.patterns[index] for index in dict.fromkeys(hit[2] for hit in hits)]


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Compares patterns with one request; what a word is like is worked out once for all of them."""

    literal: Sequence[str]
    values: Sequence[Token]
    _pairs: dict[str, tuple[tuple[float, str], ...]] = field(default_factory=dict)

    def score(self, pattern: Pattern) -> Match:
        """Compare word by word: twice the likeness of paired words over all words of both sides."""
        free = list(self.literal)
        total = 0.0
        said: set[str] = set()
        for word in pattern.words:
            pair = next((pair for pair in self._pairs_of(word) if pair[1] in free), None)
            if pair is not None:
                total += pair[0]
                free.remove(pair[1])
                said.add(word)
        if said.isdisjoint(pattern.things):
            # A value alone does not say what is wanted, nor does "it": "is it reversible?" pings no host. Nor
            # does the verb of a title that goes on: "make me a sandwich" makes no container.
            return Match(pattern=pattern, score=0.0)
        bound = self._bind_slots(pattern)
        total += len(bound)
        length = len(self.literal) + len(self.values) + len(pattern.tokens)
        # NOTE: capped below 1, which is for exact matches only.
        return Match(pattern=pattern, values=bound, score=min(0.99, 2 * total / length))

    def _bind_slots(self, pattern: Pattern) -> dict[str, str]:
        """Give each slot the first value that fits it, the pickiest types first."""
        free = list(self.values)
        bound: dict[str, str] = {}
        inputs = pattern.document.inputs
        for name in pattern.fills if free else ():
            fitting = next((token for token in free if inputs[name].accepts(token.raw)), None)
            if fitting is not None:
                bound[name] = fitting.raw
                free.remove(fitting)
        return bound

    def _pairs_of(self, word: str) -> tuple[tuple[float, str], ...]:
        """Return the words of the request that are like `word`, the likest first."""
        known = self._pairs.get(word)
        if known is None:
            found = [(likeness, other) for other in self.literal if (likeness := _likeness(word, other))]
            alike = [pair for pair in found if pair[0] >= _WORD_LIKENESS]
            known = self._pairs[word] = tuple(sorted(alike, reverse=True))
        return known


def _likeness(word: str, other: str) -> float:
    if word == other:
        return 1.0
    shorter, longer = sorted((len(word), len(other)))
    if shorter < _SHORT_WORD or longer <= _SHORT_WORD or (shorter == _SHORT_WORD and word[0] != other[0]):
        return 0.0  # of short words nearly everything is alike: "dsk" may be "disk", "eat" is not "heat"
    return OSA.normalized_similarity(word, other)
