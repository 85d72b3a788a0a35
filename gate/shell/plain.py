"""Trees of lines that need no grammar: plain or quoted words, and pipes between them.

Where bash splits such a line at blanks and bars and does nothing else to it, no parser can know better. It
takes a line only if every character is one that bash leaves alone where it stands, and no command starts with
a reserved word, an assignment or a word that the grammar treats in a way of its own. Everything else is None.
"""

import re

from gate.shell.tree import Node, Tree
from gate.shell.words import Word, decode

_RESERVED = (
    "case|coproc|do|done|elif|else|esac|fi|for|function|if|in|select|then|time|until|while"
    "|declare|export|local|readonly|typeset|unset|unsetenv"
)
# No place can be matched in two ways, so a line that does not fit fails in a few passes. Nothing is
# possessive: before 3.11.5 Python takes lines for a match that are none.
# Source: https://github.com/python/cpython/issues/106052
_PLAIN = r"[A-Za-z0-9_./:=,+@%^-]"
_QUOTED = r"""'[ -&(-~]*'|"[ !#%-\[\]-_a-~]*\""""
_ARGUMENT = rf"(?={_PLAIN}|['\"]){_PLAIN}*(?:(?:{_QUOTED}){_PLAIN}*)*"
_NAME = rf"(?!(?:{_RESERVED})(?![^ |]))[A-Za-z0-9_./:+-]+(?= |\Z|\|)"
_COMMAND = rf"{_NAME}(?: +{_ARGUMENT})*"
_ONE = re.compile(_COMMAND)
_LINE = re.compile(rf"{_COMMAND}(?: *\|(?![|&]) *{_COMMAND})*")
# One that is all plain, one that is all quoted the same way, any other, or a bar.
_TOKEN = re.compile(
    rf"""({_PLAIN}+)(?=[ |]|\Z)|(?:'([ -&(-~]*)'|"([ !#%-\[\]-_a-~]*)")(?=[ |]|\Z)"""
    rf"|{_ARGUMENT}|\|"
)


def plain_words(line: str) -> list[Word] | None:
    """Return the words of a line that is one plain command; None for any other line."""
    if _ONE.fullmatch(line) is None:
        return None
    if "'" in line or '"' in line:
        return [_word(found) for found in _TOKEN.finditer(line)]
    return [Word(text, text) for text in line.split()]


def plain_tree(line: str) -> Tree | None:
    """Return the tree of a line of plain commands, as the grammar would have it; None for any other line."""
    if _LINE.fullmatch(line) is None:
        return None
    stages: list[Node] = []
    words: list[Node] = []
    for found in _TOKEN.finditer(line):
        start, end = found.span()
        if line[start] == "|":
            stages += [_command(words, line), Node("|", False, start, end, (), line)]
            words = []
        else:
            words.append(Node("word", True, start, end, (), line, _word(found)))
    stages.append(_command(words, line))
    whole = stages[0] if len(stages) == 1 else Node("pipeline", True, 0, len(line), stages, line)
    return Tree(root=Node("program", True, 0, len(line), (whole,), line), plain=True)


def _word(found: re.Match[str]) -> Word:
    raw = found[0]
    return Word(found[found.lastindex], raw) if found.lastindex else decode(raw)


def _command(words: list[Node], line: str) -> Node:
    first = words[0]
    name = Node("command_name", True, first.start, first.end, (first,), line, first.word)
    return Node("command", True, first.start, words[-1].end, [name, *words[1:]], line)
