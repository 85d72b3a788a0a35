"""What the SSH client config says about one alias: address, port, user, jump hosts, known_hosts files.

Parsing is asyncssh's, so that what is shown here is what the connection will use. Answers are cached until
one of the files read changes. It opens no connection; a `Match exec` of the user's config runs, as in ssh.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from bot.inventory.stamps import Stamp, stamp

if TYPE_CHECKING:  # it comes with all of asyncssh, which nothing but SSH needs
    from asyncssh.config import SSHClientConfig

    from bot.inventory.ssh_file import Recording

_PORT = 22
_OWN_TRANSPORT = ("ProxyCommand", "BindAddress", "AddressFamily")
DEFAULT_KNOWN_HOSTS = (Path("~/.ssh/known_hosts"), Path("/etc/ssh/ssh_known_hosts"))


class SshConfigError(Exception):
    """The SSH config cannot be read; mend the line that the message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One jump host of a ProxyJump: an alias, with user and port where the config line gives them."""

    alias: str
    user: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SshHost:
    """One alias, resolved.

    Attributes:
        key_name: the name its host key is looked up by (HostKeyAlias, else the address).
        jump: hosts to go through, nearest to us first.
        known_hosts: files of trusted keys; () when the config switches checking by file off.
        plain_tcp: nothing special is wanted of the connection itself (ProxyCommand, BindAddress, …).
        identities_only: only keys that the config names may be offered, the agent's too.
        picks_ciphers, picks_key_exchanges, picks_host_key_algorithms: the user chose these; ours stand back.
        said: all that the config says of it, for the connection, so that what was identified is what is used.
            None where more is to be asked than is known by now (`Match final`, CanonicalizeHostname): the
            whole config is to be read again.
    """

    alias: str
    address: str
    port: int
    user: str
    key_name: str
    jump: tuple[Hop, ...] = ()
    identity_files: tuple[str, ...] = ()
    certificate_files: tuple[str, ...] = ()
    known_hosts: tuple[Path, ...] = ()
    identities_only: bool = False
    plain_tcp: bool = True
    picks_ciphers: bool = False
    picks_key_exchanges: bool = False
    picks_host_key_algorithms: bool = False
    said: "SSHClientConfig | None" = field(default=None, compare=False, repr=False)


@dataclass(slots=True, kw_only=True)
class SshConfig:
    """One SSH config file, asked by alias. `path` None means that there is none."""

    path: Path | None
    local_user: str
    _cache: dict[tuple[str, str, int], "_Answer"] = field(default_factory=dict)

    @property
    def paths(self) -> list[Path]:
        """The file for asyncssh's `config` argument; empty when it does not exist."""
        return [self.path] if self.path is not None and self.path.is_file() else []

    def host(self, alias: str, *, user: str = "", port: int = 0) -> SshHost:
        """Resolve `alias`; `user` and `port` win over the config where given.

        Raises:
            SshConfigError: the file cannot be read or parsed.
        """
        return self._answer(alias, user, port).host

    def _answer(self, alias: str, user: str, port: int) -> "_Answer":
        key = (alias, user, port)
        cached = self._cache.get(key)
        if cached is not None and all(stamp(seen[0]) == seen for seen in cached.stamps):
            return cached
        before = [] if self.path is None else [stamp(self.path)]
        config = self._load(alias, user, port)
        answer = self._cache[key] = _Answer(
            stamps=tuple(dict.fromkeys([*before, *config.stamps])),
            host=_host(config, alias, self.local_user),
        )
        return answer

    def _load(self, alias: str, user: str, port: int) -> "Recording":
        from bot.inventory.ssh_file import ConfigParseError, Recording  # noqa: PLC0415  # lazy: brings asyncssh

        try:
            config = Recording.load(
                None,
                self.paths,
                False,
                False,
                False,
                self.local_user,
                user or (),
                alias,
                port or (),
            )
        except (ConfigParseError, OSError, UnicodeDecodeError) as error:
            raise SshConfigError(f"SSH config: {error}") from error
        return cast("Recording", config)  # `load` returns its own class, typed as the base


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What was found out about an alias, and what that hangs on."""

    stamps: tuple[Stamp, ...]
    host: SshHost


def _host(config: "Recording", alias: str, local_user: str) -> SshHost:
    address = str(config.get("Hostname") or alias)
    return SshHost(
        alias=alias,
        address=address,
        port=int(str(config.get("Port") or _PORT)),
        user=str(config.get("User") or local_user),
        key_name=str(config.get("HostKeyAlias") or address),
        jump=tuple(_hops(config.get("ProxyJump"))),
        identity_files=tuple(str(name) for name in _items(config.get("IdentityFile"))),
        certificate_files=tuple(str(name) for name in _items(config.get("CertificateFile"))),
        known_hosts=_known_hosts(config),
        identities_only=config.get("IdentitiesOnly") is True,
        plain_tcp=all(config.get(option) is None for option in _OWN_TRANSPORT),
        picks_ciphers=config.get("Ciphers") is not None,
        picks_key_exchanges=config.get("KexAlgorithms") is not None,
        picks_host_key_algorithms=config.get("HostKeyAlgorithms") is not None,
        said=config if config.is_settled() else None,
    )


def _items(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _hops(value: object) -> Iterator[Hop]:
    for part in str(value).split(",") if isinstance(value, str) else ():
        user, _, host = part.strip().removeprefix("ssh://").rstrip("/").rpartition("@")
        name, colon, port = host.rpartition(":")
        if colon and port.isdigit() and (":" not in name or name.endswith("]")):
            yield Hop(alias=name.strip("[]"), user=user, port=int(port))
        else:  # IPv6 with brackets or without, or a name
            yield Hop(alias=host.strip("[]"), user=user)


def _known_hosts(config: "SSHClientConfig") -> tuple[Path, ...]:
    user_files, global_files = config.get("UserKnownHostsFile"), config.get("GlobalKnownHostsFile")
    if user_files is None and global_files is None:
        return tuple(path.expanduser() for path in DEFAULT_KNOWN_HOSTS)
    mine = DEFAULT_KNOWN_HOSTS[:1] if user_files is None else map(Path, map(str, _items(user_files)))
    everyones = DEFAULT_KNOWN_HOSTS[1:] if global_files is None else map(Path, map(str, _items(global_files)))
    return tuple(Path(os.path.expandvars(path)).expanduser() for path in [*mine, *everyones])
