"""`sayso targets list`, `check`, `import`: what is in the inventory, and whether it can be reached.

`import` prints tables to paste and writes nothing: who is in the inventory is the operator's word.
"""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.options import Subparsers, common, config_from, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.execution.check import Reach
    from bot.inventory.importing import Found
    from bot.settings.config import Config


def register(subparsers: Subparsers) -> None:
    """Add the commands."""
    verbs = subparsers.add_parser("targets", help="the inventory").add_subparsers(
        metavar="verb", required=True
    )
    listing = verbs.add_parser("list", parents=[common()], help="every target")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(run=_list)
    check = verbs.add_parser("check", parents=[common()], help="try to reach them")
    check.add_argument("name", nargs="*", help="names, @tags or all; all when left out")
    check.add_argument("--json", action="store_true", help="one JSON object a line")
    check.set_defaults(run=_check)
    importing = verbs.add_parser(
        "import",
        help="tables for the hosts of an SSH config or an Ansible inventory",
        description="Print [targets.*] tables to paste into the config. Nothing is written.",
    )
    importing.add_argument(
        "file", type=Path, nargs="?", default=Path("~/.ssh/config"), help="default: %(default)s"
    )
    importing.add_argument(
        "--from", dest="format", choices=("ssh", "ini", "yaml"), help="guessed when left out"
    )
    importing.set_defaults(run=_import)


def _list(args: argparse.Namespace) -> int:
    from bot.settings.inventory import inventory_of  # noqa: PLC0415  # lazy: brings rapidfuzz

    for target in inventory_of(config_from(args)).targets.values():
        tags = [f"@{tag}" for tag in target.tags]
        if args.json:
            print_json(
                {
                    "name": target.id,
                    "kind": target.kind,
                    "address": target.address,
                    "user": target.user,
                    "via": target.via,
                    "tags": list(target.tags),
                    "state": target.state,
                    "never_auto_act": target.never_auto_act,
                }
            )
            continue
        where = f"{target.user}@{target.address}" if target.user else target.address
        via = f"via {target.via}" if target.via else ""
        state = "" if target.state == "active" else str(target.state)
        print(" ".join(filter(None, (f"{target.id:<16}{target.kind:<8}", where, via, *tags, state))).rstrip())
    return 0


def _check(args: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415  # lazy: slow to import

    config = config_from(args)
    found = asyncio.run(_reach(config, args.name))
    if found is None:
        return 1
    for name, reach in found.items():
        if args.json:
            print_json(
                {
                    "name": name,
                    "ok": reach.ok,
                    "cause": reach.cause,
                    "note": reach.note,
                    "skew_s": reach.skew_s,
                }
            )
        else:
            mark = "✓" if reach.ok and not reach.cause else "▲" if reach.ok else "✗"
            print(f"{mark} {name:<16}{reach.note or f'reached in {reach.connect_s:.1f} s'}")
    return 0 if all(reach.ok for reach in found.values()) else 1


async def _reach(config: "Config", names: list[str]) -> "Mapping[str, Reach] | None":
    from bot.clock import SystemClock  # noqa: PLC0415  # lazy, as below
    from bot.doctor.probes import reach_all  # noqa: PLC0415  # lazy: brings asyncssh
    from bot.inventory import NoSuchTarget  # noqa: PLC0415
    from bot.settings.inventory import inventory_of  # noqa: PLC0415

    chosen = inventory_of(config).select(" ".join(names) or "all")
    if isinstance(chosen, NoSuchTarget):
        print(chosen.reason.text)
        return None
    return await reach_all(config, clock=SystemClock(), only=frozenset(target.id for target in chosen))


def _import(args: argparse.Namespace) -> int:
    import sys  # noqa: PLC0415  # lazy, like everything here

    from bot.inventory import InventoryError  # noqa: PLC0415  # lazy: brings rapidfuzz
    from bot.inventory.importing import to_toml  # noqa: PLC0415
    from bot.inventory.ssh_config import SshConfigError  # noqa: PLC0415

    file = args.file.expanduser()
    try:
        found = _found(file, args.format or _guess(file))
    except (InventoryError, SshConfigError, OSError, UnicodeDecodeError) as error:
        print(f"{file}: {error}", file=sys.stderr)
        return 1
    if not found:
        print(f"{file} names no hosts.", file=sys.stderr)
        return 1
    print(to_toml(found), end="")
    return 0


def _guess(file: Path) -> str:
    """Guess the format of an inventory: an SSH config has Host lines, YAML has its suffix."""
    if file.suffix in {".yml", ".yaml"}:
        return "yaml"
    words = {
        line.split()[0].lower() for line in file.read_text(encoding="utf-8").splitlines() if line.split()
    }
    return "ssh" if words & {"host", "match", "include"} else "ini"


def _found(file: Path, form: str) -> "tuple[Found, ...]":
    from bot.inventory import ansible  # noqa: PLC0415  # lazy: only here
    from bot.inventory.aliases import aliases  # noqa: PLC0415
    from bot.inventory.importing import from_ssh  # noqa: PLC0415
    from bot.inventory.ssh_config import SshConfig  # noqa: PLC0415
    from bot.local_socket import login_name  # noqa: PLC0415

    if form == "ssh":
        known = SshConfig(path=file, local_user=login_name(os.geteuid()))
        return from_ssh(known.host(alias) for alias in aliases(file))
    read = ansible.read_yaml if form == "yaml" else ansible.read_ini
    return read(file.read_text(encoding="utf-8"))
