"""Text as a tree of spans, never a markup string (P5).

Adapters render spans with the escaping of their platform; nothing here knows any. Control, zero-width,
bidi and blank characters are made visible by `visible`, which every span goes through when it is rendered.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Style(StrEnum):
    """How a span is meant, not how it looks."""

    PLAIN = "plain"
    STRONG = "strong"
    MUTED = "muted"
    CODE = "code"  # inline, verbatim
    BLOCK = "block"  # verbatim, on lines of its own


@dataclass(frozen=True, slots=True)
class Span:
    """One run of characters with one meaning."""

    text: str
    style: Style = Style.PLAIN


@dataclass(frozen=True, slots=True)
class Text:
    """Lines of spans. A BLOCK span stands alone on its line and may hold newlines."""

    lines: tuple[tuple[Span, ...], ...] = ()

    @classmethod
    def of(cls, *lines: "str | Span | Iterable[Span | str]") -> "Text":
        """Build from lines; a bare string is a plain span."""
        return cls(tuple(_line(line) for line in lines))

    def __add__(self, other: "Text") -> "Text":
        return Text(self.lines + other.lines)

    def plain(self) -> str:
        """Return the text without any styling, one string, lines joined by newlines."""
        return "\n".join("".join(visible(span.text) for span in line) for line in self.lines)


def _line(line: "str | Span | Iterable[Span | str]") -> tuple[Span, ...]:
    if isinstance(line, str):
        return (Span(line),)
    if isinstance(line, Span):
        return (line,)
    return tuple(Span(part) if isinstance(part, str) else part for part in line)


def strong(text: str) -> Span:
    """Emphasise."""
    return Span(text, Style.STRONG)


def muted(text: str) -> Span:
    """Mark as secondary."""
    return Span(text, Style.MUTED)


def code(text: str) -> Span:
    """Show verbatim within a line."""
    return Span(text, Style.CODE)


def block(text: str) -> Span:
    """Show verbatim on lines of its own."""
    return Span(text, Style.BLOCK)


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_SHOWN_AS_IS = frozenset("\n\t ")
#: Letters and marks that look like nothing, whatever Unicode calls them; variation selectors among them.
_BLANK = re.compile(
    "[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\u3164\\uffa0\\ufe00-\\ufe0f\\U000e0000-\\U000e0fff]"
)


def visible(text: str) -> str:
    r"""Return `text` with every character that is unseen, or seen as a space, written as \u{hex}.

    Control, zero-width, bidi and unassigned characters, blank letters, and spaces other than that of ASCII;
    newline and tab stay.
    """
    if text.isascii() and _CONTROL.search(text) is None:
        return text
    return "".join(
        f"\\u{{{ord(char):x}}}" if char not in _SHOWN_AS_IS and _is_hidden(char) else char for char in text
    )


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in _HIDDEN_CATEGORIES or _BLANK.match(char) is not None
