"""`sayso assent`: what an utterance says about what is pending. For people, and with --jsonl for scripts.

JSON Lines: {"text", "pending"?, "context"?, "lang"?} in, `pending` one description per action and `context`
the question as shown; {"verdict", "because", "selects"?} out, `selects` 1-based and only there when some are
selected. It reads words only: who may decide, and until when, is not looked at.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bot.cli.classify import spoken
from bot.cli.options import Subparsers

if TYPE_CHECKING:
    from gate.domain import Assent

    Reader = Callable[[str, Sequence[str], str, str], Assent]


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser("assent", help="whether words are a yes")
    parser.add_argument("text", nargs="*", help="what was said; or use --jsonl")
    parser.add_argument(
        "--pending", action="append", default=[], metavar="ACTION", help="what waits; repeat for more"
    )
    parser.add_argument("--context", metavar="QUESTION", default="", help="the question as it was shown")
    parser.add_argument("--lang", metavar="CODE", default="", help="language, where it is known")
    parser.add_argument(
        "--jsonl", action="store_true", help="one JSON object a line from stdin, one to stdout"
    )
    parser.set_defaults(run=_run)


def _reader() -> "Reader":
    from bot.loading.lexicon import load_lexicons  # noqa: PLC0415  # lazy: only when a command runs
    from gate.assent import read  # noqa: PLC0415

    lexicons = load_lexicons()
    return lambda text, pending, context, lang: read(
        text, pending=tuple(pending), context=context, lang=lang, lexicons=lexicons
    )


def _run(args: argparse.Namespace) -> int:
    read = _reader()
    if args.jsonl:
        from bot.cli import jsonl  # noqa: PLC0415  # lazy: only here

        def answer(fields: Mapping[str, object]) -> Mapping[str, object]:
            assent = read(
                jsonl.text(fields, "text", needed=True) or "",
                jsonl.texts(fields, "pending"),
                jsonl.text(fields, "context") or "",
                jsonl.text(fields, "lang") or "",
            )
            said: dict[str, object] = {"verdict": assent.verdict, "because": assent.because}
            return said | ({"selects": list(assent.selects)} if assent.selects else {})

        lines, out = jsonl.standard_streams()
        return jsonl.stream(answer, lines=lines, out=out)
    assent = read(spoken(args.text), args.pending, args.context, args.lang)
    chosen = f" {', '.join(map(str, assent.selects))}" if assent.selects else ""
    print(f"{assent.verdict}{chosen} · {assent.because}")
    return 0
