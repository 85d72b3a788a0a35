"""`sayso runbook list`: every document of the library, a line each."""

import argparse

from bot.cli.options import Subparsers, common, paths_from, print_json


def register(verbs: Subparsers) -> None:
    """Add the verb."""
    parser = verbs.add_parser("list", parents=[common()], help="every runbook and diagnostic")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--all", action="store_true", help="diagnostics and single commands too")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from bot.loading.library import load_library  # noqa: PLC0415  # lazy: brings pydantic and YAML
    from bot.runbooks.telling import row  # noqa: PLC0415  # lazy, like everything here
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    own = paths_from(args).library
    documents = load_library(own if own.is_dir() else None).documents.values()
    shown = [one for one in documents if one.supervised or args.all or args.json]
    for document in shown:
        told = row(document)
        if args.json:
            print_json(told)
        else:
            print(visible(f"{told['id']:<24} {told['risk']:<12} {told['title']}"))
    if not shown and not args.json:
        print("There is no runbook. sayso runbook new <id> begins one.")
    return 0
