"""`--faults`: a fleet of which 5 % refuse, 2 % hang, 1 % drop in mid-command, and one floods 1 GB.

sayso is told "on @all: uptime". Every host has to end as it should: what was not reached did not run, what
dropped is `lost`, what floods and all the healthy ones succeed. The time is bounded by the slowest that is
allowed: all hosts that hang, each for as long as a connection may take, in as many turns as there are places
for handshakes, and beside that what the flood and the healthy ones take. Memory is the peak of its process.
"""

import math
import re
from collections import Counter, defaultdict

from benchmarks.fanout.sides import COMMAND, SAYSO, Bench, FailedError, Sayso, sayso, scratch
from bot.execution.limits import Limits
from tests.simulators.fleet import GB, Fault, Fleet, fleet

SHARES = {Fault.REFUSES: 0.05, Fault.HANGS: 0.02, Fault.DROPS: 0.01}
#: The state of a host with each fault, and whether its command is said to have run.
RIGHT = {
    None: ("succeeded", True),
    Fault.REFUSES: ("failed", False),
    Fault.HANGS: ("failed", False),
    Fault.DROPS: ("lost", True),
    Fault.FLOODS: ("succeeded", True),
}
_SPOT = re.compile(r"127\.[0-9.]+ port [0-9]+")
#: What the peak may be above what sayso holds idle: 500 connections, and a flood that is not kept.
MEMORY_AIM_MB = 100.0


def measure(count: int, *, at_once: int) -> bool:
    """Run it over `count` hosts, print what came of it, and tell whether all of it is right."""
    wrong = {fault: max(1, round(share * count)) for fault, share in SHARES.items()} | {Fault.FLOODS: 1}
    healthy = _alone(count - sum(wrong.values()), {}, at_once=at_once)
    flood = _alone(1, {Fault.FLOODS: 1}, at_once=at_once)
    with (
        scratch() as folder,
        fleet(folder / "f", count=count, faults=wrong) as hosts,
        sayso(Bench(hosts=hosts, at_once=at_once, folder=folder, peers=None)) as client,
    ):
        idle = float(client.ask("memory")["held"])
        answer = client.ask("say", text=f"on @all: {COMMAND}")
        peak = float(client.ask("memory")["most"])
    print(f"\n{count} hosts: " + ", ".join(f"{many} {fault}" for fault, many in wrong.items()))
    right = _states(hosts, answer["ends"])
    limits = Limits()
    turns = math.ceil(wrong[Fault.HANGS] / limits.handshakes)
    allowed = turns * limits.connect_s + healthy + flood
    print(
        f"took {answer['took']:.1f} s, allowed {allowed:.1f} s: {turns} x {limits.connect_s:.0f} s to "
        f"connect, {healthy:.1f} s as the healthy hosts alone, {flood:.1f} s as the flood alone"
    )
    print(f"memory: idle {idle:.0f} MB, peak {peak:.0f} MB (aim ≤ {MEMORY_AIM_MB:.0f} more)")
    for text in answer["shown"]:
        print("  | " + text[:2000].replace("\n", "\n  | "))
    met = right and answer["took"] <= allowed and peak - idle <= MEMORY_AIM_MB
    print("met" if met else "MISSED")
    return met


def _alone(count: int, faults: dict[Fault, int], *, at_once: int) -> float:
    """Return the seconds that hosts take which end well."""
    with scratch() as folder, fleet(folder / "f", count=count, faults=faults) as hosts:
        bench = Bench(hosts=hosts, at_once=at_once, folder=folder, peers=None)
        with sayso(bench) as client:
            if not faults:
                return Sayso(SAYSO, bench, client).run(COMMAND)
            answer = client.ask("say", text=f"on @all: {COMMAND}")
    states = {one["state"] for one in answer["ends"].values()}
    if states != {"succeeded"}:
        raise FailedError(f"a flood alone ended as {states}")
    return float(answer["took"])


def _states(hosts: Fleet, ends: dict[str, dict[str, object]]) -> bool:
    """Print how hosts ended by what is wrong with them; tell whether all did as they should."""
    found: dict[Fault | None, Counter[str]] = defaultdict(Counter)
    right = True
    for name, fault in hosts.hosts.items():
        end = ends.get(name, {"state": "not there", "ran": False})
        as_it_should = (end["state"], end["ran"]) == RIGHT[fault]
        if fault is Fault.FLOODS:
            as_it_should = as_it_should and int(str(end["bytes"])) > GB
        right = right and as_it_should
        note = _SPOT.sub("ADDRESS", str(end.get("note") or "").replace(name, "HOST"))[:90]
        what = str(end["state"]) + (": " + note if note else "")
        found[fault][what if as_it_should else f"WRONG, {what}"] += 1
    for fault in (None, *Fault):
        for what, many in found[fault].most_common(4):
            print(f"{fault or 'healthy':8} {many:4} {what}")
    return right
