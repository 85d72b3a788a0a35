"""Loads the kinds of errors that come with sayso: what a command printed, and what that likely means.

Reads package data once and checks its form; the pattern of a kind runs over output of anybody's, so it is
kept to the end of it (MAX_CHARS). Whether a document that a kind names exists is asked when it is wanted.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

#: Errors stand at the end of what a command prints.
MAX_CHARS = 8192


class RepairsError(Exception):
    """The table of errors is malformed; report this as a bug."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorKind:
    """One kind of error.

    Attributes:
        exit_code: the one that it has; None for any but 0.
        likely: the reason, with {target} and the pattern's groups in braces.
        look: id of a document of the library that only reads; "" where there is nothing to look at.
        inputs: values for it, with groups in braces.
    """

    id: str
    output: re.Pattern[str]
    likely: str
    exit_code: int | None = None
    look: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Likely:
    """What an error likely means, and what could be looked at; `look` is "" for nothing."""

    kind: str
    why: str
    look: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)


def diagnose(kinds: tuple[ErrorKind, ...], *, output: str, exit_code: int, target: str) -> Likely | None:
    """Return what a failure with `output` likely means; None where no kind fits."""
    for kind in kinds:
        found = kind.output.search(output[-MAX_CHARS:])
        if found is None or kind.exit_code not in (None, exit_code):
            continue
        words = {"target": target} | {name: value or "" for name, value in found.groupdict().items()}
        return Likely(
            kind=kind.id,
            why=kind.likely.format_map(words),
            look=kind.look,
            inputs={name: value.format_map(words) for name, value in kind.inputs.items()},
        )
    return None


@cache
def load_repairs() -> tuple[ErrorKind, ...]:
    """Return every kind, in the order in which they are tried.

    Raises:
        RepairsError: the table is malformed.
    """
    text = resources.files("bot").joinpath("repairs", "kinds.toml").read_text(encoding="utf-8")
    return tuple(kind_of(raw) for raw in tomllib.loads(text)["kind"])


_KEYS = {"id", "output", "likely", "exit", "look", "with"}


def kind_of(raw: Mapping[str, object]) -> ErrorKind:
    """Return the kind that a table of the file describes.

    Raises:
        RepairsError: it holds a key that nobody knows.
    """
    inputs = raw.get("with", {})
    if not set(raw) <= _KEYS or not isinstance(inputs, dict):
        raise RepairsError(f"{RepairsError.__doc__} It is about: {raw!r}.")
    code = raw.get("exit")
    return ErrorKind(
        id=str(raw["id"]),
        output=re.compile(str(raw["output"]), re.IGNORECASE),
        likely=str(raw["likely"]),
        exit_code=code if isinstance(code, int) else None,
        look=str(raw.get("look", "")),
        inputs={name: str(value) for name, value in inputs.items()},
    )
