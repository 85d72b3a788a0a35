"""Building the inventory from the config's tables, and refusing tables that do not fit together.

Checks every reference (via, on, depends_on), loops in `via`, and reserved names. Reads no config file itself;
the SSH config and known_hosts are only remembered here and read when a target is identified.
"""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from bot.inventory.config import RESERVED, ServiceConfig, TargetConfig
from bot.inventory.hostkeys import KnownHosts
from bot.inventory.identity import Identifier
from bot.inventory.model import Inventory, InventoryError
from bot.inventory.passwords import passwords
from bot.inventory.ssh_config import SshConfig
from gate.blast import Service
from gate.domain import Target, TargetId, TargetKind

DEFAULT_TARGET = "local"


def build(
    targets: Mapping[str, TargetConfig],
    services: Mapping[str, ServiceConfig],
    *,
    ssh_config: Path | None = None,
    known_hosts: tuple[Path, ...] | None = None,
    local_user: str = "",
) -> Inventory:
    """Return the inventory; without any table there is one target, this machine, named "local".

    Args:
        targets: `[targets.*]` by name.
        services: `[services.*]` by name.
        ssh_config: the SSH client config to honour; None for none.
        known_hosts: files of trusted host keys; None for those that the SSH config names, else the usual two.
        local_user: who runs local commands, the default user over SSH; "" for the OS user of this process.

    Raises:
        InventoryError: a name is reserved, a reference leads nowhere, or `via` goes in a circle.
    """
    tables = dict(targets) or {DEFAULT_TARGET: TargetConfig(kind=TargetKind.LOCAL)}
    for name in [*tables, *services]:
        if name in RESERVED:
            raise InventoryError(f'"{name}" is reserved; give that table another name')
    _check_via(tables)
    _check_dependencies(tables, services)
    user = local_user or pwd.getpwuid(os.getuid()).pw_name
    identifier = Identifier(
        ssh_config=SshConfig(path=ssh_config, local_user=user),
        known_hosts=KnownHosts(),
        known_hosts_files=known_hosts,
        local_user=user,
        passwords=passwords(tables),
    )
    return Inventory(
        targets={TargetId(name): _target(name, table) for name, table in tables.items()},
        services={name: _service(name, table, tables) for name, table in services.items()},
        identifier=identifier,
    )


def _target(name: str, table: TargetConfig) -> Target:
    return Target(
        id=TargetId(name),
        kind=table.kind,
        address=table.address
        or (name if table.kind is TargetKind.SSH else table.container or table.pod or ""),
        port=table.port or 0,
        user=table.user or "",
        via=None if table.via is None else TargetId(table.via),
        become="root" if table.become is True else table.become or "",
        shell=table.shell,
        wrapper=_wrapper(table),
        tags=table.tags,
        depends_on=table.depends_on,
        state=table.state,
        never_auto_act=table.never_auto_act,
    )


def _wrapper(table: TargetConfig) -> tuple[str, ...]:
    container = table.container or ""
    match table.kind:
        case TargetKind.PCT:
            return ("pct", "exec", container, "--")
        case TargetKind.DOCKER:
            return ("docker", "exec", container)
        case TargetKind.KUBECTL:
            namespace = ("-n", table.namespace) if table.namespace else ()
            inner = ("-c", container) if container else ()
            return ("kubectl", "exec", *namespace, table.pod or "", *inner, "--")
        case TargetKind.LOCAL | TargetKind.SSH:
            return ()


def _check_via(tables: Mapping[str, TargetConfig]) -> None:
    for name, table in tables.items():
        seen = {name}
        via = table.via
        while via is not None:
            if via not in tables:
                raise InventoryError(f'[targets.{name}] via = "{via}": there is no such target')
            if via in seen:
                raise InventoryError(f"[targets.{name}] via goes in a circle through {via}")
            seen.add(via)
            via = tables[via].via


def _check_dependencies(targets: Mapping[str, TargetConfig], services: Mapping[str, ServiceConfig]) -> None:
    known = targets.keys() | services.keys()
    tags = {tag for table in targets.values() for tag in table.tags}
    for kind, tables in (("targets", targets), ("services", services)):
        for name, table in tables.items():
            for other in table.depends_on:
                if other not in known:
                    raise InventoryError(f'[{kind}.{name}] depends_on "{other}": no such service or target')
    for name, service in services.items():
        for place in service.on:
            if place.removeprefix("@") not in (tags if place.startswith("@") else targets):
                raise InventoryError(f'[services.{name}] on "{place}": no such target or tag')


def _service(name: str, table: ServiceConfig, targets: Mapping[str, TargetConfig]) -> Service:
    on: dict[TargetId, None] = {}
    for place in table.on:
        if place.startswith("@"):
            on.update((TargetId(n), None) for n, t in targets.items() if place[1:] in t.tags)
        else:
            on[TargetId(place)] = None
    return Service(name=name, on=tuple(on), depends_on=table.depends_on)
