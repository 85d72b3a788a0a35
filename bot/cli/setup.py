"""`sayso NAME VERB` for each chat platform: what to paste where to set it up.

The page is the adapter's own; this only finds it and prints it.
"""

import argparse

from bot.cli.options import Subparsers, common, config_from


def register(name: str, subparsers: Subparsers) -> None:
    """Add the command of one platform; its verb is the adapter's."""
    from importlib import import_module  # noqa: PLC0415  # lazy: only what was asked for

    verb: str = getattr(import_module(f"adapters.{name}.setup"), "VERB", "setup")
    verbs = subparsers.add_parser(name, help=f"set up {name}").add_subparsers(metavar="verb", required=True)
    page = verbs.add_parser(verb, parents=[common()], help="what to paste where")
    page.set_defaults(run=_page, adapter=name)


def _page(args: argparse.Namespace) -> int:
    from bot.surfaces import setup_page  # noqa: PLC0415  # lazy: brings pydantic

    print(setup_page(args.adapter, config_from(args)).rstrip("\n"))
    return 0
