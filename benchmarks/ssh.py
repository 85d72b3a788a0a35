"""SSH against OpenSSH's ControlMaster, in one run on one private sshd: `python -m benchmarks.ssh [--quick]`.

Three questions: what a pooled round trip costs (aim: at most 0.6 of `ssh` over a ControlMaster sending the
same line), how fast 100 MB stream (aim: at least 1.3 times `ssh` into a pipe), and whether memory stays
bounded meanwhile. A bare `uptime` on both sides is printed too, which is the pool alone: timeout, env and
bash without start files, which each command of ours gets, are three programs more over there, and what both
sides wait for alike brings any ratio nearer to one. The sides take turns, so that whatever else the machine
does hits all. Then, alone: what 500 connections cost while nobody uses them, and whether three floods of a
third of a gigabyte each at once keep memory bounded. Exits with 1 when an aim is missed.
"""

import argparse
import asyncio
import contextlib
import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.execution.executor import FleetExecutor
from bot.execution.limits import Limits
from bot.execution.pool import Pool
from bot.execution.wrap import wrap
from bot.inventory import Inventory, TargetConfig, build
from bot.ports import Ended
from gate.domain import Action, ActionId, TargetId
from tests.sshd import SSHD, Server, running

ROUND_TRIP_AIM = 0.6
STREAM_AIM = 1.3
MEMORY_AIM_MB = 30.0
IDLE_AIM_MB = 60.0
MB = 1_000_000


@dataclass(frozen=True)
class Sides:
    """What is compared: our executor and the ssh program, over the same server."""

    server: Server
    inventory: Inventory
    executor: FleetExecutor
    control: Path

    async def action(self, command: str) -> Action:
        """Return a command for the server, as it would be granted."""
        target = await self.executor.identify(self.inventory.targets[TargetId("box")])
        return Action(id=ActionId("b.1"), index=1, target=target, command=command, purpose="benchmark")

    async def ours(self, command: str) -> Ended:
        """Run a command our way."""
        ended = await self.executor.run(await self.action(command), on_output=_ignore, cancel=asyncio.Event())
        if ended.exit_code != 0:
            raise RuntimeError(f"{ended.kind}: {ended.note}")
        return ended

    def ssh(self, *options: str) -> list[str]:
        """Return the argv of ssh to the same server."""
        return ["ssh", "-F", str(self.server.config), *options, self.server.alias]

    @property
    def through_master(self) -> list[str]:
        """Return the argv of ssh over the running ControlMaster."""
        return self.ssh("-o", f"ControlPath={self.control}", "-o", "ControlMaster=no")


def _ignore(chunk: bytes) -> None:
    del chunk


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """Medians in seconds, pooled and over a ControlMaster: a command as it is run, and a bare `uptime`."""

    pooled: float
    pooled_bare: float
    master: float
    master_bare: float


async def round_trips(sides: Sides, *, rounds: int) -> RoundTrips:
    """Measure and print the medians; all four take turns."""
    taken: dict[str, list[float]] = {"pooled": [], "pooled_bare": [], "master": [], "master_bare": []}
    line = wrap(await sides.action("uptime"), token="0" * 32, kill_after_s=5).line
    pool = Pool(identifier=sides.inventory.identifier, limits=Limits())
    async with pool.lease(pool.endpoint(sides.server.alias, name="box"), cancel=asyncio.Event()) as lease:
        for _ in range(rounds):
            taken["pooled"].append(await _timed(sides.ours("uptime")))
            taken["pooled_bare"].append(await _timed(lease.connection.run("uptime", check=True)))
            taken["master"].append(_ssh([*sides.through_master, line]))
            taken["master_bare"].append(_ssh([*sides.through_master, "uptime"]))
    await pool.close()
    found = RoundTrips(**{name: statistics.median(times) for name, times in taken.items()})
    for name, mine, other in (
        ("pooled round trip", found.pooled, found.master),
        ("a bare uptime", found.pooled_bare, found.master_bare),
    ):
        _print(name, f"{mine * 1e3:.2f} ms", "over ControlMaster", f"{other * 1e3:.2f} ms")
    return found


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def _ssh(argv: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


async def streams(sides: Sides, *, size: int, rounds: int) -> tuple[float, float]:
    """Print the medians and return (ours as a multiple of ssh's, megabytes by which our peak memory grew)."""
    command = f"head -c {size} /dev/zero"
    ours: list[float] = []
    theirs: list[float] = []
    before = _peak_mb()
    for _ in range(rounds):
        began = time.perf_counter()
        ended = await sides.ours(command)
        ours.append(size / (time.perf_counter() - began))
        if ended.output.total != size:
            raise RuntimeError(f"only {ended.output.total} of {size} bytes arrived")
        theirs.append(size / _pipe(sides.ssh(), command, size))
    grown = _peak_mb() - before
    mine, other = statistics.median(ours), statistics.median(theirs)
    _print("stream", f"{mine / MB:.0f} MB/s", "ssh into a pipe", f"{other / MB:.0f} MB/s")
    return mine / other, grown


def _pipe(argv: Sequence[str], command: str, size: int) -> float:
    """Read `size` bytes from ssh; its handshake is not counted, only what follows the first byte."""
    with subprocess.Popen([*argv, command], stdout=subprocess.PIPE, bufsize=0) as process:
        if process.stdout is None:
            raise RuntimeError("no pipe")
        total = len(process.stdout.read(1))
        began = time.perf_counter()
        while chunk := process.stdout.read(65536):
            total += len(chunk)
        took = time.perf_counter() - began
    if total != size:
        raise RuntimeError(f"ssh delivered {total} of {size} bytes")
    return took


async def idle(server: Server, *, count: int) -> float:
    """Open `count` connections under as many names, use each, and return the megabytes they hold."""
    names = _aliases(server, "idle", count)
    inventory = build({name: TargetConfig() for name in names}, {}, ssh_config=server.config)
    executor = FleetExecutor(inventory)
    before = _resident_mb()
    began = time.perf_counter()
    await asyncio.gather(*(_uptime(executor, inventory, name) for name in names))
    cold_s = time.perf_counter() - began
    held = _resident_mb() - before
    began = time.perf_counter()
    await asyncio.gather(*(_uptime(executor, inventory, name) for name in names))
    warm_s = time.perf_counter() - began
    await executor.close()
    _print(f"{count} hosts, cold", f"{cold_s:.1f} s", "warm", f"{warm_s:.1f} s")
    _print(f"{count} idle connections", f"{held:.1f} MB", "each", f"{held * 1000 / count:.0f} kB")
    return held


async def floods(server: Server, *, size: int, hosts: int) -> float:
    """Flood from several hosts at once, and return the megabytes by which our peak memory grew."""
    names = _aliases(server, "flood", hosts)
    inventory = build({name: TargetConfig() for name in names}, {}, ssh_config=server.config)
    executor = FleetExecutor(inventory)
    before = _peak_mb()
    began = time.perf_counter()
    command = f"head -c {size} /dev/zero"
    ended = await asyncio.gather(*(_run(executor, inventory, name, command) for name in names))
    took = time.perf_counter() - began
    await executor.close()
    if {one.output.total for one in ended} != {size}:
        raise RuntimeError("a flood did not arrive whole")
    _print(
        f"{hosts} floods at once",
        f"{hosts * size / MB / took:.0f} MB/s",
        "peak memory",
        f"+{_peak_mb() - before:.1f} MB",
    )
    return _peak_mb() - before


async def _uptime(executor: FleetExecutor, inventory: Inventory, name: str) -> Ended:
    return await _run(executor, inventory, name, "uptime")


async def _run(executor: FleetExecutor, inventory: Inventory, name: str, command: str) -> Ended:
    target = await executor.identify(inventory.targets[TargetId(name)])
    action = Action(id=ActionId("b.1"), index=1, target=target, command=command, purpose="benchmark")
    ended = await executor.run(action, on_output=_ignore, cancel=asyncio.Event())
    if ended.exit_code != 0:
        raise RuntimeError(f"{name}: {ended.kind}: {ended.note}")
    return ended


def _aliases(server: Server, stem: str, count: int) -> list[str]:
    names = [f"{stem}{number}" for number in range(count)]
    with server.config.open("a") as config:
        config.write(
            f"Host {' '.join(names)}\n  HostName 127.0.0.1\n  Port {server.port}\n  User {server.user}\n"
            f"  IdentityFile {server.client_key}\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {server.known_hosts}\n  GlobalKnownHostsFile none\n"
        )
    return names


def _resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / MB


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def _print(name: str, value: str, other: str, other_value: str) -> None:
    print(f"{name:20} {value:>12}    {other:20} {other_value:>12}")


async def measure(server: Server, *, quick: bool) -> bool:
    inventory = build({"box": TargetConfig()}, {}, ssh_config=server.config)
    executor = FleetExecutor(inventory)
    control = server.folder / "master"
    sides = Sides(server=server, inventory=inventory, executor=executor, control=control)
    master = subprocess.Popen(  # noqa: ASYNC220 -- lives beside everything that is measured
        sides.ssh("-o", f"ControlPath={control}", "-o", "ControlMaster=yes", "-N"), stdin=subprocess.DEVNULL
    )
    try:
        while not control.exists():
            if master.poll() is not None:
                raise RuntimeError("the ControlMaster did not start")
            await asyncio.sleep(0.02)
        await sides.ours("true")
        trips = await round_trips(sides, rounds=30 if quick else 150)
        size = 20 * MB if quick else 100 * MB
        multiple, grown = await streams(sides, size=size, rounds=3 if quick else 5)
        flooded = await floods(server, size=(40 if quick else 334) * MB, hosts=3)
        held = await idle(server, count=100 if quick else 500)
    finally:
        master.terminate()
        master.wait()
        await executor.close()
    ratio = trips.pooled / trips.master
    checks = (
        (f"round trip / ControlMaster  {ratio:.2f}  (aim ≤ {ROUND_TRIP_AIM})", ratio <= ROUND_TRIP_AIM),
        (f"stream / ssh into a pipe    {multiple:.2f}  (aim ≥ {STREAM_AIM})", multiple >= STREAM_AIM),
        (
            f"peak memory growth          {grown:.1f} MB  (aim ≤ {MEMORY_AIM_MB:.0f} MB)",
            grown <= MEMORY_AIM_MB,
        ),
        (
            f"peak of three floods        {flooded:.1f} MB  (aim ≤ {MEMORY_AIM_MB:.0f} MB)",
            flooded <= MEMORY_AIM_MB,
        ),
        (f"idle connections            {held:.1f} MB  (aim ≤ {IDLE_AIM_MB:.0f} MB)", held <= IDLE_AIM_MB),
    )
    print(f"        the pool alone: a bare uptime on both sides  {trips.pooled_bare / trips.master_bare:.2f}")
    print(f"        ours / a bare uptime over ControlMaster      {trips.pooled / trips.master_bare:.2f}")
    for line, met in checks:
        print(("met     " if met else "MISSED  ") + line)
    return all(met for _, met in checks)


def _sshd(folder: Path) -> "contextlib.AbstractContextManager[Server]":
    """Run an sshd with the stock bound on who has not logged in: many names may not trip it."""
    return running(folder / "sshd", options="MaxStartups 10:30:100\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, 20 MB")
    arguments = parser.parse_args()
    if not SSHD.exists():
        print(f"{SSHD} is not here; without OpenSSH there is nothing to compare with")
        return 1
    with tempfile.TemporaryDirectory() as folder, _sshd(Path(folder)) as server:
        print(f"{os.cpu_count()} cores shared by client and server; each side takes turns")
        return 0 if asyncio.run(measure(server, quick=arguments.quick)) else 1


if __name__ == "__main__":
    sys.exit(main())
