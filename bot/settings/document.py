"""What a config file may hold, and what is wrong with one that holds something else.

TOML in, strict models out. Sections of plain settings come from the registry; people and the inventory have
models. It does not resolve layers. The rule it owns: an unknown key is an error that names the file, the
line, the key and the nearest key there is (D24).
"""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails

from bot.delegates.config import AgentConfig
from bot.inventory.config import ServiceConfig, TargetConfig
from bot.settings.errors import ConfigError, Problem, unknown
from bot.settings.registry import SETTINGS
from bot.settings.setting import Value
from bot.signals.config import SignalRuleConfig
from gate.domain import Risk

_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)
_ACCOUNT = r"^[a-z][a-z0-9_-]*:[^:\s]*:\S+$"
#: The one name in [routing] that is no target, tag or risk: where cards go that nobody answered.
ESCALATION = "escalation"
#: Where the rules of `[[signals.match]]` stand in a document.
_RULES = "signal_rules"
_PLACE = r"^[a-z][a-z0-9_-]*:[^:\s]*:[^:\s]+(?::\S+)?$"
_HOURS = r"^$|^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$"
_NAME = r"^[a-z0-9][a-z0-9._-]{0,62}$"


class MayConfig(BaseModel):
    """One line of what an operator may approve: up to this risk, on these slugs, "@tags" or "*"."""

    model_config = _STRICT
    risk: Risk
    targets: tuple[str, ...] = ("*",)


class OperatorConfig(BaseModel):
    """One person who may ask, and approve what `may` says."""

    model_config = _STRICT
    accounts: tuple[Annotated[str, Field(pattern=_ACCOUNT)], ...] = ()
    roles: tuple[str, ...] = ()
    may: tuple[MayConfig, ...] = ()
    timezone: str = ""
    quiet: Annotated[str, Field(pattern=_HOURS)] = ""


def _section(name: str) -> type[BaseModel]:
    fields = {
        setting.name: (setting.type, setting.default) for setting in SETTINGS if setting.section == name
    }
    return create_model(name, __config__=_STRICT, **fields)  # type: ignore[call-overload, no-any-return]  # fields are data


_SECTIONS = {name: _section(name) for name in dict.fromkeys(setting.section for setting in SETTINGS)}
_TABLES: dict[str, type[BaseModel]] = {
    "routing": BaseModel,
    "places": BaseModel,
    "operators": OperatorConfig,
    "targets": TargetConfig,
    "services": ServiceConfig,
    "adapters": BaseModel,
    "agents": AgentConfig,
}


class Document(BaseModel):
    """A whole file, validated.

    Attributes:
        settings: registry keys and the values that the file sets for them.
        adapters: what stands under `[adapters.NAME]`; each adapter validates its own (bot.surfaces).
    """

    model_config = _STRICT
    settings: dict[str, Value] = {}
    routing: dict[str, Annotated[str, Field(pattern=_PLACE)]] = {}
    places: dict[Annotated[str, Field(pattern=_NAME)], Annotated[str, Field(pattern=_PLACE)]] = {}
    operators: dict[Annotated[str, Field(pattern=_NAME)], OperatorConfig] = {}
    targets: dict[Annotated[str, Field(pattern=_NAME)], TargetConfig] = {}
    services: dict[str, ServiceConfig] = {}
    adapters: dict[Annotated[str, Field(pattern=_NAME)], dict[str, Any]] = {}
    signal_rules: tuple[SignalRuleConfig, ...] = ()
    agents: dict[Annotated[str, Field(pattern=_NAME)], AgentConfig] = {}


def parse(text: str, *, file: str) -> Document:
    """Return the content of a config file.

    Raises:
        ConfigError: with every problem found.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([Problem(where=file, key="", what=f"not TOML: {error}.")]) from None
    problems: list[Problem] = []
    settings: dict[str, Value] = {}
    rules = _signal_rules(raw)
    for name, content in raw.items():
        if name in _SECTIONS:
            section, found = _read_section(name, content)
            settings |= section
            problems += found
        elif name not in _TABLES:
            what = unknown("section", name, [*_SECTIONS, *_TABLES])
            problems.append(Problem(where="", key=name, what=what))
    tables, found = _read_tables({name: raw[name] for name in _TABLES if name in raw} | rules)
    problems += found
    if problems:
        raise ConfigError(_located(problem, text, file) for problem in problems)
    return tables.model_copy(update={"settings": settings})


def _signal_rules(raw: dict[str, Any]) -> dict[str, object]:
    """Take `[[signals.match]]` out of a section that holds settings otherwise."""
    section = raw.get("signals")
    if not isinstance(section, dict) or "match" not in section:
        return {}
    raw["signals"] = {name: value for name, value in section.items() if name != "match"}
    return {_RULES: section["match"]}


def _read_section(name: str, content: object) -> tuple[dict[str, Value], list[Problem]]:
    try:
        # JSON mode: strict, yet lists become tuples and words become enum members.
        section = _SECTIONS[name].model_validate_json(json.dumps(content, default=str))
    except ValidationError as error:
        return {}, [_problem((name,), detail) for detail in error.errors(include_url=False)]
    said = {f"{name}.{field}": cast("Value", getattr(section, field)) for field in section.model_fields_set}
    return said, []


def _read_tables(raw: dict[str, object]) -> tuple[Document, list[Problem]]:
    try:
        return Document.model_validate_json(json.dumps(raw, default=str)), []
    except ValidationError as error:
        return Document(), [_problem((), detail) for detail in error.errors(include_url=False)]


def _problem(prefix: tuple[str, ...], detail: ErrorDetails) -> Problem:
    path = (*prefix, *detail["loc"])
    named = ("signals", "match", *path[1:]) if path[0] == _RULES else path
    key = ".".join(str(part) for part in named if part != "[key]")
    if detail["type"] == "extra_forbidden":
        return Problem(where="", key=key, what=unknown("key", str(path[-1]), _known_beside(path)))
    given = detail["input"]
    shown = f" (is {given!r})" if isinstance(given, str | int | float | bool) else ""
    return Problem(where="", key=key, what=f"{_what(detail)}{shown}.")


#: What the keys of the inventory allow, in words; every other pattern is that of a name.
_ALLOWED = {
    "accounts": 'Write an account as "platform:place:name", such as "console::ana", without spaces',
    "address": "An address is a host name or an IP address: letters, digits, dots, dashes, colons",
    "user": "A user name has letters, digits, dots, dashes, underscores and @",
    "become": "A user name has letters, digits, dots, dashes, underscores and @",
    "container": "A container's name has letters, digits, dots, dashes and underscores",
    "pod": 'Write a pod as "name" or "kind/name", in lower-case letters, digits, dots and dashes',
    "shell": 'Write a shell as its name or path, such as "sh" or "/bin/bash"',
}
_A_NAME = (
    "A name has 1 to 63 lower-case letters, digits, dots, dashes and underscores,"
    " the first a letter or a digit"
)


def _what(detail: ErrorDetails) -> str:
    """Return what is wrong, never by quoting a pattern."""
    if detail["type"] != "string_pattern_mismatch":
        return detail["msg"].removeprefix("Value error, ")
    if detail["loc"][0] in ("routing", "places") and detail["loc"][-1] != "[key]":
        return 'Write a place as "platform:tenant:channel", with ":thread" after it for a thread'
    field = next((part for part in reversed(detail["loc"]) if isinstance(part, str)), "")
    return _ALLOWED.get(field, _A_NAME)


def _known_beside(path: Sequence[str | int]) -> Iterable[str]:
    """Return the keys that may stand where the last part of `path` stands."""
    if path[0] == _RULES:
        return SignalRuleConfig.model_fields
    if path[0] in _SECTIONS:
        return _SECTIONS[str(path[0])].model_fields
    if "may" in path[:-1]:
        return MayConfig.model_fields
    fields = _TABLES[str(path[0])].model_fields
    return [field.alias or name for name, field in fields.items()]


def _located(problem: Problem, text: str, file: str) -> Problem:
    line = _line_of(problem.key.split("."), text)
    return Problem(where=f"{file}:{line}" if line else file, key=problem.key, what=problem.what)


def _line_of(path: Sequence[str], text: str) -> int | None:
    """Find the line of a key, as TOML is usually written: `[a.b]`, then `key =`."""
    best: tuple[int, int] | None = None  # (how many parts of the path match, line)
    table: list[str] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\[?([^\]]+)\]", line):
            table = [part.strip().strip("\"'") for part in header[1].split(".")]
            if line.lstrip().startswith("[["):  # one of several, named by its number
                name = header[1].strip()
                seen[name] = seen.get(name, -1) + 1
                table.append(str(seen[name]))
            here = table
        elif assignment := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            here = [*table, *(part.strip("\"'") for part in assignment[1].split("."))]
        else:
            continue
        if here == list(path[: len(here)]) and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None
