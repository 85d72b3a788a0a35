"""Lexicons: what words mean in one language, as data, checked strictly.

Owns the shape of gate/lexicon/*.toml. A file that has an unknown key, an empty phrase or one phrase in two
classes is an error, never a silently smaller lexicon. It holds no words and reads no files; bot.loading does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TypeVar

from gate.assent.normalise import plain
from gate.assent.phrases import Phrase, phrase_of, written_out
from gate.assent.senses import GUARDED, RESTRAINING, Sense
from gate.domain import AssentVerdict
from gate.errors import RuleError

_PAIR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One answer and how it must be read; each is a test."""

    text: str
    verdict: AssentVerdict
    pending: tuple[str, ...] = ()
    selects: tuple[int, ...] = ()
    question: bool | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """One language.

    Attributes:
        typos: slips may be mended. Only where words inflect little: in Italian one letter parts "restart it"
            from "restarted" (riavvialo, riavviato).
        phrases: folded words of a phrase -> its sense.
        verbs: folded words of a verb -> the names of what it does ("restart").
        parted: likewise for verbs of two words that others stand between: "starte … neu".
        nouns: likewise for things ("database").
        ordinals: word -> 1-based position; -1 is the last one.
        numbers: word -> number.
        spelling: word -> the words it is short for.
        stands_for: name of a verb or noun -> words of descriptions that it may stand for.
        own: the phrases that are this language's, not common to all.
    """

    language: str
    typos: bool = False
    phrases: Mapping[Phrase, Sense] = field(default_factory=dict)
    verbs: Mapping[Phrase, tuple[str, ...]] = field(default_factory=dict)
    parted: Mapping[Phrase, tuple[str, ...]] = field(default_factory=dict)
    nouns: Mapping[Phrase, tuple[str, ...]] = field(default_factory=dict)
    ordinals: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    spelling: Mapping[str, Phrase] = field(default_factory=dict)
    stands_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    own: frozenset[Phrase] = frozenset()
    examples: tuple[Example, ...] = ()

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word that stands anywhere in this lexicon."""
        phrases = chain(self.phrases, self.verbs, self.parted, self.nouns)
        return frozenset(chain(chain.from_iterable(phrases), self.ordinals, self.numbers, self.spelling))

    @cached_property
    def guarded(self) -> frozenset[str]:
        """Words that refuse, restrict or condition: no typo is mended into one."""
        return frozenset(
            word
            for phrase, sense in self.phrases.items()
            if sense in GUARDED
            for word in phrase
            if len(phrase) == 1
        )

    @cached_property
    def restraining(self) -> frozenset[str]:
        """Words that alone keep an answer from being a grant."""
        return frozenset(
            phrase[0] for phrase, sense in self.phrases.items() if sense in RESTRAINING and len(phrase) == 1
        )

    @cached_property
    def particles(self) -> Mapping[str, tuple[str, ...]]:
        """First word of a parted verb -> the words that may end it."""
        found: dict[str, tuple[str, ...]] = {}
        for first, last in self.parted:
            found[first] = (*found.get(first, ()), last)
        return found

    @cached_property
    def pairs(self) -> tuple[str, ...]:
        """Consenting phrases of two words, for a slip in a short word: "go ahed"."""
        return tuple(
            " ".join(phrase)
            for phrase, sense in self.phrases.items()
            if sense in {Sense.YES, Sense.ORDER} and len(phrase) == _PAIR and ALONE not in phrase
        )

    @cached_property
    def longest(self) -> Mapping[str, int]:
        """First word -> number of words of the longest phrase that starts with it."""
        found: dict[str, int] = {}
        for phrase in (*self.phrases, *self.verbs, *self.nouns):
            found[phrase[0]] = max(found.get(phrase[0], 0), len(phrase))
        return found


@dataclass(frozen=True, kw_only=True)
class Lexicons:
    """All languages, each already joined with what is common to all."""

    languages: tuple[Lexicon, ...]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every word of every language."""
        return frozenset[str]().union(*(lexicon.vocabulary for lexicon in self.languages))

    @cached_property
    def restraining(self) -> frozenset[str]:
        """Every word that alone keeps an answer from being a grant in some language."""
        return frozenset[str]().union(*(lexicon.restraining for lexicon in self.languages))

    def examples(self) -> Iterator[tuple[str, Example]]:
        """Yield every example with its language."""
        for lexicon in self.languages:
            for example in lexicon.examples:
                yield lexicon.language, example


COMMON = "common"
_TABLES = frozenset(
    {
        "language",
        "typos",
        "words",
        "verbs",
        "nouns",
        "ordinals",
        "numbers",
        "spelling",
        "stands_for",
        "examples",
    }
)
_EXAMPLE_KEYS = frozenset({"text", "verdict", "pending", "selects", "question", "reason"})


def build(files: Mapping[str, Mapping[str, object]]) -> Lexicons:
    """Check the parsed lexicon files and join them.

    Args:
        files: name without ".toml" -> content; one is called "common".

    Raises:
        RuleError: a file is malformed; the message names the file and the key.
    """
    if COMMON not in files:
        raise RuleError(f"lexicon {COMMON}.toml is missing")
    parsed = {name: _parse(name, content) for name, content in files.items()}
    common = parsed.pop(COMMON)
    if not parsed:
        raise RuleError("no lexicon of any language was given")
    for name, lexicon in parsed.items():
        for names in (*lexicon.verbs.values(), *lexicon.nouns.values()):
            for key in names:
                if key not in common.stands_for:
                    raise RuleError(f"lexicon {name}.toml: {key!r} is not in stands_for of {COMMON}.toml")
    shared = {**_typed(common.phrases), **common.phrases}
    languages = [_join(common, shared, parsed[name]) for name in sorted(parsed)]
    languages[0] = replace(languages[0], examples=(*languages[0].examples, *common.examples))
    return Lexicons(languages=tuple(languages))


def _join(common: Lexicon, shared: Mapping[Phrase, Sense], own: Lexicon) -> Lexicon:
    """Add what is common; a language's own meaning of a word wins."""
    typed = _typed(own.phrases)
    return replace(
        own,
        phrases={**shared, **typed, **common.phrases, **own.phrases},
        verbs=_also_plain({**common.verbs, **own.verbs, **own.parted}),
        parted=_also_plain(own.parted),
        nouns=_also_plain({**common.nouns, **own.nouns}),
        ordinals=_also_plain_words(own.ordinals),
        numbers=_also_plain_words(own.numbers),
        spelling={**common.spelling, **own.spelling},
        stands_for=common.stands_for,
        own=frozenset().union(typed, own.phrases, _also_plain(own.verbs), _also_plain(own.nouns)),
    )


_T = TypeVar("_T")


def _also_plain(table: Mapping[Phrase, _T]) -> Mapping[Phrase, _T]:
    """Add what people type without accents, where that is not a word of its own ("si" is not "sí")."""
    return {**_typed(table), **table}


def _typed(table: Mapping[Phrase, _T]) -> Mapping[Phrase, _T]:
    """Return the phrases that have accents as they are typed without them."""
    accented = {word for word in set(chain.from_iterable(table)) if not word.isascii()}
    if not accented:
        return {}
    plainly = {word: plain(word) for word in accented}
    return {
        tuple([plainly.get(word, word) for word in phrase]): value
        for phrase, value in table.items()
        if not accented.isdisjoint(phrase)
    }


def _also_plain_words(table: Mapping[str, int]) -> Mapping[str, int]:
    return {**{plain(word): value for word, value in table.items()}, **table}


def _parse(name: str, content: Mapping[str, object]) -> Lexicon:
    unknown = set(content) - _TABLES
    if unknown:
        raise RuleError(f"lexicon {name}.toml: unknown key {min(unknown)!r}")
    if content.get("language") != name:
        raise RuleError(f"lexicon {name}.toml: language must be {name!r}")
    return Lexicon(
        language=name,
        typos=_flag(name, content),
        phrases=_phrases(name, _table(name, content, "words")),
        verbs=_names(name, _whole(_table(name, content, "verbs"), parted=False)),
        parted=_names(name, _whole(_table(name, content, "verbs"), parted=True)),
        nouns=_names(name, _table(name, content, "nouns")),
        ordinals=_integers(name, _table(name, content, "ordinals")),
        numbers=_integers(name, _table(name, content, "numbers")),
        spelling={
            _one_word(name, short): phrase_of(name, long)
            for short, long in _table(name, content, "spelling").items()
        },
        stands_for={
            key: tuple(_texts(name, key, values))
            for key, values in _table(name, content, "stands_for").items()
        },
        examples=tuple(_example(name, item) for item in _items(name, content.get("examples", []))),
    )


def _flag(name: str, content: Mapping[str, object]) -> bool:
    flag = content.get("typos", False)
    if not isinstance(flag, bool):
        raise RuleError(f"lexicon {name}.toml: typos must be true or false")
    return flag


def _table(name: str, content: Mapping[str, object], key: str) -> Mapping[str, object]:
    table = content.get(key, {})
    if not isinstance(table, dict):
        raise RuleError(f"lexicon {name}.toml: {key} must be a table")
    return table


def _items(name: str, value: object) -> Sequence[Mapping[str, object]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise RuleError(f"lexicon {name}.toml: examples must be [[examples]] tables")
    return value


def _texts(name: str, key: str, value: object) -> Sequence[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise RuleError(f"lexicon {name}.toml: {key} must be a list of texts")
    return value


def _phrases(name: str, table: Mapping[str, object]) -> Mapping[Phrase, Sense]:
    found: dict[Phrase, Sense] = {}
    for key, values in table.items():
        try:
            sense = Sense(key)
        except ValueError:
            raise RuleError(f"lexicon {name}.toml: unknown sense {key!r} in words") from None
        # NOTE: "si" may consent alone and mean "if" elsewhere, so these are kept apart by a mark.
        mark = (ALONE,) if sense in _WHOLE_CLAUSES else ()
        for phrase in written_out(name, _texts(name, key, values), mark):
            if found.setdefault(phrase, sense) is not sense:
                text = " ".join(phrase).removesuffix(f" {ALONE}")
                raise RuleError(f"lexicon {name}.toml: {text!r} is both {found[phrase]} and {sense}")
    return found


#: Ends the stored form of phrases that count as a whole clause only; no token is ever this.
ALONE = "\0"
_WHOLE_CLAUSES = frozenset({Sense.YES_ALONE, Sense.ELSEWHERE})


_GAP = " … "


def _whole(table: Mapping[str, object], *, parted: bool) -> Mapping[str, object]:
    """Keep the verbs that have a gap ("starte … neu"), written without it, or those that have none."""
    return {
        key: [
            text.replace(_GAP, " ")
            for text in values
            if not isinstance(text, str) or (_GAP in text) is parted
        ]
        if isinstance(values, list)
        else values
        for key, values in table.items()
    }


def _names(name: str, table: Mapping[str, object]) -> Mapping[Phrase, tuple[str, ...]]:
    found: dict[Phrase, tuple[str, ...]] = {}
    for key, values in table.items():
        for phrase in written_out(name, _texts(name, key, values)):
            found[phrase] = (*found.get(phrase, ()), key)
    return found


def _integers(name: str, table: Mapping[str, object]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for key, value in table.items():
        if not isinstance(value, int):
            raise RuleError(f"lexicon {name}.toml: {key} must be a whole number")
        found[_one_word(name, key)] = value
    return found


def _one_word(name: str, text: str) -> str:
    phrase = phrase_of(name, text)
    if len(phrase) != 1:
        raise RuleError(f"lexicon {name}.toml: {text!r} must be one word")
    return phrase[0]


def _example(name: str, item: Mapping[str, object]) -> Example:
    unknown = set(item) - _EXAMPLE_KEYS
    if unknown:
        raise RuleError(f"lexicon {name}.toml: unknown key {min(unknown)!r} in an example")
    text, question, reason = (item.get(key) for key in ("text", "question", "reason"))
    verdict = next((known for known in AssentVerdict if known == item.get("verdict")), None)
    selects = item.get("selects", [])
    if not isinstance(text, str) or verdict is None:
        raise RuleError(f"lexicon {name}.toml: an example needs text and verdict, got {item!r}")
    if not isinstance(selects, list) or not all(isinstance(index, int) for index in selects):
        raise RuleError(f"lexicon {name}.toml: selects of {text!r} must be whole numbers")
    if not isinstance(question, bool | None) or not isinstance(reason, str | None):
        raise RuleError(f"lexicon {name}.toml: question or reason of {text!r} has the wrong type")
    return Example(
        text=text,
        verdict=verdict,
        pending=tuple(_texts(name, "pending", item.get("pending", []))),
        selects=tuple(selects),
        question=question,
        reason=reason,
    )
