"""Reading Ansible inventories, INI and YAML, as far as they say how to reach a host.

Groups become tags (parents of groups too), ansible_host/user/port/become and connection become fields; host
variables win over those of groups, nearer groups over farther ones. Templates, vaults, host_vars folders and
dynamic inventories are not evaluated: a value with "{{" in it is named in a comment and left out.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml

from bot.inventory.importing import Found
from bot.inventory.model import InventoryError

_RANGE = re.compile(r"\[(\w+):(\w+)(?::(\d+))?\]")
_IMPLICIT = frozenset({"all", "ungrouped"})
_TRUE = frozenset({"true", "yes", "1", "on"})
_MAX_HOSTS = 100_000
_MAX_DEPTH = 50  # a YAML alias may hold itself


@dataclass(slots=True)
class _Group:
    """One group while reading: its hosts, its child groups, its variables."""

    hosts: dict[str, None] = field(default_factory=dict)
    children: dict[str, None] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Tree:
    """Everything read, before hosts are put together."""

    groups: dict[str, _Group] = field(default_factory=dict)
    hosts: dict[str, dict[str, str]] = field(default_factory=dict)

    def group(self, name: str) -> _Group:
        return self.groups.setdefault(name, _Group())

    def add_host(self, pattern: str, group: str, variables: Mapping[str, str]) -> None:
        for name in expand(pattern):
            if len(self.hosts) >= _MAX_HOSTS:
                raise InventoryError(f"more than {_MAX_HOSTS} hosts; check the ranges in the inventory")
            self.hosts.setdefault(name, {}).update(variables)
            self.group(group).hosts[name] = None


def expand(pattern: str) -> Iterator[str]:
    """Yield the names that a host pattern with ranges stands for: "web[01:03]" is web01, web02, web03."""
    found = _RANGE.search(pattern)
    if found is None:
        yield pattern
        return
    first, last, step = found[1], found[2], int(found[3] or 1)
    for part in _span(first, last, max(step, 1)):
        yield from expand(pattern[: found.start()] + part + pattern[found.end() :])


def _span(first: str, last: str, step: int) -> Iterator[str]:
    if first.isdigit() and last.isdigit():
        if int(last) - int(first) > _MAX_HOSTS:
            raise InventoryError(f"the range [{first}:{last}] holds too many hosts")
        yield from (str(n).zfill(len(first)) for n in range(int(first), int(last) + 1, step))
    elif len(first) == len(last) == 1:
        yield from (chr(n) for n in range(ord(first), ord(last) + 1, step))
    else:
        raise InventoryError(f"the range [{first}:{last}] makes no sense")


def read_ini(text: str) -> tuple[Found, ...]:
    """Read an INI inventory. Raises InventoryError with the line number."""
    tree = _Tree()
    section, kind = "ungrouped", "hosts"
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("["):
            name, _, suffix = line[1:].split("]", maxsplit=1)[0].partition(":")
            section, kind = name, suffix or "hosts"
            tree.group(section)
            continue
        try:
            _ini_line(tree, section, kind, line)
        except ValueError as error:
            raise InventoryError(f"line {number} of the inventory: {error}") from error
    return _together(tree)


def _ini_line(tree: _Tree, section: str, kind: str, line: str) -> None:
    if kind == "children":
        tree.group(section).children[line.split(maxsplit=1)[0]] = None
    elif kind == "vars":
        key, _, value = line.partition("=")
        tree.group(section).variables[key.strip()] = value.strip().strip("\"'")
    else:
        first, *rest = shlex.split(line, comments=True)
        tree.add_host(first, section, dict(_pair(word) for word in rest if "=" in word))


def _pair(word: str) -> tuple[str, str]:
    key, _, value = word.partition("=")
    return key, value


def read_yaml(text: str) -> tuple[Found, ...]:
    """Read a YAML inventory. Raises InventoryError."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InventoryError(f"the inventory is not YAML: {error}") from error
    tree = _Tree()
    for name, body in _mapping(document, "the inventory").items():
        _yaml_group(tree, str(name), body, depth=0)
    return _together(tree)


def _yaml_group(tree: _Tree, name: str, body: object, *, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise InventoryError(f"group {name} is nested more than {_MAX_DEPTH} deep")
    group = tree.group(name)
    if body is None:
        return
    parts = _mapping(body, f"group {name}")
    for host, variables in _mapping(parts.get("hosts"), f"hosts of {name}").items():
        tree.add_host(str(host), name, _strings(_mapping(variables, f"host {host}")))
    group.variables.update(_strings(_mapping(parts.get("vars"), f"vars of {name}")))
    for child, inner in _mapping(parts.get("children"), f"children of {name}").items():
        group.children[str(child)] = None
        _yaml_group(tree, str(child), inner, depth=depth + 1)


def _mapping(value: object, what: str) -> Mapping[object, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InventoryError(f"{what}: a mapping was expected")
    return value


def _strings(values: Mapping[object, object]) -> dict[str, str]:
    return {str(k): str(v) for k, v in values.items() if isinstance(v, str | int | bool)}


def _together(tree: _Tree) -> tuple[Found, ...]:
    parents: dict[str, list[str]] = {}
    for name, group in tree.groups.items():
        for child in group.children:
            parents.setdefault(child, []).append(name)
    return tuple(_found(tree, name, parents) for name in tree.hosts)


def _found(tree: _Tree, host: str, parents: Mapping[str, list[str]]) -> Found:
    groups = dict.fromkeys(name for name, group in tree.groups.items() if host in group.hosts)
    for name in groups.copy():
        _climb(name, parents, groups)
    groups["all"] = None
    variables: dict[str, str] = {}
    for name in reversed(groups):
        if name in tree.groups:
            variables |= tree.groups[name].variables
    return _host(host, variables | tree.hosts[host], tuple(name for name in groups if name not in _IMPLICIT))


def _climb(name: str, parents: Mapping[str, list[str]], into: dict[str, None]) -> None:
    for parent in parents.get(name, ()):
        if parent not in into:
            into[parent] = None
            _climb(parent, parents, into)


def _host(name: str, variables: Mapping[str, str], tags: tuple[str, ...]) -> Found:
    templated = sorted(
        key for key, value in variables.items() if key.startswith("ansible_") and "{{" in value
    )
    plain = {key: value for key, value in variables.items() if "{{" not in value}
    notes = [f"not evaluated: {', '.join(templated)}"] if templated else []
    key_file = plain.get("ansible_ssh_private_key_file") or plain.get("ansible_private_key_file")
    if key_file:
        notes.append(f"put IdentityFile {key_file} into the SSH config for this host")
    connection = plain.get("ansible_connection", "ssh")
    host = plain.get("ansible_host") or plain.get("ansible_ssh_host") or name
    comment = "; ".join(notes)
    become = ""
    if plain.get("ansible_become", "").lower() in _TRUE:
        become = plain.get("ansible_become_user") or "root"
    if connection == "local":
        return Found(name=name, kind="local", tags=tags, become=become, comment=comment)
    if connection.rpartition(".")[2] == "docker":
        return Found(name=name, kind="docker", container=host, tags=tags, become=become, comment=comment)
    port = plain.get("ansible_port") or plain.get("ansible_ssh_port") or ""
    return Found(
        name=name,
        address=host,
        user=plain.get("ansible_user") or plain.get("ansible_ssh_user") or "",
        port=int(port) if port.isdigit() else 0,
        tags=tags,
        become=become,
        comment=comment,
    )
