"""Grouping: which targets printed the same, and in what the others differ.

Pure. Output counts as the same where it differs in nothing but white space at the ends of lines. Where every
target prints its own, the line that tells is the first that not all of them have.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from ledger.views import ActionView

#: Beyond so many characters only the very end is looked at, and beyond so many lines nothing is compared.
_LONG, _COMPARED = 16_000, 200
#: The start of an output, in which its telling line is looked for.
_START = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What several targets printed alike, and which; `text` ends in no white space."""

    text: str
    members: tuple[ActionView, ...]


def groups(actions: Sequence[ActionView]) -> list[Group]:
    """Return `actions` by what they printed, the most frequent first, else in their order."""
    raw: dict[str, list[ActionView]] = {}
    for one in actions:
        raw.setdefault("" if one.ending is None else one.ending.output, []).append(one)
    found: dict[str, list[ActionView]] = {}
    for output, members in raw.items():
        found.setdefault(normalised(output), []).extend(members)
    made = [
        Group(text=text, members=tuple(sorted(members, key=lambda one: one.action.index)))
        for text, members in found.items()
    ]
    return sorted(made, key=lambda one: (-len(one.members), one.members[0].action.index))


def normalised(output: str) -> str:
    """Return `output` without white space at the ends of its lines; of a very long one, at its very end."""
    text = output.rstrip()
    return text if len(text) > _LONG else "\n".join(line.rstrip() for line in text.splitlines())


def majority(found: Sequence[Group]) -> Group | None:
    """Return the group to which more than half of all belong; None where there is none."""
    if not found or len(found[0].members) == 1:
        return None
    count = sum(len(one.members) for one in found)
    return found[0] if 2 * len(found[0].members) > count else None


def difference(usual: str, other: str) -> list[str]:
    """Return the lines that `other` lacks ("- …") and has ("+ …") in comparison with `usual`.

    Of very long outputs only the first lines are compared; where these are the same, it says so.
    """
    before, after = usual.splitlines()[:_COMPARED], other.splitlines()[:_COMPARED]
    changes = difflib.unified_diff(before, after, n=0, lineterm="")
    lines = [f"{line[0]} {line[1:]}" for line in list(changes)[2:] if line[0] in "+-"]
    return lines or [f"the same up to line {len(after)}, different after it"]


def telling(found: Sequence[Group]) -> list[str]:
    """Return for each group the first line that not all of them have; its first line where there is none."""
    starts = [[line for line in one.text[:_START].splitlines() if line.strip()] for one in found]
    # Who printed nothing has no line in common with anybody.
    having = [set(lines) for lines in starts if lines]
    shared = set.intersection(*having) if having else set()
    return [
        next((line for line in lines if line not in shared), lines[0] if lines else "") for lines in starts
    ]


def line_count(text: str) -> int:
    """Return how many lines `text` has; 0 for none."""
    return text.count("\n") + 1 if text else 0
