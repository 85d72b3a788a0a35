"""`sayso runbook new ID`: writes a runbook to begin with, which is sound as it is.

It is written where it is told to, or here; it is in nobody's library before it is moved there. Exit codes: 0
written, 2 the id is none, or the file is there already.
"""

import argparse
import sys
from importlib import resources
from pathlib import Path

from bot.cli.options import Subparsers, common, paths_from

_USAGE = 2


def register(verbs: Subparsers) -> None:
    """Add the verb."""
    parser = verbs.add_parser("new", parents=[common()], help="write a runbook to begin with")
    parser.add_argument("id", help="lower-case letters, digits, dots, dashes and underscores")
    parser.add_argument("file", nargs="?", type=Path, help="where to; else <id>.yaml here")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from bot.loading.library import put_together, read_built_in, read_text  # noqa: PLC0415  # lazy

    text = skeleton(args.id)
    _, faults = put_together([*read_built_in(), read_text(text.encode(), file=args.id)])
    if why := [str(fault) for fault in faults if fault.file == args.id]:
        print("\n".join(why), file=sys.stderr)
        return _USAGE
    file = args.file or Path(f"{args.id}.yaml")
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        print(f"{file}: {error.strerror}.", file=sys.stderr)
        return _USAGE
    print(f"Wrote {file}. Check it:  sayso runbook lint {file}")
    print(f"Then put it where sayso looks at its next start:  {paths_from(args).library}/")
    return 0


def skeleton(name: str) -> str:
    """Return the text of a new runbook with the id `name`."""
    template = resources.files("bot").joinpath("library", "skeleton.txt").read_text(encoding="utf-8")
    return template.replace("@ID@", name)
