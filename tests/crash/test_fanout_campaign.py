"""Kill -9 while one command goes to many hosts: nothing runs twice, nothing on an old yes after a loss.

Real processes share one ledger one after the other. Whatever killed them, what was started is lost or ended
and never starts again, the rest waits for a new yes, and no start stands in the record behind the failure at
which the brake stops. What the brake has to do is read here from the entries alone, in their order.
"""

import json
import os
import shutil
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ledger.keys import key_file, known_keys
from ledger.kinds import Kind
from ledger.projections import TABLES, reset
from ledger.verify import verify_live
from tests.crash.members import HOSTS
from tests.crash.order import Order, open_ledger
from tests.crash.surface import LateClock
from tests.crash.trap import Trap
from tests.crash.zygote import Zygote, prepare

Moment = tuple[str, int]
#: The story, and where its lives end, one after the other: each at the n-th of a moment.
CYCLES: tuple[tuple[str, *tuple[Moment, ...]], ...] = (
    ("braked", ("writing proposal:listed", 1)),
    ("braked", ("writing approval:granted", 6)),
    ("braked", ("turn.recorded", 2)),
    ("braked", ("writing action:started", 1)),
    ("braked", ("start.recorded", 1)),
    ("braked", ("run.handed", 3)),
    ("braked", ("run.after", 1)),
    ("braked", ("writing action:failed", 2)),
    ("braked", ("writing action:unqueued", 1)),
    ("braked", ("end.recorded", 3)),
    ("braked", ("commit", 24)),
    ("braked", ("run.before", 3), ("writing action:lost", 1)),
    ("braked", ("run.after", 3), ("loss.recorded", 1), ("start.recorded", 1), ("run.handed", 2)),
    ("unbraked", ("start.recorded", 2)),
    ("unbraked", ("run.after", 5)),
    ("unbraked", ("run.handed", 3), ("run.handed", 3)),
    ("destroys", ("run.before", 4)),
    ("destroys", ("run.after", 3), ("writing action:unqueued", 1), ("start.recorded", 1)),
    ("checked", ("run.after", 2)),
    ("checked", ("check.after", 2)),
    ("reads", ("writing proposal:queued", 1)),
    ("reads", ("turn.recorded", 1)),
    ("reads", ("run.before", 5)),
    ("reads", ("end.recorded", 3)),
)
ENDS = (Kind.ACTION_SUCCEEDED, Kind.ACTION_FAILED, Kind.ACTION_CANCELLED, Kind.ACTION_LOST)


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(prefix="sayso-many-", dir=memory if os.access(memory, os.W_OK) else None))
    prepare(root)
    yield root
    shutil.rmtree(root)


def cycle(base: Path, zygote: Zygote, number: int) -> list[Moment]:
    """Let one story be killed, then let it end; return the moments at which it was not killed."""
    story, *kills = CYCLES[number]
    folder = base / f"{number}-{story}"
    shutil.copytree(base / "template", folder)
    missed = []
    for moment, nth in [*kills, ("", 0)]:
        ended = zygote.live(Order(folder=str(folder), script=story, moment=moment, nth=nth))["ended"]
        assert ended in {0, -9}, (folder.name, ended, (folder / "stderr").read_text()[-2000:])
        if moment and ended != -9:
            missed.append((moment, nth))
    return missed


@pytest.mark.timeout(1800)
def test_many_hosts_are_changed_once_each_whatever_kills_it(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zygotes = [Zygote(base), Zygote(base)]
    shares = [range(len(CYCLES))[at::2] for at in (0, 1)]

    def lived(zygote: Zygote, share: range) -> dict[int, list[Moment]]:
        return {number: cycle(base, zygote, number) for number in share}

    try:
        with ThreadPoolExecutor(len(zygotes)) as pool:
            missed = {
                number: one for found in pool.map(lived, zygotes, shares) for number, one in found.items()
            }
    finally:
        for zygote in zygotes:
            zygote.close()
    seen = sum(
        (check(base / f"{number}-{story}") for number, (story, *_) in enumerate(CYCLES)), Counter[str]()
    )
    kills = sum(len(moments) for _, *moments in CYCLES)
    with capsys.disabled():
        told = " · ".join(f"{many} {what}" for what, many in seen.items())
        print(f"\nfan-outs: {len(CYCLES)} stories · {kills} kills · {told}")
    assert not {number: one for number, one in missed.items() if one}, "a moment that never came"
    assert seen[Kind.ACTION_LOST] >= 20
    assert seen["stopped rounds"] >= 10
    assert seen["left by a kill, and asked about anew"] >= 10
    assert seen["checks cut off"] >= 1


def check(folder: Path) -> Counter[str]:
    """Assert that a story came to its end and kept every promise; return what was seen on the way."""
    lines = [json.loads(line) for line in (folder / "journal").read_text().splitlines()]
    assert not [line for line in lines if line["what"] == "complaint"], folder.name
    assert [line for line in lines if line["what"] == "over"], folder.name
    boundaries = [line["entries"] for line in lines if line["what"] == "life"][1:]
    with closing(open_ledger(folder / "state", LateClock(0), Trap())) as ledger:
        story = read(ledger.reader())
        _ran_once(folder, story)
        _by_a_yes_each(folder, story)
        seen = _lost_and_no_more(folder, story, boundaries) + _as_the_brake_says(folder, story)
        before = _projections(ledger.reader())
        ledger.rebuild(reset)
        assert _projections(ledger.reader()) == before, folder.name
    file = folder / "state" / "ledger.db"
    assert verify_live(file, keys=known_keys(key_file(file)), held={}).ok, folder.name
    return seen + Counter(kind for ends in story.ends.values() for _, kind in ends)


def _projections(reader: sqlite3.Connection) -> dict[str, list[Any]]:
    return {name: reader.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES}


# ---------------------------------------------------------------- what the entries say


@dataclass(kw_only=True)
class Story:
    """The entries of a fan-out, read without anything of sayso's.

    Attributes:
        reads: nothing of it needed a yes.
        checked: a command looks whether it went well.
        starts, ends, checks: by action, where they stand; and of which kind an end is, whether a check held.
        granted: where the yes to an approval stands.
        round_of: the list that an approval was opened with.
        used: the approval that each start used up.
    """

    brake: dict[str, int]
    reads: bool
    checked: bool
    targets: dict[str, str] = field(default_factory=dict)
    starts: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    ends: defaultdict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    checks: dict[str, tuple[int, bool]] = field(default_factory=dict)
    granted: dict[str, int] = field(default_factory=dict)
    round_of: dict[str, str] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)

    def settled_at(self, action: str) -> int:
        """Return where nothing of an action goes on any more, its check included."""
        return self.checks[action][0] if action in self.checks else self.ends[action][0][0]

    def failed_at(self, action: str) -> int:
        """Return where an action ended otherwise than well, or its check did not hold; 0 for nowhere."""
        ((seq, kind),) = self.ends[action]
        if kind != Kind.ACTION_SUCCEEDED:
            return seq
        checked_at, held = self.checks.get(action, (0, True))
        return 0 if held else checked_at

    def is_under_way(self, action: str, *, at: int) -> bool:
        """Whether an action was started and not settled at an entry, which may be its start."""
        return self.starts[action][0] <= at < self.settled_at(action)


def read(reader: sqlite3.Connection) -> Story:
    """Read the one fan-out of a ledger."""
    rows = reader.execute("SELECT seq, kind, body FROM entry ORDER BY seq").fetchall()
    bodies = [(seq, kind, json.loads(body)) for seq, kind, body in rows]
    (made,) = (body for _, kind, body in bodies if kind == Kind.PROPOSAL_MADE)
    story = Story(brake=made["fanout"]["brake"], reads=True, checked="verify" in made)
    for seq, kind, body in bodies:
        match kind:
            case Kind.PROPOSAL_LISTED:
                for one in body["actions"]:
                    story.targets[one["slots"]["id"]] = one["slots"]["target"]["id"]
                    story.reads &= one["route"] == "auto"
            case Kind.APPROVAL_OPENED:
                story.round_of[body["approval"]] = body["list_digest"]
            case Kind.APPROVAL_GRANTED:
                assert body["approval"] not in story.granted, "one question, one yes"
                story.granted[body["approval"]] = seq
            case Kind.ACTION_STARTED:
                story.starts[body["action"]].append(seq)
                story.used[body["action"]] = body["grant"]
            case Kind.ACTION_VERIFIED:
                assert body["action"] not in story.checks, "one check each"
                story.checks[body["action"]] = (seq, body["ok"])
            case _ if kind in ENDS:
                story.ends[body["action"]].append((seq, kind))
    return story


def _ran_once(folder: Path, story: Story) -> None:
    """Assert that each host ran it once at most, by its own mark, by the executor and by the record."""
    witness = folder / "witness"
    marks = Counter(witness.read_text().split() if witness.exists() else [])
    handed = Counter(one for one in (folder / "runs").read_text().split() if one != "probe")
    assert set(marks.values()) <= {1}, (folder.name, marks)
    assert set(handed.values()) == {1}, (folder.name, handed)
    assert set(handed) <= set(story.starts), "what ran is recorded"
    assert sorted(story.targets.values()) == sorted(HOSTS), folder.name
    for action, target in story.targets.items():
        assert len(story.starts[action]) == 1, (folder.name, action)
        ((_, kind),) = story.ends[action]
        assert (action in story.checks) == (story.checked and kind == Kind.ACTION_SUCCEEDED), folder.name
        if not story.reads and kind in (Kind.ACTION_SUCCEEDED, Kind.ACTION_FAILED):
            assert marks[target] == 1, (folder.name, target)


def _by_a_yes_each(folder: Path, story: Story) -> None:
    """Assert that each start used up a yes of its own that was given before."""
    if story.reads:
        assert not story.granted
        assert not any(story.used.values())
        return
    assert len(set(story.used.values())) == len(story.used), folder.name
    for action, approval in story.used.items():
        assert approval.startswith(f"{action}/"), (folder.name, action, approval)
        assert story.granted[approval] < story.starts[action][0], (folder.name, action)


def _lost_and_no_more(folder: Path, story: Story, boundaries: list[int]) -> Counter[str]:
    """Assert that what a kill cut off is lost, and that nothing goes on by a yes from before that."""
    seen = Counter[str]()
    for killed_at in boundaries:
        cut_off = [
            action
            for action, (started_at, *_) in story.starts.items()
            if started_at <= killed_at < story.ends[action][0][0]
        ]
        assert all(story.ends[action][0][1] == Kind.ACTION_LOST for action in cut_off), folder.name
        unchecked = [
            action
            for action, (checked_at, _) in story.checks.items()
            if story.ends[action][0][0] <= killed_at < checked_at
        ]
        assert not any(story.checks[action][1] for action in unchecked), (
            folder.name,
            "how it went is unknown",
        )
        seen["checks cut off"] += len(unchecked)
        if story.reads or not (cut_off or unchecked):
            continue
        later = [action for action, starts in story.starts.items() if starts[0] > killed_at]
        for action in later:
            assert story.granted[story.used[action]] > killed_at, (folder.name, action)
        seen["left by a kill, and asked about anew"] += len(later)
    return seen


def _as_the_brake_says(folder: Path, story: Story) -> Counter[str]:
    """Assert that each round tries its canary first, keeps to its batch, and has no start behind its stop."""
    rounds: defaultdict[str, list[tuple[str, bool]]] = defaultdict(list)
    order = {action: position for position, action in enumerate(story.targets)}
    for approval, round_ in sorted(story.round_of.items(), key=lambda one: order[_action(one[0])]):
        rounds[round_].append((_action(approval), story.used[_action(approval)] == approval))
    seen = Counter[str]()
    for round_, members in rounds.items():
        ran = [action for action, by_this_yes in members if by_this_yes]
        canary = [action for action, _ in members[: story.brake["canary"]]]
        others = [action for action in ran if action not in canary]
        assert not others or set(canary) <= set(ran), (folder.name, round_)
        for one in others:
            before = [story.settled_at(first) for first in canary]
            assert all(settled < story.starts[one][0] for settled in before), (folder.name, round_, one)
            if story.brake["batch"]:
                under_way = [two for two in ran if story.is_under_way(two, at=story.starts[one][0])]
                assert len(under_way) <= story.brake["batch"], (folder.name, round_, under_way)
        most, failed = story.brake["stop_after"], sorted(filter(None, map(story.failed_at, ran)))
        stops = [failed[most - 1]] if 0 < most <= len(failed) else []
        stops += [at for one in canary if one in ran and (at := story.failed_at(one))]
        if not stops:
            continue
        seen["stopped rounds"] += 1
        behind = [one for one in ran if story.starts[one][0] > min(stops)]
        assert not behind, (folder.name, round_, behind)
    return seen


def _action(approval: str) -> str:
    return approval.partition("/")[0]
