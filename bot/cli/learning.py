"""`sayso learning`: how well runbooks and diagnostics go, what was learned when, what would be suggested.

It reads the ledger, whether or not a daemon writes it, and grants nothing.
"""

import argparse
import sys
from pathlib import Path

from bot.cli.options import Subparsers, common, config_from


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "learning", parents=[common()], help="what was learned, and how well it goes"
    )
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.add_argument("--png", type=Path, metavar="FILE", help="draw the trend there, too")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    import json  # noqa: PLC0415  # lazy: brings everything
    from dataclasses import replace  # noqa: PLC0415
    from datetime import UTC  # noqa: PLC0415

    from bot import attaching, learning  # noqa: PLC0415
    from bot.clock import SystemClock  # noqa: PLC0415
    from bot.loading.library import load_library  # noqa: PLC0415
    from bot.lookup import hidden_in, queries  # noqa: PLC0415
    from bot.settings.inventory import inventory_of  # noqa: PLC0415
    from bot.settings.rules import rules_of  # noqa: PLC0415
    from bot.text import visible  # noqa: PLC0415

    config, now = config_from(args), SystemClock().now()
    own = config.paths.library
    known = learning.Known(
        library=load_library(own if own.is_dir() else None),
        inventory=inventory_of(config),
        rules=rules_of(config),
    )
    with queries(config) as asked:
        if asked is None:
            found = learning.NOTHING
        else:
            known = replace(known, secrets=hidden_in(asked))
            found = learning.learn(asked, known, now=now)
    if args.json:
        print(json.dumps(learning.document(found), ensure_ascii=False, indent=2))
    else:
        print(visible("\n".join(learning.lines(found, zone=UTC, now=now, secrets=known.secrets, most=None))))
    if args.png is not None:
        drawn = attaching.trend(found.skills)
        if drawn is None:
            print("Nothing ran yet, so there is nothing to draw.")
        else:
            try:
                args.png.write_bytes(drawn)
            except OSError as error:
                print(f"{args.png}: {error.strerror}.", file=sys.stderr)
                return 2
    return 0
