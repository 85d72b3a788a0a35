"""A fleet on loopback: many logical hosts behind one private sshd, some of them with a fault of a name.

    with fleet(folder, count=500, faults={Fault.HANGS: 10}) as hosts:
        inventory = build(hosts.targets("all"), {}, ssh_config=hosts.config)
        hosts.names, hosts.having(Fault.HANGS)

A logical host is an alias of the client's config, so every client takes it for a host of its own, with a
connection of its own; what it leads to is one of fourteen addresses of one real sshd (which takes sixteen at
most, and two are for faults). Where nobody answers, each host has an address and a key of its own. Aliases
end in what they are, and the config has one pattern for each ending that is shared; with `blocks` a Host
block for each host, as configs kept by hand have. Commands run on this machine, as the user that runs us.

It needs OpenSSH's server (`tests.sshd.SSHD`): the faults are made of what only that one can do.
"""

import contextlib
import random
import socket
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import asyncssh

from bot.inventory import TargetConfig
from tests.sshd import SSHD, Server, openssh, prepare

#: Handshakes at once that the server takes, as tests/sshd.py sets it.
MOST_AT_ONCE = 100
ADDRESSES = tuple(f"127.0.0.{number}" for number in range(1, 15))
_DROPS, _FLOODS = "127.0.0.15", "127.0.0.16"
GB = 1_000_000_000


class Fault(StrEnum):
    """What is wrong with a host."""

    REFUSES = "refuses"  # nobody listens on its port
    HANGS = "hangs"  # takes the connection, and never says a word
    DROPS = "drops"  # a command starts, and its connection dies before it ends
    FLOODS = "floods"  # a command says much more than anybody wants to read, and then ends well


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """Logical hosts, in the order of their names, and what is wrong with each; None for nothing."""

    server: Server
    hosts: Mapping[str, Fault | None]
    _hanging: tuple[socket.socket, ...] = ()

    @property
    def config(self) -> Path:
        """The SSH client config that knows every host."""
        return self.server.config

    @property
    def names(self) -> tuple[str, ...]:
        """Every host."""
        return tuple(self.hosts)

    def having(self, fault: Fault | None) -> tuple[str, ...]:
        """Return the hosts that have `fault`; the healthy ones for None."""
        return tuple(name for name, one in self.hosts.items() if one is fault)

    def hang_up(self) -> None:
        """Let the hosts that hang drop whoever waits for them, and refuse whoever comes again."""
        for one in self._hanging:
            one.close()

    def address(self, name: str) -> str:
        """Return what a healthy host's name leads to, for clients that read no config."""
        return _address(name)

    def targets(self, *tags: str) -> dict[str, TargetConfig]:
        """Return the hosts as an inventory has them."""
        return {name: TargetConfig(tags=tags) for name in self.hosts}


def named(count: int, faults: Mapping[Fault, int]) -> dict[str, Fault | None]:
    """Return `count` names with their faults, spread over the whole fleet, always alike."""
    wrong = [fault for fault, many in faults.items() for _ in range(many)]
    random.Random(len(wrong)).shuffle(wrong)
    where = {int((number + 0.5) * count / len(wrong)): fault for number, fault in enumerate(wrong)}
    if len(where) < len(wrong):
        raise ValueError(f"{len(wrong)} faults do not fit {count} hosts")
    found: dict[str, Fault | None] = {}
    for number in range(count):
        fault = where.get(number)
        ending = f"a{1 + number % len(ADDRESSES)}" if fault is None else fault.value
        found[f"h{number:03}-{ending}"] = fault
    return found


@contextlib.contextmanager
def fleet(
    folder: Path,
    *,
    count: int,
    faults: Mapping[Fault, int] | None = None,
    flood_bytes: int = GB,
    blocks: bool = False,
) -> Iterator[Fleet]:
    """Run `count` hosts, of which so many have a fault each. Its files lie in `folder`, which is short."""
    hosts = named(count, faults or {})
    server = prepare(folder)
    with contextlib.ExitStack() as held:
        hanging: list[socket.socket] = []
        leads = {
            name: _lead(held, server, name, fault, number, hanging=hanging)
            for number, (name, fault) in enumerate(hosts.items())
        }
        _write_client_files(server, hosts, leads, blocks=blocks)
        with openssh(server, options=_options(server, flood_bytes=flood_bytes)):
            yield Fleet(server=server, hosts=hosts, _hanging=tuple(hanging))


def _lead(
    held: contextlib.ExitStack,
    server: Server,
    name: str,
    fault: Fault | None,
    number: int,
    *,
    hanging: list[socket.socket],
) -> tuple[str, int]:
    """Return address and port that a host's name leads to; those nobody answers at are its own, and held."""
    match fault:
        case None:
            return _address(name), server.port
        case Fault.DROPS:
            return _DROPS, server.port
        case Fault.FLOODS:
            return _FLOODS, server.port
        case Fault.REFUSES | Fault.HANGS:
            address = f"127.1.{number // 250}.{1 + number % 250}"
            one = held.enter_context(socket.socket())
            one.bind((address, 0))
            if fault is Fault.HANGS:
                one.listen(64)  # the kernel takes connections, and nobody ever looks at them
                hanging.append(one)
            return address, one.getsockname()[1]


def _address(name: str) -> str:
    return ADDRESSES[int(name.rpartition("-a")[2]) - 1]


def _write_client_files(
    server: Server,
    hosts: Mapping[str, Fault | None],
    leads: Mapping[str, tuple[str, int]],
    *,
    blocks: bool,
) -> None:
    """Write known_hosts, and a config with a block for each host, or else for each ending that is shared."""
    public = " ".join((server.folder / "host.pub").read_text().split()[:2])
    known, patterns = {}, {}
    for name, spot in leads.items():
        has_own = hosts[name] in (Fault.REFUSES, Fault.HANGS)
        known[spot] = _public_key() if has_own else public
        patterns[name if blocks or has_own else f"*-{name.partition('-')[2]}"] = spot
    server.known_hosts.write_text(
        "".join(f"[{address}]:{port} {key}\n" for (address, port), key in known.items())
    )
    rest = (
        f"Host *\n  User {server.user}\n  IdentityFile {server.client_key}\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {server.known_hosts}\n  GlobalKnownHostsFile none\n"
    )
    server.config.write_text("".join([_block(one, *spot) for one, spot in patterns.items()] + [rest]))
    server.config.chmod(0o600)


def _public_key() -> str:
    key = asyncssh.generate_private_key("ssh-ed25519")
    return " ".join(key.export_public_key().decode().split()[:2])


def _block(pattern: str, address: str, port: int) -> str:
    return f"Host {pattern}\n  HostName {address}\n  Port {port}\n"


def _options(server: Server, *, flood_bytes: int) -> str:
    """Return lines for sshd_config; what matches comes last."""
    drops = _script(server.folder / "drops", 'sh -c "$SSH_ORIGINAL_COMMAND" &\nsleep 0.2\nkill -9 $PPID\n')
    floods = _script(
        server.folder / "floods",
        f'yes "all work and no play" | head -c {flood_bytes}\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n',
    )
    more = [f"ListenAddress {address}" for address in (*ADDRESSES[1:], _DROPS, _FLOODS)]
    more.append("MaxSessions 100")
    if _knows(server, "PerSourcePenalties no"):  # from 9.8 on: a session that crashed locks its address out
        more.append("PerSourcePenalties no")
    for address, script in ((_DROPS, drops), (_FLOODS, floods)):
        more += [f"Match LocalAddress {address}", f"  ForceCommand exec {script}"]
    return "\n".join(more) + "\n"


def _script(file: Path, lines: str) -> Path:
    file.write_text(f"#!/bin/sh\n{lines}")
    file.chmod(0o700)
    return file


def _knows(server: Server, option: str) -> bool:
    argv = [str(SSHD), "-t", "-f", "/dev/null", "-h", str(server.folder / "host"), "-o", option]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0
