r"""Text as Discord's Markdown, so that what is shown is exactly the text (P5).

Pure. Everything that Discord could read as markup is escaped with a backslash; verbatim parts stand between
backticks, and a backtick inside one is put outside of them, escaped, so that nothing can close a fence from
within. Mentions are broken by the same escapes, beside the ban on them in every payload.
"""

import re
from collections.abc import Iterator
from itertools import groupby

from bot.text import Span, Style, Text, visible

#: What means something anywhere in a line. The colon makes links, emoji and times; "@" mentions.
_INLINE = re.compile(r"[\\*_~`|<>@\[\]:]")
#: What means something at the beginning of a line only: headings, quotes, lists, small print.
_LINE_START = re.compile(r"^([ \t]*)([#\-+]|\d+(?=[.)]))", re.MULTILINE)
_TICKS = re.compile(r"(`+)")
_FENCE = "```"


def markdown(text: Text) -> str:
    """Return `text` in Discord's Markdown."""
    return "\n".join(_line(line) for line in text.lines)


def escaped(text: str) -> str:
    """Return plain words such that they are shown as they are, wherever in a line they stand."""
    return _INLINE.sub(r"\\\g<0>", visible(text))


def _line(line: tuple[Span, ...]) -> str:
    spans = list(_joined(line))
    if len(spans) == 1:
        (only,) = spans
        if only.style is Style.BLOCK:
            return _block(only.text)
        if only.style is Style.MUTED and only.text.strip():
            parts = _line_starts(escaped(only.text), first=True).split("\n")
            return "\n".join(f"-# {part}" if part.strip() else part for part in parts)
    return "".join(_span(span, first=index == 0) for index, span in enumerate(spans))


def _joined(line: tuple[Span, ...]) -> Iterator[Span]:
    """Yield the spans with neighbours of one style made one: two pairs of marks side by side read as one."""
    for style, spans in groupby((span for span in line if span.text), key=lambda span: span.style):
        yield Span("".join(span.text for span in spans), style)


def _span(span: Span, *, first: bool) -> str:
    match span.style:
        case Style.CODE | Style.BLOCK:
            return _code(visible(span.text))
        case Style.STRONG:
            return f"**{_line_starts(escaped(span.text), first=False)}**"
        case Style.PLAIN | Style.MUTED:
            return _line_starts(escaped(span.text), first=first)


def _line_starts(text: str, *, first: bool) -> str:
    def escape(match: re.Match[str]) -> str:
        if match.start() == 0 and not first:
            return match[0]
        if match[2].isdigit():
            # "1." becomes "1\.": Discord would count the lines of a list anew.
            return f"{match[0]}\\"
        return f"{match[1]}\\{match[2]}"

    return _LINE_START.sub(escape, text)


def _code(text: str) -> str:
    """Return `text` verbatim within a line; its backticks stand escaped between the parts."""
    return "".join(
        part.replace("`", "\\`") if part.startswith("`") else f"`{part}`"
        for part in _TICKS.split(text)
        if part
    )


def _block(text: str) -> str:
    """Return `text` verbatim on lines of its own; a line that holds a fence stands outside of the fences."""
    parts: list[str] = []
    for fenced, lines in groupby(visible(text).split("\n"), key=lambda line: _FENCE in line):
        if fenced:
            parts.extend(_code(line) for line in lines)
            continue
        inside = "\n".join(lines)
        # A backtick at the very end would join the closing fence; a fence cannot hold nothing at all.
        ending = "\n" if inside.strip("\n") else " \n"
        parts.append(f"{_FENCE}\n{inside}{ending}{_FENCE}")
    return "\n".join(parts)
