"""`sayso ledger verify | export | tail | show | checkpoint | key`: look at the record, and prove it.

Only the words of the commands; what they do is in `bot.cli.ledger_run`, imported when one runs. They need no
config and, but for `checkpoint` and `key --new`, only read, whether or not a daemon writes.
"""

import argparse
from pathlib import Path

from bot.cli.options import Subparsers


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    verbs = subparsers.add_parser("ledger", help="look at the record, and prove it").add_subparsers(
        metavar="verb", required=True
    )
    _verify(verbs)
    _export(verbs)
    _tail(verbs)
    _show(verbs)
    _checkpoint(verbs)
    _key(verbs)


def _where() -> argparse.ArgumentParser:
    parent = argparse.ArgumentParser(add_help=False)
    group = parent.add_argument_group("ledger")
    group.add_argument("--state", type=Path, metavar="DIR", help="state folder, before $SAYSO_HOME")
    group.add_argument("--ledger", type=Path, metavar="FILE", help="ledger file, before --state")
    return parent


def _verify(verbs: Subparsers) -> None:
    parser = verbs.add_parser(
        "verify",
        parents=[_where()],
        help="find what was changed, removed or rewritten",
        description="Check every entry, payload and checkpoint. Exit code 0: all is well, 1: it is not.",
    )
    parser.add_argument("export", nargs="?", type=Path, help="an export, checked alone; default: the ledger")
    parser.add_argument(
        "--key", action="append", default=[], metavar="VKEY", help="public key, or a file of them"
    )
    parser.add_argument(
        "--checkpoint",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="a checkpoint that was kept elsewhere; may be given more than once",
    )
    parser.add_argument("--json", "--jsonl", action="store_true", help="as one JSON object")
    parser.set_defaults(run=_run_verify)


def _export(verbs: Subparsers) -> None:
    parser = verbs.add_parser("export", parents=[_where()], help="write the whole record as JSON Lines")
    parser.add_argument("file", nargs="?", type=Path, help="where to; default: standard output")
    parser.add_argument("--with-payloads", action="store_true", help="with exact words, commands and output")
    parser.set_defaults(run=_run_export)


def _tail(verbs: Subparsers) -> None:
    parser = verbs.add_parser("tail", parents=[_where()], help="the newest entries")
    parser.add_argument("-n", type=int, default=10, metavar="COUNT", help="how many; default: 10")
    parser.add_argument("-f", "--follow", action="store_true", help="go on as entries are added")
    parser.add_argument("--json", "--jsonl", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=_run_tail)


def _show(verbs: Subparsers) -> None:
    parser = verbs.add_parser("show", parents=[_where()], help="an entry with its words and output")
    parser.add_argument("what", help="the number of an entry, or #id for all entries of that proposal")
    parser.add_argument("--json", "--jsonl", action="store_true", help="one JSON object a line")
    parser.set_defaults(run=_run_show)


def _checkpoint(verbs: Subparsers) -> None:
    parser = verbs.add_parser(
        "checkpoint",
        parents=[_where()],
        help="print the newest signed checkpoint",
        description="Print the newest checkpoint; make one if no daemon writes. Keep copies elsewhere.",
    )
    parser.add_argument("--against", type=Path, metavar="FILE", help="check one that was kept instead")
    parser.set_defaults(run=_run_checkpoint)


def _key(verbs: Subparsers) -> None:
    parser = verbs.add_parser("key", parents=[_where()], help="print the public key")
    parser.add_argument(
        "--new", action="store_true", help="make a new signing key first, when the old one is lost or leaked"
    )
    parser.set_defaults(run=_run_key)


def _run_verify(args: argparse.Namespace) -> int:
    from bot.cli import ledger_run  # noqa: PLC0415  # lazy: --help needs none of it

    return ledger_run.verify(args)


def _run_export(args: argparse.Namespace) -> int:
    from bot.cli import ledger_run  # noqa: PLC0415  # lazy: --help needs none of it

    return ledger_run.export(args)


def _run_tail(args: argparse.Namespace) -> int:
    from bot.cli import ledger_show  # noqa: PLC0415  # lazy: --help needs none of it

    return ledger_show.tail(args)


def _run_show(args: argparse.Namespace) -> int:
    from bot.cli import ledger_show  # noqa: PLC0415  # lazy: --help needs none of it

    return ledger_show.show(args)


def _run_checkpoint(args: argparse.Namespace) -> int:
    from bot.cli import ledger_run  # noqa: PLC0415  # lazy: --help needs none of it

    return ledger_run.checkpoint(args)


def _run_key(args: argparse.Namespace) -> int:
    from bot.cli import ledger_run  # noqa: PLC0415  # lazy: --help needs none of it

    return ledger_run.key(args)
