"""Reads one YAML document into plain values, and remembers on which line each of them stands.

A small part of YAML is enough for a document, and the rest is refused: anchors and aliases (a few lines of
them can stand for gigabytes), tags, a key given twice, more than one document, and files that are too large
or nested too deep. What the values mean is the business of `bot.loading.model`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml

from bot.loading.faults import Fault

#: The largest document is some hundred steps; a thousand times of it is a mistake or an attack.
MAX_BYTES = 256 * 1024
MAX_NODES = 20_000
MAX_DEPTH = 12

_NO_WORD = 'Write a name, then a colon. Quote a value that begins with a brace: "{{ inputs.x }}".'

Path = tuple[str | int, ...]

#: libyaml reads the built-in library ten times faster; both are safe loaders.
_LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: What an unquoted word may mean, as in YAML 1.2. Everything else that PyYAML would make of one stays the
#: text it is: a date, `no` as false, 12:30 as 750, 0100 as 64.
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\.[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """What a document holds.

    Attributes:
        data: mappings, lists, texts, numbers, true, false and null.
        lines: where each value begins, by its path ("steps", 0, "risk"); lines count from 1.
    """

    data: object
    lines: Mapping[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int:
        """Return the line of `path`, else of the nearest value around it; 1 for the document."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def grow(raw: bytes) -> tuple[Tree, list[Fault]]:
    """Return the document in `raw` as far as it can be read, and everything that is wrong with it as YAML."""
    if len(raw) > MAX_BYTES:
        what = f"is {len(raw):,} bytes long."
        return Tree(data=None), [Fault(what=what, mend=f"A document may hold up to {MAX_BYTES:,}.")]
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        return Tree(data=None), [Fault(line=line, what="is no UTF-8 text.", mend="Save it as UTF-8.")]
    loader = _LOADER(text)
    gardener = _Gardener(loader)
    try:
        data = gardener.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = f"is no YAML: {error.problem or error.context}."
        gardener.refuse(0 if mark is None else mark.line + 1, what, "Check the indentation and the quotes.")
        return Tree(data=None, lines=gardener.lines), gardener.faults
    except yaml.YAMLError as error:  # a character that YAML does not admit, which has a place but no mark
        what = " ".join(str(error).split())
        gardener.refuse(0, f"is no YAML: {what}.", "Remove what is not printable.")
        return Tree(data=None, lines=gardener.lines), gardener.faults
    except _GivenUpError:
        return Tree(data=None, lines=gardener.lines), gardener.faults
    finally:
        loader.dispose()
    return Tree(data=data, lines=gardener.lines), gardener.faults


class _GivenUpError(Exception):
    """The rest of the file is not worth reading; the fault is noted."""


class _Gardener:
    """Builds values out of a parser's events, so that what stands for more than itself is never built."""

    def __init__(self, loader: "yaml.SafeLoader | yaml.CSafeLoader") -> None:
        self._loader = loader
        self._nodes = 0
        self.lines: dict[Path, int] = {}
        self.faults: list[Fault] = []

    def refuse(self, line: int, what: str, mend: str, *, path: Path = ()) -> None:
        """Note what is wrong."""
        self.faults.append(Fault(line=line, field=dotted(path), what=what, mend=mend))

    def document(self) -> object:
        """Return the values of the only document."""
        loader = self._loader
        self._next()  # the stream begins
        if loader.check_event(yaml.StreamEndEvent):
            return None
        self._next()  # the document begins
        data = self._value(self._next(), ())
        self._next()  # the document ends
        if not loader.check_event(yaml.StreamEndEvent):
            self.refuse(_line(self._next()), "holds a second document.", "Put one document in a file.")
        return data

    def _value(self, event: yaml.Event, path: Path) -> object:
        line = _line(event)
        self.lines[path] = line
        self._nodes += 1
        if self._nodes > MAX_NODES or len(path) > MAX_DEPTH:
            how = "is nested deeper" if len(path) > MAX_DEPTH else "holds more values"
            self.refuse(line, f"{how} than a document may be.", "Split it into several documents.")
            raise _GivenUpError
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            what = "uses a YAML anchor or alias (& or *)."
            self.refuse(line, what, "Write it out; quote a text that begins so.", path=path)
        if isinstance(event, yaml.AliasEvent):
            return None
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, path)
        if getattr(event, "tag", None) is not None:
            self._refuse_tag(event, path)
        return self._mapping(path) if isinstance(event, yaml.MappingStartEvent) else self._sequence(path)

    def _items(self, end: type[yaml.Event]) -> Iterator[yaml.Event]:
        while not isinstance(event := self._next(), end):
            yield event

    def _next(self) -> yaml.Event:
        event = self._loader.get_event()
        if event is None:
            raise yaml.YAMLError("it ends too early")
        return event

    def _mapping(self, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for event in self._items(yaml.MappingEndEvent):
            line = _line(event)
            plain = isinstance(event, yaml.ScalarEvent) and event.anchor is None
            key = event.value if isinstance(event, yaml.ScalarEvent) else ""
            here = (*path, key)
            if not plain:
                self.refuse(line, "has a key that is no plain word.", _NO_WORD, path=path)
                if not isinstance(event, yaml.ScalarEvent):
                    self._value(event, here)
            value = self._value(self._next(), here)
            if key in found:
                first = self.lines[here]
                self.refuse(line, "is given twice.", "Keep one of the two.", path=here)
                self.lines[here] = first
            elif plain:
                found[key] = value
            # People look for a fault where its key stands; its value may begin some lines below.
            self.lines[here] = line
        return found

    def _sequence(self, path: Path) -> list[object]:
        return [
            self._value(event, (*path, index))
            for index, event in enumerate(self._items(yaml.SequenceEndEvent))
        ]

    def _scalar(self, event: yaml.ScalarEvent, path: Path) -> object:
        if event.tag is not None:
            self._refuse_tag(event, path)
        elif event.implicit[0]:
            return _meaning(event.value)
        return event.value

    def _refuse_tag(self, event: yaml.Event, path: Path) -> None:
        self.refuse(
            _line(event),
            f"carries the tag {getattr(event, 'tag', '')}.",
            "Remove it; quote a text that begins with !.",
            path=path,
        )


def _line(event: yaml.Event) -> int:
    return 0 if event.start_mark is None else event.start_mark.line + 1


def _meaning(word: str) -> object:
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if _INTEGER.fullmatch(word):
        return int(word)
    return float(word) if _DECIMAL.fullmatch(word) else word


def dotted(path: Path) -> str:
    """Return a path as people read it: ("steps", 0, "risk") is "steps.0.risk"."""
    return ".".join(str(part) for part in path)
