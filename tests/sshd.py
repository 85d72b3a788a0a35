"""A private SSH server on loopback for tests and benchmarks: OpenSSH where there is one, else asyncssh.

Everything it needs (host key, authorized key, client config, known_hosts) lies in one folder, so that neither
the user's ~/.ssh nor the system's sshd is touched. The stand-in runs real bash processes.
"""

import asyncio
import contextlib
import getpass
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

SSHD = Path("/usr/sbin/sshd")
_START_S = 60.0
#: Descriptors of ports that were handed out, the oldest first, and how many of them are kept.
_held: deque[int] = deque()
_HELD = 200
_DEFAULTS = ("MaxStartups 100", "LogLevel ERROR")


@dataclass(kw_only=True)
class Server:
    """A running server and what a client needs to reach it as `alias`."""

    folder: Path
    port: int
    user: str
    alias: str = "box"
    env: dict[str, str] = field(default_factory=dict)
    pid: int = 0

    @property
    def config(self) -> Path:
        """The SSH client config that knows `alias`."""
        return self.folder / "config"

    @property
    def known_hosts(self) -> Path:
        """The known_hosts file that trusts this server."""
        return self.folder / "known_hosts"

    @property
    def client_key(self) -> Path:
        """The private key that it lets in."""
        return self.folder / "client"

    def write_client_files(self, *, extra: str = "") -> None:
        """Write the client's config and known_hosts."""
        public = (self.folder / "host.pub").read_text().split()
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {public[0]} {public[1]}\n")
        self.config.write_text(
            f"Host {self.alias}\n  HostName 127.0.0.1\n  Port {self.port}\n  User {self.user}\n"
            f"  IdentityFile {self.client_key}\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {self.known_hosts}\n  GlobalKnownHostsFile none\n{extra}"
        )
        self.config.chmod(0o600)

    def session_pids(self) -> list[int]:
        """Return the processes of the server that each carry one connection."""
        return children(self.pid)


def children(pid: int) -> list[int]:
    """Return the direct children of a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, task.read_text().split())
    return found


def free_port() -> int:
    """Return a port that nothing listens on, and that no other process is given for a long while.

    It is kept by being bound without listening; a server still gets it by its number, by SO_REUSEADDR.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("", 0))
    port = int(held.getsockname()[1])
    _held.append(held.detach())  # a number: a socket that is left open would warn at the end
    if len(_held) > _HELD:
        os.close(_held.popleft())
    return port


def make_key(path: Path) -> None:
    """Write a new ed25519 key pair to `path` and `path`.pub."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(path)
    path.chmod(0o600)
    key.write_public_key(path.with_name(path.name + ".pub"))


def prepare(folder: Path, *, alias: str = "box") -> Server:
    """Make keys and client files in `folder` without starting anything."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("host", "client"):
        make_key(folder / name)
    (folder / "authorized_keys").write_text((folder / "client.pub").read_text())
    server = Server(folder=folder, port=free_port(), user=getpass.getuser(), alias=alias)
    server.write_client_files()
    return server


@contextlib.contextmanager
def openssh(server: Server, *, options: str = "") -> Iterator[Server]:
    """Run OpenSSH's sshd for `server`."""
    config = server.folder / "sshd_config"
    config.write_text(
        f"Port {server.port}\nListenAddress 127.0.0.1\nHostKey {server.folder / 'host'}\n"
        f"AuthorizedKeysFile {server.folder / 'authorized_keys'}\nPidFile none\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
        "PrintMotd no\n"
        # sshd takes the first of two lines that say the same
        + "".join(f"{line}\n" for line in _DEFAULTS if line.split()[0] not in options)
        # bash as a login shell reads ~/.bashrc under sshd unless it is nested; this user's is not our subject
        + f"SetEnv SHLVL=2\n{options}"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with (server.folder / "sshd.log").open("ab") as log:
        process = subprocess.Popen(
            [str(SSHD), "-D", "-e", "-f", str(config)], stderr=log, stdin=subprocess.DEVNULL
        )
    server.pid = process.pid
    try:
        _wait_for(server, process)
        yield server
    finally:
        for pid in server.session_pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait(timeout=10)


def _wait_for(server: Server, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_S
    while not _greets(server):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"sshd did not start: {(server.folder / 'sshd.log').read_text()}")
        time.sleep(0.02)
    # it counts who looked whether it is up among those who log in until the process for them has gone
    while server.session_pids() and time.monotonic() < deadline:
        time.sleep(0.005)


def _greets(server: Server) -> bool:
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1", server.port), timeout=_START_S) as probe,
    ):
        return probe.recv(1) != b""
    return False


@contextlib.contextmanager
def stand_in(server: Server) -> Iterator[Server]:
    """Run this module as a server process: asyncssh in front of real bash."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(server.folder), str(server.port)], stdin=subprocess.DEVNULL
    )
    server.pid = process.pid
    server.folder.joinpath("sshd.log").touch()
    try:
        _wait_for(server, process)
        yield server
    finally:
        process.kill()
        process.wait(timeout=10)


def started(server: Server, *, options: str = "") -> "contextlib.AbstractContextManager[Server]":
    """Run a prepared server, of the best kind there is here; `options` are lines for sshd_config."""
    return openssh(server, options=options) if SSHD.exists() else stand_in(server)


@contextlib.contextmanager
def running(folder: Path, *, alias: str = "box", options: str = "") -> Iterator[Server]:
    """Prepare and run a server of the best kind there is here."""
    with started(prepare(folder, alias=alias), options=options) as server:
        yield server


# ------------------------------------------------------------------ the stand-in, run as a program


class _Server(asyncssh.SSHServer):
    """Lets anybody who got in connect onwards, as a jump host does."""

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        return True


async def _serve(folder: Path, port: int) -> None:
    await asyncssh.listen(
        "127.0.0.1",
        port,
        server_factory=_Server,
        server_host_keys=[str(folder / "host")],
        authorized_client_keys=str(folder / "authorized_keys"),
        process_factory=_handle,
        encoding=None,
    )
    await asyncio.Event().wait()


async def _handle(process: "asyncssh.SSHServerProcess[bytes]") -> None:
    child = await asyncio.to_thread(_bash, process.command or "true")
    ended = _end_of(child)
    pump = asyncio.create_task(_pump(child, process))
    try:
        async for _ in _signals(process, child, ended):
            pass
        await ended
    finally:
        await asyncio.wait({pump}, timeout=0.5)
        pump.cancel()
    code = child.wait()
    if code < 0:
        process.exit_with_signal(signal.Signals(-code).name.removeprefix("SIG"))
    else:
        process.exit(code)


def _bash(command: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        ["/bin/bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _end_of(child: "subprocess.Popen[bytes]") -> "asyncio.Future[None]":
    """Return a future done when the process ends, whoever still holds its output."""
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    descriptor = os.pidfd_open(child.pid)

    def end() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        ended.set_result(None)

    loop.add_reader(descriptor, end)
    return ended


async def _pump(child: "subprocess.Popen[bytes]", process: "asyncssh.SSHServerProcess[bytes]") -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), child.stdout)
    try:
        while chunk := await reader.read(65536):
            process.stdout.write(chunk)
            await process.stdout.drain()
    finally:
        transport.close()


async def _signals(
    process: "asyncssh.SSHServerProcess[bytes]",
    child: "subprocess.Popen[bytes]",
    ended: "asyncio.Future[None]",
) -> AsyncIterator[None]:
    while not ended.done():
        reading = asyncio.create_task(process.stdin.read(1024))
        await asyncio.wait({reading, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():
            reading.cancel()
            return
        try:
            if not reading.result():
                await asyncio.wait({ended}, timeout=0.05)
        except asyncssh.SignalReceived as received:
            os.killpg(child.pid, getattr(signal, f"SIG{received.signal}"))
        except asyncssh.BreakReceived:
            pass
        yield None


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), int(sys.argv[2])))
