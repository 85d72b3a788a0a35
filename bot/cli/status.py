"""`sayso status`: is it running, what waits, what runs, is anything stopped.

It reads the lock, the socket and the ledger, and changes nothing.
"""

import argparse

from bot.cli.options import Subparsers, common, config_from, in_words, print_json


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "status", parents=[common()], help="what runs, what waits, what is stopped"
    )
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from bot import lookup  # noqa: PLC0415  # lazy: brings everything

    status = lookup.status(config_from(args))
    if args.json:
        print_json(status)
    else:
        for key, value in status.items():
            print(f"{key.replace('_', ' '):<16}{in_words(value)}")
    return 0
