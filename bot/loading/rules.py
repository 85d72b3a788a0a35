"""Loads the risk rules: the files that come with sayso, then the operator's own.

Reads files and parses TOML; what the tables mean and whether they are well-formed is the business of
gate.shell.rules. Every fault is a RuleError that names the file.
"""

import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from gate.errors import RuleError
from gate.shell.model import Rules
from gate.shell.rules import parse


def load_rules(extra: Iterable[Path] = ()) -> Rules:
    """Return the built-in rules with the operator's files on top.

    Raises:
        RuleError: a file is missing, is no TOML, or breaks the grammar of rule files.
    """
    folder = resources.files("gate.shell") / "rules"
    built_in = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".toml")), key=lambda item: item.name
    )
    return parse(
        {item.name: _document(item, item.name) for item in built_in},
        extra={str(path): _document(path, str(path)) for path in extra},
    )


def _document(file: Traversable, name: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RuleError(f"{name}: {error}") from error
