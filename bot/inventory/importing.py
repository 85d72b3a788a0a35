"""`sayso targets import`: an SSH config or an Ansible inventory, as TOML tables to paste into the config.

Pure: values in, TOML text out; the caller reads the files. Nothing is merged into a config by itself.
Names that are no slugs are mended (lower case, "-" for what does not fit); of two that become the same the
second is left out with a comment instead of being merged.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.inventory.config import RESERVED
from bot.inventory.ssh_config import SshHost

_NOT_SLUG = re.compile(r"[^a-z0-9._-]+")
_MAX = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One host as another tool knows it; "" and 0 for what it does not say."""

    name: str
    kind: str = "ssh"
    address: str = ""
    user: str = ""
    port: int = 0
    become: str = ""
    container: str = ""
    tags: tuple[str, ...] = ()
    comment: str = ""


def slug(name: str) -> str:
    """Return `name` as a slug; "" when nothing of it can stay."""
    return _NOT_SLUG.sub("-", name.lower()).strip("._-")[:_MAX]


def from_ssh(hosts: Iterable[SshHost]) -> tuple[Found, ...]:
    """Turn resolved SSH hosts into targets that keep following the SSH config under their alias.

    User, port, keys and jump hosts stay where they are; they are only shown in the comment, so that there is
    one place to change them.
    """
    return tuple(_from_ssh(host) for host in hosts)


def _from_ssh(host: SshHost) -> Found:
    parts = [f"{host.user}@{host.address} port {host.port}"]
    if host.jump:
        parts.append("via " + ", ".join(hop.alias for hop in host.jump))
    if host.identity_files:
        parts.append("key " + ", ".join(host.identity_files))
    return Found(name=host.alias, address=host.alias, comment="; ".join(parts))


def to_toml(found: Iterable[Found]) -> str:
    """Return `[targets.*]` tables, in the order given; what cannot become one is left as a comment."""
    tables: list[str] = []
    seen: dict[str, str] = {}
    for host in found:
        name = slug(host.name)
        if not name or name in RESERVED:
            tables.append(f"# left out: {_one_line(host.name)} cannot be a target's name\n")
        elif name in seen:
            tables.append(f"# left out: {_one_line(host.name)} would be the same name as {seen[name]}\n")
        else:
            seen[name] = _one_line(host.name)
            tables.append(_table(name, host))
    return "\n".join(tables)


def _table(name: str, host: Found) -> str:
    lines = [f"# {_one_line(host.comment)}"] if host.comment else []
    key = name if "." not in name else _quoted(name)
    lines += [f"[targets.{key}]", f"kind = {_quoted(host.kind)}"]
    if host.address and host.address != name:
        lines.append(f"address = {_quoted(host.address)}")
    lines += [f"{field} = {_quoted(value)}" for field, value in _texts(host) if value]
    if host.port:
        lines.append(f"port = {host.port}")
    if host.become:
        lines.append("become = true" if host.become == "root" else f"become = {_quoted(host.become)}")
    tags = tuple(dict.fromkeys(filter(None, map(slug, host.tags))))
    if tags:
        lines.append(f"tags = {_quoted(list(tags))}")
    return "\n".join(lines) + "\n"


def _texts(host: Found) -> tuple[tuple[str, str], ...]:
    return (("user", host.user), ("container", host.container))


def _quoted(value: str | list[str]) -> str:
    # JSON's strings and lists are TOML's, but for surrogate pairs and DEL
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(text: str) -> str:
    return " ".join(text.split())
