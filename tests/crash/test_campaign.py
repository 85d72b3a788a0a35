"""Kill -9 at every named moment between a message and its recorded end (N22, C23).

Each cycle starts from the same empty ledger, lets a real bot talk through one of the scripts, kills it, lets
it come back (and, in a share of the cycles, kills it again while it recovers) and examines what is left in a
last life. A run is drawn from a seed that it prints; SAYSO_CRASH_SEED repeats it,
SAYSO_CRASH_KILLS makes it longer.
"""

import json
import os
import random
import re
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.crash.order import Order
from tests.crash.scripts import SCRIPTS
from tests.crash.zygote import Zygote, prepare

KILLS = int(os.environ.get("SAYSO_CRASH_KILLS", "210"))
FROM_OUTSIDE = KILLS // 4
#: Moments that a kill during recovery is worth: the ones that a start passes.
IN_RECOVERY = (
    "commit",
    "writing bot:started",
    "writing action:lost",
    "writing approval:opened",
    "writing action:cancelled",
    "loss.recorded",
    "turn.composed",
    "turn.recorded",
    "action.queued",
    "start.recorded",
    "run.before",
    "run.after",
    "outbox.before",
    "post.shown",
    "outbox.after",
    "end.recorded",
    "check.recorded",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One cycle: the lives that are killed, then the last one."""

    number: int
    script: str
    kills: tuple[dict[str, Any], ...]
    ahead_s: float = 0.0


@dataclass(slots=True, kw_only=True)
class Found:
    """What the campaign saw."""

    kills: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    violations: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    """A folder in memory where there is one: a kill of a process leaves what it wrote, synced or not."""
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(prefix="sayso-crash-", dir=memory if os.access(memory, os.W_OK) else None))
    prepare(root)
    yield root
    if not os.environ.get("SAYSO_CRASH_KEEP"):
        shutil.rmtree(root)


@pytest.mark.timeout(1800)
def test_no_kill_breaks_a_promise(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = int(os.environ.get("SAYSO_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
    began = time.monotonic()
    found, mutex = Found(), threading.Lock()
    zygotes = [Zygote(base), Zygote(base)]
    idle = list(zygotes)

    def cycle(plan: Plan) -> None:
        with mutex:
            zygote = idle.pop()
        try:
            seen = _cycle(base, zygote, plan)
        finally:
            with mutex:
                idle.append(zygote)
        with mutex:
            _add(found, seen)

    try:
        with ThreadPoolExecutor(len(zygotes)) as pool:
            plans = _plans(base, pool, idle, mutex, random.Random(seed))
            list(pool.map(cycle, plans))
    finally:
        for zygote in zygotes:
            zygote.close()
    for folder in found.folders:
        found.violations += [f"{folder.name}: {text}" for text in _witnessed(folder)]
    kills = sum(found.kills.values())
    with capsys.disabled():
        print(
            f"\ncrash campaign: seed {seed} · {kills} kills in {len(found.folders)} cycles,"
            f" {time.monotonic() - began:.0f} s · {found.lost} ends lost · {len(found.violations)} violations"
        )
        print("  " + " · ".join(f"{moment} {times}" for moment, times in sorted(found.kills.items())))
    assert not found.violations, "\n".join(found.violations[:40])
    assert kills >= 200


# ---------------------------------------------------------------- drawing


def _plans(
    base: Path, pool: ThreadPoolExecutor, idle: list[Zygote], mutex: threading.Lock, draw: random.Random
) -> list[Plan]:
    """Pass each script once to learn its moments, then draw kills so that each moment is met."""

    def learn(script: str) -> tuple[str, dict[str, int], float]:
        with mutex:
            zygote = idle.pop()
        try:
            folder = _fresh(base, f"learn-{script}")
            ended = zygote.live(Order(folder=str(folder), script=script))
        finally:
            with mutex:
                idle.append(zygote)
        assert ended["ended"] == 0, (folder / "stderr").read_text()
        return script, _lines(folder, "counts")[0]["counts"], ended["took_s"]

    learnt = list(pool.map(learn, SCRIPTS))
    spots = [
        (script, moment, nth)
        for script, counts, _ in learnt
        for moment, times in counts.items()
        for nth in range(1, times + 1)
    ]
    draw.shuffle(spots)
    by_moment: dict[str, list[tuple[str, str, int]]] = {}
    for spot in spots:
        by_moment.setdefault(spot[1], []).append(spot)
    # Round by round one of each moment, so that rare moments are all met and frequent ones fill the rest.
    chosen: list[tuple[str, str, int]] = []
    while len(chosen) < KILLS - FROM_OUTSIDE and any(by_moment.values()):
        chosen += [waiting.pop() for waiting in by_moment.values() if waiting]
    kills: list[tuple[str, dict[str, Any]]] = [
        (script, {"moment": moment, "nth": nth}) for script, moment, nth in chosen
    ]
    for _ in range(FROM_OUTSIDE):
        script, _counts, took_s = draw.choice(learnt)
        kills.append((script, {"kill_after_s": draw.uniform(0.02, took_s)}))
    return [
        Plan(
            number=number,
            script=script,
            kills=(kill, *_again(draw)),
            ahead_s=3600.0 if draw.random() < 0.1 else 0.0,
        )
        for number, (script, kill) in enumerate(kills)
    ]


def _again(draw: random.Random) -> tuple[dict[str, Any], ...]:
    """A second kill, while the first is recovered from, in a third of the cycles."""
    if draw.random() > 0.33:
        return ()
    return ({"moment": draw.choice(IN_RECOVERY), "nth": draw.choice((1, 1, 2))},)


# ---------------------------------------------------------------- one cycle


def _fresh(base: Path, name: str) -> Path:
    folder = base / name
    shutil.copytree(base / "template", folder)
    (folder / "victim").mkdir()
    return folder


def _cycle(base: Path, zygote: Zygote, plan: Plan) -> Found:
    name = f"{plan.number}-{plan.script}"
    folder = _fresh(base, name)
    found = Found(folders=[folder])
    order = Order(folder=str(folder), script=plan.script)
    for kill in plan.kills:
        ended = zygote.live(replace(order, **kill))["ended"]
        if ended == -9:
            found.kills[kill.get("moment", "from outside")] += 1
        elif ended:
            found.violations.append(f"{name}: a life ended with {ended}\n{(folder / 'stderr').read_text()}")
    ended = zygote.live(replace(order, last=True, ahead_s=plan.ahead_s))["ended"]
    if ended:
        found.violations.append(
            f"{name}: the last life ended with {ended}\n{(folder / 'stderr').read_text()}"
        )
    told = _lines(folder, "violation") + _lines(folder, "complaint")
    found.violations += [f"{name} {plan.kills}: {line['text']}" for line in told]
    found.lost = sum(line["number"] for line in _lines(folder, "lost"))
    return found


def _add(found: Found, seen: Found) -> None:
    found.kills += seen.kills
    found.lost += seen.lost
    found.violations += seen.violations
    found.folders += seen.folders


def _lines(folder: Path, what: str) -> list[dict[str, Any]]:
    lines = map(json.loads, (folder / "journal").read_text().splitlines())
    return [line for line in lines if line["what"] == what]


def _witnessed(folder: Path) -> Iterator[str]:
    """Compare effects in the world with the record, once every orphan has ended."""
    witness = folder / "witness"
    effects = Counter(witness.read_text().split() if witness.exists() else [])
    yield from (f"{tag} took effect {times} times" for tag, times in effects.items() if times > 1)
    for line in _lines(folder, "started")[-1:]:
        started = " ".join(line["commands"])
        yield from (f"{tag} took effect without a start" for tag in effects if f"echo {tag} " not in started)
    for line in _lines(folder, "succeeded")[-1:]:
        for tag in re.findall(r"echo (\w+) >>", " ".join(line["commands"])):
            if tag not in effects:
                yield f"{tag} is recorded as done and had no effect"
