"""The shelf: the library in use, and the operator's folder that runbooks are kept in while sayso runs.

A runbook is kept in two moves, so that the folder and the ledger never disagree for long: `lay` writes it
where no library looks, the ledger records it, `put` gives it its name and reads the library anew. What was
laid and never put is settled by the next start, by what the ledger says.
"""

import contextlib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from bot.loading.faults import Fault
from bot.loading.library import Read, put_together, read_built_in, read_folder, read_text
from bot.planning.library import Library, LibraryError

_LAID = re.compile(r"\.(?P<runbook>[a-z0-9][a-z0-9._-]*)~(?P<token>[a-z0-9]+)")
_GONE = ".retired"


class ShelfError(Exception):
    """A runbook cannot be kept or retired here; the message says why, and nothing was changed."""


class Shelf:
    """Holds the library in use.

    Args:
        folder: the operator's own documents; None where nothing can be kept.
    """

    def __init__(self, library: Library, *, folder: Path | None = None) -> None:
        self._library = library
        self._folder = folder

    @property
    def library(self) -> Library:
        """The library in use."""
        return self._library

    def faults(self, runbook: str, text: str) -> Sequence[str]:
        """Return what would be wrong with the library if `text` were kept as `runbook`; () for nothing.

        Raises:
            ShelfError: nothing can be kept here, or the folder cannot be read.
        """
        _, found = self._with(runbook, text)
        return [str(fault) for fault in found]

    def lay(self, runbook: str, token: str, text: str) -> str:
        """Write `text` durably where it counts for nothing yet; return the digest that it will have.

        Raises:
            ShelfError: it cannot be written, or would make the library faulty.
        """
        library, found = self._with(runbook, text)
        if found:
            raise ShelfError("\n".join(map(str, found)))
        try:
            self._own.mkdir(parents=True, exist_ok=True)
            _write(self._laid(runbook, token), text)
        except OSError as error:
            raise ShelfError(f"{self._own} cannot be written: {error.strerror}.") from error
        return library.documents[runbook].revision

    def put(self, runbook: str, token: str) -> None:
        """Let what was laid count from now on.

        Raises:
            ShelfError: it is not there, or cannot be read; the library is as before.
        """
        try:
            self._laid(runbook, token).replace(self._file(runbook))
        except OSError as error:
            raise ShelfError(f"{self._file(runbook)} cannot be written: {error.strerror}.") from error
        self._read_anew()

    def holds(self, runbook: str) -> bool:
        """Whether the operator's folder has a file of this runbook that sayso wrote, or could have."""
        return self._folder is not None and self._file(runbook).is_file()

    def retire(self, runbook: str) -> None:
        """Take a kept runbook away; its file stays, under a name that no library reads.

        Raises:
            ShelfError: it is not there, or cannot be moved.
        """
        file = self._file(runbook)
        try:
            file.replace(file.with_name(file.name + _GONE))
        except OSError as error:
            raise ShelfError(f"{file} cannot be moved: {error.strerror}.") from error
        self._read_anew()

    # ------------------------------------------------------------ reading

    def _with(self, runbook: str, text: str) -> tuple[Library, list[Fault]]:
        file = self._file(runbook)
        kept = [read for read in self._reads() if read.file != str(file)]
        for read in kept:
            if read.document is not None and read.document.id == runbook:
                raise ShelfError(
                    f"{read.file} holds a runbook {runbook} already. Rename one, or choose another id."
                )
        return put_together([*read_built_in(), *kept, read_text(text.encode(), file=str(file))])

    def _reads(self) -> list[Read]:
        try:
            return read_folder(self._own) if self._own.is_dir() else []
        except LibraryError as error:
            raise ShelfError(str(error)) from error

    def _read_anew(self) -> None:
        library, found = put_together([*read_built_in(), *self._reads()])
        if found:
            raise ShelfError("\n".join(map(str, found)))
        self._library = library

    # ------------------------------------------------------------ files

    @property
    def _own(self) -> Path:
        if self._folder is None:
            raise ShelfError("There is no folder for runbooks of your own here.")
        return self._folder

    def _file(self, runbook: str) -> Path:
        return self._own / f"{runbook}.yaml"

    def _laid(self, runbook: str, token: str) -> Path:
        return self._own / f".{runbook}~{token}"


def settle(folder: Path, is_kept: Callable[[str], bool]) -> None:
    """Finish what a process that died had begun, before the library is read.

    Args:
        is_kept: whether the ledger knows a runbook by its token; then it is put, else it is dropped.
    """
    if not folder.is_dir():
        return
    for file in sorted(folder.iterdir()):
        found = _LAID.fullmatch(file.name)
        if found is None:
            continue
        with contextlib.suppress(OSError):  # it counts for nothing then, and the next start tries again
            if is_kept(found["token"]):
                file.replace(folder / f"{found['runbook']}.yaml")
            else:
                file.unlink()


def _write(path: Path, text: str) -> None:
    """Write a file, durable once this returns."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(fd, "w", encoding="utf-8") as file:  # noqa: PTH123 - opened above, with its mode
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
