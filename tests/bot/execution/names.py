"""Many names for one server, and hosts that are there and say nothing."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

from bot.inventory import TargetConfig
from tests.sshd import Server


def alias(
    server: Server, *names: str, address: str = "127.0.0.1", port: int = 0, more: str = ""
) -> dict[str, TargetConfig]:
    """Let the server's config know it by `names` too, at another address or port, and trust its key there."""
    at = port or server.port
    kind, key = (server.folder / "host.pub").read_text().split()[:2]
    with server.config.open("a") as config, server.known_hosts.open("a") as known:
        for name in names:
            config.write(
                f"Host {name}\n  HostName {address}\n  Port {at}\n  User {server.user}\n"
                f"  IdentityFile {server.client_key}\n  IdentitiesOnly yes\n"
                f"  UserKnownHostsFile {server.known_hosts}\n  GlobalKnownHostsFile none\n{more}"
            )
        known.write(f"[{address}]:{at} {kind} {key}\n")
    return {name: TargetConfig() for name in names}


@contextlib.contextmanager
def silent() -> Iterator[int]:
    """A port where connections are taken and nobody ever says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        yield int(listener.getsockname()[1])


@contextlib.contextmanager
def deaf() -> Iterator[int]:
    """A port where connections are not even taken, as those of a machine that is off."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port = int(listener.getsockname()[1])
        for _ in range(4):  # what the queue holds, and what the kernel adds to it
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        yield port


def log_of(server: Server) -> str:
    return Path(server.folder / "sshd.log").read_text()
