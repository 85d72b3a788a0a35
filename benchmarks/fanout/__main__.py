"""One command on many hosts: sayso against asyncssh alone, parallel-ssh, OpenSSH with xargs, and Ansible.

All of them run the same line on the same logical hosts of one private sshd (tests/simulators/fleet.py), with
one connection for each host, and as many commands and logins at once (`bot.logins_at_once`: sayso opens 8 at
a time at an sshd that it knows by its key to be one, unless told that more may). sayso is told "on @all:
uptime", and is done when every host's end is in the ledger on disk and the card of it is drawn. Cold begins
without connections, warm has them. sayso takes part twice: as it comes, when on warm connections shells wait
for what only reads (they are opened in the seconds after each round, which are not counted), and without
those, where it does just the work of the others. Sides take turns, and a ratio is the median of those of the
rounds. ssh and Ansible get warm once, and Ansible takes part in two rounds only: they are slow enough to be
seen so. A host that does not answer ends it all.

Run it where nothing else runs: on a busy machine each process gets its share, so that a side which is one
process loses time, and one that is fifty gains some.

Two lines are run: a bare `uptime`, and the line that sayso sends for it (timeout, env, bash without start
files). The aims are for the same line on both sides, and for 200 hosts; sayso over a bare `uptime` of others
stands beside them. Memory is that of sayso's process alone: idle, after one host, and with a connection to
each of the most hosts. With --blocks the SSH config has a block for each host, as ones kept by hand have;
asyncssh alone and parallel-ssh read none.

    python -m benchmarks.fanout [--hosts 50 200 500] [--rounds 3] [--peers PYTHON] [--blocks]
    python -m benchmarks.fanout --faults [--hosts 500]    # hosts that refuse, hang, drop or flood: faults.py

The peers are no dependencies of this project. To have them (for --peers DIR/bin/python):

    python -m venv DIR && DIR/bin/pip install parallel-ssh ansible-core

Exits with 1 when an aim is missed.
"""

import argparse
import contextlib
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.fanout import faults
from benchmarks.fanout.sides import (
    COMMAND,
    NO_SHELLS,
    SAYSO,
    Ansible,
    Bench,
    Client,
    FailedError,
    Library,
    Sayso,
    Side,
    Xargs,
    ansible_of,
    bare,
    has_parallel,
    parallel,
    sayso,
    scratch,
)
from bot.execution.limits import Limits
from tests.simulators.fleet import MOST_AT_ONCE, fleet
from tests.sshd import SSHD

JUDGED_AT = 200
BARE = "asyncssh alone"
#: (side, cold or warm): the most that sayso may take, times what that side takes for the same line.
AIMS = {
    ("ssh ControlMaster + xargs", "warm"): 0.4,
    ("ansible -m raw", "warm"): 0.1,
    ("parallel-ssh", "cold"): 0.7,
    (BARE, "warm"): 1.3,
    (BARE, "cold"): 1.3,
}
MEMORY_AIM_MB = 60.0
SLOW_ROUNDS = 2
SETTLED_S = 2.0

#: Seconds by side, cold or warm, and whether the line was wrapped.
Times = dict[tuple[str, str, bool], list[float]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--hosts", type=int, nargs="+")
    parser.add_argument("--at-once", type=int, default=Limits().commands, help="what the others may")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", type=Path, help="an interpreter that has parallel-ssh and ansible-core")
    parser.add_argument("--only", nargs="+", default=[], help="only sides with such a word in their names")
    parser.add_argument(
        "--blocks", action="store_true", help="an SSH config with a block for each host, not for each address"
    )
    parser.add_argument("--faults", action="store_true")
    args = parser.parse_args()
    if not SSHD.exists():
        print(f"{SSHD} is not here; the fleet needs it")
        return 1
    if not 1 <= args.at_once <= MOST_AT_ONCE:
        parser.error(f"--at-once is from 1 to {MOST_AT_ONCE}, which is what the server takes")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, which servers and clients share")
    if args.rounds < 1:
        parser.error("--rounds is at least 1")
    try:
        if args.faults:
            found = [faults.measure(count, at_once=args.at_once) for count in args.hosts or [500]]
            return int(not all(found))
        counts = args.hosts or [50, 200, 500]
        met = [measure(count, args) for count in counts]
        if not args.only or any(one in SAYSO for one in args.only):
            met.append(memory(max(counts), at_once=args.at_once))
        return int(not all(met))
    except FailedError as error:
        print(f"given up: {error}")
        return 1


@contextlib.contextmanager
def bench_of(count: int, *, at_once: int, blocks: bool = False, peers: Path | None = None) -> Iterator[Bench]:
    """Run a healthy fleet."""
    with scratch() as folder, fleet(folder / "f", count=count, blocks=blocks) as hosts:
        yield Bench(hosts=hosts, at_once=at_once, folder=folder, peers=peers)


def measure(count: int, args: argparse.Namespace) -> bool:
    """Compare over `count` hosts, print, and tell whether the aims are met."""
    times: Times = defaultdict(list)
    with contextlib.ExitStack() as stack:
        bench = stack.enter_context(
            bench_of(count, at_once=args.at_once, blocks=args.blocks, peers=args.peers)
        )
        quick, slow = _sides(bench, stack, args.only)
        wrapped = bench.wrapped()
        for _ in range(args.rounds):
            for side in quick:
                for line in _lines(side, wrapped):
                    side.close()
                    _take(times, side, "cold", line)
        for side in (*quick, *slow):
            _take(times if side in slow else defaultdict(list), side, "cold", _lines(side, wrapped)[0])
        for number in range(args.rounds):
            for side in (*quick, *slow):
                if number < SLOW_ROUNDS or not isinstance(side, Ansible):
                    for line in _lines(side, wrapped):
                        _take(times, side, "warm", line)
    print(f"\n{count} hosts, {args.at_once} at once; seconds, medians of at most {args.rounds} rounds")
    _table([one.name for one in (*quick, *slow)], times)
    return _ratios(count, times)


def _sides(bench: Bench, stack: contextlib.ExitStack, only: Sequence[str]) -> tuple[list[Side], list[Side]]:
    """Start every side that is here; return those that get cold again quickly, and the others."""

    def wanted(name: str) -> bool:
        return not only or any(one in name for one in only)

    quick: list[Side] = []
    slow: list[Side] = []
    for name, flags in ((SAYSO, ()), (NO_SHELLS, ("bot.waiting_shells=0",))):
        if wanted(name):
            client = stack.enter_context(sayso(bench, *flags))
            # it loads SSH when it is needed first
            client.ask("say", text=f"on {bench.hosts.names[0]}: {COMMAND}")
            quick.append(Sayso(name, bench, client))
    if wanted(BARE):
        quick.append(Library(BARE, bench, stack.enter_context(bare(bench))))
    if wanted("parallel-ssh"):
        if has_parallel(bench.peers):
            quick.append(Library("parallel-ssh", bench, stack.enter_context(parallel(bench))))
        else:
            print("absent: parallel-ssh, no --peers PYTHON has it")
    if wanted(Xargs.name):
        slow.append(Xargs(bench))
    if wanted(Ansible.name):
        if (program := ansible_of(bench.peers)) is not None:
            slow.append(Ansible(bench, program))
        else:
            print("absent: Ansible, no --peers PYTHON has it beside it")
    return quick, slow


def _lines(side: Side, wrapped: str) -> list[str]:
    """Return what a side runs: sayso wraps what it is told."""
    return [COMMAND] if isinstance(side, Sayso) else [wrapped, COMMAND]


def _take(times: Times, side: Side, how: str, line: str) -> None:
    is_wrapped = isinstance(side, Sayso) or line != COMMAND
    times[side.name, how, is_wrapped].append(side.run(line))
    if isinstance(side, Sayso):
        side.settle()  # what it does behind a round must not slow the next side down


def _table(names: Sequence[str], times: Times) -> None:
    print(f"{'':26} {'cold':>8} {'uptime':>8} {'warm':>8} {'uptime':>8}")
    for name in names:
        cells = [
            times.get((name, how, is_wrapped)) for how in ("cold", "warm") for is_wrapped in (True, False)
        ]
        print(
            f"{name:26}" + "".join(f" {statistics.median(one):8.2f}" if one else f" {'':8}" for one in cells)
        )


def _ratios(count: int, times: Times) -> bool:
    """Print sayso over every other side; tell whether the aims are met, where they are for so many hosts."""
    all_met = True
    ours = [name for name in (SAYSO, NO_SHELLS) if any(key[0] == name for key in times)]
    others = [key[:2] for key in times if key[0] not in (SAYSO, NO_SHELLS)]
    for mine in ours if others else ():
        print(f"{f'{mine} over':36} {'same line':>10} {'uptime':>8}")
        for name, how in dict.fromkeys(others):
            if (mine, how, True) not in times:
                continue
            ratio = _over(times[mine, how, True], times[name, how, True])
            beside = times.get((name, how, False))
            line = f"{f'{name}, {how}':36} {ratio:10.2f}"
            line += f" {_over(times[mine, how, True], beside):8.2f}" if beside else " " * 9
            aim = AIMS.get((name, how)) if mine == SAYSO or name == BARE else None
            if aim is not None:
                line += f"  aim ≤ {aim}"
            if aim is not None and count == JUDGED_AT:
                line += "  met" if ratio <= aim else "  MISSED"
                all_met = all_met and ratio <= aim
            print(line)
    return all_met


def _over(mine: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the median of the rounds' ratios: what else the machine does differs from round to round."""
    return statistics.median(one / other for one, other in zip(mine, theirs, strict=False))


def memory(count: int, *, at_once: int) -> bool:
    """Print what sayso's process holds, and tell whether `count` connections add little enough."""
    with bench_of(count, at_once=at_once) as bench, sayso(bench) as client:
        idle = _held(client)
        first = bench.hosts.names[0]
        client.ask("say", text=f"on {first}: {COMMAND}")
        one = _held(client)
        side = Sayso(SAYSO, bench, client)
        for _ in range(2):
            side.run(COMMAND)
            waiting = side.settle()
        warm = _held(client)
    added = warm - idle
    print(f"\nmemory of sayso: idle {idle:.0f} MB, one host warm {one:.0f} MB, {count} warm {warm:.0f} MB")
    met = added <= MEMORY_AIM_MB
    verdict = "met" if met else "MISSED"
    said = f"{count} warm hosts, {waiting} of them with a shell that waits, add {added:.0f} MB"
    print(f"{said}  aim ≤ {MEMORY_AIM_MB:.0f} for 500  {verdict}")
    return met


def _held(client: Client) -> float:
    time.sleep(SETTLED_S)
    return float(client.ask("memory")["held"])


if __name__ == "__main__":
    sys.exit(main())
