"""Files of the SSH client config, read by asyncssh's rules, with what an answer hangs on and is made of.

A fleet is asked about host by host, and taking lines apart is what takes time: each file is taken apart once,
and a host's own lines are remembered, so that opening its connection need not read all of the others' again.

Apart from `ssh_config`, which imports it where a host is asked for: asyncssh is much, and only SSH needs it.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from asyncssh.config import ConfigParseError, SSHClientConfig

from bot.inventory.stamps import Stamp, stamp

__all__ = ["ConfigParseError", "Recording"]

#: Lines of a config that was read lately, by its path, as long as the file is the same.
_read: dict[Path, tuple[Stamp, "tuple[_Line, ...]"]] = {}
_MOST_FILES = 256

_CONDITIONALS = SSHClientConfig._conditionals  # noqa: SLF001 -- asyncssh's own list
_NO_SPLIT = SSHClientConfig._no_split  # noqa: SLF001 -- as above
_ODD_IN_NAMES = frozenset("*?!,[]")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that says something; `names` are those of a Host line without patterns, None for others."""

    number: int
    raw: str
    option: str
    args: tuple[str, ...]
    names: frozenset[str] | None
    broken: str = ""


class Recording(SSHClientConfig):
    """asyncssh's config that also remembers what its answer hangs on, and the lines that it is made of."""

    def parse(self, path: Path) -> None:
        """Read a file, the first or one that it includes. Follows asyncssh's `parse`, line by line."""
        self.read_paths.append(path)
        self._path, self._line_no, self._matching, self._tokens = path, 0, True, {"%": "%"}
        for line in _lines(path):
            self._line_no = line.number
            if line.broken:
                self._error(line.broken)
            if line.names is not None:
                self._matching = self._orig_host in line.names
            elif self._matching or line.option in _CONDITIONALS:
                self._take(line)
        self._finish()

    def _take(self, line: _Line) -> None:
        known = self._handlers.get(line.option)
        if known is None:
            return
        option, handler = known
        args = list(line.args)
        if not args:
            self._error(f"Missing {option} value")
        if line.option not in {*_CONDITIONALS, "include"}:
            self.lines.append(line.raw)
        handler(self, option, args)
        if args:
            self._error(f"Extra data at end: {' '.join(args)}")

    def _finish(self) -> None:
        self._set_tokens()
        for option in self._percent_expand:
            value = self._options.get(option)
            if isinstance(value, list):
                self._options[option] = [self._expand_val(item) for item in value]
            elif isinstance(value, str):
                self._options[option] = self._expand_val(value)

    @property
    def read_paths(self) -> list[Path]:
        """The files and folders that the answer hangs on."""
        found: list[Path] = self.__dict__.setdefault("_read_paths", [])
        return found

    @property
    def lines(self) -> list[str]:
        """The lines that the answer is made of, in their order, without the conditions they stood under."""
        found: list[str] = self.__dict__.setdefault("_own_lines", [])
        return found

    def is_settled(self) -> bool:
        """Whether those lines say all by themselves, read once.

        Nothing is to be looked at again once the host's full name is known. Where other files were included,
        nothing has a percent sign: asyncssh puts in what it knows at the end of each file.
        """
        again = self.has_match_final() or self.get("CanonicalizeHostname")
        return not again and not (
            self.__dict__.get("_has_included") and any("%" in line for line in self.lines)
        )

    def _include(self, option: str, args: list[str]) -> None:
        self.__dict__["_has_included"] = True
        for pattern in args:
            whole = self._default_path / Path(pattern).expanduser()
            self.read_paths.append(whole.parent)
        super()._include(option, args)

    # asyncssh dispatches through this table, not through the method's name
    _handlers = {**SSHClientConfig._handlers, "include": ("Include", _include)}  # noqa: SLF001,RUF012 -- as in the base class


def _lines(path: Path) -> tuple[_Line, ...]:
    now = stamp(path)
    known = _read.get(path)
    if known is not None and known[0] == now:
        return known[1]
    with path.open() as file:
        lines = tuple(_apart(number, line.strip()) for number, line in _said(file))
    if len(_read) >= _MOST_FILES:
        _read.clear()
    _read[path] = (now, lines)
    return lines


def _said(file: Iterator[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(file, start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield number, text


def _apart(number: int, text: str) -> _Line:
    """Take a line apart as asyncssh does: blanks, quotes, and one `=` after the option's name."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        return _Line(number, text, "", (), None, broken=str(error))
    option, args = _words(words)
    if option in _NO_SPLIT:
        args = [text[len(option) :].strip()]
    plain = option == "host" and bool(args) and not any(_ODD_IN_NAMES & set(name) for name in args)
    return _Line(number, text, option, tuple(args), frozenset(args) if plain else None)


def _words(words: list[str]) -> tuple[str, list[str]]:
    option, args = "", []
    takes_equal = True
    for index, word in enumerate(words):
        if word.startswith("="):
            args += [word[1:]] if len(word) > 1 else []
        elif not takes_equal:
            args += words[index:]
            break
        elif word.endswith("="):
            args.append(word[:-1])
        elif "=" in word:
            args += word.split("=", 1)
        else:
            args.append(word)
        if index == 0:
            option = args.pop(0).lower()
            takes_equal = option in _CONDITIONALS
    return option, args
