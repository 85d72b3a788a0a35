"""Against two other readers of shell: what bash rejects, or shfmt splits otherwise, never runs unasked."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.shell import strict
from gate.shell.classify import classify
from gate.shell.parse import parse
from tests.gate.shell.test_classify import RUNS_AT_ONCE
from tests.gate.shell.test_properties import RULES, shellish

SHFMT = shutil.which("shfmt", path=str(Path(sys.executable).parent)) or "shfmt"
LINES = (Path(__file__).parent / "differential.txt").read_text().splitlines()
#: Stands for what only a run can tell; where sayso lets such a thing pass, it does so knowingly.
VARIABLE = "\0variable"
SUBSTITUTED = "./output"


class ComputedError(Exception):
    """A word that is computed, or a construct that is no plain command."""


def bash_accepts(line: str) -> bool:
    command = ["bash", "--noprofile", "--norc", "-n", "-c", line]
    return subprocess.run(command, capture_output=True, check=False, timeout=20).returncode == 0


def shfmt(line: str) -> dict[str, Any] | None:
    done = subprocess.run(
        [SHFMT, "--language-dialect", "bash", "--to-json"],
        input=line.encode(),
        capture_output=True,
        check=False,
        timeout=20,
    )
    return json.loads(done.stdout) if done.returncode == 0 else None


def calls(node: object) -> Iterator[Mapping[str, Any]]:
    """Yield every simple command of a tree, in the order of the text."""
    if isinstance(node, dict):
        if node.get("Type") == "CallExpr" and node.get("Args"):
            yield node
        for value in node.values():
            yield from calls(value)
    elif isinstance(node, list):
        for item in node:
            yield from calls(item)


def word_of(word: Mapping[str, Any]) -> str:
    return "".join(part_of(part) for part in word["Parts"])


def part_of(part: Mapping[str, Any]) -> str:
    match part["Type"]:
        case "Lit":
            return re.sub(r"\\(\n|.)", lambda found: found[1].strip("\n"), part["Value"], flags=re.DOTALL)
        case "SglQuoted" if part.get("Dollar"):
            return ansi(part["Value"])
        case "SglQuoted":
            return str(part.get("Value", ""))
        case "DblQuoted" if not part.get("Dollar"):
            return "".join(quoted_of(inner) for inner in part.get("Parts") or ())
        case "ParamExp":
            return VARIABLE
        case "ProcSubst":
            return SUBSTITUTED
    raise ComputedError(part["Type"])


def quoted_of(part: Mapping[str, Any]) -> str:
    if part["Type"] == "Lit":
        return re.sub(r"\\([$`\"\\\n])", lambda found: found[1].strip("\n"), part["Value"])
    return part_of(part)


def ansi(text: str) -> str:
    known = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
    if re.search(r"\\[^nt\\'\"]", text):
        raise ComputedError("an escape of its own")
    return re.sub(r"\\(.)", lambda found: known[found[1]], text, flags=re.DOTALL)


def theirs(line: str) -> list[list[str]] | None:
    """Return the commands that shfmt sees; None where it sees none, or something that is computed."""
    tree = shfmt(line)
    if tree is None:
        return None
    try:
        found = sorted(calls(tree), key=lambda call: call["Pos"]["Offset"])
        return [[word_of(word) for word in call["Args"]] for call in found]
    except ComputedError:
        return None


def ours(line: str) -> list[list[str]]:
    """Return the commands that the strict reader judged, of the whole or else line by line."""
    whole = strict.read(parse(line), rules=RULES)
    readings = [whole]
    if whole.refusal is not None:
        pieces = [piece for piece in line.split("\n") if piece.strip() and not piece.lstrip().startswith("#")]
        readings = [strict.read(parse(piece), rules=RULES) for piece in pieces]
    return [
        [word.text for word in words]
        for reading in readings
        for _, (words, _) in sorted(reading.judged.items(), key=lambda item: item[0])
    ]


def same(mine: list[list[str]], other: list[list[str]] | None) -> bool:
    if other is None or len(mine) != len(other):
        return False
    return all(
        len(one) == len(two) and all(VARIABLE in b or a == b for a, b in zip(one, two, strict=True))
        for one, two in zip(mine, other, strict=True)
    )


def unpathed(commands: list[list[str]] | None) -> list[list[str]] | None:
    """Name programs as the judgement does: those of the system's folders by their bare name."""
    if commands is None:
        return None
    return [
        [re.sub(r"^/(?:usr/)?s?bin/(?=[^/]+$)", "", words[0]), *words[1:]] if words else []
        for words in commands
    ]


def check(line: str) -> bool:
    """Say whether it runs unasked; if so, all three must agree about it."""
    if not classify(line, rules=RULES).auto_run:
        return False
    assert bash_accepts(line), line
    if not re.search(r"\bfor\b|\[ ", line):  # a loop's body is judged once for each turn
        assert same(ours(line), unpathed(theirs(line))), (line, ours(line), theirs(line))
    return True


PIECES = [
    "a",
    "-l",
    "x.y",
    "/srv",
    "'b c'",
    '"d e"',
    "''",
    '""',
    "\\ ",
    "\\$",
    "$'f\\tg'",
    "$'\\x41'",
    "*",
    "?",
    "~",
]
PIECES += [
    "{a,b}",
    "{}",
    "[ab]",
    "#",
    "!",
    "=",
    "@",
    "%",
    "^",
    "+",
    ",",
    ":",
    "é",
    "$HOME",
    '"$USER"',
    "$(id)",
    "`id`",
]
PIECES += [
    '"\\$x"',
    '"\\\\"',
    "'\\'",
    '"a\\\nb"',
    "\\\n",
    "$",
    '"$"',
    "\\'",
    '"\'"',
    "'\"'",
    "2",
    "$((1))",
    "${x:-y}",
]
GAPS = [" ", "  ", "\t", " \\\n", "\\\n ", " \\\n\t"]
JOINTS = [" | ", "|", " && ", " || ", "; ", ";", "\n", "\n\n", " |& ", " & ", " |\n", " &&\n", "\n# note\n"]
TAILS = [
    "",
    "",
    "",
    " 2>&1",
    " >/dev/null",
    " </etc/hosts",
    " >f",
    " 2>&-",
    " # note",
    ";",
    " &",
    "\n",
    " <(ls)",
    " )",
]

words = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)
commands = st.tuples(
    st.sampled_from(
        ["ls", "cat", "echo", "grep -i", "wc -l", "df", "'ls'", "l\\s", "/bin/ls", "stat", "LANG=C ls"]
    ),
    st.lists(st.tuples(st.sampled_from(GAPS), words), max_size=4).map(
        lambda parts: "".join(gap + word for gap, word in parts)
    ),
    st.sampled_from(TAILS),
).map("".join)
lists = st.lists(st.tuples(commands, st.sampled_from(JOINTS)), min_size=1, max_size=3).map(
    lambda parts: "".join(command + joint for command, joint in parts[:-1]) + parts[-1][0]
)


@given(lists)
@settings(max_examples=150, deadline=None)
def test_words_and_joints_of_all_kinds(line: str) -> None:
    check(line)


@given(shellish)
@settings(max_examples=60, deadline=None)
def test_scraps_of_syntax(line: str) -> None:
    check(line)


def test_lines_written_by_hand() -> None:
    ran = [check(line.replace("⏎", "\n").replace("⇥", "\t").replace("␍", "\r")) for line in LINES]
    assert sum(ran) > len(LINES) / 4
    assert not all(ran)


def test_lines_that_run_at_once() -> None:
    assert all(check(line) for line in RUNS_AT_ONCE)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ls 'a b' \"c\"d\\ e", [["ls", "a b", "cd e"]]),
        ("ls a | wc -l", [["ls", "a"], ["wc", "-l"]]),
        ('echo $\'a\\tb\' "x\\"y"', [["echo", "a\tb", 'x"y']]),
        ("ls $(id)", None),
        ("ls '", None),
    ],
)
def test_the_comparison_itself(line: str, words: list[list[str]] | None) -> None:
    assert theirs(line) == words
    assert words is None or same(ours(line), words)
    assert not same([["other"]], words)
