"""Loads the library: the documents that come with sayso, then an operator's folder over them by id (D25).

Reads YAML and checks its form; what the words and placeholders mean is `bot.planning.library`'s business.
A file is read strictly: an unknown field, a key given twice or a value of another type is an error that names
the file, so that a misspelt `risk` cannot be overlooked.
"""

import hashlib
import json
from collections.abc import Iterable
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.planning.binding import Input, InputType
from bot.planning.grammar import duration_s, is_allowed_timeout
from bot.planning.library import Document, Example, Library, LibraryError, Step, check
from gate.supervise.domain import StepRisk

_SUFFIXES = (".yaml", ".yml")


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Input(_Model):
    type: str = "string"
    required: bool = True
    default: str | int | None = None
    enum: list[str | int] = Field(default_factory=list)


class _Step(_Model):
    id: str = Field(min_length=1)
    kind: Literal["action"] = "action"
    title: str = Field(min_length=1)
    risk: str
    command: str = Field(min_length=1)
    timeout: str | None = None


class _Example(_Model):
    say: str = Field(min_length=1)
    command: str = Field(min_length=1)


class _Document(_Model):
    version: Literal[1]
    id: str
    title: str = Field(min_length=1)
    aliases: list[str] = Field(default_factory=list)
    inputs: dict[str, _Input] = Field(default_factory=dict)
    steps: list[_Step] = Field(min_length=1)
    examples: list[_Example] = Field(default_factory=list)


#: libyaml reads the built-in library ten times faster; both are safe loaders.
_LOADER: type[yaml.SafeLoader | yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _parse_yaml(raw: bytes) -> object:
    """Return what one YAML document holds; a key given twice is an error, PyYAML would keep the last."""
    loader = _LOADER(raw)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_repeats(node, seen=set())
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _refuse_repeats(node: yaml.Node, *, seen: set[int]) -> None:
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if repeated := next((key for key in keys if keys.count(key) > 1), None):
            raise LibraryError(f"the key {repeated!r} is given twice")
        for _, value in node.value:
            _refuse_repeats(value, seen=seen)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeats(item, seen=seen)


def load_library(overlay: Path | None = None) -> Library:
    """Return the built-in library with the documents of `overlay` over it by id.

    Raises:
        LibraryError: a file cannot be read or is malformed; the message names it and the field.
    """
    documents = {document.id: document for document in _read_all(_built_in())}
    if overlay is not None:
        own = _read_all(_files(overlay))
        if len({document.id for document in own}) != len(own):
            raise LibraryError(f"{overlay}: two files have one id")
        documents.update((document.id, document) for document in own)
    return Library.of(documents.values())


def _built_in() -> list[Traversable]:
    folder = resources.files("bot") / "library"
    return sorted(
        (item for item in folder.iterdir() if item.name.endswith(_SUFFIXES)), key=lambda item: item.name
    )


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES)
    except OSError as error:
        raise LibraryError(f"{folder}: {error.strerror}") from error


def _read_all(files: Iterable[Traversable]) -> list[Document]:
    return [_read(file) for file in files]


def _read(file: Traversable) -> Document:
    try:
        document = parse(_parse_yaml(file.read_bytes()))
        check(document)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, LibraryError) as error:
        raise LibraryError(f"{file}: {error}") from error
    return document


def parse(data: object) -> Document:
    """Return the document that parsed YAML or JSON holds.

    Raises:
        LibraryError: the first field that is wrong.
    """
    try:
        model = _Document.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "document"
        raise LibraryError(f"{where}: {first['msg']}") from error
    canonical = json.dumps(model.model_dump(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return Document(
        id=model.id,
        title=model.title,
        aliases=tuple(model.aliases),
        inputs={name: _input(name, item) for name, item in model.inputs.items()},
        steps=tuple(_step(item) for item in model.steps),
        examples=tuple(Example(say=item.say, command=item.command) for item in model.examples),
        revision=hashlib.sha256(canonical.encode()).hexdigest(),
    )


def _input(name: str, item: _Input) -> Input:
    if item.type not in set(InputType):
        raise LibraryError(f"inputs.{name}.type: must be one of {', '.join(InputType)}")
    return Input(
        name=name,
        type=InputType(item.type),
        required=item.required,
        default=None if item.default is None else str(item.default),
        enum=tuple(str(value) for value in item.enum),
    )


def _step(item: _Step) -> Step:
    if item.risk not in set(StepRisk):
        raise LibraryError(f"steps.{item.id}.risk: must be one of {', '.join(StepRisk)}")
    timeout_s = None if item.timeout is None else duration_s(item.timeout)
    if item.timeout is not None and (timeout_s is None or not is_allowed_timeout(timeout_s)):
        raise LibraryError(f"steps.{item.id}.timeout: must be 1s to 24h, such as 30s or 2h")
    return Step(
        id=item.id, title=item.title, risk=StepRisk(item.risk), command=item.command, timeout_s=timeout_s
    )
