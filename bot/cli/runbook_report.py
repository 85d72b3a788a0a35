"""`sayso runbook report RUN`: what happened in a run, for people and for proof.

It goes to the screen, or to files where a folder is named; nowhere else, and never by itself (C18). Signed it
is only with a key file that is named here. Exit codes: 0 written, 1 there is no such run, 2 wrong usage.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.options import Subparsers, common, config_from

if TYPE_CHECKING:
    from bot.runbooks.report import Told
    from ledger.note import Signer
    from ledger.queries import Queries

_USAGE = 2
_FORMATS = {"md": "report.md", "json": "report.json", "timeline": "timeline.txt"}


def register(verbs: Subparsers) -> None:
    """Add the verb."""
    parser = verbs.add_parser("report", parents=[common()], help="what happened in a run")
    parser.add_argument("id", metavar="run", help="its id, as its card shows it")
    parser.add_argument("--format", choices=tuple(_FORMATS), help="md unless said; all of them with --out")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write files there, else it is printed")
    parser.add_argument("--sign", type=Path, metavar="KEYFILE", help="sign the JSON with this key of yours")
    parser.add_argument("--as", dest="name", default="", metavar="NAME", help="the name to sign under")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from bot.lookup import hidden_in, queries  # noqa: PLC0415  # lazy: brings everything
    from bot.runbooks import report, signing  # noqa: PLC0415  # lazy, like everything here

    chosen = [args.format] if args.format else list(_FORMATS) if args.out else ["json" if args.sign else "md"]
    if args.sign and "json" not in chosen:
        print("Only the JSON can be signed: --format json, or --out.", file=sys.stderr)
        return _USAGE
    run = args.id.removeprefix("#").lower()
    signer = signing.signer_in(args.sign, name=args.name) if args.sign else None
    with queries(config_from(args)) as asked:
        told = None if asked is None else report.tell(asked, run, secrets=hidden_in(asked))
        if asked is None or told is None:
            print(f"There is no run {run}. sayso ledger show lists what there is.", file=sys.stderr)
            return 1
        texts = {name: _writer(asked, told, signer)[name]() for name in chosen}
    if args.out is None:
        print("".join(texts.values()), end="")
        return 0
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            file = args.out / f"{run}-{_FORMATS[name]}"
            file.write_text(text, encoding="utf-8")
            print(f"Wrote {file}")
    except OSError as error:
        print(f"{args.out}: {error.strerror}.", file=sys.stderr)
        return _USAGE
    return 0


def _writer(asked: "Queries", told: "Told", signer: "Signer | None") -> dict[str, Callable[[], str]]:
    from bot.runbooks import attest, report  # noqa: PLC0415  # lazy, like everything here

    return {
        "md": lambda: report.as_markdown(told),
        "timeline": lambda: report.as_timeline(told),
        "json": lambda: attest.attested(told, asked.run_entries(told.report.run), signer=signer),
    }
