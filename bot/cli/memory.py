"""`sayso memory list|show|export`: what is remembered. It is told, corrected and forgotten in chat.

It reads the ledger, whether or not a daemon writes it. Exit code 1 where `show` finds nothing.
"""

import argparse
from collections.abc import Sequence
from datetime import datetime

from bot.cli.options import Subparsers, common, config_from, print_json


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    verbs = subparsers.add_parser("memory", help="what is remembered").add_subparsers(
        metavar="verb", required=True
    )
    listing = verbs.add_parser("list", parents=[common()], help="every fact that counts")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(run=_list)
    show = verbs.add_parser("show", parents=[common()], help="what is known about one thing, and was before")
    show.add_argument("subject", nargs="+", help="what it is called, such as project sync")
    show.add_argument("--json", action="store_true", help="one JSON object a line")
    show.set_defaults(run=_show)
    export = verbs.add_parser(
        "export", parents=[common()], help="all facts there ever were, one JSON object a line"
    )
    export.add_argument("--json", action="store_true", help="as it always is")
    export.set_defaults(run=_export)


def _list(args: argparse.Namespace) -> int:
    from bot import remembered  # noqa: PLC0415  # lazy: brings everything

    _tell(remembered.live(config_from(args)), as_json=args.json)
    return 0


def _show(args: argparse.Namespace) -> int:
    from bot import remembered  # noqa: PLC0415  # lazy: brings everything

    found = remembered.about(config_from(args), " ".join(args.subject))
    _tell(found, as_json=args.json)
    return 0 if found else 1


def _export(args: argparse.Namespace) -> int:
    from bot import remembered  # noqa: PLC0415  # lazy: brings everything

    _tell(remembered.everything(config_from(args)), as_json=True)
    return 0


def _tell(found: Sequence[dict[str, object]], *, as_json: bool) -> None:
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    for one in found:
        if as_json:
            print_json(one)
            continue
        said = one["said"] or "(words gone)"
        at = datetime.fromisoformat(str(one["at"])).strftime("%Y-%m-%d %H:%M UTC")
        notes = [f"by {one['person']}", at, *(["private"] if one["private"] else [])]
        notes += [str(one["state"])] if one["state"] != "live" else []
        when = f"  ({one['object']})" if one["predicate"] == "at" and one["object"] else ""
        print(visible(f"{one['id']}  {' '.join(str(said).split())}{when}  {'  '.join(notes)}"))
    if not found and not as_json:
        print("Nothing is remembered.")
