"""How fast words find a runbook: `python benchmarks/runbooks.py [ROUNDS]`.

Plans requests for 1,000 generated runbooks, said exactly, with a value, misspelt, and for nothing that is
there, and prints the median time of each beside that of one `rapidfuzz.process.extract`, as it comes, over
their titles in the same run. Exits with 1 where finding one costs more than twice that.
"""

import statistics
import sys
import time

from rapidfuzz import fuzz, process

from bot.loading.library import put_together, read_text
from bot.planning.drafts import Question, RunbookPlan
from bot.planning.library import Library
from bot.planning.plan import plan

COUNT = 1_000
#: Times one `extract` over the titles.
AIM = 2.0
VERBS = (
    "provision",
    "destroy",
    "migrate",
    "rotate",
    "renew",
    "resize",
    "restore",
    "verify",
    "publish",
    "drain",
)
THINGS = (
    "container",
    "database",
    "certificate",
    "volume",
    "cluster",
    "tenant",
    "gateway",
    "mailbox",
    "runner",
    "zone",
)
KINDS = (
    "staging",
    "production",
    "preview",
    "internal",
    "shared",
    "legacy",
    "edge",
    "batch",
    "public",
    "archive",
)
DOCUMENT = """\
version: 1
id: r{number}
title: "{verb} the {kind} {thing} with {{package}}"
aliases: ["{verb} {kind} {thing}"]
inputs:
  package: {{type: name, default: nginx}}
  vmid: {{type: integer, min: 100, max: 999999999}}
steps:
  - {{id: look, kind: check, title: Look, risk: read-only, command: "pct status {{{{ inputs.vmid }}}}"}}
  - id: act
    title: Act
    risk: mutating
    command: pct set {{{{ inputs.vmid }}}} --tags {{{{ inputs.package }}}}
"""
QUERIES = {
    "exact": ("renew staging certificate on pve1", RunbookPlan),
    "with a value": ("please provision the edge container with redis on pve1", RunbookPlan),
    "by id": ("run runbook r777 on pve1 with vmid=120", RunbookPlan),
    "misspelt": ("migrate the prodution databse with redis on pve1", Question),
    "in other words": ("could you drain our shared gateway over on pve1", Question),
    "of nothing": ("paint the fence in the garden green", object),
}


def titles() -> list[tuple[str, str, str]]:
    """Return `COUNT` different (verb, kind, thing)."""
    return [(VERBS[n % 10], KINDS[n // 10 % 10], THINGS[n // 100 % 10]) for n in range(COUNT)]


def library() -> tuple[Library, float]:
    """Return the library of all of them, and the seconds that loading it took."""
    texts = [
        DOCUMENT.format(number=number, verb=verb, kind=kind, thing=thing).encode()
        for number, (verb, kind, thing) in enumerate(titles())
    ]
    before = time.perf_counter()
    found, faults = put_together(map(read_text, texts))
    if faults or len(found.documents) != COUNT:
        raise SystemExit(f"the generated runbooks are not sound: {faults[:3]}")
    return found, time.perf_counter() - before


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    known, loading_s = library()
    print(f"loading {COUNT:,} runbooks  {loading_s:6.2f} s")
    names = [document.title for document in known.documents.values()]
    worst = 0.0
    for name, (query, wanted) in QUERIES.items():
        ours, bare, pruned = [], [], []
        for _ in range(rounds):
            start = time.perf_counter()
            found = plan(query, targets=("pve1", "pve2"), tags=(), services={}, library=known)
            ours.append(time.perf_counter() - start)
            start = time.perf_counter()
            process.extract(query, names)
            bare.append(time.perf_counter() - start)
            start = time.perf_counter()
            process.extract(query, names, scorer=fuzz.ratio)
            pruned.append(time.perf_counter() - start)
            if not isinstance(found, wanted):
                raise SystemExit(f"{query!r} gives {found!r}")
        mine, floor, least = (statistics.median(times) * 1e3 for times in (ours, bare, pruned))
        worst = max(worst, mine / floor)
        print(
            f"{name:<15} {mine:6.2f} ms  extract {floor:6.2f} ms  ratio {mine / floor:4.2f}"
            f"  (extract by fuzz.ratio {least:5.2f} ms)"
        )
    missed = worst > AIM
    print(f"finding one of {COUNT:,}: at worst {worst:.2f} times one extract, aim {AIM:.0f}")
    if missed:
        print("MISSED")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
