"""From text to a syntax tree, and from its nodes to words and redirections.

The only module that touches tree-sitter. It judges nothing: strict and lenient walk the nodes it returns.
tree-sitter is tolerant, so callers check `has_error`, allow-list node kinds and look at the gaps between.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_LANGUAGE = Language(tree_sitter_bash.language())

#: Nodes that are one argument word. A concatenation is several of the others without a blank between.
WORD_KINDS = frozenset({"word", "string", "raw_string", "ansi_c_string", "concatenation", "number"})
EXPANSION_KINDS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
REDIRECT_KINDS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """One redirection to or from a file or descriptor. `target` is the source of its word, "" for closing."""

    operator: str
    target: str


def parse(command: str) -> Node:
    """Return the root node; lone surrogates become question marks."""
    return Parser(_LANGUAGE).parse(command.encode("utf-8", "replace")).root_node


def text_of(node: Node) -> str:
    """Return the source of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def redirect_of(node: Node) -> Redirect:
    """Read a file_redirect node."""
    operator = ""
    target = ""
    for child in node.children:
        if not child.is_named:
            operator = operator or child.type
        elif child.type != "file_descriptor":
            target = text_of(child)
    return Redirect(operator=operator, target=target)


def commands_below(node: Node) -> Iterator[Node]:
    """Yield every command node at or below `node`, without recursion."""
    todo = [node]
    while todo:
        current = todo.pop()
        if current.type == "command":
            yield current
        todo.extend(reversed(current.children))


def spans_lines(node: Node) -> bool:
    """Whether a bare newline stands between the words of a command: the grammar sometimes joins two lines."""
    source = node.text or b""
    if b"\n" not in source:
        return False
    ends = [child.end_byte - node.start_byte for child in node.children]
    starts = [child.start_byte - node.start_byte for child in node.children]
    return any(
        b"\n" in source[end:start].replace(b"\\\n", b"") for end, start in zip(ends, starts[1:], strict=False)
    )
