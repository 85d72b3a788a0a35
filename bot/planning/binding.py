"""Slots: what a value may look like, and how it becomes part of a command without ever becoming syntax.

A value is checked against the strict pattern of its type, then quoted for the shell; a template may hold a
placeholder only where a plain word may stand. Both together are the rule this module owns: no value that a
person or an alert wrote can add an option, a command, a pipe or a substitution.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class InputType(StrEnum):
    """What an input of a document holds."""

    STRING = "string"  # words without shell or control characters, never starting with a dash
    INTEGER = "integer"  # 0 to 999999
    SERVICE = "service"  # a unit name
    NAME = "name"  # a container, package, process or user
    PATH = "path"  # absolute
    HOST = "host"  # a DNS name or an IP address


_PATTERNS = {
    InputType.STRING: re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.,:@/+=-]{0,199}", re.ASCII),
    InputType.INTEGER: re.compile(r"0|[1-9][0-9]{0,5}", re.ASCII),
    InputType.SERVICE: re.compile(r"[A-Za-z0-9][A-Za-z0-9:_.@-]{0,127}", re.ASCII),
    InputType.NAME: re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,127}", re.ASCII),
    InputType.PATH: re.compile(r"/[A-Za-z0-9_@%+=:,./-]{0,1023}", re.ASCII),
    InputType.HOST: re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?", re.ASCII),
}
PLACEHOLDER = re.compile(r"\{\{\s*inputs\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_BRACES = re.compile(r"\{\{\s*inputs\b")
_WORD_CHARS = re.compile(r"[A-Za-z0-9_@%+=:,./-]*", re.ASCII)


class BindingError(Exception):
    """A template or value cannot be bound; mend the document that the message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One declared input. `default` and `enum` are already strings; None is no default."""

    name: str
    type: InputType = InputType.STRING
    required: bool = True
    default: str | None = None
    enum: tuple[str, ...] = ()

    def accepts(self, value: str) -> bool:
        """Whether `value` may fill this input."""
        if self.enum and value not in self.enum:
            return False
        return _PATTERNS[self.type].fullmatch(value) is not None


def placeholders(template: str) -> tuple[str, ...]:
    """Return the input names a command template uses, in order.

    Raises:
        BindingError: a placeholder is misspelt, or stands inside quotes, a substitution or another
            expansion, where quoting its value would not hold.
    """
    names = tuple(match[1] for match in PLACEHOLDER.finditer(template))
    if len(_BRACES.findall(template)) != len(names):
        raise BindingError(f"misspelt placeholder in: {template}")
    for match in PLACEHOLDER.finditer(template):
        before, after = template[: match.start()], template[match.end() :]
        if _open_context(before) or not _is_word_edge(before[::-1]) or not _is_word_edge(after):
            raise BindingError(
                f"{match[0]} must stand in a plain word, outside quotes and substitutions: {template}"
            )
    return names


def _is_word_edge(text: str) -> bool:
    """Whether the word characters next to a placeholder end at a blank, another placeholder or the end."""
    rest = text[_WORD_CHARS.match(text).end() :]  # type: ignore[union-attr] # the pattern matches ""
    return not rest or rest[0] in " \t" or rest.startswith(("{{", "}}"))


def _open_context(text: str) -> bool:
    """Whether a quote or substitution may still be open at the end of `text`; when in doubt, yes."""
    bare = PLACEHOLDER.sub("x", text)
    return any(bare.count(mark) % 2 for mark in "'\"`") or any(
        mark in bare for mark in ("$", "<<", "(", "{", "\\")
    )


def bind(template: str, values: Mapping[str, str], *, inputs: Mapping[str, Input]) -> str:
    """Return the command with every placeholder replaced by its quoted value.

    Raises:
        BindingError: an input is undeclared, missing, or its value is not of its type.
    """
    placeholders(template)

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        declared = inputs.get(name)
        value = values.get(name)
        if declared is None or value is None or not declared.accepts(value):
            raise BindingError(f"no usable value for {name}: {value!r}")
        return shlex.quote(value)

    return PLACEHOLDER.sub(fill, template)
