"""`sayso mcp`: what a coding agent starts to ask a running sayso, over stdio.

It passes lines between the agent and the local socket, and holds no rule: who the agent is, and how far it
may go, the running sayso knows.
"""

import argparse
import os
from pathlib import Path

from bot.cli.options import Subparsers, common, paths_from

_VARIABLE = "SAYSO_AGENT_TOKEN"


def register(subparsers: Subparsers) -> None:
    """Add the command."""
    mcp = subparsers.add_parser(
        "mcp",
        parents=[common()],
        help="let an agent ask, over MCP on stdin and stdout",
        description="MCP on stdin and stdout, for agents that start their servers. It needs a running sayso "
        "serve. Without --agent, the agent is the one that runs as this user.",
    )
    mcp.add_argument("--agent", default="", metavar="NAME", help="a name of [agents.NAME]")
    mcp.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"a file that holds its secret, mode 600; else ${_VARIABLE}",
    )
    mcp.set_defaults(run=_mcp)


def _mcp(args: argparse.Namespace) -> int:
    import sys  # noqa: PLC0415  # lazy, like everything here

    from adapters.mcp.pipe import talk  # noqa: PLC0415  # lazy: brings asyncio

    secret = os.environ.get(_VARIABLE, "")
    if args.token_file is not None:
        try:
            secret = args.token_file.expanduser().read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "not text"
            print(f"{args.token_file} cannot be read ({why}).", file=sys.stderr)
            return 2
    return talk(paths_from(args).agents_socket, agent=args.agent, secret=secret)
