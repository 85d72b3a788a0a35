"""A simulated Proxmox VE node for a test: a folder of programs to put on a path, and what is so in it.

    with proxmox(tmp_path) as host:
        host.run("pct list")            # bash, with the programs first on its path
        host.faults(container_dns=True)

The programs are simulations and say so where they end; `pct`, `cluster` and `inside` say what they follow.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.sshd import free_port

_HERE = Path(__file__).parent
#: A program's name on the path -> what `main` calls it.
_PROGRAMS = {
    **{name: name for name in ("pct", "pvesh", "pvesm", "pveam", "lxc-info")},
    "getent": "node-getent",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A node whose state lies in `folder`."""

    folder: Path

    @property
    def path(self) -> str:
        """The path that finds the programs first."""
        return f"{self.folder / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin"

    def run(
        self, command: str, *, timeout_s: float = 30, **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a line in bash as sayso does: nothing of this process's environment but what is named."""
        home = self.folder / "home"
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-c", command],
            env={"PATH": self.path, "LANG": "C.UTF-8", "HOME": str(home), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            cwd=home,
            check=False,
        )

    @property
    def state(self) -> dict[str, Any]:
        """What is so now."""
        found: dict[str, Any] = json.loads((self.folder / "state.json").read_text())
        return found

    def change(self, **values: Any) -> None:
        """Set what is so, such as `ha=["ct:112"]`, while no program runs."""
        (self.folder / "state.json").write_text(json.dumps({**self.state, **values}))

    def faults(self, **faults: Any) -> None:
        """Break things, on top of what is broken."""
        self.change(faults={**self.state["faults"], **faults})

    def go_on(self) -> None:
        """Let what hangs go on, now and from now on, also while programs run."""
        (self.folder / "goes-on").touch()

    @property
    def guests(self) -> list[str]:
        """The VMIDs that are taken."""
        return sorted(self.state["guests"])

    def add(self, vmid: str, hostname: str = "old", **more: Any) -> None:
        """Let there be a container that nobody here made."""
        guest = {
            "vmid": vmid,
            "type": "lxc",
            "node": self.state["node"],
            "status": "stopped",
            "config": {"hostname": hostname, "arch": "amd64", "memory": "512"},
            **more,
        }
        self.change(guests={**self.state["guests"], vmid: guest})

    def add_template(self, name: str = "debian-12-standard_12.12-1_amd64.tar.zst") -> None:
        """Let a template be there already."""
        (self.folder / "template" / "cache" / name).write_bytes(b"a template\n")


@contextlib.contextmanager
def proxmox(folder: Path, **values: Any) -> Iterator[Host]:
    """Make a node in `folder`; at the end every process that its containers started is ended."""
    sys.path.insert(0, str(_HERE))
    try:
        from state import FRESH, Node  # noqa: PLC0415 -- the programs' own modules, found by their folder
    finally:
        sys.path.remove(str(_HERE))
    for name in ("bin", "home", "ct", "template/cache"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, program in _PROGRAMS.items():
        launcher = folder / "bin" / name
        launcher.write_text(
            f'#!/bin/sh\nexec {sys.executable} -I {_HERE / "main.py"} {program} {folder} "$@"\n'
        )
        launcher.chmod(0o755)
    host = Host(folder=folder)
    (folder / "state.json").write_text(json.dumps({**FRESH, "http_port": free_port(), **values}))
    try:
        yield host
    finally:
        for container in (folder / "ct").iterdir():
            Node(folder).kill(container.name)
