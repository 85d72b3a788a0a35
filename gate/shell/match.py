"""Reads an argument list against the rule of its program: which sub-verb, which options, which operands.

Options are known only if the rule lists them, exactly; whatever is not known is kept as such and makes the
line unfit to run unasked. It judges nothing: gate.shell.judge does.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from gate.shell.model import Option, Takes, Verb
from gate.shell.words import Word

_NUMBER_FLAG = re.compile(r"-\d+")
_OPERANDS_WITH_DASH = frozenset({"-", "--"})


@dataclass(slots=True, kw_only=True)
class Match:
    """How one argument list reads.

    Attributes:
        verb: the deepest rule that was reached; `chain` are all from the program down.
        path: the sub-verbs as typed.
        operands: operands after the sub-verbs.
        before: the same for a program's own options, where they must stand before the sub-verb.
        given: option name to the values it was given ("" where it takes none), known or not.
        unknown: words that the rule does not know, or whose value it does not allow.
        paths: values of options that are paths.
        inner: commands that stand in the arguments (find -exec).
        rest: what a wrapper would run.
        bare: sub-verbs exist and none was given.
    """

    verb: Verb
    chain: list[Verb]
    path: list[str] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    given: dict[str, list[str]] = field(default_factory=dict)
    before: dict[str, list[str]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    paths: list[Word] = field(default_factory=list)
    inner: list[list[Word]] = field(default_factory=list)
    rest: list[Word] = field(default_factory=list)

    @property
    def bare(self) -> bool:
        """Whether a program with sub-verbs was given none."""
        return bool(self.verb.verbs) and not self.operands

    def scope(self, rule: Verb) -> dict[str, list[str]]:
        """Return the options that a clause of `rule` looks at."""
        return self.before if rule.globals_first and rule is not self.verb else self.given

    def has(
        self, names: frozenset[str], *, abbreviated: bool, given: dict[str, list[str]] | None = None
    ) -> bool:
        """Whether one of the options is given; an unknown long option counts when it may abbreviate one."""
        if not names.isdisjoint(self.given if given is None else given):
            return True
        return abbreviated and any(
            name.startswith(short)
            for short in self.unknown
            if short.startswith("--") and len(short) > len("--")
            for name in names
        )

    def values(self, names: frozenset[str]) -> list[str]:
        """Return the values given to any of these options."""
        return [value for name in names for value in self.given.get(name, ())]


def match(verb: Verb, words: Sequence[Word]) -> Match:
    """Read the arguments (without the program's name)."""
    return _Reading(verb, words).result()


class _Reading:
    """One pass over the arguments."""

    def __init__(self, verb: Verb, words: Sequence[Word]) -> None:
        self.words = list(words)
        self.at = 0
        self.found = Match(verb=verb, chain=[verb])

    def result(self) -> Match:
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            if self.wrapped(word):
                break
            if word.text == "--":
                self.after_dashes()
                break
            self.one(word)
        return self.found

    @property
    def verb(self) -> Verb:
        return self.found.verb

    def wrapped(self, word: Word) -> bool:
        """Stop where a wrapped command begins."""
        if self.verb.wraps.value not in ("command", "shell") or len(self.found.operands) < self.verb.skip:
            return False
        if word.text != "--" and (_is_option(word) or (self.verb.assigns and _is_assignment(word))):
            return False
        self.found.rest = self.words[self.at if word.text == "--" else self.at - 1 :]
        return True

    def after_dashes(self) -> None:
        self.found.given.setdefault("--", []).append("")
        left = self.words[self.at :]
        if self.verb.wraps.value in ("command", "shell"):
            self.found.rest = left[max(self.verb.skip - len(self.found.operands), 0) :]
            return
        for word in left:
            self.operand(word)

    def one(self, word: Word) -> None:
        if self.verb.dashless and self.at == 1 and not word.text.startswith("-"):
            self.dashless(word)
        elif not _is_option(word) or self.verb.operand_flags:
            self.operand(word)
        elif self.verb.number_flag and _NUMBER_FLAG.fullmatch(word.text):
            self.found.given.setdefault("-#", []).append(word.text[1:])
        elif word.text.startswith("--") or any(rule.single for rule in self.found.chain):
            self.long(word)
        else:
            self.bundle(word)

    def dashless(self, word: Word) -> None:
        """Read old-style letters (tar tzf FILE); only the last may take a value, the next word."""
        for char in word.text[:-1]:
            known = self.option(f"-{char}")
            if known is not None and known.takes is not Takes.NOTHING:
                self.found.unknown.append(word.text)
        self.bundle(Word(text=f"-{word.text}", raw=word.raw, certain=word.certain, glob=word.glob))

    def operand(self, word: Word) -> None:
        below = self.verb.verbs.get(word.text) if not self.found.operands else None
        if below is not None:
            if self.verb.globals_first:
                self.found.before, self.found.given = self.found.given, {}
            self.found.verb = below
            self.found.chain.append(below)
            self.found.path.append(word.text)
            return
        if self.verb.verbs and self.found.unknown and not self.found.operands:
            # NOTE: it may be the value of an option nobody knows; the sub-verb may still come.
            self.found.unknown.append(word.text)
            return
        self.found.operands.append(word)

    def option(self, name: str) -> Option | None:
        for rule in reversed(self.found.chain):
            known = rule.options.get(name)
            if known is not None and not (rule.globals_first and rule is not self.verb):
                return known
        return None

    def long(self, word: Word) -> None:
        name, equals, attached = word.text.partition("=")
        if name in self.verb.inner:
            self.give(name, "")
            self.command()
            return
        known = self.option(name)
        if known is None or (equals and known.takes is Takes.NOTHING):
            self.give(name, attached)
            self.found.unknown.append(name)
        elif equals:
            self.value(known, attached, word)
        elif known.takes is Takes.VALUE:
            self.next_value(known)
        else:
            self.give(name, "")

    def bundle(self, word: Word) -> None:
        for position, char in enumerate(word.text[1:], 2):
            name = f"-{char}"
            known = self.option(name)
            self.give(name, "") if known is None or known.takes is Takes.NOTHING else None
            if known is None:
                self.found.unknown.append(name)
            elif known.takes is not Takes.NOTHING:
                attached = word.text[position:]
                if attached or known.takes is Takes.MAYBE:
                    self.value(known, attached, word)
                else:
                    self.next_value(known)
                return

    def next_value(self, option: Option) -> None:
        if self.at >= len(self.words):
            self.give(option.name, "")
            self.found.unknown.append(option.name)
            return
        word = self.words[self.at]
        self.at += 1
        if _is_option(word) and option.allowed is None and not _NUMBER_FLAG.fullmatch(word.text):
            # NOTE: should a rule be wrong about an option taking a value, this is where a flag would hide.
            self.found.unknown.append(word.text)
        self.value(option, word.text, word)

    def value(self, option: Option, text: str, word: Word) -> None:
        if text.startswith("=") and option.allowed is not None:
            text = text[1:]  # -o=json, as some programs take it
        self.give(option.name, text)
        if word.glob or (option.allowed is not None and not option.allowed.fullmatch(text)):
            self.found.unknown.append(f"{option.name}={text}")
        if option.path:
            self.found.paths.append(Word(text=text, raw=word.raw, certain=word.certain, home=word.home))

    def give(self, name: str, value: str) -> None:
        self.found.given.setdefault(name, []).append(value)

    def command(self) -> None:
        """Take the words up to ";" or "+" as a command of their own."""
        start = self.at
        while self.at < len(self.words) and self.words[self.at].text not in (";", "+"):
            self.at += 1
        self.found.inner.append(self.words[start : self.at])
        self.at += 1


def _is_option(word: Word) -> bool:
    return word.text.startswith("-") and word.text not in _OPERANDS_WITH_DASH


def _is_assignment(word: Word) -> bool:
    return re.match(r"[A-Za-z_]\w*=", word.text) is not None
