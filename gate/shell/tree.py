"""The tree of a line: light nodes that both readers walk, whoever built them.

It holds positions and kinds, the names of which are those of the tree-sitter grammar, and judges nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gate.shell.words import Word

#: Nodes that are one argument word. A concatenation is several of the others without a blank between.
WORD_KINDS = frozenset({"word", "string", "raw_string", "ansi_c_string", "concatenation", "number"})
EXPANSION_KINDS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
REDIRECT_KINDS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})


@dataclass(slots=True, eq=False)
class Node:
    """A piece of a line: `source[start:end]`, in characters. Not frozen only because thousands are made.

    `word`: what it is as a word, where whoever built it knows; None says nothing.
    """

    kind: str
    named: bool
    start: int
    end: int
    children: Sequence["Node"]
    source: str
    word: Word | None = None

    @property
    def text(self) -> str:
        """The source of this node."""
        return self.source[self.start : self.end]


class Tree(NamedTuple):
    """A whole text.

    `has_error`: the grammar does not know all of it. `too_long`, `too_deep`: it was not read; the root has no
    children. `plain`: nothing but blanks stands between its words, and bars between its commands.
    """

    root: Node
    has_error: bool = False
    too_long: bool = False
    too_deep: bool = False
    plain: bool = False
