"""All commands, in the order that help lists them, and what their faults become.

It holds no command. Faults that a person can mend (config, a ledger that is in use) are told in a line on
stderr with exit code 2; anything else is our own mistake and is shown as one.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Protocol

from bot.cli import (
    approvals,
    assent,
    chat,
    classify,
    config,
    db,
    doctor,
    explain,
    init,
    ledger,
    status,
    targets,
)
from bot.cli.options import Subparsers
from bot.version import VERSION

_USAGE_ERROR = 2
_INTERRUPTED = 130


class _Command(Protocol):
    def register(self, subparsers: Subparsers) -> None: ...


_COMMANDS: tuple[_Command, ...] = (
    chat,
    init,
    status,
    approvals,
    targets,
    config,
    doctor,
    ledger,
    classify,
    assent,
    explain,
    db,
)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="sayso",
        description="A chat-ops bot that can do anything on your fleet, and nothing without your say-so.",
        epilog='Start with "sayso chat". "sayso doctor" finds what is wrong.',
    )
    parser.add_argument("-V", "--version", action="version", version=f"sayso {VERSION}")
    subparsers: Subparsers = parser.add_subparsers(metavar="command", required=True)
    for command in _COMMANDS:
        command.register(subparsers)
    return parser


def run(words: Sequence[str]) -> int:
    """Parse `words`, run the command, and return its exit code."""
    args = build_parser().parse_args(_shielded(words))
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; keep the interpreter from flushing into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if not _mendable(error):
            raise
        print(f"{error}", file=sys.stderr)
        return _USAGE_ERROR
    return code


def _shielded(words: Sequence[str]) -> list[str]:
    """Put "--" before the command that `classify` and `explain` look at: its options are not ours."""
    shielded = list(words)
    if shielded[:1] not in (["classify"], ["explain"]):
        return shielded
    at = 1
    while at < len(shielded) and shielded[at].startswith("-"):
        if shielded[at] == "--":
            return shielded
        at += 2 if shielded[at] == "--declared-risk" else 1
    if at < len(shielded):
        shielded.insert(at, "--")
    return shielded


def _mendable(error: Exception) -> bool:
    """Tell whether a person can mend it; asks the modules only once something went wrong."""
    from bot.settings.errors import ConfigError  # noqa: PLC0415  # lazy: most runs need neither
    from ledger.kinds import LedgerError  # noqa: PLC0415

    return isinstance(error, ConfigError | LedgerError)
