"""`sayso runbook verify REPORT`: whether anything of an attested report was changed.

It reads nothing but the file, and says what it could not check as well as what is wrong. Exit codes: 0 whole,
1 something is wrong, 2 it is no attested report, or a key cannot be read.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.options import Subparsers, print_json

if TYPE_CHECKING:
    from bot.runbooks.attest import Verification

_USAGE = 2


def register(verbs: Subparsers) -> None:
    """Add the verb."""
    parser = verbs.add_parser("verify", help="whether a report was changed")
    parser.add_argument("report", type=Path, help="the JSON that `sayso runbook report` wrote")
    parser.add_argument(
        "--key", action="append", default=[], metavar="PUB", help="public key of who should have signed it"
    )
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from dataclasses import asdict  # noqa: PLC0415  # lazy, like everything here

    from bot.runbooks import attest, signing  # noqa: PLC0415
    from bot.text import visible  # noqa: PLC0415

    try:
        text = args.report.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        print(f"Cannot read it: {error}.", file=sys.stderr)
        return _USAGE
    keys = [key for given in args.key for key in signing.verifiers_in(given)]
    found = attest.verify(text, keys=keys)
    if args.json:
        print_json({"ok": found.ok, **asdict(found)})
    else:
        # What the file says is anybody's; no line of it may pass for one of ours.
        print("\n".join(" ".join(visible(one).split()) for one in _told(found, checked=bool(keys))))
    return 0 if found.ok else 1


def _told(found: "Verification", *, checked: bool) -> list[str]:
    if not found.ok:
        return [*found.problems, f"So this is not the report of run {found.run} as it was made."]
    lines = [f"Run {found.run}: the report and its {found.entries} entries are as they were stated."]
    if found.signed_by:
        return [*lines, f"Signed by {', '.join(found.signed_by)}."]
    if found.claims and not checked:
        return [*lines, f"It says to be signed by {', '.join(found.claims)}; --key PUB checks that."]
    return [*lines, "It is not signed, so whoever holds the file could have made all of it anew."]
