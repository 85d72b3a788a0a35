"""Kill -9 while an agent asks and alerts come: nothing runs twice or without a yes, and nobody is told wrong.

Real processes share one ledger one after the other, with the desk where agents ask and the real webhook
listener in front. Whatever killed them, a request was asked for once and ran once at most, an alert that was
acknowledged is in the ledger and was acted on once, and an agent that asks after a restart hears how its
request stands.
"""

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gate.domain import Risk, RouteKind
from gate.lifecycle import ActionState, ApprovalState
from ledger.keys import key_file, known_keys
from ledger.projections import TABLES, reset
from ledger.queries import Queries
from ledger.store import Ledger
from ledger.verify import verify_live
from ledger.views import ActionView
from tests.crash.order import Order, open_ledger
from tests.crash.outsiders import ASKED, RULES, command
from tests.crash.stories import tell
from tests.crash.surface import LateClock
from tests.crash.trap import Trap
from tests.crash.zygote import prepare

#: Where a life ends, one for each: at the n-th of these moments.
MOMENTS = (
    ("call.composed", 1),
    ("writing delegate:asked", 1),
    ("call.recorded", 1),
    ("call.recorded", 2),
    ("inbox.committed", 1),
    ("signal.composed", 1),
    ("signal.recorded", 1),
    ("writing proposal:made", 2),
    ("writing approval:granted", 1),
    ("writing approval:refused", 1),
    ("start.recorded", 3),
    ("run.handed", 1),
    ("run.handed", 3),
    ("run.after", 2),
    ("end.recorded", 3),
    ("writing signal:resolved", 1),
    ("commit", 12),
)
#: How an agent hears of an action in a state, where it can say anything else than that.
TOLD_OF = {"waiting": {"pending"}, "started": {"running"}, "proposed": {"queued"}, "cancelled": {"refused"}}


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(prefix="sayso-out-", dir=memory if os.access(memory, os.W_OK) else None))
    prepare(root)
    yield root
    shutil.rmtree(root)


@pytest.mark.timeout(1800)
def test_agents_and_alerts_get_what_they_were_promised_whatever_kills_it(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = tell(base, "outsiders", MOMENTS)
    truths = sum((check(base / name) for name in killed), Counter[str]())
    with capsys.disabled():
        print(f"\noutsiders: {len(killed)} stories · {sum(killed.values())} kills · told {dict(truths)}")
    assert {"pending", "succeeded", "refused"} <= set(truths)


def check(folder: Path) -> Counter[str]:
    """Assert that every promise was kept; return what the agent was told, and how often."""
    lines = [json.loads(line) for line in (folder / "journal").read_text().splitlines()]
    complaints = [line["text"] for line in lines if line["what"] == "complaint"]
    assert not complaints, (folder.name, complaints)
    assert [line for line in lines if line["what"] == "over"], folder.name
    with closing(open_ledger(folder / "state", LateClock(0), Trap())) as ledger:
        _ran_once(ledger, folder)
        _taken_once(ledger, folder, lines)
        reader = ledger.reader()
        before = {name: reader.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES}
        ledger.rebuild(reset)
        reader = ledger.reader()
        after = {name: reader.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES}
        assert before == after, folder.name
    file = folder / "state" / "ledger.db"
    assert verify_live(file, keys=known_keys(key_file(file)), held={}).ok, folder.name
    return _told_the_truth(folder, lines)


def _actions(ledger: Ledger) -> Iterator[tuple[str, ActionView]]:
    """Yield every action with its requester."""
    queries = Queries(ledger.reader)
    for (name,) in ledger.reader().execute("SELECT id FROM proposal").fetchall():
        view = queries.proposal(name)
        assert view is not None
        for one in view.actions:
            yield str(view.requester), one


def _ran_once(ledger: Ledger, folder: Path) -> None:
    """Assert that nothing ran twice, unasked or against a no, and that the record says what happened."""
    handed = (folder / "runs").read_text().split()
    assert len(handed) == len(set(handed)), (folder.name, handed)
    marks = (folder / "witness").read_text().split() if (folder / "witness").exists() else []
    assert len(marks) == len(set(marks)), (folder.name, marks)
    assert set(marks) <= {"agent", "alert"}, (folder.name, marks)
    for requester, one in _actions(ledger):
        granted = one.approval is not None and one.approval.state is ApprovalState.GRANTED
        reads = one.route is RouteKind.AUTO and one.verdict.risk is Risk.READ_ONLY and one.verdict.auto_run
        if one.action.id in handed:
            assert granted or reads, (folder.name, requester, one.action.command)
            assert one.started_at is not None, (folder.name, one.action.command)
        if mark := next((mark for mark in ("agent", "alert") if f"echo {mark} " in one.action.command), ""):
            assert (mark in marks) == (one.state is ActionState.SUCCEEDED), (folder.name, mark, one.state)


def _taken_once(ledger: Ledger, folder: Path, lines: list[dict[str, Any]]) -> None:
    """Assert that each request and alert led to one action, and what was acknowledged is recorded."""
    order = Order(folder=str(folder), script="outsiders")
    wanted = {("agent:claude", command(order, text)): 1 for text in ASKED.values()}
    wanted |= {("alert:am", command(order, text)): 1 for text in RULES.values()}
    made = Counter((requester, one.action.command) for requester, one in _actions(ledger))
    reads = ("agent:claude", ASKED["read"])  # asked for again where the agent was not told its id
    assert made.pop(reads) >= wanted.pop(reads), folder.name
    assert made == wanted, (folder.name, made)
    rows = ledger.reader().execute("SELECT body FROM entry WHERE kind='signal:received'").fetchall()
    news = Counter((one.get("status"), one["news"]) for one in (json.loads(body) for (body,) in rows))
    assert news["firing", "fired"] == len(RULES), (folder.name, news)
    delivered = {line["name"] for line in lines if line["what"] == "delivered"}
    assert delivered == {*(f"{name} firing" for name in RULES), "Marked resolved"}
    assert news["resolved", "resolved"] == 1, (folder.name, news)
    assert not list(ledger.inbox.pending()), folder.name


def _told_the_truth(folder: Path, lines: list[dict[str, Any]]) -> Counter[str]:
    """Assert that what the agent was told is so, at every time that it asked."""
    told = [line for line in lines if line["what"] == "truth"]
    for line in told:
        assert line["told"] in TOLD_OF.get(line["is_so"], {line["is_so"]}), (folder.name, line)
    last = {line["name"]: line["told"] for line in told}
    assert last["refused"] == "refused", (folder.name, last)
    return Counter(line["told"] for line in told)
