"""Text as a tree of spans, never a markup string (P5).

Adapters render spans with the escaping of their platform; nothing here knows any. Control, zero-width and
bidi characters are made visible by `visible`, which every span goes through when it is rendered.
"""

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


_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_SHOWN_AS_IS = frozenset("\n\t")


def visible(text: str) -> str:
    r"""Return `text` with every control, zero-width and bidi character written as \u{hex}."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"\\u{{{ord(char):x}}}"
        if char not in _SHOWN_AS_IS and unicodedata.category(char) in _HIDDEN_CATEGORIES
        else char
        for char in text
    )
