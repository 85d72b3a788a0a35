"""Which hosts an SSH client config names: the aliases of its `Host` lines, through `Include`.

Patterns are left out, since nothing tells which hosts they stand for. What an alias means is
`bot.inventory.ssh_config`'s business.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

from bot.inventory.ssh_config import SshConfigError

_MAX_DEPTH = 16  # OpenSSH's own limit
_PATTERN = frozenset("*?!")


def aliases(path: Path) -> tuple[str, ...]:
    """Return the aliases in the order they stand, each once. Raises SshConfigError."""
    return tuple(dict.fromkeys(_aliases(path, depth=0)))


def _aliases(path: Path, *, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise SshConfigError(f"SSH config: {path} includes itself, or too many files")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SshConfigError(f"SSH config: {path}: {error}") from error
    for number, line in enumerate(text.splitlines(), 1):
        keyword, values = _words(line, f"{path} line {number}")
        if keyword == "host":
            yield from (value for value in values if not _PATTERN & set(value))
        elif keyword == "include":
            for pattern in values:
                for included in _matching(pattern):
                    yield from _aliases(included, depth=depth + 1)


def _words(line: str, where: str) -> tuple[str, list[str]]:
    stripped = line.strip()
    if not stripped or stripped.startswith("#"):
        return "", []
    keyword, _, rest = stripped.replace("=", " ", 1).partition(" ")
    try:
        return keyword.lower(), shlex.split(rest)
    except ValueError as error:
        raise SshConfigError(f"SSH config: {where}: {error}") from error


def _matching(pattern: str) -> list[Path]:
    path = Path(pattern).expanduser()
    if path.is_absolute():
        return sorted(p for p in Path(path.anchor).glob(str(path.relative_to(path.anchor))) if p.is_file())
    return sorted(p for p in Path("~/.ssh").expanduser().glob(pattern) if p.is_file())
