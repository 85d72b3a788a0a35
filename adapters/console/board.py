"""What is on the screen: messages by key, what changed in them, and which buttons a number presses.

Pure bookkeeping for both front ends; prints nothing. The rules it owns: every character is made visible
before it is shown, what a command printed is indented so that it cannot pass for a line of ours, a changed
message shows only its changed lines, and a number means the newest message that has buttons now.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bot.ports import Button, Message
from bot.text import Span, Style, Text, muted, visible

Line = tuple[Span, ...]
_RUNNING = "●"
#: Before every line of a block: commands and output, so that output cannot imitate a card.
_INDENT = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a message adds to the screen.

    Attributes:
        fresh: it was not there before.
        lines: those that were not there before.
        now: all of it.
    """

    fresh: bool
    lines: tuple[Line, ...]
    now: tuple[Line, ...]


class Board:
    """The messages of one session."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[Line, ...]] = {}
        self._buttons: dict[str, tuple[Button, ...]] = {}

    def update(self, key: str, message: Message) -> Change:
        """Take a new or changed message and return what is new about it."""
        before = self._lines.get(key)
        lines = render(message)
        self._lines[key] = lines
        if not message.buttons:
            self._buttons.pop(key, None)
        else:
            self._buttons[key] = message.buttons
        if before is None:
            return Change(fresh=True, lines=lines, now=lines)
        return Change(fresh=False, lines=_added(before, lines), now=lines)

    def pressed(self, text: str) -> Button | None:
        """Return the button that a line of digits means, or None when the line is something else."""
        if not self._buttons or not (text.isascii() and text.isdecimal()):
            return None
        buttons = self._buttons[self.newest]
        number = int(text) if len(text) < 4 else 0  # noqa: PLR2004  # no message has a thousand buttons
        return buttons[number - 1] if 1 <= number <= len(buttons) else None

    @property
    def newest(self) -> str:
        """Key of the newest message that has buttons; "" when none has."""
        return next(reversed(self._buttons), "")


def render(message: Message) -> tuple[Line, ...]:
    """Return a message as lines without newlines in them, buttons and everything folded included."""
    lines = [*_split(message.body)]
    if message.fold is not None:
        lines += _split(message.fold)
    if message.attachment is not None:
        lines += _attached(*message.attachment)
    if message.buttons:
        numbered = (f"[{n} {visible(button.label)}]" for n, button in enumerate(message.buttons, start=1))
        lines.append((Span(" ".join(numbered), Style.STRONG),))
    return tuple(lines)


def is_running(lines: Sequence[Line]) -> bool:
    """Tell whether a message shows something that runs: its first line begins with the mark of that."""
    return bool(lines) and text_of(lines[0]).startswith(_RUNNING)


def is_output(line: Line) -> bool:
    """Tell whether a line is a command's own output."""
    return bool(line) and all(span.style is Style.BLOCK for span in line)


def text_of(line: Line) -> str:
    """Return a line without its styles."""
    return "".join(span.text for span in line)


def plain(lines: Sequence[Line]) -> str:
    """Return lines as text without styles, each with its newline."""
    return "".join(text_of(line).rstrip() + "\n" for line in lines)


def _split(text: Text) -> list[Line]:
    lines: list[Line] = []
    for line in text.lines:
        current: list[Span] = []
        for span in line:
            first, *rest = _lines_of(span)
            current.append(Span(first, span.style))
            for part in rest:
                lines.append(tuple(current))
                current = [Span(part, span.style)]
        lines.append(tuple(current))
    return lines


def _lines_of(span: Span) -> list[str]:
    lines = visible(span.text).split("\n")
    return [f"{_INDENT}{line}" for line in lines] if span.style is Style.BLOCK else lines


def _attached(name: str, content: bytes) -> list[Line]:
    title: Line = (muted(f"{visible(name)}, {len(content)} bytes"),)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return [title, (muted("not text, so it is not shown here"),)]
    return [title, *_split(Text.of(Span(text.rstrip("\n"), Style.BLOCK)))]


def _added(before: Sequence[Line], after: Sequence[Line]) -> tuple[Line, ...]:
    """Return the lines of `after` that `before` has not, in order; repeated lines count."""
    left = Counter(before)
    added = []
    for line in after:
        if left[line] > 0:
            left[line] -= 1
        else:
            added.append(line)
    return tuple(added)
