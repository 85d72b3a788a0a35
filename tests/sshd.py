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
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

SSHD = Path("/usr/sbin/sshd")
_START_S = 10.0


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
    """Return a port that nothing listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
def openssh(server: Server, *, options: str = "", path: str = "") -> Iterator[Server]:
    """Run OpenSSH's sshd for `server`; `path` is put in front of PATH for its commands."""
    config = server.folder / "sshd_config"
    setenv = f'SetEnv PATH="{path}:/usr/bin:/bin"\n' if path else ""
    config.write_text(
        f"Port {server.port}\nListenAddress 127.0.0.1\nHostKey {server.folder / 'host'}\n"
        f"AuthorizedKeysFile {server.folder / 'authorized_keys'}\nPidFile none\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
        f"MaxStartups 100\nPrintMotd no\nLogLevel ERROR\n{setenv}{options}"
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
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), timeout=1):
            return
        time.sleep(0.02)
    raise RuntimeError(f"sshd did not start: {(server.folder / 'sshd.log').read_text()}")


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


@contextlib.contextmanager
def running(folder: Path, *, alias: str = "box", options: str = "", path: str = "") -> Iterator[Server]:
    """Prepare and run a server of the best kind there is here."""
    server = prepare(folder, alias=alias)
    start = openssh(server, options=options, path=path) if SSHD.exists() else stand_in(server)
    with start:
        yield server


# ------------------------------------------------------------------ the stand-in, run as a program


async def _serve(folder: Path, port: int) -> None:
    async def handle(process: "asyncssh.SSHServerProcess[bytes]") -> None:
        child = await asyncio.create_subprocess_exec(
            "/bin/bash",
            "-c",
            process.command or "true",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        pump = asyncio.create_task(_pump(child, process))
        try:
            code = await _until_end(child, process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGHUP)
        await asyncio.wait({pump}, timeout=1)
        pump.cancel()
        if code < 0:
            process.exit_with_signal(signal.Signals(-code).name.removeprefix("SIG"))
        else:
            process.exit(code)

    await asyncssh.listen(
        "127.0.0.1",
        port,
        server_host_keys=[str(folder / "host")],
        authorized_client_keys=str(folder / "authorized_keys"),
        process_factory=handle,
        encoding=None,
    )
    await asyncio.Event().wait()


async def _pump(child: asyncio.subprocess.Process, process: "asyncssh.SSHServerProcess[bytes]") -> None:
    assert child.stdout is not None
    while chunk := await child.stdout.read(65536):
        process.stdout.write(chunk)
        await process.stdout.drain()


async def _until_end(child: asyncio.subprocess.Process, process: "asyncssh.SSHServerProcess[bytes]") -> int:
    while True:
        ended = asyncio.create_task(child.wait())
        try:
            async for _ in _signals(process, child, ended):
                pass
            return await ended
        finally:
            ended.cancel()


async def _signals(
    process: "asyncssh.SSHServerProcess[bytes]",
    child: asyncio.subprocess.Process,
    ended: "asyncio.Task[int]",
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
