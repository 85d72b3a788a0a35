"""Loads the library: the documents that come with sayso, then an operator's folder over them by id (D25).

Reads files and puts documents together; the fields are `bot.loading.model`'s business, what they mean
`bot.loading.specs`', whether a procedure leads anywhere `gate.supervise.document`'s. A file is read strictly,
and all that is wrong in any of them is told at once, with file and line, so that a misspelt `risk` cannot be
overlooked and nobody mends one fault at a time.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from bot.loading import model, specs
from bot.loading.digests import digests
from bot.loading.faults import Fault, FaultyError
from bot.loading.tree import Tree, grow
from bot.planning.library import (
    Document,
    Library,
    LibraryError,
    Pattern,
    Problem,
    clashes,
    patterns_of,
    problems,
)
from gate.domain import Digest
from gate.supervise import document
from gate.supervise.domain import RunbookSpec

#: Files of a library; others in its folder are left alone.
SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One file as it was read.

    Attributes:
        document: None where the fields are wrong.
        canonical: the document in canonical JSON.
        built_in: it comes with sayso, so that what the operator wrote goes before it.
    """

    file: str
    tree: Tree
    document: Document | None = None
    spec: RunbookSpec | None = None
    canonical: str = ""
    built_in: bool = False
    faults: tuple[Fault, ...] = ()

    def fault(self, problem: Problem) -> Fault:
        """Return a problem of this document with its place in the file."""
        line = self.tree.line(model.path_of(problem.field, self.tree.data))
        return Fault(file=self.file, line=line, field=problem.field, what=problem.what, mend=problem.mend)


def load_library(overlay: Path | None = None) -> Library:
    """Return the built-in library with the documents of `overlay` over it by id.

    Raises:
        FaultyError: files are malformed; it names each fault, with file, line and how to mend it.
        LibraryError: the folder cannot be read.
    """
    read = [*read_built_in(), *([] if overlay is None else read_folder(overlay))]
    library, faults = put_together(read)
    if faults:
        raise FaultyError(faults)
    return library


@cache
def read_built_in() -> tuple[Read, ...]:
    """Read the documents that come with sayso, once: they are part of the package."""
    folder = resources.files("bot") / "library"
    files = sorted((one for one in folder.iterdir() if one.name.endswith(SUFFIXES)), key=lambda one: one.name)
    return tuple(replace(read_file(file), built_in=True) for file in files)


def read_folder(folder: Path) -> list[Read]:
    """Read an operator's folder; two files of it with one id are a fault of the second.

    Raises:
        LibraryError: the folder cannot be read.
    """
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)
    except OSError as error:
        raise LibraryError(f"{folder}: {error.strerror}") from error
    return one_each(map(read_file, files))


def one_each(reads: Iterable[Read]) -> list[Read]:
    """Return what was read of one folder; of two files with one id, the second one is at fault."""
    first: dict[str, str] = {}
    found = []
    for read in reads:
        if read.document is not None and read.document.id in first:
            what = f"{first[read.document.id]} has this id too: two files have one id."
            fault = Fault(
                file=read.file, line=read.tree.line(("id",)), field="id", what=what, mend="Rename one."
            )
            found.append(replace(read, document=None, faults=(*read.faults, fault)))
            continue
        if read.document is not None:
            first[read.document.id] = read.file
        found.append(read)
    return found


def read_file(file: Traversable) -> Read:
    """Read one file; whatever is wrong with it is among its faults."""
    try:
        raw = file.read_bytes()
    except OSError as error:
        fault = Fault(
            file=str(file), what=f"cannot be read: {error.strerror}.", mend="Look at its permissions."
        )
        return Read(file=str(file), tree=Tree(data=None), faults=(fault,))
    return read_text(raw, file=str(file))


def read_text(raw: bytes, *, file: str = "") -> Read:
    """Read one document; `file` is what its faults are said to be in."""
    tree, faults = grow(raw)
    fields, more = (None, []) if faults and tree.data is None else model.read(tree)
    faults = [replace(fault, file=file) for fault in (*faults, *more)]
    if fields is None:
        return Read(file=file, tree=tree, faults=tuple(faults))
    made = specs.make(fields)
    canonical = json.dumps(tree.data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    read = Read(file=file, tree=tree, document=made.document, spec=made.spec, canonical=canonical)
    faults += [read.fault(problem) for problem in made.problems]
    return replace(read, faults=tuple(dict.fromkeys(faults)))


# ---------------------------------------------------------------- together


def put_together(reads: Iterable[Read]) -> tuple[Library, list[Fault]]:
    """Return the library of `reads`, later ones over earlier ones by id, and everything that is wrong."""
    given = list(reads)
    by_id: dict[str, Read] = {}
    for read in given:
        if read.document is not None:
            by_id.pop(read.document.id, None)  # so that of two that clash, the operator's is named
            by_id[read.document.id] = read
    faults = [fault for read in given for fault in read.faults]
    specs_by_id = {name: read.spec for name, read in by_id.items() if read.spec is not None}
    revisions = digests(specs_by_id, {name: read.canonical for name, read in by_id.items()})
    documents = []
    for name, read in by_id.items():
        faults += _of_procedure(read, specs_by_id)
        documents.append(_sealed(read, revisions[name]))
    patterns = _unclaimed(
        patterns_of(documents), own={name for name, read in by_id.items() if not read.built_in}
    )
    faults += [by_id[clash.document].fault(clash) for clash in clashes(documents, patterns)]
    return Library.indexed(documents, patterns), sorted(
        set(faults), key=lambda one: (one.file, one.line, one.field)
    )


def _unclaimed(patterns: Iterable[Pattern], *, own: set[str]) -> list[Pattern]:
    """Leave out words of built-in documents that one of the operator's own has too: theirs are meant."""
    listed = list(patterns)
    taken = {pattern.claim for pattern in listed if pattern.document.id in own}
    return [one for one in listed if one.document.id in own or one.claim not in taken]


def _of_procedure(read: Read, catalogue: Mapping[str, RunbookSpec]) -> list[Fault]:
    """Return what is wrong with the steps of `read`, and its words where that was not said already."""
    if read.document is None or read.spec is None:
        return []
    found = [
        Problem(
            document=read.spec.id,
            field=f"steps.{one.step}.{one.field}" if one.step else one.field,
            what=one.what,
            mend=one.mend,
        )
        for one in document.problems(read.spec, catalogue=catalogue)
    ]
    said = {problem.field for problem in found}
    found += [problem for problem in problems(read.document) if problem.field not in said]
    return [read.fault(problem) for problem in found]


def _sealed(read: Read, digest: str) -> Document:
    if read.document is None or read.spec is None:
        raise TypeError(f"{read.file} holds no document")
    spec = replace(read.spec, digest=Digest(digest))
    return replace(read.document, spec=spec, revision=digest)
