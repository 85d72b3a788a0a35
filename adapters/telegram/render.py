"""Rendering: spans to plain text with entities, buttons to a keyboard. Pure; never writes markup.

Telegram finds mentions and commands itself in whatever no entity of code covers: it tells who is mentioned,
and a command that is tapped is said at once, in the name of who tapped it. So every "@name" and "/word" of
ours is shown as code: it reads the same and does nothing. Offsets count UTF-16 units, as the Bot API does.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity

from bot.ports import Button
from bot.text import Style, Text, visible

#: UTF-16 units of one message, and entities beyond which Telegram ignores the rest; telegram.constants.
MAX_UNITS = 4096
MAX_ENTITIES = 100
#: Bytes of callback_data (Bot API), of which our prefix is a few.
MAX_DATA_BYTES = 64
MAX_TOKEN_BYTES = 32
#: What every payload of ours begins with; another is nobody's.
PREFIX = "s1:"
#: Telegram tells no limit for labels. Longer ones are cut by every client anyway.
MAX_LABEL_UNITS = 60
_ROW_UNITS, _ROW_BUTTONS = 28, 3
MAX_BUTTONS = 25

_LIVE = re.compile(r"@\w+|(?<![\w/<>])/\w+(?![\w/<>])")
_EMPTY = "(nothing to show)"
_ENTITY = {
    Style.STRONG: MessageEntity.BOLD,
    Style.MUTED: MessageEntity.ITALIC,
    Style.CODE: MessageEntity.CODE,
    Style.BLOCK: MessageEntity.PRE,
}
_VERBATIM = frozenset({Style.CODE, Style.BLOCK})


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text and its entities, ready to be sent."""

    text: str
    entities: tuple[MessageEntity, ...] = ()


def units(text: str) -> int:
    """Return how many UTF-16 units `text` has."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fits(text: Text) -> bool:
    """Tell whether `text` can be shown in one message."""
    return units(text.plain()) <= MAX_UNITS


def render(text: Text) -> Rendered:
    """Return `text` as characters and entities; what is read is exactly its characters."""
    characters, styles = _flatten(text)
    if not characters.strip():
        return Rendered(_EMPTY, (_entity(MessageEntity.ITALIC, 0, units(_EMPTY)),))
    for found in _LIVE.finditer(characters):
        for place in range(*found.span()):
            if styles[place] not in _VERBATIM:
                styles[place] = Style.CODE
    for kept in (_ENTITY.keys(), _VERBATIM):
        entities = _entities(characters, styles, kept)
        if len(entities) <= MAX_ENTITIES:
            return Rendered(characters, entities)
    # Entities beyond the hundredth are ignored, and a mention in them would be live: one for everything.
    return Rendered(characters, (_entity(MessageEntity.PRE, 0, units(characters)),))


def _flatten(text: Text) -> tuple[str, list[Style]]:
    """Return all characters, and the style of each."""
    parts: list[str] = []
    styles: list[Style] = []
    for number, line in enumerate(text.lines):
        if number:
            parts.append("\n")
            styles.append(Style.PLAIN)
        for span in line:
            shown = visible(span.text)
            parts.append(shown)
            styles += [span.style] * len(shown)
    return "".join(parts), styles


def _entities(characters: str, styles: Sequence[Style], kept: Collection[Style]) -> tuple[MessageEntity, ...]:
    found: list[MessageEntity] = []
    at = offset = 0
    for style, run in groupby(styles):
        length = sum(1 for _ in run)
        shown = characters[at : at + length]
        width = units(shown)
        if style in _ENTITY and style in kept and shown.strip():
            found.append(_entity(_ENTITY[style], offset, width))
        at, offset = at + length, offset + width
    return tuple(found)


def _entity(kind: str, offset: int, length: int) -> MessageEntity:
    return MessageEntity(type=kind, offset=offset, length=length)


def cut(text: str, most: int) -> str:
    """Return `text` within `most` UTF-16 units, its end marked where it was cut; no character is halved."""
    if units(text) <= most:
        return text
    while units(text) > most - 1:
        text = text[:-1]
    return f"{text}…"


def keyboard(buttons: Sequence[Button]) -> InlineKeyboardMarkup | None:
    """Return the buttons in rows that a phone can show, or None for none.

    Raises:
        ValueError: there are more than can be shown, or a token is none.
    """
    if len(buttons) > MAX_BUTTONS:
        raise ValueError(f"{len(buttons)} buttons, at most {MAX_BUTTONS}")
    rows: list[list[InlineKeyboardButton]] = []
    width = 0
    for button in buttons:
        if not button.token or not button.token.isascii() or len(button.token) > MAX_TOKEN_BYTES:
            raise ValueError("a token is 1 to 32 bytes of ASCII")
        label = cut(visible(button.label).strip() or "…", MAX_LABEL_UNITS)
        shown = InlineKeyboardButton(label, callback_data=f"{PREFIX}{button.token}")
        if rows and len(rows[-1]) < _ROW_BUTTONS and width + units(label) <= _ROW_UNITS:
            rows[-1].append(shown)
            width += units(label)
        else:
            rows.append([shown])
            width = units(label)
    return InlineKeyboardMarkup(rows) if rows else None
