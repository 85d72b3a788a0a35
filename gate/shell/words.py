r"""One shell word: from its source to what the program would get.

`decode` undoes quoting the way bash does it and says whether it is certain. Anything bash would compute
(expansions, substitutions, brackets, braces) is uncertain; `*` and `?` are marked as a glob and left to the
caller. With `variables` it guesses, for readers that look for severity. It never splits a word.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

#: Stands for text that is known only when the line runs.
UNKNOWN = "\ufffd"

_PLAIN = re.compile(r"[A-Za-z0-9_./:=,+@%^-](?:[A-Za-z0-9_./:=,+@%^#-]|!=)*")
_GLOB = frozenset("*?")
_DOUBLE_ESCAPES = frozenset('$`"\\')
_ANSI = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
_ANSI_GUESS = {
    **_ANSI,
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "r": "\r",
    "v": "\v",
    "?": "?",
}
_ANSI_NUMBER = re.compile(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-=+])([^{}]*))?\})")
_MAX_CODEPOINT = 0x10FFFF
_BRACES = re.compile(r"([^'\"\\{}$]*)\{([^'\"\\{}]*,[^'\"\\{}]*)\}(.*)", re.DOTALL)
_MAX_BRACES = 32


class Word(NamedTuple):
    """A decoded word. A tuple because thousands are made; nobody counts on the order of its fields.

    Attributes:
        text: what the program gets, as far as known; UNKNOWN where it is not.
        raw: its source.
        certain: every character of `text` is what bash will pass on, globs apart.
        glob: holds an unquoted `*` or `?`.
        home: starts with an unquoted `~`, kept as such in `text`.
    """

    text: str
    raw: str
    certain: bool = True
    glob: bool = False
    home: bool = False


def decode(
    raw: str, *, variables: Mapping[str, str] | None = None, known: Mapping[str, str] | None = None
) -> Word:
    """Decode the source of one word.

    Args:
        raw: its source.
        variables: values to guess with; a word that holds one stays uncertain.
        known: values that are certain (the names of a loop, say), of characters that the shell leaves alone.
    """
    if _PLAIN.fullmatch(raw) or raw in ("{}", "!"):
        return Word(text=raw, raw=raw)
    return _Scanner(raw, variables, known).word()


def expand_braces(raw: str) -> list[str]:
    """Return the words that simple `{a,b}` braces make of one, for readers that look for severity."""
    done: list[str] = []
    todo = [raw]
    while todo and len(done) + len(todo) < _MAX_BRACES:
        current = todo.pop(0)
        found = _BRACES.fullmatch(current)
        if found is None:
            done.append(current)
        else:
            head, middle, tail = found.groups()
            todo.extend(f"{head}{choice}{tail}" for choice in middle.split(","))
    return done + todo


class _Scanner:
    """Walks one raw word from left to right."""

    def __init__(
        self, raw: str, variables: Mapping[str, str] | None, known: Mapping[str, str] | None
    ) -> None:
        self.raw = raw
        self.variables = variables
        self.known = known
        self.at = 0
        self.out: list[str] = []
        self.certain = True
        self.glob = False

    def word(self) -> Word:
        home = self.raw == "~" or self.raw.startswith("~/")
        if home:
            self.take("~")
        while self.at < len(self.raw):
            self.step()
        return Word(text="".join(self.out), raw=self.raw, certain=self.certain, glob=self.glob, home=home)

    def take(self, text: str, *, length: int | None = None) -> None:
        self.out.append(text)
        self.at += len(text) if length is None else length

    def step(self) -> None:
        char = self.raw[self.at]
        match char:
            case "'":
                self.single()
            case '"':
                self.double()
            case "\\":
                self.backslash()
            case "$":
                self.dollar(quoted=False)
            case "`":
                self.backtick()
            case _ if char in _GLOB:
                self.glob = True
                self.take(char)
            case _:
                self.certain = self.certain and self.plain(char)
                self.take(char)

    def plain(self, char: str) -> bool:
        """Whether bash leaves this unquoted character alone here."""
        if char == "#":
            return self.at > 0
        if char == "!":  # no history without a terminal, and `!=` is no pattern
            return self.raw[self.at + 1 : self.at + 2] == "="
        return _PLAIN.fullmatch(char) is not None

    def single(self) -> None:
        end = self.raw.find("'", self.at + 1)
        if end < 0:
            self.certain = False
            end = len(self.raw)
        self.take(self.raw[self.at + 1 : end], length=end + 1 - self.at)

    def double(self) -> None:
        self.at += 1
        while self.at < len(self.raw):
            char = self.raw[self.at]
            if char == '"':
                self.at += 1
                return
            if char == "\\":
                self.double_backslash()
            elif char == "$":
                self.dollar(quoted=True)
            elif char == "`":
                self.backtick()
            else:
                self.take(char)
        self.certain = False

    def double_backslash(self) -> None:
        following = self.raw[self.at + 1 : self.at + 2]
        if following == "\n":
            self.certain = False
            self.at += 2
        elif following in _DOUBLE_ESCAPES:
            self.take(following, length=2)
        else:
            self.take("\\")

    def backslash(self) -> None:
        following = self.raw[self.at + 1 : self.at + 2]
        if following in ("", "\n") or not following.isascii():
            self.certain = False
        self.take("" if following == "\n" else following, length=2)

    def dollar(self, *, quoted: bool) -> None:
        following = self.raw[self.at + 1 : self.at + 2]
        if following == "'" and not quoted:
            self.ansi()
            return
        ends = following == '"' or following.isspace() if quoted else following == "" and self.at > 0
        if ends:
            self.take("$")
            return
        if self.known and self.take_known(following):
            return
        self.certain = False
        if following == '"' and not quoted:
            self.at += 1
        elif following == "(":
            self.take(UNKNOWN, length=self.balanced(self.at + 1) - self.at)
        else:
            self.variable()

    def take_known(self, following: str) -> bool:
        """Take the value of a plain `$name`, `${name}` or `$?` that is known; say whether there was one."""
        found = _VARIABLE.match(self.raw, self.at)
        name = (found[1] or found[2]) if found and found[3] is None else following if following == "?" else ""
        value = (self.known or {}).get(name)
        if value is None:
            return False
        self.take(value, length=found.end() - self.at if found else len("$?"))
        return True

    def variable(self) -> None:
        found = _VARIABLE.match(self.raw, self.at)
        if found is None:
            self.take(UNKNOWN, length=1)
            return
        self.take(self.value(found), length=found.end() - self.at)

    def value(self, found: re.Match[str]) -> str:
        """Guess what an expansion gives: the variable, its default, or what stands for a set one."""
        name = found[1] or found[2]
        if name == "HOME":
            return "~"
        if found[3] in ("+", ":+"):
            return found[4]
        return (self.variables or {}).get(name, found[4] or UNKNOWN)

    def backtick(self) -> None:
        self.certain = False
        end = self.raw.find("`", self.at + 1)
        self.take(UNKNOWN, length=(end + 1 if end > 0 else len(self.raw)) - self.at)

    def ansi(self) -> None:
        self.at += 2
        while self.at < len(self.raw):
            char = self.raw[self.at]
            if char == "'":
                self.at += 1
                return
            if char == "\\":
                self.ansi_escape()
            else:
                self.take(char)
        self.certain = False

    def ansi_escape(self) -> None:
        following = self.raw[self.at + 1 : self.at + 2]
        if following in _ANSI:
            self.take(_ANSI[following], length=2)
            return
        self.certain = False
        number = _ANSI_NUMBER.match(self.raw, self.at + 1)
        if number is None:
            self.take(_ANSI_GUESS.get(following, following), length=2)
            return
        digits = number[1] or number[2] or number[3]
        code = int(digits, 16) if digits else int(number[4], 8)
        self.take(chr(min(code, _MAX_CODEPOINT)), length=number.end() - self.at)

    def balanced(self, start: int) -> int:
        """Return the position after the parenthesis that closes the one at `start`."""
        depth = 0
        for position in range(start, len(self.raw)):
            depth += {"(": 1, ")": -1}.get(self.raw[position], 0)
            if depth == 0:
                return position + 1
        return len(self.raw)
