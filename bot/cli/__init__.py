"""The command line: `sayso <command>`.

Each command is a module with `register(subparsers)`, which sets `run(args) -> exit code`. Commands decide
nothing: they load the config and call bot.app, the gate or the ledger. The rule it owns: nothing heavy is
imported before a command runs, so that `--help` and `--version` are quick.

Exit codes: 0 done, 1 said no or found something wrong, 2 wrong usage or config, 130 interrupted.
"""

import sys
from collections.abc import Sequence

from bot.version import VERSION


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words in (["--version"], ["-V"]):
        print(f"sayso {VERSION}")
        return 0
    from bot.cli.commands import run  # noqa: PLC0415  # lazy: argparse is not needed above

    return run(words)
