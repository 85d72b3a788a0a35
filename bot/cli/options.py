"""Options that every command which needs the config takes, and the config they make.

It reads nothing itself: bot.settings.config does, when a command asks.
"""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from bot.settings.config import Config
    from bot.settings.paths import Paths

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001  # it has no public name


def common() -> argparse.ArgumentParser:
    """Return a parent parser with --config, --state and --set."""
    parent = argparse.ArgumentParser(add_help=False)
    group = parent.add_argument_group("config")
    group.add_argument("--config", type=Path, metavar="FILE", help="config file, before $SAYSO_CONFIG")
    group.add_argument("--state", type=Path, metavar="DIR", help="state folder, before $SAYSO_HOME")
    group.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="one setting, for this run only"
    )
    return parent


def config_from(args: argparse.Namespace) -> "Config":
    """Load the config that `args` of `common` ask for.

    Raises:
        ConfigError: with every problem found.
    """
    from bot.settings.config import for_process  # noqa: PLC0415  # lazy: brings pydantic

    return for_process(config=args.config, state=args.state, flags=args.set)


def paths_from(args: argparse.Namespace) -> "Paths":
    """Return where the state lies, without reading the config: not everybody who may talk may read that."""
    import os  # noqa: PLC0415  # lazy, like everything here

    from bot.settings.paths import state_paths  # noqa: PLC0415

    environ = dict(os.environ)
    if args.state is not None:
        environ["SAYSO_HOME"] = str(args.state)
    return state_paths(environ, Path.home())


def in_words(value: object) -> str:
    """Return a value of a report as a person reads it."""
    match value:
        case None | () | [] | "":
            return "none"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(map(in_words, value))
        case _:
            return str(value)


def print_json(value: Any) -> None:  # noqa: ANN401  # whatever json can write
    """Print one JSON value on one line."""
    import json  # noqa: PLC0415  # lazy: few commands need it

    print(json.dumps(value, ensure_ascii=False))


def ledger_path(args: argparse.Namespace) -> Path:
    """Return the ledger file that --ledger, --state or the environment names."""
    if args.ledger is not None:
        return Path(args.ledger).absolute()
    from bot.settings.paths import state_paths  # noqa: PLC0415  # lazy: only ledger commands need it

    environ = os.environ if args.state is None else {"SAYSO_HOME": str(args.state)}
    return state_paths(environ, Path.home()).ledger
