"""Keys: which agent a secret or a login belongs to.

A secret is kept as its SHA-256 only, unless a file holds it in the clear; then it is also among what is never
shown. The rule it owns: comparing takes as long for a wrong secret as for a right one.
"""

import hashlib
import hmac
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.delegates.config import AgentConfig
from bot.settings.errors import ConfigError, Problem

#: A secret has to be long enough that nobody finds it by trying.
SHORTEST = 32
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_HOW = "Make one:  openssl rand -hex 32"


@dataclass(frozen=True, slots=True)
class Keys:
    """Knows agents.

    Attributes:
        digests: SHA-256 of each agent's secret.
        logins: agents by the user of this machine that they run as.
        clear: the secrets that lie in the clear, to be masked.
    """

    digests: Mapping[str, bytes] = field(default_factory=dict)
    logins: Mapping[str, str] = field(default_factory=dict)
    clear: tuple[str, ...] = field(default=(), repr=False)

    def of_secret(self, secret: str) -> str | None:
        """Return whose secret this is; None for nobody's."""
        given = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
        found = None
        for name, digest in self.digests.items():  # all of them, whichever it is
            if hmac.compare_digest(given, digest):
                found = name
        return found


def read(agents: Mapping[str, AgentConfig]) -> Keys:
    """Read the secrets that the config names.

    Raises:
        ConfigError: with every problem found; none of them quotes a secret.
    """
    found: list[Problem] = []
    digests: dict[str, bytes] = {}
    clear: list[str] = []
    for name, one in agents.items():
        if not one.token_file:
            continue
        file = Path(one.token_file).expanduser()
        try:
            secret = file.read_text("utf-8").strip()
            shared = file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "not text"
            found.append(_problem(name, f"{file} cannot be read ({why}). {_HOW}"))
            continue
        found += _wrong(name, secret, file=file, shared=bool(shared))
        hashed = _DIGEST.fullmatch(secret)
        if hashed is None:
            clear.append(secret)
        digests[name] = bytes.fromhex(hashed[1]) if hashed else hashlib.sha256(secret.encode()).digest()
    found += _twice(digests)
    if found:
        raise ConfigError(found)
    return Keys(digests, {one.login: name for name, one in agents.items() if one.login}, tuple(clear))


def _wrong(name: str, secret: str, *, file: Path, shared: bool) -> Iterable[Problem]:
    if len(secret) < SHORTEST:
        yield _problem(name, f"what {file} holds is shorter than {SHORTEST} characters. {_HOW}")
    # Its digest tells nobody the secret, so that file may be read by whoever likes.
    if shared and _DIGEST.fullmatch(secret) is None:
        yield _problem(name, f"others on this machine can read it. Type: chmod 600 {file}")


def _twice(digests: Mapping[str, bytes]) -> Iterable[Problem]:
    owners: dict[bytes, str] = {}
    for name, digest in digests.items():
        if digest in owners:
            what = f"that is agent {owners[digest]}'s secret too. Each agent needs its own. {_HOW}"
            yield _problem(name, what)
        owners[digest] = name


def _problem(name: str, what: str) -> Problem:
    return Problem(where="", key=f"agents.{name}.token_file", what=what)
