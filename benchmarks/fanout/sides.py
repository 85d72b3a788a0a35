"""Who is compared: sayso, asyncssh alone, parallel-ssh, OpenSSH with xargs, Ansible; over the same hosts.

Each side begins without a connection and keeps what it opens, until it is told to close. A run in which any
host did not answer ends the benchmark: what is faster because it did less is no figure.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bot.execution.wrap import wrap
from bot.inventory import build
from gate.domain import Action, ActionId, TargetId
from tests.simulators.fleet import Fleet

ROOT = Path(__file__).parent.parent.parent
COMMAND = "uptime"
#: What a host says that has run it.
SAYS = "load average"
SAYSO, NO_SHELLS = "sayso", "sayso, no shell waits"


class FailedError(Exception):
    """A side did not do the work, so nothing can be compared."""


class Side(Protocol):
    """A way to run one line on every host."""

    name: str

    def run(self, line: str) -> float:
        """Run a line on every host and return the seconds. Raises FailedError unless all have answered."""

    def close(self) -> None:
        """Close every connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every side needs to know.

    Attributes:
        folder: for files of the sides; its path is short, since control sockets lie in it.
        peers: an interpreter that may have parallel-ssh and Ansible; None for none.
    """

    hosts: Fleet
    at_once: int
    folder: Path
    peers: Path | None

    @property
    def count(self) -> int:
        """How many hosts there are."""
        return len(self.hosts.names)

    def wrapped(self) -> str:
        """Return the line that sayso sends for COMMAND."""
        inventory = build(self.hosts.targets(), {}, ssh_config=self.hosts.config)
        target = inventory.targets[TargetId(self.hosts.names[0])]
        action = Action(id=ActionId("b.1"), index=1, target=target, command=COMMAND, purpose="benchmark")
        return wrap(action, token="0" * 32, kill_after_s=5).line

    def check(self, name: str, said: int, more: str = "") -> None:
        """Raise FailedError unless every host has answered."""
        if said != self.count:
            raise FailedError(f"{name}: {said} of {self.count} hosts answered {more}"[:2000])


class Client:
    """A process of `benchmarks.fanout` that is asked for runs."""

    def __init__(
        self, module: str, arguments: Sequence[str], *, log: Path, python: Path | None = None
    ) -> None:
        self._log = log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [str(python or sys.executable), "-m", f"benchmarks.fanout.{module}", *arguments],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def ask(self, do: str, **more: str) -> dict[str, Any]:
        """Have something done and return what came of it. Raises FailedError."""
        into, out = self._process.stdin, self._process.stdout
        if into is None or out is None:
            raise RuntimeError("no pipes")
        with contextlib.suppress(BrokenPipeError):
            into.write(json.dumps({"do": do, **more}) + "\n")
            into.flush()
        answer: dict[str, Any] = json.loads(out.readline() or '{"error": "it is gone"}')
        if "error" in answer:
            raise FailedError(f"{answer['error']}\n{self._log.read_text('utf-8', 'replace')[-2000:]}")
        return answer

    def end(self) -> None:
        """Let it end, or make it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.communicate(timeout=10)
        self._process.kill()
        self._process.wait()


class Library:
    """A side that is a client library in a process of its own."""

    def __init__(self, name: str, bench: Bench, client: Client) -> None:
        self.name = name
        self._bench = bench
        self._client = client

    def run(self, line: str) -> float:
        """Run a line on every host and return the seconds."""
        answer = self._client.ask("run", line=line)
        self._bench.check(self.name, sum(SAYS in one for one in answer["said"]))
        return float(answer["took"])

    def close(self) -> None:
        """Close every connection."""
        self._client.ask("close")


class Sayso:
    """The core, spoken to; see `benchmarks.fanout.core`."""

    def __init__(self, name: str, bench: Bench, client: Client) -> None:
        self.name = name
        self._bench = bench
        self._client = client

    def run(self, line: str) -> float:
        """Say it of all hosts and return the seconds until all of it is over and shown."""
        answer = self._client.ask("say", text=f"on @all: {line}")
        ends = answer["ends"]
        well = [one for one in ends.values() if one["state"] == "succeeded" and SAYS in one["output"]]
        other = next((f"; {name}: {one}" for name, one in ends.items() if one not in well), "")
        self._bench.check(self.name, len(well), other)
        return float(answer["took"])

    def settle(self) -> int:
        """Let shells come to wait, as between two questions of a person; return how many do."""
        return int(self._client.ask("settle")["waiting"])

    def close(self) -> None:
        """Begin with a new core, which has no connection."""
        self._client.ask("close")
        self._client.ask("open")


class Xargs:
    """ssh with a ControlMaster for each host, so many at once by xargs."""

    name = "ssh ControlMaster + xargs"

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._folder = bench.folder / "m"
        self._folder.mkdir()
        (bench.folder / "names").write_text("\n".join(bench.hosts.names) + "\n")

    def run(self, line: str) -> float:
        """Run a line on every host and return the seconds."""
        bench = self._bench
        masters = [
            "-o",
            "ControlMaster=auto",
            "-o",
            "ControlPersist=900",
            "-o",
            f"ControlPath={self._folder}/%n",
        ]
        argv = ["xargs", "-a", str(bench.folder / "names"), "-P", str(bench.at_once), "-I", "@HOST@"]
        return _timed(self, bench, [*argv, "ssh", "-F", str(bench.hosts.config), *masters, "@HOST@", line])

    def close(self) -> None:
        """Leave it to the server, whose end is that of the masters."""


class Ansible:
    """`ansible -m raw` with a ControlMaster for each host and so many forks."""

    name = "ansible -m raw"

    def __init__(self, bench: Bench, program: Path) -> None:
        self._bench = bench
        self._program = program
        self._folder = bench.folder / "a"
        self._folder.mkdir()
        (self._folder / "hosts").write_text("\n".join(bench.hosts.names) + "\n")
        (self._folder / "ansible.cfg").write_text(
            f"[defaults]\nforks = {bench.at_once}\ninventory = {self._folder / 'hosts'}\n"
            "[ssh_connection]\n"
            f"ssh_args = -F {bench.hosts.config} -o ControlMaster=auto -o ControlPersist=900s\n"
            f"control_path = {self._folder}/%%n\n"
        )

    def run(self, line: str) -> float:
        """Run a line on every host and return the seconds."""
        mine = {"ANSIBLE_CONFIG": str(self._folder / "ansible.cfg"), "ANSIBLE_HOME": str(self._folder)}
        environ = {**os.environ, **mine, "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1"}
        return _timed(
            self, self._bench, [str(self._program), "all", "-m", "raw", "-a", line], environ=environ
        )

    def close(self) -> None:
        """Leave it to the server, whose end is that of the masters."""


def _timed(side: Side, bench: Bench, argv: Sequence[str], *, environ: dict[str, str] | None = None) -> float:
    """Run a program and return the seconds, once it is seen that every host has answered."""
    with (bench.folder / "said").open("w+b") as said, (bench.folder / "complained").open("w+b") as complained:
        began = time.perf_counter()
        subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=said, stderr=complained, env=environ, check=False
        )
        took = time.perf_counter() - began
        for file in (said, complained):
            file.seek(0)
        bench.check(side.name, said.read().count(SAYS.encode()), complained.read()[-1000:].decode())
    return took


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Make a folder whose path is short enough for control sockets."""
    with tempfile.TemporaryDirectory(prefix="sayso-fan-") as name:
        yield Path(name)


def write_config(bench: Bench, folder: Path) -> None:
    """Write the config of sayso in `folder`: every host with the tag `all`."""
    tables = [f'[targets.{name}]\ntags = ["all"]\n' for name in bench.hosts.names]
    # the one sshd behind all hosts takes as many at once as the other sides open
    bot = f'[bot]\nssh_config = "{bench.hosts.config}"\nlogins_at_once = {min(bench.at_once, 64)}\n'
    text = bot + "".join(tables)
    (folder / "config.toml").write_text(text)


@contextlib.contextmanager
def sayso(bench: Bench, *flags: str) -> Iterator[Client]:
    """Run the core in a process of its own with these settings, without a connection yet."""
    folder = bench.folder / f"core{''.join(flags)}"
    folder.mkdir()
    write_config(bench, folder)
    client = Client("core", [str(folder), *flags], log=folder / "core.log")
    try:
        client.ask("open")
        yield client
    finally:
        client.end()


@contextlib.contextmanager
def bare(bench: Bench) -> Iterator[Client]:
    """Run bare asyncssh in a process of its own."""
    server = bench.hosts.server
    hosts = [f"{name}={bench.hosts.address(name)}" for name in bench.hosts.names]
    more = [str(server.port), server.user, str(server.client_key), str(server.known_hosts)]
    client = Client("bare", [str(bench.at_once), *more, *hosts], log=bench.folder / "bare.log")
    try:
        yield client
    finally:
        client.end()


@contextlib.contextmanager
def parallel(bench: Bench) -> Iterator[Client]:
    """Run parallel-ssh in a process of its own."""
    server = bench.hosts.server
    arguments = [str(bench.at_once), str(server.port), server.user, str(server.client_key)]
    arguments += [bench.hosts.address(name) for name in bench.hosts.names]
    client = Client("parallel", arguments, log=bench.folder / "parallel.log", python=bench.peers)
    try:
        yield client
    finally:
        client.end()


def has_parallel(peers: Path | None) -> bool:
    """Tell whether the interpreter of the peers has parallel-ssh."""
    if peers is None:
        return False
    return subprocess.run([peers, "-c", "import pssh"], capture_output=True, check=False).returncode == 0


def ansible_of(peers: Path | None) -> Path | None:
    """Return Ansible's program beside the interpreter of the peers."""
    program = None if peers is None else peers.parent / "ansible"
    return program if program is not None and program.exists() else None
