"""What arrives on standard input, as far as a line says: here-documents, and what echo and printf print.

A shell reads that as commands, a client as SQL. It guesses, and nothing it says makes a verdict milder.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gate.shell.tree import Node
from gate.shell.words import Word, decode

#: Programs that run later what they are given on standard input.
TIMED = frozenset({"at", "batch", "crontab"})
#: When a line of a crontab runs: five fields, or one word.
_TIMES = re.compile(r"(?m)^\s*(?:@\w+|(?:[\w*/,-]+[ \t]+){4}[\w*/,-]+)[ \t]+")
#: Programs whose arguments come out as they are.
PRINTERS = frozenset({"echo", "printf"})
_ESCAPE = re.compile(r"\\0?([0-7]{3})|\\x([0-9A-Fa-f]{2})|\\n")
_FORMAT = re.compile(r"%[sbq]")
_FLAGS = re.compile(r"-[neE]+")


class Feed(NamedTuple):
    """What comes down a pipe: literal text as far as known, and whether it came from elsewhere.

    `heard`: what echo and printf add to it, where the whole is not known.
    """

    text: str | None = None
    remote: bool = False
    secret: bool = False
    heard: str = ""


NOTHING = Feed()


def document(node: Node) -> str | None:
    """Return the text of a here-document or here-string; None for anything else."""
    if node.kind == "heredoc_redirect":
        return "".join(child.text for child in node.children if child.kind == "heredoc_body")
    if node.kind == "herestring_redirect":
        return " ".join(decode(child.text).text for child in node.children if child.named)
    return None


def jobs(feed: Feed) -> str:
    """Return the commands that a timed job would run, as far as known; "" for none."""
    return _TIMES.sub("", feed.text or feed.heard)


def printed(words: Sequence[Word]) -> str | None:
    """Return what an echo or printf prints; None for anything else."""
    if not words or words[0].text not in PRINTERS:
        return None
    texts = [word.text for word in words[1:] if not _FLAGS.fullmatch(word.text)]
    if words[0].text == "printf" and texts and _FORMAT.search(texts[0]):
        texts = texts[1:] if _FORMAT.sub("", texts[0]).strip() in ("", "\\n") else texts
    return _ESCAPE.sub(_unescaped, " ".join(texts))


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 8) & 0xFF)
    return chr(int(found[2], 16)) if found[2] else "\n"
