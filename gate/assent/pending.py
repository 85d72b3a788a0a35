"""What is pending, as terms that an answer may refer to.

Owns the link between words of an answer and pending actions: exact terms, numbers, verbs that stand for one
another. A value (web2, 5433, --wait) refers only when it stands in a description letter by letter. With no
list of actions the question itself serves as one action whose every word may be repeated.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gate.assent.normalise import Kind, Token, words_of

_MIN_PREFIX = 4  # "postgres" for postgresql, "deployment" for deploy
_PART = re.compile(r"[^\W\d_]+|\d{2,}")
#: A list, a number of things, or a word for all of them.
_SEVERAL = re.compile(
    r"\b(?:and|all|both|\w\w+s)\b|(?<!\S)(?:[2-9]|\d\d+)(?!\S)|[,*]|\s-\w*a\w*\b", re.IGNORECASE
)
_JOINED = re.compile(r"\band\b|,(?=\s)")
_ASIDE = re.compile(r"\([^()]*\)")
_SET_TO = re.compile(r"=(\d)(?!\d)")
_STEP = re.compile(r"(?<![\w.])(\d)[).:]\s")
_PAIR = 2
_PREFIX = re.compile(r"([^\W\d_]{2,})\d+$")
_FINISHED = ("ed", "ing")  # "restarted" tells what happened; it does not name what is asked
_WHOLE = frozenset({Kind.CODE, Kind.QUOTE})
_MIN_SHARED = 5  # letters that a word shares with one of the question: reservation, reserve


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """The pending actions by their words.

    Attributes:
        count: how many actions wait; 0 when only the question is known.
        terms: folded word -> 0-based positions of the actions (of the words, when count is 0).
        words: for each action, its words in order.
        joined: the question asks for one thing and another.
        asked: the actions are the numbered steps of a question, so no selection can point at them.
        several: it speaks of more than one thing, so "all of them" has something to mean.
        restraining: words that restrain in some language; "rest" is no short form of restart.
    """

    count: int
    terms: Mapping[str, frozenset[int]]
    words: tuple[tuple[str, ...], ...]
    several: bool = False
    joined: bool = False
    asked: bool = False
    restraining: frozenset[str] = frozenset()

    @property
    def everything(self) -> frozenset[int]:
        """Every position."""
        return frozenset(range(self.count))

    def meant_by(self, token: Token) -> frozenset[int]:
        """Return which actions a word or value refers to; empty when none."""
        found = self.terms.get(token.text) or self.terms.get(token.plain)
        if found:
            return found
        return self._near(token.plain) if token.kind is Kind.WORD else frozenset()

    def _near(self, word: str) -> frozenset[int]:
        single = word.removesuffix("s")
        if single != word and single in self.terms:
            return self.terms[single]
        if self.count == 0 and len(word) > _MIN_SHARED:
            # A question in prose is answered in its own words, inflected.
            return self._starting_with(word[:_MIN_SHARED])
        if len(word) < _MIN_PREFIX or word.endswith(_FINISHED) or word in self.restraining:
            return frozenset()
        return frozenset[int]().union(
            *(
                items
                for term, items in self.terms.items()
                if term.isalpha()
                and len(term) >= _MIN_PREFIX
                and (term.startswith(word) or word.startswith(term) or term == f"{word}s")
            )
        )

    def _starting_with(self, stem: str) -> frozenset[int]:
        return frozenset[int]().union(*(items for term, items in self.terms.items() if term.startswith(stem)))

    def meant_by_any(self, stems: Iterable[Sequence[str]]) -> frozenset[int]:
        """Return which actions have a word among `stems`."""
        return frozenset[int]().union(
            *(self.terms.get(stem, frozenset()) for group in stems for stem in group)
        )


@lru_cache(maxsize=256)  # the same few actions are asked about again and again
def pending_of(descriptions: tuple[str, ...], context: str) -> Pending:
    """Read descriptions such as "systemctl restart caddy on web1", or the question when there are none."""
    steps = () if descriptions else _steps(context)
    if steps:
        return replace(pending_of(steps, ""), asked=True)
    terms: dict[str, set[int]] = {}
    words: list[tuple[str, ...]] = []
    for position, description in enumerate(descriptions):
        tokens = words_of(description)
        words.append(tuple(token.text for token in tokens))
        for token in tokens:
            for term in (
                *_terms(token),
                *_figures(token, len(descriptions)),
                *_classes(token, len(descriptions)),
            ):
                terms.setdefault(term, set()).add(position)
    if not descriptions and context:
        tokens = words_of(context)
        words.append(tuple(token.text for token in tokens))
        for position, token in enumerate(tokens):
            for term in _terms(token):
                # One position for one word: "yes for redis, no for db" must be two things.
                terms.setdefault(term, {position})
    return Pending(
        count=len(descriptions),
        terms={term: frozenset(positions) for term, positions in terms.items()},
        words=tuple(words),
        joined=not descriptions and _JOINED.search(_ASIDE.sub("", context)) is not None,
        several=len(descriptions) > 1 or _SEVERAL.search(" ".join(descriptions) or context) is not None,
    )


def _steps(question: str) -> tuple[str, ...]:
    """Split "Plan: 1) restart a, 2) upgrade b. Proceed?" into its steps; () when it has no such list."""
    marks = list(_STEP.finditer(question))
    if [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)) or len(marks) < _PAIR:
        return ()
    ends = [mark.start() for mark in marks[1:]] + [len(question)]
    return tuple(question[mark.end() : end].strip(" ,;") for mark, end in zip(marks, ends, strict=True))


def _figures(token: Token, count: int) -> list[str]:
    """Return small numbers set by a flag ("--replicas=5"), unless they would be taken for positions."""
    found = _SET_TO.findall(token.plain) if token.kind is Kind.VALUE else []
    return [figure for figure in found if count == 1 or int(figure) > count]


def _classes(token: Token, count: int) -> list[str]:
    """Return what several hosts are called together ("web" of web1); one host is never meant by it."""
    prefix = _PREFIX.match(token.plain) if token.kind is Kind.VALUE and count > 1 else None
    return [prefix.group(1)] if prefix is not None else []


def _terms(token: Token) -> list[str]:
    if token.kind in _WHOLE:
        inner = [word for word in words_of(token.text) if word.kind not in _WHOLE]
        return [term for word in inner for term in _terms(word)]
    found = [token.text, token.plain]
    if token.kind is Kind.VALUE:
        numbered = _PREFIX.match(token.plain)  # "web1" is not "web": see _classes
        parts = _PART.findall(token.plain)
        found.extend(part for part in parts if len(part) > 1 and not (numbered and part == numbered[1]))
        found.extend(piece for piece in re.split(r"[/:=,\s]+", token.plain) if len(piece) > 1)
    return found
