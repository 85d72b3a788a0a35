"""What `[adapters.mcp]` may hold, and what is wrong with it, without any network.

The rule it owns: it listens on this machine alone, since a secret in the clear is no secret on a network. Who
may ask, and with which secret, stands under [agents.NAME].
"""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict

_HOW = 'Write an address of this machine and a port, such as "127.0.0.1:7331".'
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def _address(text: str) -> str:
    if text:
        address_of(text)
    return text


def address_of(text: str) -> tuple[str, int]:
    """Return host and port of "127.0.0.1:7331".

    Raises:
        ValueError: it names none, or one that others can reach; says what to write.
    """
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(_HOW) from None
    if not host or port is None or parts.netloc != text or "@" in text:
        raise ValueError(_HOW)
    if host not in _LOOPBACK:
        what = "Secrets of agents would cross the network in the clear."
        raise ValueError(f"{what} {_HOW} To be reached from elsewhere, put a proxy with TLS in front.")
    return host, port


class Settings(BaseModel):
    """The settings of the adapter.

    Attributes:
        listen: where HTTP is answered; "" for nowhere, and then agents ask through `sayso mcp` only.
        hosts: other names that requests may be addressed to, as a proxy in front passes them on.
        origins: web pages that may ask, as "https://name"; none by default.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    listen: Annotated[str, AfterValidator(_address)] = ""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong, each with what to do; nothing but this is looked at."""
        return ()
