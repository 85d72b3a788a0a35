"""Redaction leaves out the patterns that cannot match: none of them matches without the parts named with it.

That is shown of the patterns themselves, as Python's own parser reads them.
"""

import importlib
import re
import sys
from itertools import product
from typing import Any

import pytest

from gate import redact
from gate.redact import MASK

_PARSER: Any = importlib.import_module("re._parser")
_CODES: Any = importlib.import_module("re._constants")
#: Stands for whatever may stand there.
_GAP = "\0"
#: Sets of more characters than these are taken for anything.
_FEW = 8


def shapes(pattern: Any) -> list[str]:
    """Return every way to match `pattern`, with gaps for what is not the same each time."""
    return ["".join(parts) for parts in product(*(_ways(op, value) for op, value in pattern))]


def _ways(op: Any, value: Any) -> list[str]:
    if op is _CODES.LITERAL:
        return [chr(value)]
    if op in (_CODES.AT, _CODES.ASSERT, _CODES.ASSERT_NOT):
        return [""]
    if op is _CODES.SUBPATTERN:
        return shapes(value[-1])
    if op is _CODES.BRANCH:
        return [shape for each in value[1] for shape in shapes(each)]
    if op is _CODES.IN and len(value) <= _FEW and all(one is _CODES.LITERAL for one, _ in value):
        return [chr(each) for _, each in value]
    return [_GAP]


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [*((pattern, parts) for pattern, _, parts in redact._PATTERNS), (redact._NAMED, redact._NAMES)],
)
def test_no_match_is_without_one_of_its_parts(pattern: Any, parts: tuple[str, ...]) -> None:
    found = shapes(_PARSER.parse(pattern.pattern))
    assert found
    assert [one for one in found if not any(part in one.lower() for part in parts)] == []
    assert all(part == part.lower() and "*" not in part for part in parts)


def test_a_pattern_that_does_without_is_found_out() -> None:
    assert shapes(_PARSER.parse("(?:token|p[aw]d)s?=x+")) == ["token\0=\0", "pad\0=\0", "pwd\0=\0"]


def test_all_letters_that_count_as_one_of_ascii_are_known() -> None:
    letters = re.compile("(?i)[a-z0-9_]")
    found = [chr(code) for code in range(128, sys.maxunicode + 1) if letters.match(chr(code))]
    assert found == list(redact._LIKE_ASCII)


def test_letters_beyond_ascii_hide_no_secret() -> None:
    # The long s and the sign of Kelvin count as "s" and "k" where case does not.
    assert redact.redact("pa\u017f\u017fword=hunter2 to\u212aen=abc").text == (
        f"pa\u017f\u017fword={MASK} to\u212aen={MASK}"
    )
