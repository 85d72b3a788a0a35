"""The library: documents that name a command in an operator's words, diagnostics first (D25).

Holds the values and the checks a document must pass, and the index that `matching` searches; reading files is
`bot.loading.library`. The format is that of all runbooks (docs/runbook-format.md); only `action` steps have a
consumer so far. A library never holds two documents with one id, nor two that claim the same words.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bot.planning.binding import BindingError, Input, placeholders
from bot.planning.words import content
from gate.supervise.domain import StepRisk

MAX_SLOTS = 2

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class LibraryError(Exception):
    """A library document is malformed; mend the field that the message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a document."""

    id: str
    title: str
    risk: StepRisk
    command: str
    timeout_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Something a person may say, and the command it must give; the test data of a document."""

    say: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One diagnostic or action, found by its title and aliases.

    Attributes:
        title, aliases: words with `{input}` where a value is spoken: "logs of {service}".
        revision: SHA-256 of the document in canonical JSON, 64 hex digits.
        example: a request that works, for "the nearest things it can do" and for help.
    """

    id: str
    title: str
    aliases: tuple[str, ...] = ()
    inputs: Mapping[str, Input] = field(default_factory=dict)
    steps: tuple[Step, ...]
    examples: tuple[Example, ...] = ()
    revision: str = ""

    @property
    def is_read_only(self) -> bool:
        """Whether every step says it changes nothing."""
        return all(step.risk is StepRisk.READ_ONLY for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A title or alias, taken apart: content words in order, `slots` by their position among `tokens`."""

    document: Document
    phrase: str
    tokens: tuple[str, ...]
    slots: Mapping[int, str]
    words: tuple[str, ...]
    key: str


@dataclass(frozen=True, slots=True)
class Library:
    """Every document, by id, with the index over its words."""

    documents: Mapping[str, Document] = field(default_factory=dict)
    patterns: tuple[Pattern, ...] = ()
    exact: Mapping[tuple[str, ...], tuple[Pattern, ...]] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    sorted_keys: tuple[str, ...] = ()
    vocabulary: frozenset[str] = frozenset()

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "Library":
        """Check and index `documents`.

        Raises:
            LibraryError: a document is malformed, or two of them claim one id or the same words.
        """
        by_id: dict[str, Document] = {}
        patterns: list[Pattern] = []
        for document in documents:
            if document.id in by_id:
                raise LibraryError(f"two documents have the id {document.id}")
            check(document)
            by_id[document.id] = document
            patterns.extend(_patterns(document))
        exact = _index(patterns)
        return cls(
            documents=by_id,
            patterns=tuple(patterns),
            exact=exact,
            keys=tuple(pattern.key for pattern in patterns),
            sorted_keys=tuple(" ".join(sorted(pattern.words)) for pattern in patterns),
            vocabulary=frozenset(word for pattern in patterns for word in pattern.words),
        )


def _patterns(document: Document) -> list[Pattern]:
    found: dict[tuple[str, ...], Pattern] = {}
    for phrase in (document.title, *document.aliases):
        tokens = content(phrase)
        slots = {index: match[1] for index, token in enumerate(tokens) if (match := SLOT.fullmatch(token))}
        words = tuple(token for index, token in enumerate(tokens) if index not in slots)
        found.setdefault(
            tokens,
            Pattern(
                document=document, phrase=phrase, tokens=tokens, slots=slots, words=words, key=" ".join(words)
            ),
        )
    return list(found.values())


def _index(patterns: Iterable[Pattern]) -> dict[tuple[str, ...], tuple[Pattern, ...]]:
    exact: dict[tuple[str, ...], tuple[Pattern, ...]] = {}
    claimed: dict[tuple[str, ...], Document] = {}
    for pattern in patterns:
        shape = tuple("{}" if index in pattern.slots else token for index, token in enumerate(pattern.tokens))
        types = tuple(pattern.document.inputs[name].type for name in pattern.slots.values())
        other = claimed.setdefault((*shape, *types), pattern.document)
        if other.id != pattern.document.id:
            raise LibraryError(
                f"{other.id} and {pattern.document.id} both claim the words: {' '.join(pattern.tokens)}"
            )
        exact[pattern.words] = (*exact.get(pattern.words, ()), pattern)
    return exact


def check(document: Document) -> None:
    """Refuse a document that could not be bound or found.

    Raises:
        LibraryError: naming the document and the field.
    """
    where = f"library document {document.id!r}"
    if not _ID.fullmatch(document.id):
        raise LibraryError(f"{where}: id must be lower-case letters, digits, dots and dashes")
    if not document.steps:
        raise LibraryError(f"{where}: steps is empty")
    if len({step.id for step in document.steps}) != len(document.steps):
        raise LibraryError(f"{where}: two steps have one id")
    for phrase in (document.title, *document.aliases):
        _check_phrase(phrase, document, where)
    for step in document.steps:
        _check_step(step, document, where)
    for declared in document.inputs.values():
        if declared.default is not None and not declared.accepts(declared.default):
            raise LibraryError(f"{where}: inputs.{declared.name}.default is not of its type")


def _check_phrase(phrase: str, document: Document, where: str) -> None:
    slots = SLOT.findall(phrase)
    if len(slots) > MAX_SLOTS or len(set(slots)) != len(slots):
        raise LibraryError(f"{where}: at most {MAX_SLOTS} different slots in {phrase!r}")
    if missing := [slot for slot in slots if slot not in document.inputs]:
        raise LibraryError(f"{where}: undeclared input {missing[0]!r} in {phrase!r}")
    if not any(not SLOT.fullmatch(token) for token in content(phrase)):
        raise LibraryError(f"{where}: {phrase!r} holds no word to find it by")


def _check_step(step: Step, document: Document, where: str) -> None:
    try:
        used = placeholders(step.command)
    except BindingError as error:
        raise LibraryError(f"{where}: steps.{step.id}.command: {error}") from error
    for name in used:
        declared = document.inputs.get(name)
        if declared is None:
            raise LibraryError(f"{where}: steps.{step.id}.command uses the undeclared input {name!r}")
        if not declared.required and declared.default is None:
            raise LibraryError(f"{where}: inputs.{name} is optional and has no default")
