"""`sayso classify`: what the gate thinks of a command. For people with an argument, for scripts with --jsonl.

JSON Lines: {"command", "declared_risk"?} in; {"command", "risk", "auto_run", "never", "reasons"} out, where
`auto_run` is false whenever the class alone does not let it run, and `never` is null or why it is on the
never list. Only the classification, by the rules that the config names too: posture, target and switches are
not looked at.
"""

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bot.cli.options import Subparsers, common, config_from

if TYPE_CHECKING:
    from gate.domain import Verdict


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser("classify", parents=[common()], help="what a shell command may change")
    parser.add_argument("command", nargs="*", help="the command; or use --jsonl")
    parser.add_argument(
        "--declared-risk", metavar="RISK", help="what its author says; can only make it stricter"
    )
    parser.add_argument(
        "--jsonl", action="store_true", help="one JSON object a line from stdin, one to stdout"
    )
    parser.set_defaults(run=_run)


def classifier(args: argparse.Namespace) -> "Callable[[str, str | None], Verdict]":
    """Return the classifier with the rules of the config that `args` of `common` ask for, as a turn has them.

    Raises:
        ConfigError: when the config cannot be used.
        RuleError: when a rule file cannot.
    """
    from bot.settings.rules import rules_of  # noqa: PLC0415  # lazy: brings the rule grammar
    from gate.shell.classify import classify  # noqa: PLC0415  # lazy: brings tree-sitter

    rules = rules_of(config_from(args))
    return lambda command, declared: classify(command, rules=rules, declared_risk=declared)


def in_short(verdict: "Verdict") -> str:
    """Return "destructive · wants its typed phrase": the class, and what that alone comes to."""
    from gate.domain import Risk  # noqa: PLC0415  # lazy, like everything here

    if verdict.never:
        fate = "is never run"
    elif verdict.risk is Risk.DESTRUCTIVE:
        fate = "wants its typed phrase"
    else:
        fate = "runs at once" if verdict.auto_run else "waits for a yes"
    return f"{verdict.risk} · {fate}"


def spoken(words: list[str]) -> str:
    """Return the command that was given on our own command line, or its line on stdin."""
    import sys  # noqa: PLC0415

    return " ".join(words) if words else sys.stdin.read().rstrip("\n")


def _run(args: argparse.Namespace) -> int:
    judge = classifier(args)
    if args.jsonl:
        from bot.cli import jsonl  # noqa: PLC0415  # lazy: only here

        def answer(fields: Mapping[str, object]) -> Mapping[str, object]:
            command = jsonl.text(fields, "command", needed=True) or ""
            verdict = judge(command, jsonl.text(fields, "declared_risk"))
            return {
                "command": command,
                "risk": verdict.risk,
                "auto_run": verdict.auto_run,
                "never": verdict.never,
                "reasons": list(verdict.reasons),
            }

        lines, out = jsonl.standard_streams()
        return jsonl.stream(answer, lines=lines, out=out)
    from bot.text import visible  # noqa: PLC0415  # lazy, like everything here

    verdict = judge(spoken(args.command), args.declared_risk)
    print(in_short(verdict))
    if verdict.never:
        print(f"never: {visible(verdict.never)}")
    for reason in verdict.reasons:
        print(f"  {visible(reason)}")
    return 0
