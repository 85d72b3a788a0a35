"""`sayso jobs`: reminders and scheduled commands that are still to come. They are dropped in chat.

It reads the ledger, whether or not a daemon writes it.
"""

import argparse

from bot.cli.options import Subparsers, common, config_from, print_json


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "jobs", parents=[common()], help="reminders and scheduled commands to come"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from bot import lookup  # noqa: PLC0415  # lazy: brings everything
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    found = lookup.jobs(config_from(args))
    for one in found:
        if args.json:
            print_json(one)
        else:
            again = f"  {one['rrule']}" if one["rrule"] else ""
            text = " ".join(str(one["text"]).split("\n"))
            line = f"{one['id']}  {one['next_at_local']}{again}  {one['act']}  {text}  by {one['person']}"
            print(visible(line))
    if not found and not args.json:
        print("Nothing is scheduled.")
    return 0
