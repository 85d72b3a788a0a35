"""What the simulated Proxmox VE node knows, kept in one folder and shared by its programs.

The programs are separate processes, as the real ones are, so every change happens under a lock. A test breaks
something by putting it into `faults`; what each fault does stands at the program that looks for it.
"""

import contextlib
import fcntl
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

State = dict[str, Any]

#: A node as it is after an installation: one thin pool, one folder, no guests, no templates.
FRESH: State = {
    "node": "pve1",
    "guests": {},
    "faults": {},
    "http_port": 80,
    "upstream": ["deb.debian.org", "download.proxmox.com"],
    "ha": [],
    "backup_jobs": [],
    "storages": {
        "local": {"type": "dir", "content": ["vztmpl", "iso", "backup"], "total": 100 << 30, "used": 9 << 30},
        "local-lvm": {
            "type": "lvmthin",
            "content": ["rootdir", "images"],
            "total": 300 << 30,
            "used": 40 << 30,
        },
    },
    "catalogue": {
        "system": [
            "alpine-3.20-default_20240908_amd64.tar.xz",
            "debian-11-standard_11.7-1_amd64.tar.zst",
            "debian-12-standard_12.2-1_amd64.tar.zst",
            "debian-12-standard_12.12-1_amd64.tar.zst",
            "ubuntu-24.04-standard_24.04-2_amd64.tar.zst",
        ],
        "mail": ["proxmox-mail-gateway-8.1-standard_8.1-1_amd64.tar.zst"],
    },
}


class Node:
    """The node in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "state.json"

    @property
    def templates(self) -> Path:
        """Where downloaded templates lie."""
        return self.folder / "template" / "cache"

    @property
    def goes_on(self) -> Path:
        """Is there once nothing hangs any more."""
        return self.folder / "goes-on"

    def root(self, vmid: str) -> Path:
        """The private folder of a container, which is its file system here."""
        return self.folder / "ct" / vmid / "rootfs"

    def read(self) -> State:
        """Return what is so now."""
        found: State = json.loads(self.file.read_text())
        return found

    @contextlib.contextmanager
    def changing(self) -> Iterator[State]:
        """Let one process at a time read and change what is so."""
        with (self.folder / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self.read()
            yield state
            fresh = self.file.with_suffix(".new")
            fresh.write_text(json.dumps(state, indent=1))
            fresh.replace(self.file)

    def spend(self, fault: str) -> bool:
        """Whether `fault` happens now; one that is a number happens so many times and then no more."""
        with self.changing() as state:
            left = state["faults"].get(fault, 0)
            if isinstance(left, bool) or not isinstance(left, int):
                return bool(left)
            if left > 0:
                state["faults"][fault] = left - 1
            return left > 0

    def kill(self, vmid: str) -> None:
        """End every process of a container, as its end does."""
        for pids in self.root(vmid).glob("run/*.pid"):
            for pid in map(int, pids.read_text().split()):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            pids.unlink()


def address(vmid: str) -> str:
    """The address that a container gets: one of this machine's own, so that what listens there answers."""
    return f"127.77.{int(vmid) // 250 % 250}.{int(vmid) % 250 + 1}"
