"""`sayso runbook lint [FILE…]`: everything that is wrong with documents of the library, with file and line.

Without a file, what would be loaded: the documents that come with sayso and those of the operator's folder. A
file is looked at over those, so that what it calls is found and words that another one claims are told. Exit
codes: 0 all are sound, 1 something is wrong, 2 a file cannot be found.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.options import Subparsers, common, paths_from, print_json

if TYPE_CHECKING:
    from bot.loading.faults import Fault
    from bot.loading.library import Read

_NO_FILE = 2


def register(verbs: Subparsers) -> None:
    """Add the verb."""
    parser = verbs.add_parser("lint", parents=[common()], help="what is wrong with a document, line by line")
    parser.add_argument("file", nargs="*", type=Path, help="files or folders; else the whole library")
    parser.add_argument("--json", action="store_true", help="one JSON object a fault, one a line")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from bot.loading.library import one_each, put_together, read_file  # noqa: PLC0415  # lazy: brings pydantic and YAML

    absent = [path for path in args.file if not path.exists()]
    if absent:
        print(f"{absent[0]}: there is no such file.", file=sys.stderr)
        return _NO_FILE
    files = list({one.resolve(): one for path in args.file for one in _files(path)}.values())
    named = {str(file) for file in files}
    known = [read for read in _known(args) if str(Path(read.file).resolve()) not in _resolved(files)]
    own = one_each(map(read_file, files))
    reads = [*known, *own]
    _, faults = put_together(reads)
    found = [fault for fault in faults if not args.file or fault.file in named]
    if not args.json:
        _say_replaced(known, own)
    _say(found, args=args, sound=len(files) if args.file else len(reads))
    return 1 if found else 0


def _files(path: Path) -> list[Path]:
    from bot.loading.library import SUFFIXES  # noqa: PLC0415  # lazy, like everything here

    return sorted(one for one in path.iterdir() if one.suffix in SUFFIXES) if path.is_dir() else [path]


def _resolved(files: list[Path]) -> set[str]:
    return {str(file.resolve()) for file in files}


def _known(args: argparse.Namespace) -> "list[Read]":
    from bot.loading.library import read_built_in, read_folder  # noqa: PLC0415  # lazy, like everything here

    own = paths_from(args).library
    return [*read_built_in(), *(read_folder(own) if own.is_dir() else [])]


def _say_replaced(known: "list[Read]", own: "list[Read]") -> None:
    """Say what a file would take the place of: an overlay is asked for, and easily made by mistake."""
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    there = {read.document.id: read for read in known if read.document is not None}
    for read in own:
        if read.document is None or (old := there.get(read.document.id)) is None:
            continue
        whose = ", which comes with sayso" if old.built_in else f" of {old.file}"
        print(visible(f"{read.file if len(own) > 1 else 'It'} replaces {read.document.id}{whose}."))


def _say(faults: "list[Fault]", *, args: argparse.Namespace, sound: int) -> None:
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    for fault in faults:
        if args.json:
            print_json(
                {
                    "file": fault.file,
                    "line": fault.line,
                    "field": fault.field,
                    "what": fault.what,
                    "mend": fault.mend,
                }
            )
        else:
            print(visible(str(fault)))
    if args.json:
        return
    if faults:
        print(f"{len(faults)} {'thing' if len(faults) == 1 else 'things'} to mend.")
    else:
        print("It is sound." if sound == 1 else f"All {sound} documents are sound.")
