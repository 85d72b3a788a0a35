"""Folding: a range is said only where nobody is missing from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.fanout.folding import folded

NAMES = st.lists(st.from_regex(r"[a-c]{1,2}-?0{0,2}[0-9]{0,3}[a-b]?", fullmatch=True), unique=True)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["web1", "web2", "web3"], "web1 to web3"),
        (["web1", "web2"], "web1, web2"),
        (["web1", "web2", "web4", "web5", "web6"], "web1, web2, web4 to web6"),
        # As people count, whatever the order of the inventory.
        (["web10", "web1", "web9", "web2", "web11"], "web1, web2, web9 to web11"),
        (["web08", "web09", "web10"], "web08 to web10"),
        (["web8", "web09", "web10"], "web8, web09, web10"),
        (["a1.example.org", "a2.example.org", "a3.example.org"], "a1.example.org to a3.example.org"),
        (["a1.one", "a2.two", "a3.one"], "a1.one, a2.two, a3.one"),
        (["cache", "db", "mail"], "cache, db, mail"),
        (["web1", "db1", "web2", "db2", "web3"], "db1, db2, web1 to web3"),
        ([], ""),
    ],
)
def test_names_are_folded(names: list[str], said: str) -> None:
    assert folded(names) == said


def test_many_that_do_not_follow_each_other_are_cut_in_the_middle() -> None:
    odd = [f"web{number}" for number in range(1, 40, 2)]
    assert folded(odd, most=4) == "web1, web3 … web39"
    assert folded(odd, most=4, counts=True) == "web1, web3 … web39 (20)"
    assert folded(odd[:4], most=4, counts=True) == "web1, web3, web5, web7"
    assert folded(odd, most=0).count(",") == 19


@given(NAMES)
def test_folding_all_of_them_loses_and_adds_none(names: list[str]) -> None:
    found: list[str] = []
    for part in filter(None, folded(names, most=0).split(", ")):
        first, _, last = part.partition(" to ")
        found += _between(first, last, names) if last else [part]
    assert sorted(found) == sorted(names)


def _between(first: str, last: str, names: list[str]) -> list[str]:
    """Return those of `names` that a reader takes the range for; one of them that is missing is an error."""
    digits = [index for index, char in enumerate(first) if char.isdigit()]
    end = max(digits) + 1
    start = end
    while start and first[start - 1].isdigit():
        start -= 1
    count = int(last[start : len(last) - (len(first) - end)]) - int(first[start:end])
    width = end - start
    made = [f"{first[:start]}{int(first[start:end]) + one:0{width}}{first[end:]}" for one in range(count + 1)]
    assert set(made) <= set(names)
    return made
