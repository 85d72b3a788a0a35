"""Saying one line as the user of this machine: to a running sayso, or to the ledger where none runs (D1).

It decides nothing: the same words in chat do the same, and what takes a phrase there takes it here.
"""

import argparse

from bot.cli.options import config_from, paths_from


def said(args: argparse.Namespace, words: str) -> list[str]:
    """Return what is answered to `words`, a message each; `args` are those of `options.common`.

    Raises:
        LedgerBusyError: another process writes the ledger and cannot be reached.
    """
    from adapters.console.client import NobodyThereError, ask  # noqa: PLC0415  # lazy: brings asyncio

    try:
        return ask(paths_from(args).socket, words)
    except NobodyThereError:
        from bot import app  # noqa: PLC0415  # lazy: brings everything

        return app.say_once(config_from(args), words)
