"""Addresses: where something on this machine may listen.

The rule it owns: what has neither a password nor encryption is offered to this machine alone. It opens
nothing.
"""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

_HOW = 'Write an address and a port, such as "127.0.0.1:9464".'
_ELSEWHERE = (
    "Only an address of this machine itself, such as 127.0.0.1 or [::1]: there is neither a password nor"
    " encryption there. To read it from elsewhere, put a proxy that has both in front."
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; port 0 is any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def loopback(text: str) -> Address:
    """Return the address that `text` names, such as "127.0.0.1:9464" or "[::1]:9464".

    Raises:
        ValueError: it names none, or one that others can reach; says what to write.
    """
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(_HOW) from None
    if not host or not port or parts.netloc != text or "@" in text:
        raise ValueError(_HOW)
    if not _is_loopback(host):
        raise ValueError(_ELSEWHERE)
    return Address(host, port)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
