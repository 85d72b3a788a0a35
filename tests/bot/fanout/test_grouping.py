"""Grouping: who printed the same, and what is different at the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.fanout.grouping import difference, groups, majority, normalised, telling
from ledger.views import ActionView
from tests.bot.fanout.scenes import ended, view


def printed(*outputs: str) -> list[ActionView]:
    return [ended(view(f"web{index}", index), output=text) for index, text in enumerate(outputs, 1)]


def members(actions: list[ActionView]) -> list[list[int]]:
    return [[one.action.index for one in group.members] for group in groups(actions)]


@pytest.mark.parametrize(
    ("outputs", "found"),
    [
        (("a\n", "a", "a  \n\n"), [[1, 2, 3]]),
        (("a\t\nb\n", "a\nb", "a\r\nb\r\n"), [[1, 2, 3]]),
        # White space at the start or within a line is a difference, and so is a letter's size.
        ((" a", "a"), [[1], [2]]),
        (("a b", "a  b"), [[1], [2]]),
        (("A", "a"), [[1], [2]]),
        (("a\n\nb", "a\nb"), [[1], [2]]),
        (("x", "a", "b", "a"), [[2, 4], [1], [3]]),
        (("", "\n"), [[1, 2]]),
    ],
)
def test_who_prints_the_same(outputs: tuple[str, ...], found: list[list[int]]) -> None:
    assert members(printed(*outputs)) == found


def test_of_what_is_very_long_only_the_very_end_is_normalised() -> None:
    long = "a \n" * 10_000
    assert normalised(long) == long.rstrip()
    assert members(printed(long, long + "\n\n", long.replace(" ", ""))) == [[1, 2], [3]]


@given(st.lists(st.text(alphabet="ab \n\t", max_size=4), max_size=12))
def test_everybody_is_in_one_group(outputs: list[str]) -> None:
    found = [index for group in members(printed(*outputs)) for index in group]
    assert sorted(found) == list(range(1, len(outputs) + 1))


@pytest.mark.parametrize(
    ("outputs", "most"),
    [
        (("a", "a", "b"), "a"),
        (("a", "a", "b", "b"), None),
        (("a",), None),
        (("a", "b"), None),
        (("", "", "b"), ""),
    ],
)
def test_a_majority_is_more_than_half(outputs: tuple[str, ...], most: str | None) -> None:
    found = majority(groups(printed(*outputs)))
    assert (found.text if found else None) == most


@pytest.mark.parametrize(
    ("usual", "other", "said"),
    [
        ("a\nb\nc", "a\nx\nc", ["- b", "+ x"]),
        ("a", "a\nb", ["+ b"]),
        # What looks like the head of a difference is told like any other line.
        ("-- a\n++ b", "x", ["- -- a", "- ++ b", "+ x"]),
        ("l\n" * 300 + "a", "l\n" * 300 + "b", ["the same up to line 200, different after it"]),
    ],
)
def test_only_what_differs_is_told(usual: str, other: str, said: list[str]) -> None:
    assert difference(usual, other) == said


def test_the_line_that_tells_is_one_that_not_all_have() -> None:
    df = [f"Filesystem Size Used\n/dev/sda1 80G {used}G" for used in (1, 2, 3)]
    assert telling(groups(printed(*df))) == ["/dev/sda1 80G 1G", "/dev/sda1 80G 2G", "/dev/sda1 80G 3G"]
    # All lines of the first are in the second too.
    assert telling(groups(printed("a", "a\nb"))) == ["a", "b"]
    assert telling(groups(printed("a", ""))) == ["a", ""]
    assert telling(groups(printed("head\na", "head\nb", ""))) == ["a", "b", ""]
    assert telling([]) == []
