"""The door of HTTP: who is let in, before anything of a request is read (ASGI).

The rules it owns: a request names this machine or a name that the owner allowed (DNS rebinding), comes from
no web page that was not allowed, and carries the secret of an agent, compared in constant time. What is let
in goes to the server of that one agent.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from bot.callers import Callers

PATH = "/mcp"
#: Characters of a secret that are looked at; longer ones are nobody's.
_LONGEST_SECRET = 1024

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Door:
    """Lets agents in.

    Args:
        servers: the way on, by the name of an agent.
        hosts: names beside this machine's own that requests may be addressed to.
        origins: web pages that may ask.
    """

    def __init__(
        self,
        callers: Callers,
        servers: Callable[[str], App],
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
    ) -> None:
        self._callers = callers
        self._servers = servers
        self._hosts = _LOOPBACK | {host.casefold() for host in hosts}
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] != "http":
            return
        headers = _headers(scope)
        if scope["path"].rstrip("/") != PATH:
            await _answer(send, 404, "Nothing is here.")
        elif (refusal := self._misdirected(headers)) is not None:
            await _answer(send, *refusal)
        elif (agent := self._agent(headers)) is None:
            await _answer(send, 401, "Say whose request it is: Authorization: Bearer <secret>.", who=True)
        else:
            await self._servers(agent)(scope, receive, send)

    def _misdirected(self, headers: Mapping[bytes, list[str]]) -> tuple[int, str] | None:
        host = headers.get(b"host", [])
        if len(host) != 1 or _name(f"//{host[0]}") not in self._hosts:
            return 421, "That host is not this one. hosts under [adapters.mcp] allows others."
        origin = headers.get(b"origin", [])
        if any(one not in self._origins for one in origin):
            return 403, "That page may not ask. origins under [adapters.mcp] allows others."
        return None

    def _agent(self, headers: Mapping[bytes, list[str]]) -> str | None:
        given = headers.get(b"authorization", [])
        scheme, _, secret = (given[0] if len(given) == 1 else "").partition(" ")
        secret = secret.strip()
        if scheme.casefold() != "bearer" or not secret or len(secret) > _LONGEST_SECRET:
            return None
        return self._callers.of_secret(secret)


def _headers(scope: Scope) -> dict[bytes, list[str]]:
    found: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.lower(), []).append(value.decode("latin-1"))
    return found


def _name(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").casefold()
    except ValueError:
        return ""


async def _answer(send: Send, status: int, words: str, *, who: bool = False) -> None:
    body = f"{words}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
    if who:
        headers.append((b"www-authenticate", b'Bearer realm="sayso"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
