"""Reads an argument list against the rule of its program: which sub-verb, which options, which operands.

Options are known only if the rule lists them, exactly; whatever is not known is kept as such and makes the
line unfit to run unasked. It judges nothing: gate.shell.judge does.
"""

import re
from collections.abc import Mapping, Sequence

from gate.shell.model import Known, Option, Takes
from gate.shell.words import Word

_NUMBER_FLAG = re.compile(r"-\d+")
_OPERANDS_WITH_DASH = frozenset({"-", "--"})


class Match:
    """How one argument list reads.

    Attributes:
        known: the deepest rule that was reached.
        path: the sub-verbs as typed.
        operands: operands after the sub-verbs.
        given: option name to the values it was given ("" where it takes none), known or not.
        before: the same for a program's own options, where they must stand before the sub-verb.
        unknown: words that the rule does not know, or whose value it does not allow.
        paths: values of options that are paths.
        inner: commands that stand in the arguments (find -exec).
        rest: what a wrapper would run.
    """

    __slots__ = ("before", "given", "inner", "known", "operands", "path", "paths", "rest", "unknown")

    def __init__(self, known: Known) -> None:
        self.known = known
        self.path: list[str] = []
        self.operands: list[Word] = []
        self.given: dict[str, list[str]] = {}
        self.before: dict[str, list[str]] = {}
        self.unknown: list[str] = []
        self.paths: list[Word] = []
        self.inner: list[Sequence[Word]] = []
        self.rest: Sequence[Word] = ()

    @property
    def bare(self) -> bool:
        """Whether a program with sub-verbs was given none."""
        return bool(self.known.below) and not self.operands

    def has(self, names: frozenset[str], *, abbreviated: bool, given: Mapping[str, list[str]]) -> bool:
        """Whether one of the options is given; an unknown long option counts when it may abbreviate one."""
        if not names.isdisjoint(given):
            return True
        if not abbreviated or not self.unknown:
            return False
        shorts = tuple(name for name in self.unknown if name.startswith("--") and len(name) > len("--"))
        return any(name.startswith(short) for short in shorts for name in names)


def match(known: Known, words: Sequence[Word]) -> Match:
    """Read the arguments (without the program's name)."""
    reading = _Reading(known, words)
    reading.read()
    return reading


class _Reading(Match):
    """One pass over the arguments."""

    __slots__ = ("at", "words")

    def __init__(self, known: Known, words: Sequence[Word]) -> None:
        super().__init__(known)
        self.words = words
        self.at = 0

    def read(self) -> None:
        words = self.words
        count = len(words)
        while self.at < count:
            word = words[self.at]
            self.at += 1
            if self.known.runs_rest and self.wrapped(word):
                break
            text = word.text
            if text == "--":
                self.after_dashes()
                break
            if text[:1] != "-":
                self.no_option(word)
            elif text == "-" or self.known.verb.operand_flags:
                self.operand(word)
            else:
                self.an_option(word)

    def wrapped(self, word: Word) -> bool:
        """Stop where a wrapped command begins."""
        verb = self.known.verb
        if len(self.operands) < verb.skip:
            return False
        if word.text != "--" and (_is_option(word) or (verb.assigns and _is_assignment(word))):
            return False
        self.rest = self.words[self.at if word.text == "--" else self.at - 1 :]
        return True

    def after_dashes(self) -> None:
        self.give("--", "")
        left = self.words[self.at :]
        if self.known.runs_rest:
            self.rest = left[max(self.known.verb.skip - len(self.operands), 0) :]
            return
        for word in left:
            self.operand(word)

    def no_option(self, word: Word) -> None:
        if self.at == 1 and self.known.verb.dashless:
            self.dashless(word)
        else:
            self.operand(word)

    def an_option(self, word: Word) -> None:
        text = word.text
        if self.known.verb.number_flag and _NUMBER_FLAG.fullmatch(text):
            self.give("-#", text[1:])
        elif text.startswith("--") or self.known.single:
            self.long(word)
        else:
            self.bundle(word)

    def dashless(self, word: Word) -> None:
        """Read old-style letters (tar tzf FILE); only the last may take a value, the next word."""
        for char in word.text[:-1]:
            known = self.known.options.get(f"-{char}")
            if known is not None and known.takes is not Takes.NOTHING:
                self.unknown.append(word.text)
        self.bundle(Word(text=f"-{word.text}", raw=word.raw, certain=word.certain, glob=word.glob))

    def operand(self, word: Word) -> None:
        if self.known.below and not self.operands:
            below = self.known.below.get(word.text)
            if below is not None:
                if self.known.verb.globals_first:
                    self.before, self.given = self.given, {}
                self.known = below
                self.path.append(word.text)
                return
            if self.unknown:
                # NOTE: it may be the value of an option nobody knows; the sub-verb may still come.
                self.unknown.append(word.text)
                return
        self.operands.append(word)

    def long(self, word: Word) -> None:
        name, equals, attached = word.text.partition("=")
        if name in self.known.verb.inner:
            self.give(name, "")
            self.command()
            return
        known = self.known.options.get(name)
        if known is None or (equals and known.takes is Takes.NOTHING):
            self.give(name, attached)
            self.unknown.append(name)
        elif equals:
            self.value(known, attached, word)
        elif known.takes is Takes.VALUE:
            self.next_value(known)
        else:
            self.give(name, "")

    def bundle(self, word: Word) -> None:
        options = self.known.options
        for position, char in enumerate(word.text[1:], 2):
            name = f"-{char}"
            known = options.get(name)
            if known is None:
                self.give(name, "")
                self.unknown.append(name)
            elif known.takes is Takes.NOTHING:
                self.give(name, "")
            else:
                attached = word.text[position:]
                if attached or known.takes is Takes.MAYBE:
                    self.value(known, attached, word)
                else:
                    self.next_value(known)
                return

    def next_value(self, option: Option) -> None:
        if self.at >= len(self.words):
            self.give(option.name, "")
            self.unknown.append(option.name)
            return
        word = self.words[self.at]
        self.at += 1
        if _is_option(word) and option.allowed is None and not _NUMBER_FLAG.fullmatch(word.text):
            # NOTE: should a rule be wrong about an option taking a value, this is where a flag would hide.
            self.unknown.append(word.text)
        self.value(option, word.text, word)

    def value(self, option: Option, text: str, word: Word) -> None:
        if text.startswith("=") and option.allowed is not None:
            text = text[1:]  # -o=json, as some programs take it
        self.give(option.name, text)
        if word.glob or (option.allowed is not None and not option.allowed.fullmatch(text)):
            self.unknown.append(f"{option.name}={text}")
        if option.path:
            self.paths.append(Word(text=text, raw=word.raw, certain=word.certain, home=word.home))

    def give(self, name: str, value: str) -> None:
        given = self.given
        if name in given:
            given[name].append(value)
        else:
            given[name] = [value]

    def command(self) -> None:
        """Take the words up to ";" or "+" as a command of their own."""
        start = self.at
        while self.at < len(self.words) and self.words[self.at].text not in (";", "+"):
            self.at += 1
        self.inner.append(self.words[start : self.at])
        self.at += 1


def _is_option(word: Word) -> bool:
    return word.text.startswith("-") and word.text not in _OPERANDS_WITH_DASH


def _is_assignment(word: Word) -> bool:
    return re.match(r"[A-Za-z_]\w*=", word.text) is not None
