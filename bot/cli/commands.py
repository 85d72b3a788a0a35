"""All commands, in the order that help lists them, and what their faults become.

It holds no command. Faults that a person can mend (config, a ledger that is in use) are told in a line on
stderr with exit code 2; anything else is our own mistake and is shown as one.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from bot.cli.options import Subparsers
from bot.version import VERSION

_USAGE_ERROR = 2
_INTERRUPTED = 130

#: Each command is the module of that name; its help is here too, so that a list of them needs no module.
COMMANDS = {
    "chat": "talk to sayso here",
    "serve": "run in the background for all surfaces",
    "mcp": "let an agent ask, over MCP on stdin and stdout",
    "init": "write a starter config",
    "status": "what runs, what waits, what is stopped",
    "approvals": "what waits for a yes",
    "jobs": "reminders and scheduled commands to come",
    "memory": "what is remembered",
    "trust": "commands that run unasked for a while",
    "guidance": "what sayso was taught",
    "runbook": "procedures as data: check, list, show or begin one",
    "learning": "what was learned, and how well it goes",
    "targets": "the inventory",
    "config": "check, show or change the config",
    "doctor": "find what is wrong, and how to mend it",
    "ledger": "look at the record, and prove it",
    "classify": "what a shell command may change",
    "assent": "whether words are a yes",
    "explain": "a command taken apart, with the verdict of each part",
    "db": "maintain the database",
}


def _platforms() -> dict[str, str]:
    """Return a command for each chat platform that has a page on how to set it up; imports none of them."""
    folder = Path(__file__).parents[2] / "adapters"
    return {file.parent.name: f"set up {file.parent.name}" for file in sorted(folder.glob("*/setup.py"))}


class _Help(argparse.HelpFormatter):
    """Help as wide as the terminal; argparse would import all of shutil to find that out."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width())


def build_parser(*, only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line: all of it, or with the options of one command only.

    Args:
        only: a command to register; "" for none, just their names. None is all of them.
    """
    parser = argparse.ArgumentParser(
        prog="sayso",
        formatter_class=_Help,
        description="A chat-ops bot that can do anything on your fleet, and nothing without your say-so.",
        epilog='Start with "sayso chat". "sayso doctor" finds what is wrong.',
    )
    parser.add_argument("-V", "--version", action="version", version=f"sayso {VERSION}")
    subparsers: Subparsers = parser.add_subparsers(metavar="command", required=True)
    for name, words in (COMMANDS | _platforms()).items():
        if only is None or name == only:
            _register(name, subparsers)
        else:
            subparsers.add_parser(name, help=words, add_help=False)
    return parser


def _register(name: str, subparsers: Subparsers) -> None:
    from importlib import import_module  # noqa: PLC0415  # lazy: a list of commands needs none of them

    if name in COMMANDS:
        import_module(f"bot.cli.{name}").register(subparsers)
    else:
        import_module("bot.cli.setup").register(name, subparsers)


def _width() -> int:
    try:
        return os.get_terminal_size().columns - 2
    except OSError:
        return 78


def run(words: Sequence[str]) -> int:
    """Parse `words`, run the command, and return its exit code."""
    command = words[0] if words and words[0] in (COMMANDS | _platforms()) else ""
    args = build_parser(only=command).parse_args(_shielded(words))
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


#: Options of those two that take the next word.
_WITH_VALUE = ("--declared-risk", "--config", "--state", "--set")


def _shielded(words: Sequence[str]) -> list[str]:
    """Put "--" before the command that `classify` and `explain` look at: its options are not ours."""
    shielded = list(words)
    if shielded[:1] not in (["classify"], ["explain"]):
        return shielded
    at = 1
    while at < len(shielded) and shielded[at].startswith("-"):
        if shielded[at] == "--":
            return shielded
        at += 2 if shielded[at] in _WITH_VALUE else 1
    if at < len(shielded):
        shielded.insert(at, "--")
    return shielded


def _mendable(error: Exception) -> bool:
    """Tell whether a person can mend it; asks the modules only once something went wrong."""
    from bot.planning.library import LibraryError  # noqa: PLC0415  # lazy: most runs need none of them
    from bot.settings.errors import ConfigError  # noqa: PLC0415
    from gate.errors import RuleError  # noqa: PLC0415
    from ledger.kinds import LedgerError  # noqa: PLC0415

    return isinstance(error, ConfigError | LedgerError | LibraryError | RuleError)
