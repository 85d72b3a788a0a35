"""A real PostgreSQL for a test: a cluster of its own in a private folder, reached by its socket only."""

import contextlib
import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_DEBIAN = Path("/usr/lib/postgresql")


def binaries() -> Path | None:
    """Return the folder of initdb and its like, the newest version's; None where there is none."""
    versions = sorted(_DEBIAN.glob("*/bin/initdb"), key=lambda one: int(one.parts[-3]))
    if versions:
        return versions[-1].parent
    found = shutil.which("initdb")
    return None if found is None else Path(found).resolve().parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One server. It does not run as root, so that root is somebody else here, as the tests' user may be."""

    folder: Path
    bin: Path

    @property
    def data(self) -> Path:
        """Where its files lie."""
        return self.folder / "data"

    @property
    def inputs(self) -> dict[str, str]:
        """What the runbooks need to reach it."""
        return {"socket": str(self.folder), "role": "postgres"}

    @property
    def path(self) -> str:
        """The path that finds the clients of this version first."""
        return f"{self.bin}:/usr/sbin:/usr/bin:/sbin:/bin"

    def psql(self, sql: str, *, database: str = "postgres") -> str:
        """Run SQL and return what it answers."""
        return self._client("psql", "-d", database, "-XAtqc", sql).stdout.strip()

    def dump(self, database: str, file: Path) -> None:
        """Write a dump in the custom format."""
        self._client("pg_dump", "-Fc", "-f", str(file), database)

    def session(self, sql: str, *, database: str = "postgres") -> "subprocess.Popen[str]":
        """Start a session that runs `sql` and then stays open until its stdin is closed."""
        command = [str(self.bin / "psql"), "-h", str(self.folder), "-U", "postgres", "-d", database, "-XAtq"]
        started = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert started.stdin is not None
        started.stdin.write(sql + "\n")
        started.stdin.flush()
        return started

    def _client(self, program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(self.bin / program), "-h", str(self.folder), "-U", "postgres", *arguments],
            capture_output=True,
            text=True,
            check=True,
        )


@contextlib.contextmanager
def cluster(*, replica_of: Cluster | None = None) -> Iterator[Cluster]:
    """Make a cluster and start it; a replica streams from another one."""
    found = binaries()
    assert found is not None
    # pytest's own folders are closed to others, and the server is another user where the tests run as root
    folder = Path(tempfile.mkdtemp(prefix="sayso-postgres-"))
    made = Cluster(folder=folder, bin=found)
    if os.geteuid() == 0:
        shutil.chown(folder, _user())
    folder.chmod(0o755)
    try:
        if replica_of is None:
            _server(made, ["initdb", "-D", str(made.data), "-U", "postgres", "-A", "trust", "-N"])
        else:
            source = ["-h", str(replica_of.folder), "-U", "postgres", "-c", "fast", "-X", "stream"]
            _server(made, ["pg_basebackup", "-D", str(made.data), "-R", *source])
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        log = str(folder / "log")
        _server(made, ["pg_ctl", "-D", str(made.data), "-l", log, "-w", "-o", options, "start"])
        yield made
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            _server(made, ["pg_ctl", "-D", str(made.data), "-m", "immediate", "stop"])
        shutil.rmtree(folder, ignore_errors=True)


def _server(made: Cluster, command: Sequence[str]) -> None:
    """Run a program of the server as a user who may."""
    as_user = ["setpriv", f"--reuid={_user()}", f"--regid={pwd.getpwnam(_user()).pw_gid}", "--clear-groups"]
    subprocess.run(
        [*(as_user if os.geteuid() == 0 else ()), str(made.bin / command[0]), *command[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        cwd=made.folder,
    )


def _user() -> str:
    return "nobody" if os.geteuid() == 0 else getpass.getuser()
