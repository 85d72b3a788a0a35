"""Where things lie: the state folder and the config file.

Given the environment as a mapping; touches no file. `$SAYSO_HOME` holds the state, else the XDG state
folder; `$SAYSO_CONFIG` names the config, else the XDG config folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Paths:
    """The state folder and what lies in it."""

    state: Path

    @property
    def ledger(self) -> Path:
        """The ledger's SQLite file."""
        return self.state / "ledger.db"

    @property
    def socket(self) -> Path:
        """Where the writing process listens for the command line."""
        return self.state / "sayso.sock"

    @property
    def agents_socket(self) -> Path:
        """Where the writing process listens for agents, through `sayso mcp`."""
        return self.state / "agents.sock"

    @property
    def health(self) -> Path:
        """How the surfaces of the running process are, as it wrote it last."""
        return self.state / "health.json"

    @property
    def library(self) -> Path:
        """The operator's own runbooks and diagnostics, laid over those that come with sayso."""
        return self.state / "library"

    @property
    def history(self) -> Path:
        """Lines typed on this machine's console."""
        return self.state / "console_history"


def state_paths(environ: Mapping[str, str], home: Path) -> Paths:
    """Return the state folder that `environ` names."""
    if own := environ.get("SAYSO_HOME"):
        return Paths(Path(own).absolute())
    return Paths(_xdg(environ, "XDG_STATE_HOME", home / ".local" / "state") / "sayso")


def config_file(environ: Mapping[str, str], home: Path) -> tuple[Path, bool]:
    """Return the config file, and whether it was named explicitly (then it must exist)."""
    if own := environ.get("SAYSO_CONFIG"):
        return Path(own).absolute(), True
    return _xdg(environ, "XDG_CONFIG_HOME", home / ".config") / "sayso" / "config.toml", False


def _xdg(environ: Mapping[str, str], variable: str, fallback: Path) -> Path:
    """Return the folder of `variable`; the XDG specification says to ignore relative ones."""
    given = Path(environ.get(variable) or "")
    return given if given.is_absolute() else fallback
