"""Folding: many names in few words. "web1 to web12" only where not one of them is missing."""

import re
from collections.abc import Iterable
from functools import lru_cache

_NUMBERED = re.compile(r"(.*?)([0-9]+)([^0-9]*)")
_DIGITS = re.compile(r"([0-9]+)")
#: So many in a row are said as a range; fewer are as quickly named.
_RANGE = 3


def folded(names: Iterable[str], *, most: int = 6, counts: bool = False) -> str:
    """Return "web1 to web12, db1", or "a, b, c, d … z" where that takes more than `most` parts.

    Names stand in the order in which people count, web2 before web10.

    Args:
        most: 0 for all of them.
        counts: say how many they are where not all are named: "a, b, c, d … z (26)".
    """
    parts, count = _parts(frozenset(names))
    if most == 0 or len(parts) <= most:
        return ", ".join(parts)
    return f"{', '.join(parts[: most - 2])} … {parts[-1]}{f' ({count})' if counts else ''}"


@lru_cache(maxsize=64)  # the same names stand on a card each time it is drawn
def _parts(names: frozenset[str]) -> tuple[tuple[str, ...], int]:
    """Return what `names` are folded into, and how many they are."""
    return tuple(_ranges(sorted(names, key=_counted))), len(names)


def _counted(name: str) -> list[tuple[str, int]]:
    """Return a key by which web2 comes before web10."""
    found = _DIGITS.split(name)
    return [(text, int(number)) for text, number in zip(found[::2], [*found[1::2], "-1"], strict=True)] + [
        (name, 0)
    ]


def _ranges(names: list[str]) -> list[str]:
    parts: list[str] = []
    run: list[str] = []
    for name in names:
        if run and not _follows(run[-1], name):
            parts += _said(run)
            run = []
        run.append(name)
    return parts + _said(run)


def _said(run: list[str]) -> list[str]:
    return [f"{run[0]} to {run[-1]}"] if len(run) >= _RANGE else run


def _follows(before: str, after: str) -> bool:
    """Whether `after` is what anybody would expect to come next: web9, web10; web09, web10."""
    first, second = _NUMBERED.fullmatch(before), _NUMBERED.fullmatch(after)
    if first is None or second is None or (first[1], first[3]) != (second[1], second[3]):
        return False
    padded = first[2].startswith("0") or second[2].startswith("0")
    same = len(first[2]) == len(second[2])
    return int(second[2]) == int(first[2]) + 1 and (same or not padded)
