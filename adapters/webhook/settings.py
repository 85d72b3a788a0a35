"""What `[adapters.webhook]` may hold, and what is wrong with it, without any network.

The rules it owns: every source proves who it is; a secret comes from a file, never from the config; and a
secret that is sent along crosses no network in the clear.
"""

import ipaddress
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

#: Shorter secrets can be guessed.
SHORTEST = 16
#: What our own watches are called; no sender can be one.
_RESERVED = frozenset({"watch"})
_HOW = 'Write an address and a port, such as "127.0.0.1:9465".'
_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)


class SecretError(ValueError):
    """A source has no usable secret. Set token_file or hmac_file under [adapters.webhook.sources.NAME]."""


def _address(text: str) -> str:
    address_of(text)
    return text


def address_of(text: str) -> tuple[str, int]:
    """Return host and port of "127.0.0.1:9465".

    Raises:
        ValueError: it names none; says what to write.
    """
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(_HOW) from None
    if not host or port is None or parts.netloc != text or "@" in text:
        raise ValueError(_HOW)
    return host, port


class SourceSettings(BaseModel):
    """One sender.

    Attributes:
        format: what it sends.
        token_file: a file with its secret, which comes as "Authorization: Bearer …".
        hmac_file: instead, a file with the key that it signs "<timestamp>:<body>" with (HMAC-SHA256, hex).
        header, timestamp_header: where signature and timestamp stand; "" for what is usual for the format.
        window_s: how old or how far ahead a signed delivery may be.
        per_minute: deliveries that are taken in a minute; more are to be sent again later.
    """

    model_config = _STRICT
    format: Literal["alertmanager", "grafana", "generic"]
    token_file: str = ""
    hmac_file: str = ""
    header: str = ""
    timestamp_header: str = ""
    window_s: Annotated[int, Field(ge=10, le=3600)] = 300
    per_minute: Annotated[int, Field(ge=1, le=100_000)] = 300


class Settings(BaseModel):
    """The settings of the adapter.

    Attributes:
        listen: where it listens.
        max_bytes: of one delivery.
        sources: who may report, by the name that their path ends with.
    """

    model_config = _STRICT
    listen: Annotated[str, AfterValidator(_address)] = "127.0.0.1:9465"
    max_bytes: Annotated[int, Field(ge=1024, le=4_194_304)] = 1_048_576
    sources: dict[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")], SourceSettings] = {}

    def secrets(self) -> Mapping[str, bytes]:
        """Return the secret of every source.

        Raises:
            SecretError: one has none that can be used; the message never quotes it.
        """
        return {name: _secret(name, source) for name, source in self.sources.items()}

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong, each with what to do; nothing is asked of the network."""
        return tuple(self._problems())

    def _problems(self) -> Iterator[str]:
        if not self.sources:
            yield "Webhook: nobody may report. Add [adapters.webhook.sources.NAME] with format and token_file"
        host, _ = address_of(self.listen)
        for name, source in self.sources.items():
            if name in _RESERVED:
                yield f"Webhook: a source cannot be called {name}, which means sayso's own. Choose another."
            try:
                _secret(name, source)
            except SecretError as error:
                yield str(error)
            else:
                yield from _file_problems(name, source)
            if source.token_file and not _is_loopback(host):
                yield (
                    f"Webhook: {self.listen} can be reached from elsewhere, so the secret of {name} would "
                    "cross the network in the clear. Listen on 127.0.0.1 behind a proxy with TLS, or give it "
                    "hmac_file."
                )


def _secret(name: str, source: SourceSettings) -> bytes:
    where = f"[adapters.webhook.sources.{name}]"
    if bool(source.token_file) == bool(source.hmac_file):
        raise SecretError(f"Webhook: {where} needs token_file or hmac_file, one of both.")
    file = Path(source.token_file or source.hmac_file).expanduser()
    try:
        found = file.read_bytes().strip()
    except OSError as error:
        raise SecretError(f"Webhook: {file} of {where} cannot be read ({error.strerror}).") from None
    if len(found) < SHORTEST:
        raise SecretError(
            f"Webhook: the secret in {file} has to have {SHORTEST} characters or more. Make one:"
            f"  openssl rand -hex 32 > {file}"
        )
    return found


def _file_problems(name: str, source: SourceSettings) -> Iterator[str]:
    file = Path(source.token_file or source.hmac_file).expanduser()
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield f"Webhook: others on this machine can read the secret of {name}. Type: chmod 600 {file}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
