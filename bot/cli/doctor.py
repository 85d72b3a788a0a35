"""`sayso doctor`: what is wrong here, and how to mend it.

It looks and changes nothing. Exit code 1 when something fails.
"""

import argparse
from typing import TYPE_CHECKING

from bot.cli.options import Subparsers, common, config_from, print_json

if TYPE_CHECKING:
    from bot.doctor import Finding
    from bot.settings.config import Config

_MARKS = {"ok": "✓", "warn": "▲", "fail": "✗"}


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "doctor", parents=[common()], help="find what is wrong, and how to mend it"
    )
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from bot.doctor.probes import probes_here  # noqa: PLC0415  # lazy: brings asyncssh

    found: list[Finding] = []

    async def look() -> None:
        from bot.doctor import examine  # noqa: PLC0415  # lazy, as above

        probes = probes_here(
            load=lambda: config_from(args), config=args.config, state=args.state, surfaces=_surfaces
        )
        async for finding in examine(probes):
            found.append(finding)
            if not args.json:
                _print(finding)

    import asyncio  # noqa: PLC0415  # lazy: slow to import

    asyncio.run(look())
    failed = any(finding.status == "fail" for finding in found)
    if args.json:
        checks = [
            {"name": f.name, "status": f.status, "code": f.code, "what": f.what, "mend": f.mend}
            for f in found
        ]
        print_json({"ok": not failed, "checks": checks})
    return 1 if failed else 0


def _surfaces(config: "Config") -> dict[str, list[str]]:
    from bot.surfaces import problems  # noqa: PLC0415  # lazy: imports what is switched on

    return {name: [one.what for one in found] for name, found in problems(config).items()}


def _print(finding: "Finding") -> None:
    print(f"{_MARKS[finding.status]} {finding.name:<18}{finding.what}", flush=True)
    if finding.mend:
        print(f"  {'':<18}{finding.mend}", flush=True)
