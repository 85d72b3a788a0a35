"""`sayso init`: write a starter config that explains itself.

It asks nothing and overwrites nothing. The rule it owns: what it writes loads as it stands.
"""

import argparse
import os
import re
from pathlib import Path

from bot.cli.options import Subparsers, common

_STARTER = """\
# The config of sayso. Check it with: sayso config check
# config.example.toml in the source explains every key.

# Who may ask, and approve what. The account of this machine's console is console::<login name>.
[operators.{name}]
accounts = [{account}]
may = [{{ risk = "destructive", targets = ["*"] }}]

# Where commands run.
[targets.local]
kind = "local"

# A host over SSH. Its key must be in known_hosts: sayso never trusts an unknown one.
# [targets.web1]
# address = "web1.example.org"
# user = "ops"
# become = true          # sudo -n, where a command asks for sudo
# tags = ["web"]

# What depends on what, so that cards can say it.
# [services.caddy]
# on = ["web1"]
# [services.blog]
# on = ["web1"]
# depends_on = ["caddy"]

# Which commands wait for a yes: approve_most (all but read-only ones), approve_config, approve_all.
[policy]
posture = "approve_most"
"""


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser("init", parents=[common()], help="write a starter config")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from bot.local_socket import login_name  # noqa: PLC0415  # lazy, like everything here
    from bot.settings.paths import config_file  # noqa: PLC0415

    file = args.config or config_file(os.environ, Path.home())[0]
    text = starter(login_name(os.geteuid()))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Never over an existing file, and private: who may write it may do everything.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        print(f"{file} exists and is left alone. Check it with: sayso config check")
        return 1
    print(f"Wrote {file}. Next: sayso chat, or add targets and run: sayso config check")
    return 0


def starter(login: str) -> str:
    """Return the text of a starter config whose one operator is `login`."""
    import json  # noqa: PLC0415  # lazy: its strings are TOML strings

    # A login such as "Ana.Smith$" is no name of an operator; what people type is plain.
    name = re.sub(r"[^a-z0-9._-]", "-", login.lower()).lstrip("._-") or "owner"
    if name in {"sayso", "agent", "bot"}:  # names of the agent, which is never an operator
        name = "owner"
    return _STARTER.format(
        account=json.dumps(f"console::{login}"), name=json.dumps(name) if "." in name else name
    )
