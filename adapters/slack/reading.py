"""Reading: the words of a Slack message, as they were typed.

Prefers the rich text that Slack sends beside `text`, which is lossy: code loses lines there, and a typed
"<@U1>" looks like a mention. Code keeps its backticks, quotes their ">", since both mean something to whoever
reads on. Takes out the mention of the bot itself and nothing else. Pure; knows no event.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]

#: `<@U1|name>`, `<#C1|name>`, `<!here>`, `<https://x|label>`.
_TOKEN = re.compile(r"<(?P<kind>[@#!]?)(?P<id>[^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_AFTER_MENTION = re.compile(r"^[ \t]*[,:]?[ \t]*")

#: A mention of the bot among pieces of text.
_US = None


@dataclass(frozen=True, slots=True)
class Words:
    """What was said: the text, whether the bot is mentioned, whether all of it is a quotation."""

    text: str
    mentioned: bool
    quoted: bool


def words(message: Json, *, me: str) -> Words:
    """Return what a message says; `me` is the user id of the bot."""
    rich = [block for block in message.get("blocks") or () if block.get("type") == "rich_text"]
    if rich:
        parts = [part for block in rich for part in block.get("elements") or ()]
        pieces = list(_parts(parts, me))
        quoted = bool(parts) and all(_is_quote(part) for part in parts)
    else:
        text = message.get("text") or ""
        pieces = list(_marked_up(text, me))
        lines = [line for line in text.split("\n") if line.strip()]
        quoted = bool(lines) and all(line.lstrip().startswith("&gt;") for line in lines)
    return Words(_joined(pieces).strip(), _US in pieces, quoted)


def unescape(text: str) -> str:
    """Undo Slack's escaping, once."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _joined(pieces: Sequence[str | None]) -> str:
    """Join the pieces, the mentions of the bot left out."""
    said = ""
    after_us = False
    for piece in pieces:
        if piece is _US:
            after_us = True
            continue
        if after_us and not said.strip():
            piece = _AFTER_MENTION.sub("", piece, count=1)  # noqa: PLW2901 - "@sayso: uptime" asks for uptime
        elif after_us and said.endswith(" ") and piece.startswith(" "):
            said = said[:-1]
        said += piece
        after_us = after_us and not piece
    return said


# ---------------------------------------------------------------- rich text


def _is_quote(part: Json) -> bool:
    if part.get("type") == "rich_text_quote":
        return True
    return not "".join(piece or "@" for piece in _inline(part.get("elements") or (), me="")).strip()


def _parts(parts: Iterable[Json], me: str) -> Iterator[str | None]:
    for index, part in enumerate(parts):
        if index:
            yield "\n"
        inner = list(_inline(part.get("elements") or (), me))
        match part.get("type"):
            case "rich_text_preformatted":
                yield f"```\n{_joined(inner)}\n```"
            case "rich_text_quote":
                yield "\n".join(f"> {line}" for line in _joined(inner).split("\n"))
            case "rich_text_list":
                yield from _list(part, me)
            case _:
                yield from inner


def _list(part: Json, me: str) -> Iterator[str | None]:
    first = int(part.get("offset") or 0) + 1
    for index, item in enumerate(part.get("elements") or ()):
        if index:
            yield "\n"
        yield f"{first + index}. " if part.get("style") == "ordered" else "- "
        yield from _inline(item.get("elements") or (), me)


def _inline(elements: Iterable[Json], me: str) -> Iterator[str | None]:
    for element in elements:
        if element.get("type") == "user" and element.get("user_id") == me:
            yield _US
        else:
            yield _styled(_plain(element), element.get("style"))


def _plain(element: Json) -> str:
    kind = element.get("type")
    if kind == "emoji":
        return _emoji(element)
    known = {
        "text": element.get("text", ""),
        "link": element.get("text") or element.get("url", ""),
        "user": f"<@{element.get('user_id')}>",
        "channel": f"<#{element.get('channel_id')}>",
        "usergroup": f"<!subteam^{element.get('usergroup_id')}>",
        "broadcast": f"@{element.get('range')}",
    }
    if kind in known:
        return str(known[kind])
    return str(element.get("fallback") or element.get("value") or f"[{kind}]")


def _styled(text: str, style: object) -> str:
    """Keep what changes the meaning: code is verbatim, and what is struck out was not said."""
    if not isinstance(style, Mapping) or not text.strip():
        return text
    if style.get("code"):
        fence = "``" if "`" in text else "`"
        return f"{fence}{text}{fence}"
    return f"~{text}~" if style.get("strike") else text


def _emoji(element: Json) -> str:
    try:
        return "".join(chr(int(code, 16)) for code in str(element["unicode"]).split("-"))
    except (KeyError, ValueError, OverflowError):
        return f":{element.get('name')}:"


# ---------------------------------------------------------------- the `text` field


def _marked_up(text: str, me: str) -> Iterator[str | None]:
    done = 0
    for match in _TOKEN.finditer(text):
        yield unescape(text[done : match.start()])
        done = match.end()
        yield _US if match["kind"] == "@" and match["id"] == me else unescape(_token(match))
    yield unescape(text[done:])


def _token(match: "re.Match[str]") -> str:
    kind, name = match["kind"], match["id"]
    if kind == "!":
        return match[0] if "^" in name else f"@{name}"
    return f"<{kind}{name}>" if kind else (match["label"] or name)
