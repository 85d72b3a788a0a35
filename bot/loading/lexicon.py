"""Loads the assent lexicons that ship with the gate (D12).

Reads package data once; gate.assent.lexicon checks it. It does not judge messages and caches nothing beyond
the process.
"""

import tomllib
from functools import cache
from importlib import resources

from gate.assent.lexicon import Lexicons, build
from gate.errors import RuleError

_SUFFIX = ".toml"


@cache
def load_lexicons() -> Lexicons:
    """Return every lexicon of gate/lexicon/.

    Raises:
        RuleError: a file is malformed; the message names it.
    """
    files: dict[str, dict[str, object]] = {}
    folder = resources.files("gate").joinpath("lexicon")
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.name.endswith(_SUFFIX):
            files[entry.name.removesuffix(_SUFFIX)] = _parse(entry.name, entry.read_text(encoding="utf-8"))
    return build(files)


def _parse(name: str, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"lexicon {name}: {error}") from error
