"""Keys that asyncssh has read of our files, kept for the next connections of a fleet.

Each connection would read and take apart the same few files. They are read again as soon as one of them, or
one beside it, is another than it was; what was read is forgotten after a minute, used or not. A connection
gets key pairs of its own, since asyncssh writes into them; the keys they hold are shared.
"""

import asyncio
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncssh
from asyncssh.public_key import SSHKeyPair, load_default_keypairs, load_identities

from bot.execution.keys import NO_IDENTITY, Offer
from bot.inventory.ssh_config import SshHost
from bot.inventory.stamps import Stamp, stamp

_KEEP_S = 60.0
_MOST = 8
_BESIDE = ("", "-cert.pub", ".pub")
#: Where keys lie that no IdentityFile names, and how the names of their files begin.
_USUAL = (Path("~/.ssh"), "id_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What to hand to asyncssh.

    Attributes:
        client_keys: keys of ours, or names of their files where all that is in them is for an agent to do.
        client_certs: certificates still to be put to them; () for those that the SSH config names.
        agent_identities: the only ones of the agent's keys to offer; () for all it has.
    """

    client_keys: "Sequence[SSHKeyPair | str]"
    client_certs: Sequence[str]
    agent_identities: Sequence[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    files: tuple[str, ...]
    certificates: tuple[str, ...]
    agent_only: tuple[str | bytes, ...]
    identities_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    stamps: tuple[Stamp, ...]
    pairs: tuple[SSHKeyPair, ...]
    identities: tuple[bytes, ...]


class KeyRing:
    """Reads key files for connections.

    Args:
        keep_s: for how long what was read is kept.
    """

    def __init__(self, *, keep_s: float = _KEEP_S) -> None:
        self._keep_s = keep_s
        self._found: dict[_Asked, _Found] = {}
        self._reading = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None

    async def hand(self, host: SshHost, offered: Offer) -> Handed:
        """Return keys for one connection to `host`. Raises OSError, ValueError for files that are no keys."""
        asked = _Asked(
            files=offered.files,
            certificates=host.certificate_files,
            agent_only=offered.agent_only,
            identities_only=host.identities_only,
        )
        found = self._known(asked)
        if found is None:
            async with self._reading:  # the first of a fleet reads, the others wait for it
                found = self._known(asked) or await self._read(asked)
        if not found.pairs:
            names = list(offered.files) or ([] if offered.nothing else ())
            return Handed(client_keys=names, client_certs=(), agent_identities=found.identities)
        pairs = [copy.copy(pair) for pair in found.pairs]
        return Handed(client_keys=pairs, client_certs=[], agent_identities=found.identities)

    def forget(self) -> None:
        """Keep nothing."""
        self._found.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _known(self, asked: _Asked) -> _Found | None:
        found = self._found.get(asked)
        if found is None:
            return None
        # of files that are named, that they are the same will do; of the usual ones, others may have come
        now = (stamp(seen[0]) for seen in found.stamps) if asked.files else _stamps(asked)
        return found if found.stamps == tuple(now) else None

    async def _read(self, asked: _Asked) -> _Found:
        found = await asyncio.to_thread(_read, asked)  # an RSA key takes a while
        if len(self._found) >= _MOST:
            self._found.clear()
        self._found[asked] = found
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._keep_s, self.forget)
        return found


def _read(asked: _Asked) -> _Found:
    """Have asyncssh read the files, as it does with their names in a connection's options."""
    stamps = _stamps(asked)  # before: should one change while it is read, the next connection reads again
    certificates = list(asked.certificates)
    pairs = (
        asyncssh.load_keypairs(
            list(asked.files), None, certificates, asked.identities_only, ignore_encrypted=True
        )
        if asked.files
        else load_default_keypairs(None, certificates)
    )
    identities = tuple(load_identities(list(asked.agent_only), asked.identities_only))
    if (
        asked.agent_only and not identities
    ):  # none of them is a key: not all of the agent's, which () asks for
        identities = (NO_IDENTITY,)
    return _Found(stamps=stamps, pairs=tuple(pairs), identities=identities)


def _stamps(asked: _Asked) -> tuple[Stamp, ...]:
    public = (one for one in asked.agent_only if isinstance(one, str))
    names = dict.fromkeys([*_names(asked), *asked.certificates, *public])
    return tuple(stamp(Path(name).expanduser()) for name in names)


def _names(asked: _Asked) -> Iterator[str]:
    for file in asked.files:
        yield from (file + end for end in _BESIDE)
    if not asked.files:
        folder, begin = _USUAL
        yield from (str(path) for path in sorted(folder.expanduser().glob(f"{begin}*")))
