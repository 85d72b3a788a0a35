"""JSON Lines in, JSON Lines out, one line at a time: the frame of every command for scripts.

A line that cannot be used gives {"error": …} in its place and exit code 1 at the end; blank lines and fields
that nobody asked for are passed over. Every answer is flushed, so a script may hold a conversation over the
pipe. Output is ASCII, whatever the locale.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import TextIO

Answer = Mapping[str, object]


class BadLineError(ValueError):
    """The line lacks a field or holds the wrong type; mend it and send it again."""


def stream(answer: Callable[[Mapping[str, object]], Answer], *, lines: TextIO, out: TextIO) -> int:
    """Answer each line of `lines` on `out`; return 1 when any could not be used, else 0."""
    code = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            result = answer(_object(line))
        except BadLineError as error:
            result, code = {"error": str(error)}, 1
        out.write(json.dumps(result) + "\n")
        out.flush()
    return code


def _object(line: str) -> Mapping[str, object]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLineError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadLineError("a line is one JSON object")
    return value


def text(fields: Mapping[str, object], name: str, *, needed: bool = False) -> str | None:
    """Return a field that holds text; None when it is absent or null and not needed."""
    value = fields.get(name)
    if value is None and not needed:
        return None
    if not isinstance(value, str):
        raise BadLineError(f'"{name}" must be text')
    return _sound(value, name)


def texts(fields: Mapping[str, object], name: str) -> tuple[str, ...]:
    """Return a field that holds a list of texts; () when it is absent or null."""
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadLineError(f'"{name}" must be a list of texts')
    return tuple(_sound(item, name) for item in value)


def _sound(value: str, name: str) -> str:
    """Refuse half of a surrogate pair: no shell could be handed it, and no verdict would be about it."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadLineError(f'"{name}" holds what is no Unicode text') from None
    return value


def standard_streams() -> tuple[TextIO, TextIO]:
    """Return stdin and stdout, UTF-8 whatever the locale; bytes that are no UTF-8 survive as surrogates."""
    for one in (sys.stdin, sys.stdout):
        if hasattr(one, "reconfigure"):
            one.reconfigure(encoding="utf-8", errors="surrogateescape")
    return sys.stdin, sys.stdout
