"""What was said: the words of a message without what only addresses the bot. Pure.

Telegram takes formatting out of a text and hands it over as entities; code is given its backticks back, since
a fenced block is one command. Everything else stays as it was typed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from telegram import Message, MessageEntity

_SPACE = " \t\n"
#: What a client sends when somebody opens the bot for the first time.
_START = "start"


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's own account; `username` without the @."""

    id: int
    username: str


@dataclass(frozen=True, slots=True)
class Heard:
    """The words, and whether they name the bot (by a mention or as a command)."""

    text: str
    names_us: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """An entity in characters of the text rather than UTF-16 units."""

    kind: str
    start: int
    end: int
    shown: str
    user: int = 0


def words(message: Message, *, me: Me) -> Heard | None:
    """Return what was said, or None for nothing, or for a command to another bot."""
    text = message.text or message.caption or ""
    if not text:
        return None
    parts = _parts(text, message.entities if message.text else message.caption_entities)
    command = _command(text, parts)
    if command is not None:
        name, _, bot = command.shown[1:].partition("@")
        if bot and bot.casefold() != me.username.casefold():
            return None
        rest = _backticked(text, parts, start=command.end)
        if name.casefold() == _START and not rest.strip():
            return Heard("help", names_us=True)
        return Heard(f"{name}{rest}", names_us=True)
    mentions = [part for part in parts if _is_us(part, me)]
    start, end = _without(text, mentions)
    return Heard(_backticked(text, parts, start=start, end=end), names_us=bool(mentions))


def _parts(text: str, entities: Iterable[MessageEntity]) -> list[_Part]:
    wide = text.encode("utf-16-le", "surrogatepass")

    def characters(units: int) -> int:
        return len(wide[: 2 * units].decode("utf-16-le", "replace"))

    found = []
    for entity in entities:
        start, end = characters(entity.offset), characters(entity.offset + entity.length)
        user = entity.user.id if entity.user is not None else 0
        found.append(_Part(str(entity.type), start, end, text[start:end], user))
    return sorted(found, key=lambda part: part.start)


def _command(text: str, parts: Iterable[_Part]) -> _Part | None:
    """Return the command that the text begins with; "/etc/hosts" is none."""
    for part in parts:
        if part.kind == MessageEntity.BOT_COMMAND and part.start == 0:
            return part if text[part.end : part.end + 1] in ("", *_SPACE) else None
    return None


def _is_us(part: _Part, me: Me) -> bool:
    if part.kind == MessageEntity.TEXT_MENTION:
        return part.user == me.id
    return part.kind == MessageEntity.MENTION and part.shown[1:].casefold() == me.username.casefold()


def _without(text: str, mentions: list[_Part]) -> tuple[int, int]:
    """Return where the text begins and ends without mentions of us around it.

    One in the middle stays: it may be part of a command.
    """
    start, end = 0, len(text)
    for part in mentions:
        if not text[start : part.start].strip():
            start = part.end
            while start < end and text[start] in f"{_SPACE},:":
                start += 1
    for part in reversed(mentions):
        if part.start >= start and not text[part.end : end].strip():
            end = part.start
    while end > start and text[end - 1] in _SPACE:
        end -= 1
    return start, end


def _backticked(text: str, parts: Iterable[_Part], *, start: int, end: int | None = None) -> str:
    """Return text[start:end] with backticks around what was formatted as code.

    A text that is code as a whole was pasted from a card, a phrase for example, unless it has several lines.
    """
    end = len(text) if end is None else end
    shown: list[str] = []
    at = start
    for part in parts:
        if part.start < at or part.end > end or "`" in part.shown:
            continue
        fenced = part.kind == MessageEntity.PRE
        if not fenced and (part.kind != MessageEntity.CODE or "\n" in part.shown):
            continue
        whole = not text[start : part.start].strip() and not text[part.end : end].strip()
        if whole and "\n" not in part.shown.strip():
            continue
        shown.append(text[at : part.start])
        if fenced:
            before = "" if not shown[-1] or shown[-1][-1] in _SPACE else "\n"
            shown.append(f"{before}```\n{part.shown.strip(chr(10))}\n```")
        else:
            shown.append(f"`{part.shown}`")
        at = part.end
    shown.append(text[at:end])
    return "".join(shown)
