"""What is wrong with a config: one error that lists every problem found, each with how to mend it.

It holds no rule; bot.settings.document and bot.settings.layers find the problems.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

_LISTED = 20  # more names than this help nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing to mend.

    Attributes:
        where: the file with a line where known, the environment variable, or the flag.
        key: dotted key, "" for the file as a whole.
    """

    where: str
    key: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.key}: {self.what}" if self.key else f"{self.where}: {self.what}"


class ConfigError(Exception):
    """The config cannot be used; mend what is listed and try again."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that `name` is no `kind`, with the nearest that is."""
    names = list(known)
    nearest = get_close_matches(name, names, n=1, cutoff=0.5)
    if nearest:
        return f"there is no such {kind}. Nearest: {nearest[0]}."
    listed = f" Known: {', '.join(sorted(names))}." if len(names) <= _LISTED else ""
    return f"there is no such {kind}.{listed}"
