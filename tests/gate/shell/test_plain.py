"""Lines that need no grammar: they are read as the grammar reads them, and no other line is taken."""

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.shell import strict
from gate.shell.classify import classify
from gate.shell.parse import grammar_tree
from gate.shell.plain import plain_tree, plain_words
from gate.shell.tree import WORD_KINDS, Node
from gate.shell.words import decode
from tests.gate.shell.test_properties import RULES

Shape = tuple[str, int, int, tuple[object, ...]]


def shape(node: Node) -> Shape:
    """Kinds and places, down to the words."""
    if (
        node.kind in WORD_KINDS or node.kind == "=="
    ):  # which the grammar takes for an operator, and bash does not
        return ("word", node.start, node.end, ())
    return (node.kind, node.start, node.end, tuple(shape(child) for child in node.children))


def listed(text: str) -> list[str]:
    return text.split()


WORDS = listed(
    r"""a -x /srv/f x=1 = 1 007 a@b 50% ^x + , : . - -- '' "" '$x' "*?#" '|' "|" ';' '\' '"' "'" """
)
WORDS += listed("time if do !=")
words = st.lists(st.sampled_from([*WORDS, "'b c'", '"d e"']), min_size=1, max_size=2).map("".join)
names = st.sampled_from(listed("ls cat grep rm a.b 1 a-b x:y iffy do-it /bin/ls declare2 + [a in1"))
commands = st.tuples(names, st.lists(st.tuples(st.sampled_from([" ", "  "]), words), max_size=4)).map(
    lambda parts: parts[0] + "".join(gap + word for gap, word in parts[1])
)
lines = st.tuples(
    commands, st.lists(st.tuples(st.sampled_from(["|", " | ", " |"]), commands), max_size=3)
).map(lambda parts: parts[0] + "".join(bar + command for bar, command in parts[1]))


@given(lines)
@settings(max_examples=200, deadline=None)
def test_the_tree_is_the_one_of_the_grammar(line: str) -> None:
    tree, other = plain_tree(line), grammar_tree(line)
    if tree is not None and not other.has_error:
        assert shape(tree.root) == shape(other.root), line


@given(lines)
@settings(max_examples=100, deadline=None)
def test_the_words_are_those_of_the_decoder(line: str) -> None:
    found = plain_words(line)
    tree = plain_tree(line)
    if found is not None:
        assert tree is not None
        assert found == [decode(word.raw) for word in found]
        assert [word.raw for word in found] == [child.text for child in tree.root.children[0].children]


def test_every_example_reads_the_same_both_ways() -> None:
    taken = 0
    for example in RULES.examples:
        line = example.command
        tree = plain_tree(line)
        if tree is None:
            continue
        taken += 1
        mine, other = strict.read(tree, rules=RULES), strict.read(grammar_tree(line), rules=RULES)
        assert (mine.findings, mine.refusal) == (other.findings, other.refusal), line
        assert classify(line, rules=RULES).auto_run <= (other.refusal is None), line
    assert taken > len(RULES.examples) / 2


OTHERS = r"""
X=1
X=1 ls
X+=1 ls
ls $x
ls a*
ls ~
ls #x
ls \x
ls {a}
ls [a]
ls !x
ls `x`
ls $(x)
ls "$x"
ls "`x`"
ls "\x"
ls '
ls "
ls &
ls & x
ls; x
ls && x
ls || x
ls |& x
ls |
| ls
ls | | x
ls > x
ls 2>x
ls <x
(ls)
{ ls; }
! ls
[ a ]
[[ a ]]
ls()
a@b
%1
'ls'
l's'
ls é
""".strip().splitlines()
RESERVED = listed("if then do done case esac for select function coproc time while until in fi elif else")
ITS_OWN = listed("declare export local readonly typeset unset unsetenv")
BLANKS = ["", " ", " ls", "ls ", "ls\n", "\tls", "ls\t-l", "ls 'a\nb'", "ls\u00a0x", "ls\0", "ls\r"]


@pytest.mark.parametrize(
    "line", [*OTHERS, *BLANKS, *(f"{word} x" for word in RESERVED + ITS_OWN), "ls | time ls", "ls|if", "do"]
)
def test_any_other_line_is_left_to_the_grammar(line: str) -> None:
    assert plain_tree(line) is None
    assert plain_words(line) is None


def patterns(tree: object) -> list[str]:
    """Return the names of every construct in a parsed regular expression."""
    if isinstance(tree, re._parser.SubPattern | tuple | list):
        return [name for part in tree for name in patterns(part)]
    return [str(tree)] if isinstance(tree, re._constants._NamedIntConstant) else []


def test_no_pattern_needs_what_older_pythons_get_wrong() -> None:
    """Possessive and atomic parts match too much before 3.11.5, on Debian 12 for one."""
    for module in [one for name, one in sys.modules.items() if name.partition(".")[0] in {"gate", "bot"}]:
        for found in [one for one in vars(module).values() if isinstance(one, re.Pattern)]:
            parts = patterns(re._parser.parse(found.pattern, found.flags & ~re.UNICODE))
            assert not {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"} & set(parts), found.pattern
