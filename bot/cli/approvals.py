"""`sayso approvals list` and `show`: what waits for a yes. Deciding is done in chat, never here (D1).

It reads the ledger, whether or not a daemon writes it.
"""

import argparse
from typing import TYPE_CHECKING

from bot.cli.options import Subparsers, common, config_from, in_words, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    verbs = subparsers.add_parser("approvals", help="what waits for a yes").add_subparsers(
        metavar="verb", required=True
    )
    listing = verbs.add_parser("list", parents=[common()], help="every live approval")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(run=_list)
    show = verbs.add_parser("show", parents=[common()], help="one approval, live or decided")
    show.add_argument("id", help="the id on its card, such as #k7f3a2")
    show.add_argument("--json", action="store_true", help="as one JSON object")
    show.set_defaults(run=_show)


def _list(args: argparse.Namespace) -> int:
    from bot import lookup  # noqa: PLC0415  # lazy: brings everything
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    found = lookup.approvals(config_from(args))
    for one in found:
        if args.json:
            print_json(one)
        else:
            until = f"until {_minute(one['deadline_at'])}"
            print(visible(f"#{one['id']}  {one['title']}  {until}  asked by {one['requester']}"))
    if not found and not args.json:
        print("Nothing waits.")
    return 0


def _show(args: argparse.Namespace) -> int:
    from bot import lookup  # noqa: PLC0415  # lazy: brings everything

    name = args.id.removeprefix("#")
    one = lookup.approval(config_from(args), name)
    if one is None:
        print(f"No approval #{name}. sayso approvals list shows what waits.")
        return 1
    if args.json:
        print_json(one)
    else:
        _print(one)
    return 0


def _print(one: "Mapping[str, object]") -> None:
    for key, value in one.items():
        if key != "actions":
            print(f"{key.replace('_', ' '):<14}{_inline(value)}")
    actions = one.get("actions")
    for action in actions if isinstance(actions, list) else ():
        print()
        for key, value in action.items():
            print(f"  {key.replace('_', ' '):<12}{_inline(value)}")


def _inline(value: object) -> str:
    """Return a stored value for a terminal: what is unseen written out, further lines set in."""
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    return visible(in_words(value)).replace("\n", "\n" + " " * 14)


def _minute(instant: object) -> str:
    """Return an instant as people read it: to the minute, in UTC."""
    text = str(instant)
    return f"{text[:10]} {text[11:16]} UTC" if instant else "none"
