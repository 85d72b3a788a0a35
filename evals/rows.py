"""Reading labelled rows, and printing figures with their targets. Rows stay where they are."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def read(folder: Path, name: str) -> list[Row]:
    """Return the rows of `name`.jsonl, none where the folder lacks that file."""
    file = folder / f"{name}.jsonl"
    if not file.exists():
        return []
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


@dataclass(frozen=True)
class Share:
    """How many of how many."""

    hits: int
    of: int

    @property
    def ratio(self) -> float:
        """0 to 1; 0 where there are no rows."""
        return self.hits / self.of if self.of else 0.0

    def __str__(self) -> str:
        return f"{self.hits}/{self.of} = {self.ratio:.1%}" if self.of else "no rows"


def share(hits: Iterable[bool]) -> Share:
    """Count."""
    found = list(hits)
    return Share(sum(found), len(found))


def line(name: str, value: object, *, aim: str = "", met: bool | None = None) -> None:
    """Print one figure, its target and whether it is met."""
    mark = {True: "met", False: "MISSED", None: ""}[met]
    print(f"  {name:<58} {value!s:<24} {aim:<22} {mark}".rstrip())


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value below which `part` of the values lie; 0 to 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
