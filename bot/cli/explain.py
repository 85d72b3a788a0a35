"""`sayso explain <command>`: the command taken apart, with the verdict of each part.

It shows what sayso classify decides and adds nothing to it.
"""

import argparse

from bot.cli.classify import classifier, in_short, spoken
from bot.cli.options import Subparsers, common


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "explain", parents=[common()], help="a command taken apart, with the verdict of each part"
    )
    parser.add_argument("command", nargs="*", help="the command; from stdin when left out")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    verdict = classifier(args)(spoken(args.command), None)
    print(in_short(verdict))
    if verdict.never:
        print(f"never: {visible(verdict.never)}")
    for part in verdict.parts:
        print(f"{'  ' * (part.depth + 1)}{visible(part.text)}")
        print(f"{'  ' * (part.depth + 1)}  {part.risk}: {visible(part.reason)}")
    for reason in verdict.reasons:
        print(f"because {visible(reason)}")
    if verdict.touches:
        print("touches " + ", ".join(f"{touch.kind} {visible(touch.name)}" for touch in verdict.touches))
    if verdict.undo:
        print(f"undo: {visible(verdict.undo)}")
    if verdict.dry_run:
        print(f"try first: {visible(verdict.dry_run)}")
    return 0
