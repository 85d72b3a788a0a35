"""`sayso chat`.

`chat` talks to a running `sayso serve` over its socket; with none running it runs the core itself, holding
the ledger's lock (D1). `--rehearse` never touches a running one: its state is thrown away at the
end; commands do run, on this machine.
"""

import argparse
import contextlib
import os

from bot.cli.options import Subparsers, common, config_from, paths_from


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    chat = subparsers.add_parser(
        "chat",
        parents=[common()],
        help="talk to sayso here",
        description="Talk to sayso. From a pipe, each line is one turn, finished before the next is read.",
    )
    chat.add_argument(
        "--rehearse",
        action="store_true",
        help="throwaway record; commands do run, on this machine only; /as NAME switches the speaker",
    )
    chat.set_defaults(run=_chat)


def _chat(args: argparse.Namespace) -> int:
    if args.rehearse:
        return _rehearse(args)
    from adapters.console.client import NobodyThereError, talk  # noqa: PLC0415  # lazy: brings asyncio

    with contextlib.suppress(NobodyThereError):
        paths = paths_from(args)
        own = os.access(paths.state, os.W_OK)  # another user's state folder keeps no history of ours
        return talk(paths.socket, history=paths.history if own else None)
    from bot import app  # noqa: PLC0415  # lazy: brings everything

    return app.chat(config_from(args))


def _rehearse(args: argparse.Namespace) -> int:
    import tempfile  # noqa: PLC0415  # lazy: only here
    from pathlib import Path  # noqa: PLC0415

    from bot import app  # noqa: PLC0415  # lazy: brings everything
    from bot.settings.config import rehearsal  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="sayso-rehearsal-") as scratch:
        return app.chat(rehearsal(config_from(args), scratch=Path(scratch)))
