"""Who a target is right now: the address, user, port, host keys and wrapper that its digest covers (D5).

Resolution always starts from the inventory's own entry, so an already identified target may be identified
again. A container is who its host is, plus the argv that leads into it. No network: names are not looked up,
and a host key is what known_hosts trusts, not what the host would show.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from bot.inventory.hostkeys import HostKeys, KnownHosts
from bot.inventory.passwords import Password
from bot.inventory.ssh_config import SshConfig, SshHost
from gate.domain import Target, TargetId, TargetKind, TargetState


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """Resolves targets through an SSH config and known_hosts.

    Attributes:
        known_hosts_files: files to use whatever the SSH config says; None to follow the SSH config.
        passwords: of the targets whose sudo asks for one.
    """

    ssh_config: SshConfig
    known_hosts: KnownHosts
    known_hosts_files: tuple[Path, ...] | None
    local_user: str
    passwords: Mapping[TargetId, Password] = field(default_factory=dict)
    _reached: dict[TargetId, "_Reached"] = field(default_factory=dict, compare=False, repr=False)

    def host(self, alias: str, *, user: str = "", port: int = 0) -> SshHost:
        """Resolve an SSH alias. Raises SshConfigError."""
        return self.ssh_config.host(alias, user=user, port=port)

    def files(self, host: SshHost) -> tuple[Path, ...]:
        """Return the known_hosts files that count for `host`."""
        return host.known_hosts if self.known_hosts_files is None else self.known_hosts_files

    def trusted(self, host: SshHost) -> HostKeys:
        """Return the keys trusted for `host`. Raises KnownHostsError."""
        return self.known_hosts.lookup(host.key_name, port=host.port, files=self.files(host))

    def identify(self, target: Target, targets: Mapping[TargetId, Target]) -> Target:
        """Return `target` as reached right now; DESTROYED when it, or what it is reached through, is gone.

        Raises:
            SshConfigError: the SSH config cannot be parsed.
            KnownHostsError: a known_hosts file cannot be parsed.
        """
        entry = targets.get(target.id)
        if entry is None:
            return replace(target, state=TargetState.DESTROYED)
        match entry.kind:
            case TargetKind.LOCAL:
                return replace(entry, user=self.local_user)
            case TargetKind.SSH:
                host = self.host(entry.address, user=entry.user, port=entry.port)
                return self._as_reached(entry, host, self.trusted(host))
            case TargetKind.PCT | TargetKind.DOCKER | TargetKind.KUBECTL:
                return self._inside(entry, targets)

    def _as_reached(self, entry: Target, host: SshHost, keys: HostKeys) -> Target:
        """Return `entry` with what was found out about it; the same one for as long as that is the same."""
        last = self._reached.get(entry.id)
        if last is None or last.entry is not entry or last.host is not host or last.keys is not keys:
            target = replace(
                entry, address=host.address, port=host.port, user=host.user, host_keys=keys.fingerprints
            )
            last = self._reached[entry.id] = _Reached(entry, host, keys, target)
        return last.target

    def _inside(self, entry: Target, targets: Mapping[TargetId, Target]) -> Target:
        if entry.via is None:
            return replace(entry, address="", user=self.local_user)
        outer = self.identify(targets[entry.via], targets)
        return replace(
            entry,
            address=outer.address,
            port=outer.port,
            user=outer.user,
            host_keys=outer.host_keys,
            wrapper=outer.wrapper + sudo(outer.become, asks=outer.id in self.passwords) + entry.wrapper,
            state=outer.state if outer.state is TargetState.DESTROYED else entry.state,
        )


class _Reached(NamedTuple):
    """A target, and all that it was made of."""

    entry: Target
    host: SshHost
    keys: HostKeys
    target: Target


def sudo(user: str, *, asks: bool = False) -> tuple[str, ...]:
    """Return the argv prefix that runs the rest as `user`; () for nobody.

    Args:
        user: whom to become.
        asks: it reads a password from its input, whatever it remembers, and says nothing to ask for it; else
            it never asks.
    """
    how = ("-k", "-S", "-p", "") if asks else ("-n",)
    return ("sudo", *how, "-H", "-u", user, "--") if user else ()


def asked(target: Target, targets: Mapping[TargetId, Target]) -> TargetId | None:
    """Return the host whose sudo `target` is reached through, which is itself for a host; None for none."""
    entry: Target | None = targets[target.id]
    while entry is not None and entry.kind not in (TargetKind.SSH, TargetKind.LOCAL):
        entry = None if entry.via is None else targets[entry.via]
    return None if entry is None or not entry.become else entry.id


def ssh_entry(target: Target, targets: Mapping[TargetId, Target]) -> Target | None:
    """Return the inventory's SSH entry that `target` is reached through; None when it is this machine."""
    entry: Target | None = targets[target.id]
    while entry is not None and entry.kind not in (TargetKind.SSH, TargetKind.LOCAL):
        entry = None if entry.via is None else targets[entry.via]
    return None if entry is None or entry.kind is TargetKind.LOCAL else entry
