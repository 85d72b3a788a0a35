"""The layers that come as strings: environment variables and --set flags.

Given the environment as a mapping; validates every value by the registry's type. The rule it owns: a variable
that looks like a setting and is none is an error, since a mistyped safety key must not be passed over.
"""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import TypeAdapter, ValidationError

from bot.settings.errors import Problem, unknown
from bot.settings.layers import Candidate, Layer
from bot.settings.registry import BY_KEY, SETTINGS
from bot.settings.setting import Setting, Value

_WORDS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def from_environment(environ: Mapping[str, str], problems: list[Problem]) -> dict[str, Candidate]:
    """Return what SAYSO_<SECTION>_<KEY> variables set; what is wrong is added to `problems`."""
    variables = {setting.variable: setting for setting in SETTINGS}
    sections = tuple({f"SAYSO_{setting.section.upper()}_" for setting in SETTINGS})
    said: dict[str, Candidate] = {}
    for name, text in environ.items():
        if not name.startswith(sections):
            continue
        if name not in variables:
            problems.append(Problem(where="environment", key=name, what=unknown("variable", name, variables)))
            continue
        setting = variables[name]
        value = _from_string(setting, text, where=f"environment {name}", problems=problems)
        if value is not None:
            said[setting.key] = Candidate(layer=Layer.ENVIRONMENT, where=name, value=value)
    return said


def from_flags(flags: Sequence[str], problems: list[Problem]) -> dict[str, Candidate]:
    """Return what "key=value" strings set; what is wrong is added to `problems`."""
    said: dict[str, Candidate] = {}
    for flag in flags:
        key, equals, text = flag.partition("=")
        if not equals or key not in BY_KEY:
            what = unknown("key", key, BY_KEY) if equals else "write it as --set key=value."
            problems.append(Problem(where="flag --set", key=key, what=what))
            continue
        value = _from_string(BY_KEY[key], text, where="flag --set", problems=problems)
        if value is None:
            continue
        if key in said and said[key].value != value:
            what = f"it is given twice, as {said[key].value} and as {value}. Give it once."
            problems.append(Problem(where="flag --set", key=key, what=what))
        said[key] = Candidate(layer=Layer.FLAG, where="--set", value=value)
    return said


def _from_string(setting: Setting, text: str, *, where: str, problems: list[Problem]) -> Value | None:
    try:
        return from_text(setting, text)
    except StringError as error:
        problems.append(Problem(where=where, key=setting.key, what=str(error)))
        return None


class StringError(ValueError):
    """The text is no value that this setting takes; the message says what it takes."""


def from_text(setting: Setting, text: str) -> Value:
    """Return the value that a person, a variable or a flag writes as `text`.

    Raises:
        StringError: the setting takes no such value.
    """
    raw: object = text
    if isinstance(setting.default, bool):
        raw = _WORDS.get(text.strip().lower(), text)
    elif isinstance(setting.default, int):
        raw = int(text) if text.strip().isdecimal() else text
    elif isinstance(setting.default, tuple):
        raw = [item.strip() for item in text.split(",") if item.strip()]
    return from_json(setting, json.dumps(raw), shown=text)


def from_json(setting: Setting, document: str, *, shown: str = "") -> Value:
    """Return the value that is stored as JSON; `shown` is what an error quotes instead.

    Raises:
        StringError: the setting takes no such value.
    """
    try:
        adapter = TypeAdapter(cast("type[Value]", setting.type))
        return adapter.validate_json(document, strict=True)
    except ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise StringError(f"{message} (is {shown or document!r}).") from None
