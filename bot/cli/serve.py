"""`sayso serve`.

It runs until it is told to stop (SIGTERM, Ctrl-C). Where another sayso writes the ledger it does not start.
"""

import argparse

from bot.cli.options import Subparsers, common, config_from


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    serve = subparsers.add_parser(
        "serve",
        parents=[common()],
        help="run in the background for all surfaces",
        description="Run sayso: every configured surface, and the local socket that sayso chat talks to.",
    )
    serve.set_defaults(run=_serve)


def _serve(args: argparse.Namespace) -> int:
    from bot import app  # noqa: PLC0415  # lazy: brings everything

    return app.serve(config_from(args))
