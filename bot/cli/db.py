"""`sayso db rebuild`: derive the projections anew from the entries (D9). Entries are never changed.

It needs the ledger's lock, so it refuses while a daemon runs.
"""

import argparse

from bot.cli.options import Subparsers, common, config_from


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    verbs = subparsers.add_parser("db", help="maintain the database").add_subparsers(
        metavar="verb", required=True
    )
    rebuild = verbs.add_parser("rebuild", parents=[common()], help="derive everything anew from the entries")
    rebuild.set_defaults(run=_rebuild)


def _rebuild(args: argparse.Namespace) -> int:
    from bot import app  # noqa: PLC0415  # lazy: brings everything

    print(f"Rebuilt from {app.rebuild(config_from(args))} entries.")
    return 0
