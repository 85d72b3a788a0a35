"""The library: documents that are found by an operator's words, diagnostics and runbooks (D25).

Holds the values, what their words have to be like to be found, and the index that `matching` searches.
Reading files is `bot.loading.library`; whether a runbook's steps lead anywhere is `gate.supervise.document`.
A library never holds two documents with one id, nor two that claim the same words.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bot.planning.words import CHANGES, FILLERS, PRONOUNS, Token, content, meaning, tokens
from gate.supervise.binding import BindingError, placeholders
from gate.supervise.domain import RUNNING_KINDS, InputSpec, InputType, RunbookSpec, StepRisk

MAX_SLOTS = 2
#: In a title, the target of the run: what stands there is taken out of a request before it is looked up.
TARGET_SLOT = "target"

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
    """Something a person may say, and what it must give; the test data of a document.

    Attributes:
        command: the first command of a plain document; "" for a runbook.
        inputs: values of a runbook that the words must give.
    """

    say: str
    command: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One diagnostic or action, found by its title and aliases.

    Attributes:
        title, aliases: words with `{input}` where a value is spoken: "logs of {service}".
        steps: its commands, where it is plain: each is an action of its own; () for a runbook.
        revision: SHA-256 of the document in canonical JSON, 64 hex digits.
        spec: the whole of it, as a run takes it; None for documents that no file holds.
        supervised: whether it runs step by step as a runbook.
        labels: what to call an input when a person is asked for it, where that is not its name.
    """

    id: str
    title: str
    aliases: tuple[str, ...] = ()
    inputs: Mapping[str, InputSpec] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    examples: tuple[Example, ...] = ()
    revision: str = ""
    spec: RunbookSpec | None = None
    supervised: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_read_only(self) -> bool:
        """Whether every step says it changes nothing."""
        if self.supervised and self.spec is not None:
            return all(step.risk is StepRisk.READ_ONLY for step in self.spec.steps)
        return all(step.risk is StepRisk.READ_ONLY for step in self.steps)

    @property
    def captured(self) -> frozenset[str]:
        """The inputs that its own steps find out, so that nobody is asked for them."""
        steps = () if self.spec is None else self.spec.steps
        return frozenset(step.capture.input for step in steps if step.capture is not None)

    @property
    def needs_target(self) -> bool:
        """Whether a run of it has to be asked for on a target; plain documents always have."""
        if not self.supervised or self.spec is None:
            return True
        runs = [step for step in self.spec.steps if step.kind in RUNNING_KINDS]
        return any(not step.target for step in runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A title or alias, taken apart: content words in order, `slots` by their position among `tokens`.

    Attributes:
        fillers: its words that carry no meaning by themselves, which a request for it may hold too.
        things: its words that say what it is about, of which a request that is like it holds one.
        fills: the inputs that a value in a request like it may fill, the pickiest first.
    """

    document: Document
    phrase: str
    tokens: tuple[str, ...]
    slots: Mapping[int, str]
    words: tuple[str, ...]
    key: str
    fillers: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()
    fills: tuple[str, ...] = ()

    @property
    def claim(self) -> tuple[object, ...]:
        """What no other document may have too: the words, and the types of what stands between them."""
        shape = ("{}" if index in self.slots else token for index, token in enumerate(self.tokens))
        inputs = self.document.inputs
        return (*shape, *(inputs[name].type for name in self.slots.values() if name in inputs))


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
        given = tuple(documents)
        for document in given:
            check(document)
        patterns = patterns_of(given)
        for clash in clashes(given, patterns):
            raise LibraryError(str(clash))
        return cls.indexed(given, patterns)

    @classmethod
    def indexed(cls, documents: Iterable[Document], patterns: Sequence[Pattern]) -> "Library":
        """Index `documents` that were checked before, by their `patterns`."""
        by_id = {document.id: document for document in documents}
        exact = _index(patterns)
        return cls(
            documents=by_id,
            patterns=tuple(patterns),
            exact=exact,
            keys=tuple(pattern.key for pattern in patterns),
            sorted_keys=tuple(" ".join(sorted(pattern.words)) for pattern in patterns),
            vocabulary=frozenset(word for pattern in patterns for word in pattern.words),
        )


def patterns_of(documents: Iterable[Document]) -> tuple[Pattern, ...]:
    """Return the titles and aliases of `documents`, taken apart."""
    return tuple(pattern for document in documents for pattern in _patterns(document))


def _patterns(document: Document) -> Iterator[Pattern]:
    found: set[tuple[str, ...]] = set()
    for phrase in (document.title, *document.aliases):
        said = tokens(phrase)
        kept = _spoken(said, document.inputs)
        if kept in found:
            continue
        found.add(kept)
        slots = {index: match[1] for index, token in enumerate(kept) if (match := SLOT.fullmatch(token))}
        words = tuple(token for index, token in enumerate(kept) if index not in slots)
        yield Pattern(
            document=document,
            phrase=phrase,
            tokens=kept,
            slots=slots,
            words=words,
            key=" ".join(words),
            fillers=frozenset(token.folded for token in said) & FILLERS,
            things=frozenset(words) - PRONOUNS - CHANGES or frozenset(words) - PRONOUNS,
            fills=_fills(document, slots.values()),
        )


_PICKINESS = (
    InputType.PATH,
    InputType.URL,
    InputType.BOOLEAN,
    InputType.DURATION,
    InputType.INTEGER,
    InputType.SERVICE,
    InputType.NAME,
    InputType.HOST,
    InputType.STRING,
    InputType.TEXT,
)


def _fills(document: Document, spoken: Collection[str]) -> tuple[str, ...]:
    """Return what is spoken in a phrase, and the integers of a plain document: "the last 20 lines"."""
    names = [
        name
        for name, item in document.inputs.items()
        if name in spoken or (item.type is InputType.INTEGER and not document.supervised)
    ]
    return tuple(sorted(names, key=lambda name: (_PICKINESS.index(document.inputs[name].type), name)))


def _spoken(said: Sequence[Token], inputs: Mapping[str, InputSpec]) -> tuple[str, ...]:
    """Return the words of a phrase that a request has to hold: its target is taken out of that before."""
    kept = meaning(said)
    if TARGET_SLOT in inputs:
        return kept
    return tuple(word for word in kept if word != f"{{{TARGET_SLOT}}}")


def _index(patterns: Iterable[Pattern]) -> dict[tuple[str, ...], tuple[Pattern, ...]]:
    exact: dict[tuple[str, ...], tuple[Pattern, ...]] = {}
    for pattern in patterns:
        exact[pattern.words] = (*exact.get(pattern.words, ()), pattern)
    return exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a document. `field` is dotted, a step by its id: "steps.df.command"."""

    document: str
    field: str
    what: str
    mend: str = ""

    def __str__(self) -> str:
        return f"library document {self.document!r}: {self.field}: {self.what} {self.mend}".rstrip()


def clashes(documents: Iterable[Document], patterns: Iterable[Pattern]) -> Iterator[Problem]:
    """Yield what keeps `documents` from being in one library: one id twice, or the same words."""
    ids: set[str] = set()
    for document in documents:
        if document.id in ids:
            yield Problem(
                document=document.id, field="id", what="two documents have this id.", mend="Rename one."
            )
        ids.add(document.id)
    claimed: dict[tuple[object, ...], Document] = {}
    for pattern in patterns:
        document = pattern.document
        other = claimed.setdefault(pattern.claim, document)
        if other.id != document.id:
            field = _place(pattern.phrase, document)
            what = f"{other.id} and {document.id} both claim the words: {' '.join(pattern.tokens)}."
            yield Problem(document=document.id, field=field, what=what, mend="Say one of them otherwise.")


def check(document: Document) -> None:
    """Refuse a document that could not be bound or found.

    Raises:
        LibraryError: naming the document and the field.
    """
    for problem in problems(document):
        raise LibraryError(str(problem))


def problems(document: Document) -> Iterator[Problem]:
    """Yield everything that keeps `document` from being bound or found."""
    if not _ID.fullmatch(document.id):
        mend = "Use lower-case letters, digits, dots and dashes."
        yield _problem(document, "id", "is not written as it has to be.", mend)
    if not document.steps and not document.supervised:
        yield _problem(document, "steps", "is empty.", "Add a step.")
    if len({step.id for step in document.steps}) != len(document.steps):
        yield _problem(document, "steps", "two steps have one id.", "Give each its own.")
    for phrase in (document.title, *document.aliases):
        yield from _wrong_phrase(phrase, document)
    for step in document.steps:
        yield from _wrong_step(step, document)
    for declared in document.inputs.values():
        if declared.default is not None and not declared.accepts(declared.default):
            yield _problem(document, f"inputs.{declared.name}.default", "is not of its type.", "Change it.")


def _problem(document: Document, field: str, what: str, mend: str = "") -> Problem:
    return Problem(document=document.id, field=field, what=what, mend=mend)


def _place(phrase: str, document: Document) -> str:
    return "title" if phrase == document.title else f"aliases.{document.aliases.index(phrase)}"


def _wrong_phrase(phrase: str, document: Document) -> Iterator[Problem]:
    field = _place(phrase, document)
    slots = [slot for slot in SLOT.findall(phrase) if slot != TARGET_SLOT or slot in document.inputs]
    if len(slots) > MAX_SLOTS or len(set(slots)) != len(slots):
        what = f"at most {MAX_SLOTS} different slots fit in {phrase!r}."
        yield _problem(document, field, what, "Leave one out; it is asked for.")
    if missing := [slot for slot in slots if slot not in document.inputs]:
        mend = "Declare it under inputs, or leave it out."
        yield _problem(document, field, f"undeclared input {missing[0]!r} in {phrase!r}.", mend)
    if not any(not SLOT.fullmatch(token) for token in content(phrase)):
        mend = "Name the thing, as people would."
        yield _problem(document, field, f"{phrase!r} holds no word to find it by.", mend)


def _wrong_step(step: Step, document: Document) -> Iterator[Problem]:
    field = f"steps.{step.id}.command"
    try:
        used = placeholders(step.command)
    except BindingError as error:
        yield _problem(document, field, f"{error}.", "Let it be part of an argument.")
        return
    for name in used:
        declared = document.inputs.get(name)
        if declared is None:
            yield _problem(
                document, field, f"uses the undeclared input {name!r}.", "Declare it under inputs."
            )
        elif not declared.required and declared.default is None:
            what = "is optional and has no default."
            yield _problem(document, f"inputs.{name}", what, "Give it a default, or require it.")
