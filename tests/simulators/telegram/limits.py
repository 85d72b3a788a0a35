"""What the Bot API refuses, in its own words, and what its server does to a text that it takes.

Source: core.telegram.org/bots/api, telegram.constants; the words are from reports in public issue trackers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

MAX_TEXT, MAX_CAPTION, MAX_ENTITIES = 4096, 1024, 100
MAX_DATA_BYTES, MAX_ANSWER, MAX_HINT = 64, 200, 64
MAX_IN_ROW, MAX_BUTTONS = 8, 100
MAX_FILE = 50_000_000

_FOUND_BY_ITSELF = (
    ("mention", re.compile(r"(?<!\w)@[A-Za-z0-9_]{2,32}\b")),
    ("bot_command", re.compile(r"(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/<>])")),
)


@dataclass
class RefusedError(Exception):
    """An answer with `ok: false`."""

    code: int
    description: str
    parameters: Json = field(default_factory=dict)


def bad(description: str) -> RefusedError:
    return RefusedError(400, f"Bad Request: {description}")


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def sliced(text: str, offset: int, length: int) -> str:
    """Return a part by UTF-16 units. Raises UnicodeDecodeError when it halves a character."""
    return text.encode("utf-16-le")[2 * offset : 2 * (offset + length)].decode("utf-16-le")


def taken(text: str, entities: Sequence[Json], *, edit: bool = False) -> tuple[str, list[Json]]:
    """Return a text and its entities as the server keeps them."""
    shown = text.strip()
    if not shown:
        raise bad("message text is empty")
    if units(shown) > MAX_TEXT:
        raise bad("MESSAGE_TOO_LONG" if edit else "message is too long")
    for entity in entities:
        _check_entity(text, entity)
    cut = units(text[: len(text) - len(text.lstrip())])
    kept = []
    for entity in entities[:MAX_ENTITIES]:
        start = max(0, entity["offset"] - cut)
        end = min(units(shown), entity["offset"] + entity["length"] - cut)
        if end > start:
            kept.append({**entity, "offset": start, "length": end - start})
    return shown, kept


def _check_entity(text: str, entity: Mapping[str, Any]) -> None:
    offset, length = entity["offset"], entity["length"]
    if offset < 0 or length <= 0 or offset + length > units(text):
        raise bad("ENTITY_BOUNDS_INVALID")
    try:
        sliced(text, offset, length)
    except UnicodeDecodeError:
        raise bad("ENTITY_BOUNDS_INVALID") from None


def found(text: str, entities: Sequence[Json] = ()) -> list[Json]:
    """Return what the server finds by itself in a text: mentions and commands outside of code."""
    verbatim = [
        (one["offset"], one["offset"] + one["length"]) for one in entities if one["type"] in ("code", "pre")
    ]
    by_itself = []
    for kind, pattern in _FOUND_BY_ITSELF:
        for match in pattern.finditer(text):
            start, end = units(text[: match.start()]), units(text[: match.end()])
            if not any(start < last and first < end for first, last in verbatim):
                by_itself.append({"type": kind, "offset": start, "length": end - start})
    return by_itself


def check_markup(markup: Json | None, *, inline_only: bool = False) -> Json | None:
    if markup is None:
        return None
    if "force_reply" in markup:
        if inline_only:
            raise bad("inline keyboard expected")
        if not 1 <= units(markup.get("input_field_placeholder", "x")) <= MAX_HINT:
            raise bad("input field placeholder is too long")
        return markup
    rows = markup["inline_keyboard"]
    if any(len(row) > MAX_IN_ROW for row in rows) or sum(len(row) for row in rows) > MAX_BUTTONS:
        raise bad("reply markup is too long")
    for row in rows:
        for button in row:
            if not button["text"].strip():
                raise bad("text buttons are unallowed in the inline keyboard")
            if not 1 <= len(button["callback_data"].encode()) <= MAX_DATA_BYTES:
                raise bad("BUTTON_DATA_INVALID")
    return markup if rows else None
