"""A machine for starter runbooks: simulated systemd programs on a path, and a room of its own where it may.

    with machine(tmp_path, units={"nginx.service": unit()}) as host: ...          # simulated programs only
    with machine(tmp_path, room=True) as host: ...                                # and real ones, kept apart

In a room every command runs in mount, network and process namespaces of its own, with private `/etc`, `/var`,
`/run`, `/home` and `/srv`, so that the real useradd, nft, apt-get, renice or df can do their work and nothing
of the machine that runs the tests is touched. That takes root; `has_rooms` tells whether it can be had.
"""

import contextlib
import functools
import marshal
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.sshd import children

_MAIN = Path(__file__).parent / "main.py"
_SYSTEMD = ("systemctl", "journalctl", "systemd-run", "timedatectl", "logrotate")
#: What a room hides of the machine; neither this project nor the interpreter may lie in there.
_HIDDEN = ("/etc", "/run", "/home", "/srv", "/var")
#: The first process of a room stays, and takes in what others leave behind, as an init does.
_INIT = "echo ready\nwhile true; do sleep 3600 & wait $!; done\n"
_FOLDERS = (
    *("etc/apt/apt.conf.d", "etc/cron.d", "home", "run", "srv", "var/log/journal", "var/backups", "var/mail"),
    *("var/tmp", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"),
    *("var/lib/apt/lists/partial", "var/lib/logrotate", "var/cache/apt/archives/partial"),
    "var/spool/cron/crontabs",
)
#: What programs read of the real /etc; users and groups are not among it.
_FROM_ETC = (
    *("alternatives", "default", "ld.so.cache", "login.defs", "nsswitch.conf", "pam.d", "security", "skel"),
    "ssl",
)
_UNSHARE = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--propagation", "private"]

FRESH: Mapping[str, Any] = {
    "units": {},
    "journal": [],
    "started": [],  # what was restarted, in order
    "armed": {},  # timer -> the command that it would run
    "clock": {"ntp": False, "can": True, "asked": False, "after": 1},
    "rotated": [],
    "processes": [],
    "available": [50],
    "swap": [0, 0, 0],
    "moving": 0,
}


def unit(active: str = "active", **more: Any) -> dict[str, Any]:
    """Return a unit.

    Args:
        more: `fails` starts that fail, `slow` looks at it that find it starting, `dies` after a start that
            went well, `flaps` times, `oneshot`, `enabled`, and a `hook` to run when it starts.
    """
    sub = {"active": "running", "failed": "failed"}.get(active, "dead")
    return {
        "load": "loaded",
        "active": active,
        "sub": sub,
        "restarts": 0,
        "description": "A service",
        "result": "exit-code" if active == "failed" else "success",
        "status": int(active == "failed"),
        **more,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine whose state and own files lie in `folder`."""

    folder: Path
    pid: int = 0

    @property
    def path(self) -> str:
        """The path that finds the programs of the test first."""
        return f"{self.folder / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin"

    @property
    def state(self) -> dict[str, Any]:
        """What is so now."""
        found: dict[str, Any] = marshal.loads((self.folder / "state").read_bytes())
        return found

    def change(self, **values: Any) -> None:
        """Set what is so, while no program runs."""
        (self.folder / "state").write_bytes(marshal.dumps({**self.state, **values}))

    def unit(self, name: str) -> dict[str, Any]:
        """Return a unit as it is now."""
        found: dict[str, Any] = self.state["units"][name]
        return found

    def run(self, command: str) -> "subprocess.CompletedProcess[str]":
        """Run a line in bash, in the room where there is one."""
        return subprocess.run(
            [str(self.folder / "bin" / "bash") if self.pid else "/bin/bash", "-c", command],
            env={"PATH": self.path, "LANG": "C.UTF-8", "HOME": "/"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def do(self, command: str) -> str:
        """Run a line that has to go well, and return what it wrote."""
        ended = self.run(command)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout


@functools.cache
def has_rooms() -> bool:
    """Whether this user may make namespaces with private mounts."""
    if os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return False
    needed = (Path(one).resolve() for one in (__file__, sys.executable, tempfile.gettempdir()))
    if any(one.is_relative_to(hidden) for one in needed for hidden in _HIDDEN):
        return False
    return subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def machine(
    folder: Path, *, room: bool = False, simulated: Sequence[str] = (), var_mib: int = 0, **values: Any
) -> Iterator[Machine]:
    """Make a machine.

    Args:
        room: in namespaces of its own.
        simulated: further programs that are played: "ps", "free", "vmstat".
        var_mib: size of the disk of `/var` in a room; 0 for one with as much room as the machine has.
        values: what is so on it, over `FRESH`.
    """
    (folder / "bin").mkdir(parents=True)
    (folder / "state").write_bytes(marshal.dumps({**FRESH, **values}))
    for name in (*_SYSTEMD, *simulated):
        _launcher(folder / "bin" / name, f'exec {sys.executable} -I -S {_MAIN} {name} {folder} "$@"')
    if not room:
        yield Machine(folder=folder)
        return
    _furnish(folder / "root")
    script = folder / "enter"
    script.write_text(_mounts(folder / "root", var_mib=var_mib) + _INIT)
    with subprocess.Popen(
        [*_UNSHARE, "--kill-child", "/bin/bash", "-e", str(script)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "ready\n"
            (pid,) = children(holder.pid)
            enter = f'exec /usr/bin/nsenter -t {pid} -m -n -p -- /bin/bash "$@"'
            _launcher(folder / "bin" / "bash", enter)
            yield Machine(folder=folder, pid=pid)
        finally:
            holder.send_signal(
                signal.SIGKILL
            )  # with it goes the first process of the room, and with that all


def _launcher(file: Path, line: str) -> None:
    file.write_text(f"#!/bin/sh\n{line}\n")
    file.chmod(0o755)


def _furnish(root: Path) -> None:
    """Make the private folders: what programs need of /etc, and nobody but root and the usual groups."""
    for name in _FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("status", "available"):
        (root / "var/lib/dpkg" / name).touch()
    for name in _FROM_ETC:
        if (found := Path("/etc") / name).exists():
            subprocess.run(["cp", "-a", str(found), str(root / "etc")], check=True)
    etc = root / "etc"
    (etc / "passwd").write_text(
        "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/usr/sbin:/usr/sbin/nologin\n"
        "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n"
    )
    (etc / "group").write_text(
        "root:x:0:\ndaemon:x:1:\nadm:x:4:\nmail:x:8:\nusers:x:100:\nnogroup:x:65534:\n"
    )
    (etc / "shadow").write_text("root:*:19700:0:99999:7:::\ndaemon:*:19700:0:99999:7:::\n")
    (etc / "gshadow").write_text("root:*::\nusers:*::\n")
    (etc / "shadow").chmod(0o640)
    (etc / "subuid").touch()
    (etc / "subgid").touch()
    (etc / "crontab").write_text("17 * * * * root run-parts /etc/cron.hourly\n")
    (etc / "nftables.conf").write_text("#!/usr/sbin/nft -f\nflush ruleset\n")


def _mounts(root: Path, *, var_mib: int) -> str:
    lines = [f"mount --bind {root}/{name} /{name}" for name in ("etc", "run", "home", "srv")]
    if var_mib:
        lines += [
            f"mount -t tmpfs -o size={var_mib}m none /var",
            f"cp -a {root}/var/. /var/",
        ]
    else:
        lines += [f"mount --bind {root}/var /var"]
    return "\n".join([*lines, "ip link set lo up", ""])
