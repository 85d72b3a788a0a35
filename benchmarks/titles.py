"""How fast words find a document: `python benchmarks/titles.py [ROUNDS]`.

Plans mistyped questions against 1,000 and 20,000 synthetic titles and prints the time of each against a bare
rapidfuzz `process.extract` over the same titles in the same run.
"""

import statistics
import sys
import time

from rapidfuzz import fuzz, process

from bot.planning.library import Document, Library, Step
from bot.planning.plan import plan
from gate.supervise.domain import StepRisk

WORDS = (
    *(
        "alpha",
        "beta",
        "gamma",
        "delta",
        "omega",
        "sigma",
        "kappa",
        "north",
        "south",
        "east",
        "west",
        "queue",
    ),
    *("depth", "replica", "latency", "cache", "disk", "memory", "socket", "thread", "mail", "index", "shard"),
    *("broker", "worker", "spool", "backup", "mirror", "proxy"),
)
QUERIES = (
    "quuee depth north on web1",
    "please show the mail latnecy beta on web1",
    "replica lag omeag on web2",
)


def titles(count: int) -> list[str]:
    """Return `count` different titles of four words."""
    size = len(WORDS)
    return [
        f"{WORDS[n % size]} {WORDS[n // size % size]} {WORDS[n // size**2 % size]} number{n // size**3}"
        for n in range(count)
    ]


def library(names: list[str]) -> Library:
    """Return a library that knows them."""
    step = Step(id="look", title="look", risk=StepRisk.READ_ONLY, command="uptime")
    return Library.of(
        Document(id=f"d{number}", title=name, steps=(step,)) for number, name in enumerate(names)
    )


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for count in (1_000, 20_000):
        names = titles(count)
        known = library(names)
        ours, bare = [], []
        for _ in range(rounds):
            for query in QUERIES:
                before = time.perf_counter()
                plan(query, targets=("web1", "web2"), tags=(), services={}, library=known)
                between = time.perf_counter()
                process.extract(query, names, scorer=fuzz.ratio, limit=3)
                ours.append(between - before)
                bare.append(time.perf_counter() - between)
        mine, floor = statistics.median(ours) * 1e3, statistics.median(bare) * 1e3
        print(f"{count:>7} titles  {mine:6.2f} ms  bare extract {floor:6.2f} ms  ratio {mine / floor:.1f}")


if __name__ == "__main__":
    main()
