"""`sayso config set` and `unset`: one turn of the user of this machine, with a running sayso or without one.

It decides nothing: the same words in chat do the same, and what takes a phrase there takes it here. Exit
codes: 0 changed, 1 not changed, with the way to change it.
"""

import argparse
from typing import TYPE_CHECKING

from bot.cli.options import common, print_json
from bot.cli.saying import said

if TYPE_CHECKING:
    from bot.cli.options import Subparsers


def register(verbs: "Subparsers") -> None:
    """Add the verbs."""
    change = verbs.add_parser("set", parents=[common()], help="change a setting at run time")
    change.add_argument("key")
    change.add_argument("value")
    unset = verbs.add_parser("unset", parents=[common()], help="take back what was set at run time")
    unset.add_argument("key")
    for verb in (change, unset):
        verb.add_argument("--json", action="store_true", help="as one JSON object")
        verb.set_defaults(run=_change, value=None)


def _change(args: argparse.Namespace) -> int:
    from bot.acts.settings import APPLIED  # noqa: PLC0415  # lazy: brings everything
    from bot.settings.registry import BY_KEY  # noqa: PLC0415  # lazy: brings pydantic

    value = '""' if args.value == "" else args.value
    answer = said(
        args, f"settings unset {args.key}" if value is None else f"settings set {args.key} to {value}"
    )
    applied = any(APPLIED in line for line in answer)
    if args.json:
        setting = BY_KEY.get(args.key)
        restart = not applied and setting is not None and (not setting.hot or setting.is_protected)
        print_json({"applied": applied, "restart_required": restart, "message": "\n".join(answer)})
    else:
        print("\n".join(answer))
    return 0 if applied else 1
