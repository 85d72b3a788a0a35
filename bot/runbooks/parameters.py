"""Finds what varies in a sequence of commands: values that become inputs of a runbook (N32).

Looks at plain words only. What looks like a service, a host, a path, a version or a number, and stands there
more than once, becomes an input with that value as its default, in all places or in none. A secret becomes a
secret input, for which once is enough, and its value is kept nowhere. Where an input can stand says the
supervisor's binder; a secret where none can means that nothing is kept.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.redact import MASK, redact, redact_command
from gate.supervise.binding import BindingError, placeholders
from gate.supervise.domain import InputSpec, InputType

_WORD = re.compile(r"(?<![^\s=])[A-Za-z0-9/][A-Za-z0-9_@%+:,./-]*(?![^\s;|&)])", re.ASCII)
_SERVICE = re.compile(
    r"\b(?:systemctl\s+(?:--?[\w-]+\s+)*[a-z-]+|journalctl\s+(?:--?[\w-]+\s+)*-u|service)\s+"
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9:_.@-]*)"
)
_VERSION = re.compile(r"v?\d+\.\d+(?:\.\d+)*(?:[-+][A-Za-z0-9.]+)?")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}")
_PATH = re.compile(r"/[^/\s]+/\S+")
_NUMBER = re.compile(r"[1-9]\d{1,5}")
#: Endings of files, which are no names of hosts.
_FILE = re.compile(
    r"(?:bz2|cfg|conf|crt|csv|db|deb|env|gz|html|ini|js|json|key|list|lock|log|md|pem|pid|php|py|rpm|service|sh|so"
    r"|sock|socket|sql|tar|timer|tgz|toml|txt|xml|xz|ya?ml|zip|zst)"
)
#: Folders of the system itself, the same everywhere.
_EVERYWHERE = ("/bin/", "/boot/", "/dev/", "/lib/", "/proc/", "/run/", "/sbin/", "/sys/", "/usr/")


_STAND_IN = "$SECRET"


class SecretStaysError(Exception):
    """A command holds a secret where no input can stand, so it cannot be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parametrised:
    """Commands as templates, and the inputs that they use; the value of a secret is in neither."""

    commands: tuple[str, ...]
    inputs: tuple[InputSpec, ...]


def parametrise(commands: Sequence[str], *, secrets: Sequence[str] = ()) -> Parametrised:
    """Return `commands` with inputs in place of what varies.

    Args:
        secrets: literal values that are secret, beside what looks like one.

    Raises:
        SecretStaysError: a secret cannot be taken out.
    """
    templates = list(commands)
    hidden = _hidden(templates, secrets)
    inputs = []
    for number, value in enumerate(hidden, start=1):
        name = "secret" if number == 1 else f"secret_{number}"
        templates = [_without(template, value, name) for template in templates]
        inputs.append(InputSpec(name=name, type=InputType.TEXT, secret=True))
    left = {value for template in templates for value in _finds(_plain(template), secrets)}
    if left - {_STAND_IN}:
        raise SecretStaysError(SecretStaysError.__doc__)
    taken: Counter[str] = Counter()
    for kind, made, value in _varying(templates):
        name = f"{kind}_{taken[kind] + 1}" if taken[kind] else kind
        filled = [_filled(template, value, name) for template in templates]
        if sum(template.count(_placeholder(name)) for template in filled) > 1 and not _left(filled, value):
            templates = filled
            taken[kind] += 1
            inputs.append(InputSpec(name=name, type=made, required=False, default=value))
    return Parametrised(commands=tuple(templates), inputs=tuple(inputs))


# ---------------------------------------------------------------- secrets


def _hidden(commands: Sequence[str], secrets: Sequence[str]) -> list[str]:
    """Return every secret value in `commands`, the longest first."""
    found = {value for command in commands for value in _finds(command, secrets)}
    return sorted(found, key=lambda value: (-len(value), value))


def _finds(command: str, secrets: Sequence[str]) -> list[str]:
    """Return what is masked in a command, by the narrow rules for commands and by the broad ones."""
    found: list[str] = []
    for masked in (redact_command(command, extra=secrets), redact(command, extra=secrets)):
        if not masked.count:
            continue
        pattern = "(.+?)".join(map(re.escape, masked.text.split(MASK)))
        values = re.fullmatch(pattern, command, re.DOTALL)
        if values is None:
            raise SecretStaysError(SecretStaysError.__doc__)
        found += values.groups()
    return found


def _plain(template: str) -> str:
    """Return a template with a word that is no secret in place of each secret."""
    return re.sub(r"\{\{ inputs\.secret(?:_\d+)? \}\}", lambda _: _STAND_IN, template)


def _without(template: str, value: str, name: str) -> str:
    """Return `template` with the input `name` wherever `value` stands.

    Raises:
        SecretStaysError: an input cannot stand there.
    """
    if value not in template:
        return template
    for spelt in (f"'{value}'", f'"{value}"', value):
        made = template.replace(spelt, _placeholder(name))
        if value not in made and _binds(made):
            return made
    raise SecretStaysError(SecretStaysError.__doc__)


# ---------------------------------------------------------------- values


def _varying(templates: Sequence[str]) -> Iterator[tuple[str, InputType, str]]:
    """Yield what looks like something that varies, in the order of the commands, longer paths last."""
    services = {match["name"] for template in templates for match in _SERVICE.finditer(template)}
    words = dict.fromkeys(match[0] for template in templates for match in _WORD.finditer(template))
    for word in sorted(words, key=lambda word: word.count("/")):
        kind = _kind(word, services)
        if kind is not None and kind[1].fits(word):
            yield *kind, word


def _kind(word: str, services: set[str]) -> tuple[str, InputType] | None:
    """Return what a word looks like: the name and the type of its input; None for nothing that varies."""
    if word in services:
        return "service", InputType.SERVICE
    if _ADDRESS.fullmatch(word) or (_HOST.fullmatch(word) and not _FILE.fullmatch(word.rpartition(".")[2])):
        return "host", InputType.HOST
    if _PATH.fullmatch(word) and not word.startswith(_EVERYWHERE):
        return "path", InputType.PATH
    if _VERSION.fullmatch(word):
        return "version", InputType.NAME
    return ("number", InputType.INTEGER) if _NUMBER.fullmatch(word) else None


def _filled(template: str, value: str, name: str) -> str:
    """Return `template` with an input wherever `value` stands by itself and the binder would quote it."""
    pattern, at = _by_itself(value), 0
    while (found := pattern.search(template, at)) is not None:
        at = found.end()
        made = f"{template[: found.start()]}{_placeholder(name)}{template[at:]}"
        if _binds(made):
            at += len(made) - len(template)
            template = made
    return template


def _left(templates: Sequence[str], value: str) -> bool:
    """Whether `value` stands somewhere still: an input that changed only some places would be a trap."""
    return any(_by_itself(value).search(template) for template in templates)


def _by_itself(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])")


def _placeholder(name: str) -> str:
    return f"{{{{ inputs.{name} }}}}"


def _binds(template: str) -> bool:
    try:
        placeholders(template)
    except BindingError:
        return False
    return True
