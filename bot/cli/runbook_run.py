"""`sayso runbook run ID`: begin a run, or with `--plan` tell what it would do and ask, executing nothing.

It says the literal request: to a running sayso, or to the core of this process where none runs (D1), and goes
on as `sayso chat` does, since a run asks. It decides nothing by itself.
"""

import argparse
import contextlib
import os
import sys

from bot.cli.options import Subparsers, common, config_from, paths_from


def register(verbs: Subparsers) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "run",
        parents=[common()],
        help="run a runbook, or show what a run would do",
        description="Run a runbook here, as sayso chat would. With --plan nothing runs and nothing is asked.",
    )
    parser.add_argument("id", help="its id, as `sayso runbook list` shows it")
    parser.add_argument("--target", default="", help="the target that it is on")
    parser.add_argument(
        "--with", action="append", default=[], metavar="NAME=VALUE", dest="values", help="a value of an input"
    )
    parser.add_argument("--plan", action="store_true", help="what each step would do and ask; nothing runs")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    words = _words(args)
    if words is None:
        return 1
    return _plan(args, words) if args.plan else _converse(args, words)


def _words(args: argparse.Namespace) -> str | None:
    """Return the request that the arguments come to; None, and it is said, where they come to none."""
    from bot.loading.library import load_library  # noqa: PLC0415  # lazy: brings pydantic and YAML
    from bot.planning.runbooks import written  # noqa: PLC0415  # lazy, like everything here
    from bot.settings.errors import unknown  # noqa: PLC0415  # lazy, like everything here

    own = paths_from(args).library
    documents = load_library(own if own.is_dir() else None).documents
    document = documents.get(args.id)
    if document is None:
        print(f"{args.id}: {unknown('runbook', args.id, documents)}", file=sys.stderr)
        return None
    values = dict(one.partition("=")[::2] for one in args.values)
    if strange := [one for one in args.values if "=" not in one]:
        print(f"{strange[0]}: say it as name=value", file=sys.stderr)
        return None
    return written(document, values, targets=[args.target] if args.target else [])


def _plan(args: argparse.Namespace, words: str) -> int:
    from bot.cli.saying import said  # noqa: PLC0415  # lazy, like everything here
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    print("\n".join(visible(one) for one in said(args, f"plan {words.removeprefix('run runbook ')}")))
    return 0


def _converse(args: argparse.Namespace, words: str) -> int:
    from adapters.console.client import NobodyThereError, talk  # noqa: PLC0415  # lazy: brings asyncio

    paths = paths_from(args)
    with contextlib.suppress(NobodyThereError):
        own = os.access(paths.state, os.W_OK)  # another user's state folder keeps no history of ours
        return talk(paths.socket, history=paths.history if own else None, first=words)
    from bot import app  # noqa: PLC0415  # lazy: brings everything

    return app.chat(config_from(args), first=words)
