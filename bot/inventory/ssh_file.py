"""Files of the SSH client config, read by asyncssh's rules, with what an answer hangs on.

A fleet is asked about host by host, and taking lines apart is what takes time: each file is taken apart once,
into the blocks under its Host and Match lines, so that a host costs little more than the lines meant for it.

Apart from `ssh_config`, which imports it where a host is asked for: asyncssh is much, and only SSH needs it.
"""

import fnmatch
import heapq
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from asyncssh.config import ConfigParseError, SSHClientConfig

from bot.inventory.stamps import Stamp, stamp

__all__ = ["ConfigParseError", "Recording"]

#: Lines of a config that was read lately, by its path, as long as the file is the same.
_read: dict[Path, tuple[Stamp, "_File"]] = {}
_MOST_FILES = 256

_CONDITIONALS = SSHClientConfig._conditionals  # noqa: SLF001 -- asyncssh's own list
_NO_SPLIT = SSHClientConfig._no_split  # noqa: SLF001 -- as above
_ODD_IN_NAMES = frozenset("*?![]")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that says something."""

    number: int
    option: str
    args: tuple[str, ...]
    broken: str = ""


@dataclass(frozen=True, slots=True)
class _Names:
    """Whom a Host line means: names, and patterns for and against."""

    names: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]
    unless: tuple[re.Pattern[str], ...]

    def mean(self, host: str) -> bool:
        """Whether `host` is meant."""
        if host not in self.names and not any(one.match(host) for one in self.patterns):
            return False
        return not any(one.match(host) for one in self.unless)


@dataclass(frozen=True, slots=True)
class _Block:
    """The lines under a Host line (`names`), under another condition (`head`), or under none yet.

    Attributes:
        broken: those of its lines that are an error whomever they are meant for.
    """

    head: _Line | None
    names: _Names | None
    lines: tuple[_Line, ...]
    broken: tuple[_Line, ...]


@dataclass(frozen=True, slots=True)
class _File:
    """The blocks of a file, and which of them are to be looked at for a host.

    Attributes:
        plain: those that are for nobody but the hosts they name, by host.
        others: those that have to be looked at for every host.
    """

    blocks: tuple[_Block, ...]
    plain: Mapping[str, tuple[int, ...]]
    others: tuple[int, ...]

    def among(self, host: str) -> Iterator[_Block]:
        """Return the blocks that may say something of `host`, in their order."""
        return (self.blocks[place] for place in heapq.merge(self.others, self.plain.get(host, ())))


class Recording(SSHClientConfig):
    """asyncssh's config that also remembers what its answer hangs on."""

    def parse(self, path: Path) -> None:
        """Read a file, the first or one that it includes. Follows asyncssh's `parse`."""
        now = stamp(path)
        self.stamps.append(now)
        self._path, self._line_no, self._matching, self._tokens = path, 0, True, {"%": "%"}
        for block in _file(path, now).among(self._orig_host):
            if block.names is not None:
                self._matching = block.names.mean(self._orig_host)
            elif block.head is not None:
                self._take(block.head)
            for line in block.lines if self._matching else block.broken:
                self._take(line)
        self._finish()

    def _take(self, line: _Line) -> None:
        self._line_no = line.number
        if line.broken:
            self._error(line.broken)
        known = self._handlers.get(line.option)
        if known is None:
            return
        option, handler = known
        args = list(line.args)
        if not args:
            self._error(f"Missing {option} value")
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
    def stamps(self) -> list[Stamp]:
        """The files and folders that the answer hangs on, as they were before they were read."""
        found: list[Stamp] = self.__dict__.setdefault("_stamps", [])
        return found

    def is_settled(self) -> bool:
        """Whether that is all: nothing is to be looked at again once the host's full name is known."""
        return not (self.has_match_final() or self.get("CanonicalizeHostname"))

    def _include(self, option: str, args: list[str]) -> None:
        for pattern in args:
            whole = self._default_path / Path(pattern).expanduser()
            self.stamps.append(stamp(whole.parent))
        super()._include(option, args)

    # asyncssh dispatches through this table, not through the method's name
    _handlers = {**SSHClientConfig._handlers, "include": ("Include", _include)}  # noqa: SLF001,RUF012 -- as in the base class


def _file(path: Path, now: Stamp) -> _File:
    known = _read.get(path)
    if known is not None and known[0] == now:
        return known[1]
    with path.open() as file:
        found = _indexed(tuple(_parted(_apart(number, line) for number, line in _said(file))))
    if len(_read) >= _MOST_FILES:
        _read.clear()
    _read[path] = (now, found)
    return found


def _indexed(blocks: tuple[_Block, ...]) -> _File:
    plain: dict[str, list[int]] = {}
    others: list[int] = []
    for place, block in enumerate(blocks):
        if block.names is None or block.names.patterns or block.names.unless or block.broken:
            others.append(place)
            continue
        for name in block.names.names:
            plain.setdefault(name, []).append(place)
    return _File(blocks, {name: tuple(places) for name, places in plain.items()}, tuple(others))


def _parted(lines: Iterable[_Line]) -> Iterator[_Block]:
    head: _Line | None = None
    below: list[_Line] = []
    for line in lines:
        if line.option in _CONDITIONALS:
            yield _block(head, below)
            head, below = line, []
        else:
            below.append(line)
    yield _block(head, below)


def _block(head: _Line | None, below: list[_Line]) -> _Block:
    names = _names(head.args) if head is not None and head.option == "host" and head.args else None
    return _Block(head, names, tuple(below), tuple(line for line in below if line.broken))


def _names(args: tuple[str, ...]) -> _Names:
    """Take a Host line's patterns as asyncssh does: `*`, `?`, `!` in front; brackets stand for themselves."""
    said = ",".join(args).split(",")
    plain = frozenset(one for one in said if not _ODD_IN_NAMES & set(one))
    patterns = tuple(_pattern(one) for one in said if one not in plain and not one.startswith("!"))
    return _Names(plain, patterns, tuple(_pattern(one[1:]) for one in said if one.startswith("!")))


def _pattern(text: str) -> re.Pattern[str]:
    bare = "".join(f"[{letter}]" if letter in "[]" else letter for letter in text)
    return re.compile(fnmatch.translate(bare))


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
        return _Line(number, "", (), broken=str(error))
    option, args = _words(words)
    if option in _NO_SPLIT:
        args = [text[len(option) :].strip()]
    return _Line(number, option, tuple(args))


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
