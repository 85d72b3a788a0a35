"""`sayso runbook show ID`: what a document does, step by step. Exit codes: 0 shown, 1 there is none."""

import argparse
import sys

from bot.cli.options import Subparsers, common, paths_from, print_json


def register(verbs: Subparsers) -> None:
    """Add the verb."""
    parser = verbs.add_parser("show", parents=[common()], help="what a runbook does, step by step")
    parser.add_argument("id", help="its id, as `sayso runbook list` shows it")
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from bot.loading.library import load_library  # noqa: PLC0415  # lazy: brings pydantic and YAML
    from bot.runbooks.telling import lines, row  # noqa: PLC0415  # lazy, like everything here
    from bot.settings.errors import unknown  # noqa: PLC0415  # lazy, like everything here
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    own = paths_from(args).library
    documents = load_library(own if own.is_dir() else None).documents
    document = documents.get(args.id)
    if document is None:
        print(f"{args.id}: {unknown('runbook', args.id, documents)}", file=sys.stderr)
        return 1
    if args.json:
        print_json(row(document) | {"about": lines(document)})
    else:
        print(visible("\n".join(lines(document))))
    return 0
