"""The first look at a line: characters and size, before any parsing.

Says why a line must not run by itself because of what it is made of: invisible or control characters, or more
than a person reads. It knows no shell syntax. Rule: what a reader cannot see, sayso does not run unasked.
"""

import unicodedata

MAX_CHARS = 10_000
MAX_COMMANDS = 30
#: Beyond this not even severity is looked for; the line counts as destructive.
MAX_READABLE_CHARS = 20_000

_PLAIN_CONTROLS = frozenset("\n\t")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
#: Letters that render as nothing although Unicode calls them letters or marks.
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")


def objection(command: str) -> str | None:
    """Return why these characters must not run unasked, in words; None when they may be read on."""
    if len(command) > MAX_CHARS:
        return f"longer than {MAX_CHARS} characters, more than a person reads"
    if command.isascii() and command.isprintable():
        return None
    for char in command:
        if is_hidden(char):
            return f"holds an invisible or control character (U+{ord(char):04X})"
    return None


def is_hidden(char: str) -> bool:
    """Whether a reader could miss this character or take it for another kind of blank."""
    if char in _PLAIN_CONTROLS or " " <= char <= "~":
        return False
    category = unicodedata.category(char)
    return category in _HIDDEN or category.startswith("M") or char in _BLANK_LETTERS


def without_hidden(command: str) -> str:
    """Return the line without hidden characters, so that destruction behind them is still seen."""
    return "".join(char for char in command.replace("\r", "\n") if not is_hidden(char))
