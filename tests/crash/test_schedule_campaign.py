"""Kill -9 while hundreds of reminders come due, on a clock that jumps: none lost, none doubled.

500 jobs wait in one ledger, some of which come again, around the night in which the clocks of Vienna are set
forward. Real processes share that ledger one after the other and are killed at named moments and at random;
between and during them the clock goes forward and back. What had to come is computed here, by other means
than those of the bot. A run is drawn from a seed that it prints; SAYSO_CRASH_SEED repeats it.
"""

import json
import os
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.places import place_id, place_ref_doc
from ledger.codec import instant, parse_instant
from ledger.kinds import Batch, Draft, Json, Kind
from ledger.projections import TABLES, reset
from ledger.queries import Queries
from ledger.store import Ledger
from ledger.verify import verify_live
from tests.crash.alarms import CHECKPOINT_EVERY, FileClock
from tests.crash.order import USER, Order, open_ledger
from tests.crash.surface import PLACE
from tests.crash.trap import Trap
from tests.crash.zygote import Zygote, prepare

VIENNA = ZoneInfo("Europe/Vienna")
#: In the first night the clocks are set forward: 29 March 2026, 02:00 becomes 03:00.
BEGIN = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)
HOURS = 60
ONCE, DAILY, HOURLY = 450, 35, 15
LATE_S = 60
#: How often the clock is looked at just when something is due.
ON_TIME = 0.5
#: Where a life ends: at the n-th of these moments.
MOMENTS = (
    ("job.composed", 9),
    ("writing occurrence:claimed", 11),
    ("writing job:ended", 7),
    ("job.recorded", 6),
    ("commit", 40),
    ("post.before", 8),
    ("post.shown", 8),
    ("outbox.after", 5),
)
#: What may not come at all: a life that waits for it would go on to the end of the plan, were it not ended.
SELDOM = ("writing occurrence:missed", 1)
AT_RANDOM = 5


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: a kill of a process leaves what it wrote, synced or not."""
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(prefix="sayso-alarms-", dir=memory if os.access(memory, os.W_OK) else None))
    prepare(root)
    cycle = root / "cycle"
    shutil.copytree(root / "template", cycle)
    yield cycle
    if not os.environ.get("SAYSO_CRASH_KEEP"):
        shutil.rmtree(root)


@pytest.mark.timeout(1800)
def test_no_kill_and_no_clock_loses_or_doubles_a_reminder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = int(os.environ.get("SAYSO_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
    draw, began = random.Random(seed), time.monotonic()
    jobs = _jobs(draw)
    plan, jumps = _plan(draw, jobs)
    (folder / "plan").write_text(json.dumps(plan))
    clock = FileClock(folder)
    clock.move(0)
    with closing(open_ledger(folder / "state", clock, Trap(), checkpoint_every=CHECKPOINT_EVERY)) as ledger:
        _make(ledger, jobs)
    killed = _lives(folder, draw, clock)
    with closing(open_ledger(folder / "state", clock, Trap(), checkpoint_every=CHECKPOINT_EVERY)) as ledger:
        counts, violations = _examine(ledger, folder, jobs)
    with capsys.disabled():
        print(
            f"\nschedule campaign: seed {seed} · {len(jobs)} jobs · {sum(killed.values())} kills ·"
            f" {jumps} jumps of the clock and a change to summer time · {counts['said']} said,"
            f" {counts['late']} of them late, {counts['passed']} more went by and were reported ·"
            f" {time.monotonic() - began:.0f} s · {len(violations)} violations"
        )
        print("  " + " · ".join(f"{moment} {times}" for moment, times in sorted(killed.items())))
    assert not violations, "\n".join(violations[:40])
    assert sum(killed.values()) >= 6
    assert min(counts["late"], counts["said"] - counts["late"]) > 50


# ---------------------------------------------------------------- what is to come


def _jobs(draw: random.Random) -> dict[str, tuple[str, list[datetime]]]:
    """Return each job's rule and every instant at which it has to come."""
    span_s = (HOURS - 4) * 3600
    jobs: dict[str, tuple[str, list[datetime]]] = {}
    for number in range(ONCE):
        jobs[f"once{number:03}"] = ("", [BEGIN + timedelta(seconds=draw.randrange(60, span_s))])
    for number in range(DAILY):
        # From 00:00 to 05:40, ten minutes apart: six of them do not exist in the night of the change.
        hour, minute = divmod(number * 10, 60)
        rule = f"FREQ=DAILY;COUNT=2;BYHOUR={hour};BYMINUTE={minute};BYSECOND=0"
        jobs[f"daily{number:02}"] = (rule, _daily(number * 10))
    for number in range(HOURLY):
        step, count = draw.randrange(1, 4), draw.randrange(2, 9)
        first = BEGIN + timedelta(minutes=draw.randrange(1, 600))
        times = [first + timedelta(hours=step * one) for one in range(count)]
        jobs[f"hourly{number:02}"] = (f"FREQ=HOURLY;INTERVAL={step};COUNT={count}", times)
    return jobs


def _daily(minutes: int) -> list[datetime]:
    """Return the wall time in two nights, as UTC: summer time begins at 01:00 UTC of the first."""
    change = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
    wall = timedelta(minutes=minutes)
    winter = datetime(2026, 3, 28, 23, 0, tzinfo=UTC) + wall
    first = winter if winter < change else max(winter - timedelta(hours=1), change)
    return [first, datetime(2026, 3, 29, 22, 0, tzinfo=UTC) + wall]


def _plan(draw: random.Random, jobs: dict[str, tuple[str, list[datetime]]]) -> tuple[list[float], int]:
    """Return what the clock shows, one after the other, and how often it jumps.

    Half of the time it is looked at when something is due, as by a timer that works; else at some other time.
    """
    due = sorted({one.timestamp() for _, times in jobs.values() for one in times})
    at, end = BEGIN.timestamp(), (BEGIN + timedelta(hours=HOURS)).timestamp()
    plan, jumps, steps = [at], 0, 0
    while at < end:
        on_time = next((one for one in due if one > at), end)
        at = on_time if draw.random() < ON_TIME else at + draw.choice((20, 45, 120, 600, 1500, 2400))
        plan.append(at)
        steps += 1
        if steps % 60 == 0:  # set ahead, and back again; or back, and on from there
            jumps += 1
            away = at + draw.choice((5, -2)) * 3600
            plan.append(away)
            if away < at:
                at = away
            elif steps % 120:
                plan.append(at)
                jumps += 1
    return plan, jumps


def _make(ledger: Ledger, jobs: dict[str, tuple[str, list[datetime]]]) -> None:
    """Write every job, in a place that somebody spoke in."""
    turn: dict[str, Json] = {
        "turn": "t0",
        "place": place_id(PLACE),
        "place_ref": place_ref_doc(PLACE),
        "direct": False,
        "person": USER,
        "consumes_window": True,
    }
    drafts = [Draft(kind=Kind.TURN_RECEIVED, body=turn)]
    for name, (rule, times) in jobs.items():
        body: dict[str, Json] = {
            "job": name,
            "act": "remind",
            "place": place_id(PLACE),
            "person": USER,
            "zone": VIENNA.key,
            "first_at": instant(times[0]),
            "rrule": rule,
            "missed": "late",
            "next_at": instant(times[0]),
            "commitment": f"cmt_{name}",
        }
        words = {"text": f"it is {name}".encode(), "said": b"remind me"}
        drafts.append(Draft(kind=Kind.JOB_MADE, correlation_id=f"cmt_{name}", body=body, words=words))
    ledger.append(Batch(at=BEGIN, drafts=tuple(drafts)))


# ---------------------------------------------------------------- lives


def _lives(folder: Path, draw: random.Random, clock: FileClock) -> Counter[str]:
    """Let the bot live and die along the plan until its end; return what killed it."""
    ends: list[tuple[str, int, float]] = [(moment, nth, 0.0) for moment, nth in MOMENTS]
    for moment, nth in (SELDOM, *[("", 0)] * AT_RANDOM):
        ends.append((moment, nth, draw.uniform(0.25, 0.6)))
    draw.shuffle(ends)
    killed: Counter[str] = Counter()
    zygote = Zygote(folder.parent)
    try:
        for moment, nth, kill_after_s in ends:
            order = Order(
                folder=str(folder), script="alarms", moment=moment, nth=nth, kill_after_s=kill_after_s
            )
            ended = zygote.live(order)["ended"]
            assert ended in (0, -9), (folder / "stderr").read_text()
            if ended:
                killed[moment or "at random"] += 1
            # While nobody was there, some of the plan went by.
            clock.move(min(clock.position + draw.randrange(8), len(clock._plan) - 2))
        ended = zygote.live(Order(folder=str(folder), script="alarms", last=True))["ended"]
        assert ended == 0, (folder / "stderr").read_text()
    finally:
        zygote.close()
    return killed


# ---------------------------------------------------------------- what came


def _examine(
    ledger: Ledger, folder: Path, jobs: dict[str, tuple[str, list[datetime]]]
) -> tuple[Counter[str], list[str]]:
    lines = [json.loads(line) for line in (folder / "journal").read_text().splitlines()]
    violations = [f"complaint: {line['text']}" for line in lines if line["what"] == "complaint"]
    said: dict[str, list[str]] = {name: [] for name in jobs}
    for line in lines:
        if line["what"] == "shown":
            said[line["text"].partition("it is ")[2].partition("\n")[0]].append(line["text"])
    counts: Counter[str] = Counter()
    rows = ledger.reader().execute(
        "SELECT kind, at, body FROM entry WHERE kind LIKE 'occurrence:%' ORDER BY seq"
    )
    entered: dict[str, list[tuple[str, datetime, dict[str, Json]]]] = {name: [] for name in jobs}
    for kind, at, text in rows:
        body = json.loads(text)
        entered[body["job"]].append((kind, parse_instant(at), body))
    for name, (_, times) in jobs.items():
        violations += _of_job(name, times, entered[name], said[name], counts)
    left = Queries(ledger.reader).jobs()
    violations += [f"{one.id} waits still, for {one.next_at}" for one in left]
    violations += [f"effect {one.id} was not shown" for one in ledger.outbox.pending()]
    report = verify_live(ledger.path, keys=[ledger.verifier], held={})
    violations += [f"the ledger does not verify: {one}" for one in report.findings]
    before = _projections(ledger)
    ledger.rebuild(reset)
    if _projections(ledger) != before:
        violations.append("rebuilding changes the projections")
    return counts, violations


def _of_job(
    name: str,
    times: list[datetime],
    entered: list[tuple[str, datetime, dict[str, Json]]],
    said: list[str],
    counts: Counter[str],
) -> Iterator[str]:
    """Tell what of one job was lost, doubled, early, or late without a word."""
    due = list(times)
    claimed: list[tuple[dict[str, Json], bool]] = []
    follows_missed = False
    for kind, at, body in entered:
        taken = int(str(body["count"])) if kind == Kind.OCCURRENCE_MISSED else 1
        first = parse_instant(str(body["from"] if kind == Kind.OCCURRENCE_MISSED else body["fire_at"]))
        if due[:1] != [first]:
            yield f"{name}: {kind} of {first}, and due was {due[:1]}"
        if at < first:
            yield f"{name}: {kind} of {first} at {at}"
        del due[:taken]
        if kind == Kind.OCCURRENCE_CLAIMED:
            claimed.append((body, follows_missed))
        else:
            counts["passed"] += taken
        follows_missed = kind == Kind.OCCURRENCE_MISSED
    if due:
        yield f"{name}: lost {due}"
    if len(said) != len(claimed):
        yield f"{name}: claimed {len(claimed)} times and said {len(said)} times"
    for (body, after_others), text in zip(claimed, said, strict=False):
        late = int(str(body["late_s"])) >= LATE_S
        counts["said"] += 1
        counts["late"] += late
        if late != ("It was due" in text):
            yield f"{name}: {body['late_s']} s late, and said: {text}"
        if after_others != ("went by" in text):
            yield f"{name}: others before it went by: {after_others}, and said: {text}"


def _projections(ledger: Ledger) -> dict[str, list[tuple[object, ...]]]:
    reader = ledger.reader()
    return {name: sorted(map(tuple, reader.execute(f"SELECT * FROM {name}"))) for name in TABLES}
