"""Opens one SSH connection: as whom, under which host keys, in its turn, and in words what went wrong.

Keeps no connection; `pool` does. One that the server dropped before it said a word was refused for being one
too many (MaxStartups) and is tried again: nothing was sent.
"""

import asyncio
from dataclasses import dataclass, field

import asyncssh

from bot.execution.keys import Offer, hint, offer
from bot.execution.limits import Limits
from bot.execution.trust import Client, ciphers, host_key_algorithms, known, refusal
from bot.execution.turns import Handshakes, Turn
from bot.execution.unreached import Unreached, UnreachedError, explain
from bot.execution.wire import Names, Wire
from bot.inventory.hostkeys import HostKeys
from bot.inventory.identity import Identifier
from bot.inventory.ssh_config import SshHost

#: Between two tries at a server that drops connections before they begin.
_DROPPED_PAUSES_S = (0.2, 0.6, 1.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """What one pooled connection leads to. Equal endpoints share it."""

    name: str = field(compare=False)
    host: SshHost
    fingerprints: tuple[str, ...]
    keys: HostKeys = field(compare=False)
    jump: "Endpoint | None" = None

    @property
    def address(self) -> tuple[object, ...]:
        """What tells one address from another: seen from where, name or number, port."""
        return (self.jump, self.host.address, self.host.port)


class Dialler:
    """Opens connections.

    Args:
        identifier: knows the SSH config.
        limits: bounds.
        names: looks names up; closed with the dialler.
    """

    def __init__(self, *, identifier: Identifier, limits: Limits, names: Names) -> None:
        self._identifier = identifier
        self._limits = limits
        self._names = names
        self._handshakes = Handshakes(limits)

    def close(self) -> None:
        """Look no more names up."""
        self._names.close()

    async def dial(
        self, endpoint: Endpoint, *, tunnel: asyncssh.SSHClientConnection | None
    ) -> asyncssh.SSHClientConnection:
        """Return a new connection. Raises UnreachedError.

        Args:
            endpoint: where it leads.
            tunnel: the connection to go through; None for none.
        """
        keys = tuple(one for one in endpoint.fingerprints if not one.startswith("ca:"))
        for pause_s in (*_DROPPED_PAUSES_S, None):
            client = Client()
            try:
                async with self._handshakes.turn(endpoint.address, keys=keys) as turn:
                    return await self._connect(endpoint, client, turn, tunnel=tunnel)
            except (asyncssh.ConnectionLost, ConnectionResetError) as error:
                if pause_s is None or client.greeted or (tunnel is not None and tunnel.is_closed()):
                    raise _explain(error, endpoint) from error
            await asyncio.sleep(pause_s)
        raise AssertionError("unreachable")  # the last try has no pause

    async def _connect(
        self,
        endpoint: Endpoint,
        client: Client,
        turn: Turn,
        *,
        tunnel: asyncssh.SSHClientConnection | None,
    ) -> asyncssh.SSHClientConnection:
        host, keys = endpoint.host, endpoint.keys
        offered = offer(host)
        if offered.nothing and host.identities_only:
            raise UnreachedError(
                Unreached.AUTH, f"{endpoint.name}: {hint(offered)}Nothing was sent. Check the SSH config."
            )
        try:
            with self._identifier.ssh_config.own(host) as config:
                return await asyncssh.connect(
                    host.alias,
                    port=host.port,
                    username=host.user,
                    config=config,
                    tunnel=tunnel or (Wire(self._names, heard=turn.heard) if host.plain_tcp else ()),
                    client_factory=lambda: client,
                    client_keys=list(offered.files) or ([] if offered.nothing else ()),
                    agent_identities=list(offered.agent_only) or (),
                    ignore_encrypted=True,
                    known_hosts=known(keys),
                    server_host_key_algs=host_key_algorithms(host, keys),
                    encryption_algs=ciphers(host),
                    x509_trusted_certs=None,
                    password_auth=False,
                    kbdint_auth=False,
                    agent_forwarding=False,
                    request_pty=False,
                    connect_timeout=self._limits.connect_s,
                    login_timeout=self._limits.connect_s,
                    keepalive_interval=self._limits.keepalive_s,
                    keepalive_count_max=3,
                )
        except asyncssh.HostKeyNotVerifiable as error:
            files = self._identifier.files(host)
            raise refusal(
                error, name=endpoint.name, host=host, keys=keys, files=files, client=client
            ) from error
        except (asyncssh.ConnectionLost, ConnectionResetError):
            raise
        except (asyncssh.Error, OSError, ValueError) as error:
            raise _explain(error, endpoint, offered=offered) from error


def _explain(error: Exception, endpoint: Endpoint, *, offered: Offer | None = None) -> UnreachedError:
    host = endpoint.host
    why = hint(offered) if isinstance(error, asyncssh.PermissionDenied) and offered is not None else ""
    return explain(
        error,
        name=endpoint.name,
        address=host.address,
        port=host.port,
        user=host.user,
        hint=why,
    )
