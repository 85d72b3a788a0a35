"""A file of the SSH client config, parsed by asyncssh, with what else was read for it.

Apart from `ssh_config`, which imports it where a host is asked for: asyncssh is much, and only SSH needs it.
"""

from pathlib import Path

from asyncssh.config import ConfigParseError, SSHClientConfig

__all__ = ["ConfigParseError", "Recording"]


class Recording(SSHClientConfig):
    """asyncssh's config that also remembers which files and folders its answer hangs on."""

    def parse(self, path: Path) -> None:
        """Read a file, the first or one that it includes."""
        self.__dict__.setdefault("read_paths", []).append(path)
        super().parse(path)

    def _include(self, option: str, args: list[str]) -> None:
        for pattern in args:
            whole = self._default_path / Path(pattern).expanduser()
            self.__dict__.setdefault("read_paths", []).append(whole.parent)
        super()._include(option, args)

    # asyncssh dispatches through this table, not through the method's name
    _handlers = {**SSHClientConfig._handlers, "include": ("Include", _include)}  # noqa: SLF001,RUF012 -- as in the base class
