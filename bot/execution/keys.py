"""Which keys of ours a connection offers: the files that the SSH config names, and the agent's.

As OpenSSH does: a file that is not there is passed over, a public one beside it picks a key of the agent, and
an encrypted one counts only through an agent, since nobody is there to type its passphrase. What asyncssh
reads of the files is kept by `key_ring`; nothing of it is kept here.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from bot.inventory.ssh_config import SshHost

#: An identity that no key has: with it the agent is asked for nothing.
NO_IDENTITY = b"none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What to hand to asyncssh.

    Attributes:
        files: private keys, and public ones that pick one of the agent's; () for the usual ones.
        agent_only: public keys and certificates, the only ones of the agent to offer; () for all it has.
        missing: files that are named and cannot be read.
    """

    files: tuple[str, ...] = ()
    agent_only: tuple[str | bytes, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether files are named and not one of them can be read."""
        return bool(self.missing) and not self.files


def offer(host: SshHost) -> Offer:
    """Return the keys to offer to `host`."""
    files: list[str] = []
    public: list[str] = []
    missing: list[str] = []
    for name in host.identity_files:
        path = str(Path(name).expanduser())
        beside = [one for end in ("-cert.pub", ".pub") if _is_there(one := path + end)]
        if _is_there(path):
            files.append(path)
            public += beside or ([path] if path.endswith(".pub") else [])
        elif beside:
            files += beside[-1:]
            public += beside
        else:
            missing.append(name)
    agent_only = (*public,) or (NO_IDENTITY,)
    return Offer(
        files=tuple(files), agent_only=agent_only if host.identities_only else (), missing=tuple(missing)
    )


def hint(offered: Offer) -> str:
    """Return what is wrong with the files that were to be offered, in sentences; "" for nothing."""
    if offered.nothing:
        return f"IdentityFile {offered.missing[0]} is not there, or cannot be read. "
    locked = [name for name in offered.files if _is_encrypted(name)]
    if locked:
        return (
            f"{locked[0]} is encrypted and nobody is there to type its passphrase: add it to the agent that "
            f"sayso sees (ssh-add {locked[0]}), or give sayso a key of its own. "
        )
    return ""


def _is_there(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.R_OK)  # noqa: PTH113 -- for each host of a fleet


def _is_encrypted(name: str) -> bool:
    try:
        asyncssh.read_private_key(name)
    except asyncssh.KeyImportError as error:
        return "passphrase" in str(error).lower()
    except (OSError, ValueError):
        return False
    return False
