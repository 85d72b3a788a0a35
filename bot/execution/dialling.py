"""Opens one SSH connection: as whom, under which host keys, in its turn, and in words what went wrong.

Keeps no connection; `pool` does. One that the server dropped before it said a word was refused for being one
too many (MaxStartups) and is tried again: nothing was sent.
"""

import asyncio
from dataclasses import dataclass, field

import asyncssh
from asyncssh.config import SSHClientConfig

from bot.execution.key_ring import KeyRing
from bot.execution.keys import Offer, hint, offer
from bot.execution.limits import Limits
from bot.execution.trust import Client, ciphers, host_key_algorithms, key_exchanges, known, refusal
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


class Said(asyncssh.SSHClientConnectionOptions):
    """What the SSH config says of a host, as it was read to identify it: nothing is read or matched again.

    asyncssh goes on from the config of the options that it is given. Making options of its own would have it
    read keys too, which is left out here.
    """

    def __init__(self, config: SSHClientConfig) -> None:
        self.kwargs = {}
        self.config = config


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
        self._keys = KeyRing()

    def close(self) -> None:
        """Look no more names up, and keep no key."""
        self._names.close()
        self._keys.forget()

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
            handed = await self._keys.hand(host, offered)
            return await asyncssh.connect(
                host.alias,
                port=host.port,
                username=host.user,
                options=None if host.said is None else Said(host.said),
                config=self._identifier.ssh_config.paths if host.said is None else None,
                tunnel=tunnel or (Wire(self._names, heard=turn.heard) if host.plain_tcp else ()),
                client_factory=lambda: client,
                client_keys=handed.client_keys,
                client_certs=handed.client_certs,
                agent_identities=handed.agent_identities,
                ignore_encrypted=True,
                known_hosts=known(keys),
                server_host_key_algs=host_key_algorithms(host, keys),
                kex_algs=key_exchanges(host),
                encryption_algs=ciphers(host),
                x509_trusted_certs=None,
                x509_trusted_cert_paths=[],
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
