"""Fitting: how a message that is too long for a platform is shown all the same (P4).

Whole where it fits. Else long output becomes its first and last lines, and a body that is still too long
loses the middle of its long verbatim parts; whatever is left out stands whole in an attached file, and the
place where it was cut names that file and its SHA-256. Knows no platform: whether a text fits is asked.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from bot.ports import Message
from bot.text import Span, Style, Text, block, visible

#: Lines kept at each end of cut output, tried from the largest on.
_KEPT = (15, 8, 4, 2, 1)
#: Characters kept of each end of a part that is too long even as one line.
_KEPT_CHARS = (400, 200, 80, 40, 12)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What is shown inline, and the files beside it as (name, content). A cut body is named by `cut`."""

    text: Text
    files: tuple[tuple[str, bytes], ...] = ()
    cut: bool = False


def fit(message: Message, fits: Callable[[Text], bool]) -> Fitted:
    """Return how `message` is shown where only texts that satisfy `fits` can be.

    Raises:
        ValueError: not even its shortest form fits; that is a bug of whoever asks.
    """
    files = () if message.attachment is None else (message.attachment,)
    whole = message.body if message.fold is None else message.body + message.fold
    if fits(whole):
        return Fitted(whole, files)
    if message.fold is not None:
        output = ("output.txt", _file(message.fold))
        for kept in _KEPT:
            short = message.body + _shortened(message.fold, output, lines=kept, chars=_KEPT_CHARS[1])
            if fits(short):
                return Fitted(short, (*files, output))
        files = (*files, output)
    card = ("card.txt", _file(message.body))
    for lines, chars in zip(_KEPT, _KEPT_CHARS, strict=True):
        short = _shortened(message.body, card, lines=lines, chars=chars)
        if fits(short):
            return Fitted(short, (card, *files), cut=True)
    first = message.body.lines[:1]
    last = Text((*((_cut_line(line, 60)) for line in first), (Span(_where(card)),)))
    if not fits(last):
        raise ValueError("nothing of this message fits")
    return Fitted(last, (card, *files), cut=True)


def _file(text: Text) -> bytes:
    return (text.plain() + "\n").encode("utf-8", "replace")


def _where(file: tuple[str, bytes]) -> str:
    name, content = file
    return f"… cut here; whole in {name}, sha256 {hashlib.sha256(content).hexdigest()[:12]} …"


def _shortened(text: Text, file: tuple[str, bytes], *, lines: int, chars: int) -> Text:
    """Return `text` with the middle of every long verbatim part left out."""
    return Text(tuple(_short_line(line, file, lines=lines, chars=chars) for line in text.lines))


def _short_line(
    line: tuple[Span, ...], file: tuple[str, bytes], *, lines: int, chars: int
) -> tuple[Span, ...]:
    if len(line) == 1 and line[0].style is Style.BLOCK:
        return (block(_short_block(visible(line[0].text), file, lines=lines, chars=chars)),)
    return _cut_line(line, max(2 * chars, 120), note=_where(file))


def _short_block(text: str, file: tuple[str, bytes], *, lines: int, chars: int) -> str:
    parts = text.split("\n")
    if len(parts) > 2 * lines + 1:
        parts = [*parts[:lines], _where(file), *parts[-lines:]]
    short = "\n".join(parts)
    if len(short) <= 4 * chars:
        return short
    return f"{short[:chars]}\n{_where(file)}\n{short[-chars:]}"


def _cut_line(line: tuple[Span, ...], most: int, note: str = "…") -> tuple[Span, ...]:
    if sum(len(span.text) for span in line) <= most:
        return line
    kept: list[Span] = []
    left = most
    for span in line:
        kept.append(Span(span.text[:left], span.style))
        left -= len(kept[-1].text)
        if left <= 0:
            break
    return (*kept, Span(f" {note}"))
