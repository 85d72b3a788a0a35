"""`sayso runbook <verb>`: the library of runbooks and diagnostics, from the shell.

Each verb is a module of its own with `register(verbs)`; this one only lists them.
"""

from importlib import import_module

from bot.cli.options import Subparsers

#: In the order that help lists them.
VERBS = (
    "runbook_lint",
    "runbook_list",
    "runbook_show",
    "runbook_run",
    "runbook_new",
    "runbook_report",
    "runbook_verify",
)


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    parser = subparsers.add_parser("runbook", help="procedures as data: check, list, show or begin one")
    verbs = parser.add_subparsers(metavar="verb", required=True)
    for name in VERBS:
        import_module(f"bot.cli.{name}").register(verbs)
