"""From text to a syntax tree, and from its nodes to redirections.

The only module that touches tree-sitter: each tree is taken over once into light nodes, because every look at
one of tree-sitter's own costs an object. Lines of plain words do without it (gate.shell.plain). It judges
nothing: strict and lenient walk what it returns. tree-sitter is tolerant, so callers check `has_error`,
allow-list node kinds and look at the gaps between.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import tree_sitter_bash
from tree_sitter import Language, Parser
from tree_sitter import Node as Foreign

from gate.shell.plain import plain_tree
from gate.shell.tree import EXPANSION_KINDS, WORD_KINDS, Node, Tree

_LANGUAGE = Language(tree_sitter_bash.language())
_ERROR = 0xFFFF
#: By kind id: the kind's name, and whether the grammar names it (words and statements, not punctuation).
_KINDS = {
    number: (_LANGUAGE.node_kind_for_id(number) or "", _LANGUAGE.node_kind_is_named(number))
    for number in range(_LANGUAGE.node_kind_count)
}
_KINDS[_ERROR] = ("ERROR", True)

#: The grammar's scanner looks every character up in a table of bytes, and any other reads past its end, now
#: and then into nothing: the process is gone (tree-sitter-bash issue 337). So it is shown another character,
#: no letter and only part of a word, as these are to bash. Nodes hold the true text, and positions agree.
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_STAND_IN = "%"
#: The grammar's time grows with the square of some lines; beyond this it is not asked.
MAX_CHARS = 1_500
#: Nothing that people write nests deeper.
MAX_LEVELS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """One redirection to or from a file or descriptor.

    `target` is the source of its word, "" for closing. `behind`: words that stand behind it and belong to the
    command before it, though the grammar counts them here (`find . <x -delete`).
    """

    operator: str
    target: str
    behind: Sequence[Node]


class _TooDeep(Exception):  # noqa: N818 - control flow inside this module, never seen outside
    """The tree has more levels than are read."""


def parse(command: str) -> Tree:
    """Return the tree of a text."""
    return plain_tree(command) or grammar_tree(command)


def grammar_tree(command: str) -> Tree:
    """Return the tree that the grammar makes of a text; lone surrogates become question marks."""
    if len(command) > MAX_CHARS:
        return Tree(Node("program", True, 0, len(command), (), command), has_error=True, too_long=True)
    source = command if command.isascii() else command.encode("utf-8", "replace").decode()
    tree = Parser(_LANGUAGE).parse(_FOREIGN.sub(_STAND_IN, source).encode())
    root = tree.root_node
    try:
        taken = _taken(root, source, MAX_LEVELS)
    except _TooDeep:
        return Tree(Node("program", True, 0, len(source), (), source), has_error=True, too_deep=True)
    return Tree(taken, has_error=root.has_error)


def _taken(node: Foreign, source: str, levels: int) -> Node:
    kind, named = _KINDS[node.kind_id]
    if not node.child_count:
        return Node(kind, named, node.start_byte, node.end_byte, (), source)
    if not levels:
        raise _TooDeep
    children = [_taken(child, source, levels - 1) for child in node.children]
    return Node(kind, named, node.start_byte, node.end_byte, children, source)


def redirect_of(node: Node) -> Redirect:
    """Read a redirection; of a document only what stands behind it."""
    operator = next((child.kind for child in node.children if not child.named), "")
    words = [child for child in node.children if child.kind in WORD_KINDS or child.kind in EXPANSION_KINDS]
    if node.kind != "file_redirect":
        return Redirect(operator=operator, target="", behind=words if node.kind == "heredoc_redirect" else ())
    # What stands together is one word, also where the grammar cuts it (`>$f-$g.md5`).
    count = 1
    while count < len(words) and words[count].start == words[count - 1].end:
        count += 1
    target = node.source[words[0].start : words[count - 1].end] if words else ""
    return Redirect(operator=operator, target=target, behind=words[count:])


def commands_below(node: Node) -> Iterator[Node]:
    """Yield every command node at or below `node`, without recursion."""
    todo = [node]
    while todo:
        current = todo.pop()
        if current.kind == "command":
            yield current
        todo.extend(reversed(current.children))


def spans_lines(node: Node) -> bool:
    """Whether a bare newline stands between the words of a command: the grammar sometimes joins two lines."""
    source = node.source
    if "\n" not in node.text:
        return False
    children = node.children
    return any("\n" in source[one.end : other.start].replace("\\\n", "") for one, other in pairwise(children))
