"""Typed access to the tables of a rule file; every complaint names the file and the key.

Knows TOML's types and nothing of shell. What the keys mean is gate.shell._schema's business.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from gate.domain import Risk
from gate.errors import RuleError

_E = TypeVar("_E", bound=StrEnum)


def choice(reader: "Reader", key: str, kind: type[_E], default: _E) -> _E:
    """Read one of the values of an enumeration."""
    value = reader.text(key, default.value)
    try:
        return kind(value)
    except ValueError as error:
        raise reader.fail(key, f"no such choice: {value}") from error


class Reader:
    """Typed access to one table; every complaint names the file and the key."""

    def __init__(self, source: str, table: Mapping[str, object], where: str) -> None:
        self.source = source
        self.data = table
        self.where = where

    def fail(self, key: str, problem: str) -> RuleError:
        """Return the complaint about `key`, to be raised."""
        place = f"{self.where}: {key}" if self.where else key
        return RuleError(f"{self.source}: {place}: {problem}")

    def only(self, *keys: str) -> None:
        """Refuse keys that nobody reads."""
        for key in self.data:
            if key not in keys:
                raise self.fail(key, "unknown key")

    def text(self, key: str, default: str = "") -> str:
        """Read a string."""
        value = self.data.get(key, default)
        if not isinstance(value, str):
            raise self.fail(key, "must be a string")
        return value

    def words(self, key: str) -> tuple[str, ...]:
        """Read blank-separated words, or a list of strings."""
        value = self.data.get(key, "")
        if isinstance(value, str):
            return tuple(value.split())
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise self.fail(key, "must be words in a string, or a list of strings")

    def flag(self, key: str) -> bool:
        """Read a boolean."""
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise self.fail(key, "must be true or false")
        return value

    def maybe(self, key: str) -> bool | None:
        """Read a boolean that may be absent."""
        return self.flag(key) if key in self.data else None

    def number(self, key: str) -> int | None:
        """Read a count that may be absent."""
        value = self.data.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
            return value
        raise self.fail(key, "must be a number from 0")

    def pattern(self, key: str) -> re.Pattern[str] | None:
        """Read a regular expression that may be absent."""
        value = self.text(key)
        return self.compile(key, value) if value else None

    def compile(self, key: str, value: str) -> re.Pattern[str]:
        """Compile, or complain."""
        try:
            return re.compile(value, re.DOTALL)
        except re.error as error:
            raise self.fail(key, f"bad pattern: {error}") from error

    def risk(self, key: str) -> Risk | None:
        """Read a class that may be absent."""
        value = self.text(key)
        return choice(self, key, Risk, Risk.READ_ONLY) if value else None

    def table(self, key: str) -> "Reader":
        """Read a table; an absent one is empty."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.fail(key, "must be a table")
        return Reader(self.source, value, self._below(key))

    def tables(self, key: str) -> list["Reader"]:
        """Read a list of tables; an absent one is empty."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.fail(key, "must be a list of tables")
        return [
            Reader(self.source, item, self._below(f"{key} {_label(item, n)}"))
            for n, item in enumerate(value, 1)
        ]

    def _below(self, key: str) -> str:
        return f"{self.where}: {key}" if self.where else key


def _label(table: Mapping[str, object], position: int) -> str:
    name = table.get("name")
    return name if isinstance(name, str) else str(position)
