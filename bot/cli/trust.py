"""`sayso trust list` and `revoke`: commands that run unasked for a while. They are made in chat, by a phrase.

`list` reads the ledger, whether or not a daemon writes it. `revoke` says the word that revokes, as the user
of this machine. Exit codes of `revoke`: 0 it counts no more, 1 it was not revoked, with why.
"""

import argparse
from datetime import datetime

from bot.cli.options import Subparsers, common, config_from, print_json
from bot.cli.saying import said


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    verbs = subparsers.add_parser("trust", help="commands that run unasked for a while").add_subparsers(
        metavar="verb", required=True
    )
    listing = verbs.add_parser("list", parents=[common()], help="every trust rule that counts")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(run=_list)
    revoke = verbs.add_parser("revoke", parents=[common()], help="let a trust rule count no more")
    revoke.add_argument("id", help="the id in the list, such as #k7f3a2")
    revoke.set_defaults(run=_revoke)


def _list(args: argparse.Namespace) -> int:
    from bot import lookup  # noqa: PLC0415  # lazy: brings everything
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    found = lookup.trust_rules(config_from(args))
    for one in found:
        if args.json:
            print_json(one)
        else:
            until = datetime.fromisoformat(str(one["expires_at"])).strftime("%Y-%m-%d %H:%M UTC")
            where, people = (_joined(one[key], by) for key, by in (("targets", ", "), ("made_by", " and ")))
            told = f"until {until}  used {one['used']}  by {people}"
            print(visible(f"#{one['id']}  {one['command']}  on {where}  {told}"))
    if not found and not args.json:
        print("No trust rule counts.")
    return 0


def _joined(value: object, by: str) -> str:
    return by.join(map(str, value)) if isinstance(value, list) else str(value)


def _revoke(args: argparse.Namespace) -> int:
    from bot import lookup  # noqa: PLC0415  # lazy: brings everything

    name = args.id.removeprefix("#").lower()
    print("\n".join(said(args, f"revoke trust #{name}")))
    return 0 if lookup.is_revoked(config_from(args), name) else 1
