"""A place in a JSON document: names and indices, nothing that searches (R21).

`.items[0].status`, `.a["b c"]`, a `$` in front if one likes. No wildcards, filters or expressions, so that a
path means one value or none. What is no JSON, or says one name twice, has no values at all.
"""

import json
import re

_PART = re.compile(r"""\.([A-Za-z_][A-Za-z0-9_-]*)|\[([0-9]{1,6})\]|\["([^"\\]{1,200})"\]""", re.ASCII)
_MAX_PARTS = 32


class PathError(Exception):
    """A path is malformed, or leads nowhere; the message says which, and holds nothing of the document."""


def parts(path: str) -> tuple[str | int, ...]:
    """Return the names and indices of a path.

    Raises:
        PathError: it is malformed.
    """
    rest = path.removeprefix("$")
    found: list[str | int] = []
    at = 0
    while at < len(rest):
        match = _PART.match(rest, at)
        if match is None or len(found) == _MAX_PARTS:
            raise PathError(f"{path!r} is no path")
        name, index, quoted = match.groups()
        found.append(int(index) if index else name or quoted)
        at = match.end()
    if not found:
        raise PathError(f"{path!r} is no path")
    return tuple(found)


def find(text: str, path: str) -> object:
    """Return the value at `path` in the JSON document that `text` is.

    Raises:
        PathError: the text is no JSON, the path is malformed, or it leads nowhere.
    """
    wanted = parts(path)
    try:
        value: object = json.loads(text, object_pairs_hook=_unambiguous, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise PathError("the output is no JSON that can be read") from error
    for part in wanted:
        match value, part:
            case dict(), str() if part in value:
                value = value[part]
            case list(), int() if part < len(value):
                value = value[part]
            case _:
                raise PathError(f"there is no {path}")
    return value


def _unambiguous(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")
