"""Which host keys are trusted for a host and port: known_hosts files, read strictly.

Hashed names, "[host]:port", @revoked and @cert-authority are asyncssh's to understand. A file that cannot be
understood trusts nothing. A revoked key is never among the trusted ones, even where another line trusts it.
"""

import base64
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bot.inventory.stamps import Stamp, stamp

if TYPE_CHECKING:  # 15 MB, which nothing but SSH needs
    import asyncssh

_PORT = 22


class KnownHostsError(Exception):
    """A known_hosts file cannot be understood; mend the line that the message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostKeys:
    """What is trusted for one host.

    Attributes:
        keys, authorities, revoked: host keys, keys of certificate authorities, and what is never trusted.
        fingerprints: "SHA256:…" of `keys` and "ca:SHA256:…" of `authorities`, sorted.
    """

    keys: "tuple[asyncssh.SSHKey, ...]" = ()
    authorities: "tuple[asyncssh.SSHKey, ...]" = ()
    revoked: "tuple[asyncssh.SSHKey, ...]" = ()
    fingerprints: tuple[str, ...] = ()


def fingerprint(key: "asyncssh.SSHKey") -> str:
    """Return the fingerprint as ssh-keygen prints it: "SHA256:" and unpadded base64."""
    digest = hashlib.sha256(key.public_data).digest()
    return "SHA256:" + base64.b64encode(digest).decode("ascii").rstrip("=")


@dataclass(slots=True)
class KnownHosts:
    """Reads known_hosts files, and again only when one of them has changed."""

    _files: "dict[Path, tuple[Stamp, asyncssh.SSHKnownHosts]]" = field(default_factory=dict)
    _answers: dict[tuple[object, ...], HostKeys] = field(default_factory=dict)

    def lookup(self, host: str, *, port: int, files: tuple[Path, ...]) -> HostKeys:
        """Return what `files` trust for `host` at `port`; a missing file trusts nothing.

        Raises:
            KnownHostsError: a file exists and cannot be read or parsed.
        """
        stamps = tuple(stamp(path) for path in files)
        question = (host, port, stamps)
        answer = self._answers.get(question)
        if answer is None:
            if len(self._answers) > 10_000:  # noqa: PLR2004 -- a bound, not a size that matters
                self._answers.clear()
            answer = self._answers[question] = self._look(host, port, stamps)
        return answer

    def _look(self, host: str, port: int, stamps: tuple[Stamp, ...]) -> HostKeys:
        keys: dict[bytes, asyncssh.SSHKey] = {}
        authorities: dict[bytes, asyncssh.SSHKey] = {}
        revoked: dict[bytes, asyncssh.SSHKey] = {}
        for seen in stamps:
            found = self._read(seen).match(host, "", None if port == _PORT else port)
            for into, some in zip((keys, authorities, revoked), found[:3], strict=True):
                into.update((key.public_data, key) for key in some)
        trusted = tuple(key for data, key in keys.items() if data not in revoked)
        signers = tuple(key for data, key in authorities.items() if data not in revoked)
        prints = [fingerprint(key) for key in trusted] + [f"ca:{fingerprint(key)}" for key in signers]
        return HostKeys(
            keys=trusted,
            authorities=signers,
            revoked=tuple(revoked.values()),
            fingerprints=tuple(sorted(prints)),
        )

    def _read(self, seen: Stamp) -> "asyncssh.SSHKnownHosts":
        path, mtime_ns, *_ = seen
        cached = self._files.get(path)
        if cached is not None and cached[0] == seen:
            return cached[1]
        import asyncssh  # noqa: PLC0415  # lazy: see above

        try:
            known = asyncssh.import_known_hosts("" if mtime_ns < 0 else path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise KnownHostsError(f"{path}: {error}") from error
        self._files[path] = (seen, known)
        return known
