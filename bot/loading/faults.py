"""What is wrong with a document of the library, as a value: file, line, field, what, and how to mend it.

It finds nothing itself: `bot.loading.tree` finds what is wrong with a file as YAML, `bot.loading.model` with
its fields, `gate.supervise.document` with the procedure. The rule it owns: all that is wrong is told at once.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.planning.library import LibraryError

#: A list that is longer than this is told to be that, and not read to its end by anybody.
_TOLD = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing to mend.

    Attributes:
        file: its name as people know it; "" for text that is in no file.
        line: 1 for the first; 0 where it is about the whole of it.
        field: dotted, steps by their id: "steps.restart.retry.max"; "" for the document.
        mend: what to do about it, a sentence.
    """

    file: str = ""
    line: int = 0
    field: str = ""
    what: str
    mend: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (where, self.field, f"{self.what} {self.mend}".strip()) if part)


class FaultyError(LibraryError):
    """A document cannot be used; mend what is listed."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        told = [str(fault) for fault in self.faults[:_TOLD]]
        more = len(self.faults) - len(told)
        super().__init__("\n".join([*told, *([f"… and {more} more."] if more else [])]))
