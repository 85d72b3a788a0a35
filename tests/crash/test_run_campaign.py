"""Kill -9 while a runbook is run: at every moment that a run passes, and in the middle of its commands.

Real processes share one ledger one after the other. Whatever killed them, the run goes on where it stood:
each command ran once, nothing that a person did not agree to ran, and what has an unknown end waited for
somebody to settle it.
"""

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import reduce
from pathlib import Path

import pytest

from gate.policy import Posture
from gate.supervise.envelope import derive
from gate.supervise.events import Consumed, Granted
from gate.supervise.state import apply, fresh
from ledger.keys import key_file, known_keys
from ledger.projections import TABLES, reset
from ledger.queries import Queries
from ledger.verify import verify_live
from tests.crash.order import Order, open_ledger
from tests.crash.procedures import MARKS
from tests.crash.surface import LateClock
from tests.crash.trap import Trap
from tests.crash.zygote import Zygote, prepare

#: Where a life ends, one for each: at the n-th of these moments.
MOMENTS = (
    ("writing run:started", 1),
    ("turn.recorded", 1),
    ("run.after", 1),
    ("run.composed", 1),
    ("run.recorded", 1),
    ("writing run:granted", 1),
    ("run.after", 2),
    ("writing run:judged", 3),
    ("end.recorded", 2),
    ("writing run:waiting", 1),
    ("run.recorded", 3),
    ("start.recorded", 3),
    ("run.output", 1),
    ("writing run:ended", 1),
    ("commit", 12),
)
#: Seconds until a life is killed from outside; a command of 0.1 s is among what that hits.
AT_RANDOM = (0.5, 0.7)


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(prefix="sayso-runs-", dir=memory if os.access(memory, os.W_OK) else None))
    prepare(root)
    yield root
    shutil.rmtree(root)


def cycle(base: Path, zygote: Zygote, name: str, kills: list[tuple[str, int, float]]) -> str:
    """Let one run be killed by `kills`, then let it end; return how often it was killed."""
    folder = base / name
    shutil.copytree(base / "template", folder)
    killed = 0
    for moment, nth, kill_after_s in [*kills, ("", 0, 0.0)]:
        order = Order(
            folder=str(folder), script="procedures", moment=moment, nth=nth, kill_after_s=kill_after_s
        )
        ended = zygote.live(order)["ended"]
        assert ended in {0, -9}, (name, ended, (folder / "stderr").read_text()[-2000:])
        killed += ended == -9
    return f"{name}: {killed}"


def over(folder: Path) -> list[dict[str, object]]:
    lines = map(json.loads, (folder / "journal").read_text().splitlines())
    return [line for line in lines if line["what"] in {"over", "complaint"}]


@pytest.mark.timeout(1800)
def test_a_run_goes_on_exactly_once_whatever_kills_it(base: Path) -> None:
    zygotes = [Zygote(base), Zygote(base)]
    cycles = {f"at-{number}-{moment[0].replace(' ', '-').replace(':', '-')}": [(*moment, 0.0)]
              for number, moment in enumerate(MOMENTS)}  # fmt: skip
    cycles |= {f"after-{seconds}": [("", 0, seconds)] for seconds in AT_RANDOM}
    cycles["again-and-again"] = [(*moment, 0.0) for moment in MOMENTS[::4]]
    shares = [list(cycles.items())[at::2] for at in (0, 1)]

    def lived(zygote: Zygote, share: list[tuple[str, list[tuple[str, int, float]]]]) -> list[str]:
        return [cycle(base, zygote, name, kills) for name, kills in share]

    try:
        with ThreadPoolExecutor(len(zygotes)) as pool:
            done = [one for found in pool.map(lived, zygotes, shares) for one in found]
    finally:
        for zygote in zygotes:
            zygote.close()
    assert sum(not one.endswith(": 0") for one in done) >= len(MOMENTS), done
    for name in cycles:
        check(base / name)


def check(folder: Path) -> None:
    """Assert that a run came to its end, once, and by what people agreed to."""
    (found,) = {json.dumps(line) for line in over(folder)}
    assert json.loads(found)["outcome"] == "completed", found
    assert (folder / "witness").read_text().split() == list(MARKS), folder.name
    with closing(open_ledger(folder / "state", LateClock(0), Trap())) as ledger:
        queries = Queries(ledger.reader)
        (view,) = queries.runs()
        events = queries.run_events(view.id)
        spec = queries.run_spec(view.id)
        assert spec is not None
        envelope = derive(spec, posture=Posture.APPROVE_MOST, approval_s=900)
        state = reduce(apply, events, fresh(view.id, envelope))
        assert state.outcome == view.outcome
        asked = Counter(one.grant.request_id for one in events if isinstance(one, Granted))
        used = Counter(one.request for one in events if isinstance(one, Consumed) and one.request)
        assert asked == used
        assert set(used.values()) == {1}
        reader = ledger.reader()
        before = {name: reader.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES}
        ledger.rebuild(reset)
        reader = ledger.reader()
        assert before == {
            name: reader.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES
        }
    file = folder / "state" / "ledger.db"
    report = verify_live(file, keys=known_keys(key_file(file)), held={})
    assert report.ok, folder.name
