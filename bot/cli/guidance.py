"""`sayso guidance list`, `confirm` and `reject`: what sayso was taught.

`list` reads the ledger, whether or not a daemon writes it. The others say the same words as in chat, as the
user of this machine; confirming takes a phrase, which is typed in chat. Exit codes: 0 done, 1 not done yet.
"""

import argparse

from bot.cli.options import Subparsers, common, config_from, print_json
from bot.cli.saying import said


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    verbs = subparsers.add_parser("guidance", help="what sayso was taught").add_subparsers(
        metavar="verb", required=True
    )
    listing = verbs.add_parser("list", parents=[common()], help="every instruction that is held or in use")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(run=_list)
    confirm = verbs.add_parser("confirm", parents=[common()], help="let one count; asks for a phrase")
    reject = verbs.add_parser("reject", parents=[common()], help="drop one, held or in use")
    for verb in (confirm, reject):
        verb.add_argument("id", help="the id in the list, such as #k7f3a2")
    reject.add_argument("why", nargs="*", help="the reason, for the record")
    confirm.set_defaults(run=_confirm)
    reject.set_defaults(run=_reject)


def _list(args: argparse.Namespace) -> int:
    from bot import lookup  # noqa: PLC0415  # lazy: brings everything
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    found = lookup.guidance(config_from(args))
    for one in found:
        if args.json:
            print_json(one)
        else:
            by = f"  by {one['confirmed_by']}" if one["confirmed_by"] else ""
            print(visible(f'#{one["id"]}  {one["state"]}{by}  "{one["text"]}"  taught by {one["taught_by"]}'))
    if not found and not args.json:
        print("Nothing was taught.")
    return 0


def _confirm(args: argparse.Namespace) -> int:
    from bot import lookup  # noqa: PLC0415  # lazy: brings everything
    from ledger.guidance import GuidanceState  # noqa: PLC0415  # lazy, like everything here

    name = args.id.removeprefix("#").lower()
    print("\n".join(said(args, f"guidance confirm {name}")))
    state = lookup.guidance_state(config_from(args), name)
    if state is GuidanceState.HELD:
        print("The phrase is typed in chat:  sayso chat")
    return 0 if state is GuidanceState.CONFIRMED else 1


def _reject(args: argparse.Namespace) -> int:
    from bot import lookup  # noqa: PLC0415  # lazy: brings everything
    from ledger.guidance import GuidanceState  # noqa: PLC0415  # lazy, like everything here

    name = args.id.removeprefix("#").lower()
    print("\n".join(said(args, " ".join(["guidance reject", name, *args.why]))))
    return 0 if lookup.guidance_state(config_from(args), name) is GuidanceState.REJECTED else 1
