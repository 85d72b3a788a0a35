"""Comparing values, and looking for patterns, in ways that always come to an end.

Numbers are compared as numbers, everything else only for being the same; what cannot be compared is never
taken for equal or different. Patterns run in linear time (RE2), so that no document can hang the gate; what a
pattern of RE2 cannot say is refused when the document is read.
"""

from collections.abc import Mapping
from typing import Protocol, cast

import re2  # type: ignore[import-untyped] # its wrapper carries no types

from gate.supervise.domain import Comparison, Condition, Value


class UnevaluableError(Exception):
    """Nothing can be said; the message tells why, and holds nothing of what was compared."""


class PatternError(UnevaluableError):
    """A pattern is malformed, or says what cannot be looked for in linear time."""


class Pattern(Protocol):
    """A pattern that was read."""

    def search(self, text: str, /) -> object | None:
        """Return something where the pattern is found."""
        ...


def compare(found: object, how: Comparison, wanted: object) -> bool:
    """Return whether two values of JSON compare so; true and 1 are not the same.

    Raises:
        UnevaluableError: they cannot be compared.
    """
    if isinstance(found, list | dict):
        raise UnevaluableError("it is a list or an object")
    if how in {Comparison.EQUALS, Comparison.NOT_EQUALS}:
        same = isinstance(found, bool) is isinstance(wanted, bool) and found == wanted
        return same is (how is Comparison.EQUALS)
    left, right = number(found), number(wanted)
    match how:
        case Comparison.LESS:
            return left < right
        case Comparison.AT_MOST:
            return left <= right
        case Comparison.AT_LEAST:
            return left >= right
        case _:
            return left > right


def number(value: object) -> int | float:
    """Return a number.

    Raises:
        UnevaluableError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnevaluableError("it is not a number")
    return value


def holds(condition: Condition, *, values: Mapping[str, Value]) -> bool:
    """Return whether a condition of a decision holds.

    Raises:
        UnevaluableError: its input has no value, or none that can be compared so.
    """
    found = values.get(condition.input)
    if found is None or found == "":
        raise UnevaluableError(f"{condition.input} has no value")
    left = str(found).lower() if isinstance(found, bool) else str(found)
    right = str(condition.value)
    if left.isdecimal() and right.isdecimal():
        return compare(int(left), condition.compare, int(right))
    return compare(left, condition.compare, right)


def pattern(text: str) -> Pattern:
    """Return a pattern; ^ and $ stand for the ends of a line.

    Raises:
        PatternError: it is none of RE2's.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        return cast("Pattern", re2.compile(f"(?m){text}", options))
    except (re2.error, UnicodeEncodeError) as error:
        raise PatternError("it is no pattern of RE2") from error


def escaped(text: str) -> str:
    """Return a pattern that finds exactly `text`."""
    return cast("str", re2.escape(text))
