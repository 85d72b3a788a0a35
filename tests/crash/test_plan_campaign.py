"""Kill -9 while a model plans: between its call, its proposal, the grant, the execution and what follows.

Real processes share one ledger one after the other. Whatever killed them, no step is made twice, nothing runs
that nobody agreed to, and the plan goes on where it stood, or says that it stopped.
"""

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gate.domain import Risk, RouteKind
from gate.lifecycle import ActionState
from ledger.keys import key_file, known_keys
from ledger.kinds import Kind
from ledger.projections import TABLES, reset
from ledger.queries import Queries
from ledger.store import Ledger
from ledger.verify import verify_live
from tests.crash.order import open_ledger
from tests.crash.planned import MARKS
from tests.crash.stories import tell
from tests.crash.surface import LateClock
from tests.crash.trap import Trap
from tests.crash.zygote import prepare

#: Where a life ends, one for each: at the n-th of these moments.
MOMENTS = (
    ("writing plan:asked", 1),
    ("turn.recorded", 1),
    ("plan.composed", 1),
    ("writing plan:called", 1),
    ("plan.called", 1),
    ("model.thinks", 2),
    ("plan.thought", 2),
    ("plan.taken", 2),
    ("writing plan:answered", 2),
    ("writing proposal:made", 2),
    ("plan.recorded", 2),
    ("writing approval:granted", 1),
    ("start.recorded", 2),
    ("run.output", 1),
    ("run.after", 2),
    ("end.recorded", 2),
    ("check.recorded", 1),
    ("writing plan:continued", 2),
    ("plan.called", 3),
    ("writing plan:ended", 1),
    ("commit", 9),
)
#: How plans may end here; only the first is a plan that was seen through.
ENDS = ("answered", "model_failed", "over_budget")


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    memory = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(prefix="sayso-plans-", dir=memory if os.access(memory, os.W_OK) else None))
    prepare(root)
    yield root
    shutil.rmtree(root)


@pytest.mark.timeout(1800)
def test_a_plan_goes_on_exactly_once_whatever_kills_it(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = tell(base, "planned", MOMENTS)
    ends = Counter(check(base / name) for name in killed)
    with capsys.disabled():
        print(f"\nplan campaign: {len(killed)} plans · {sum(killed.values())} kills · {dict(ends)}")
    assert ends["answered"] >= len(MOMENTS)


def check(folder: Path) -> str:
    """Assert that a plan ended and made each step once, by what people agreed to; return how it ended."""
    lines = [json.loads(line) for line in (folder / "journal").read_text().splitlines()]
    complaints = [line["text"] for line in lines if line["what"] == "complaint"]
    assert not complaints, (folder.name, complaints)
    (how,) = {line["how"] for line in lines if line["what"] == "over"}
    assert how in ENDS, (folder.name, how)
    witness = (folder / "witness").read_text().split()
    with closing(open_ledger(folder / "state", LateClock(0), Trap())) as ledger:
        assert witness == _made_once(ledger, folder.name), folder.name
        reader = ledger.reader()
        before = {name: reader.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES}
        ledger.rebuild(reset)
        reader = ledger.reader()
        assert before == {
            name: reader.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES
        }
    file = folder / "state" / "ledger.db"
    assert verify_live(file, keys=known_keys(key_file(file)), held={}).ok, folder.name
    shown = "\n".join(line["text"] for line in lines if line["what"] in {"shown", "edited"})
    assert "Both marks are there." in shown or how != "answered", folder.name
    return str(how)


def _made_once(ledger: Ledger, name: str) -> list[str]:
    """Assert that no step was made twice; return the marks that were left, by the record."""
    queries = Queries(ledger.reader)
    ((plan,),) = ledger.reader().execute("SELECT id FROM plan").fetchall()
    answers = [one for one in queries.plan_entries(plan) if one.kind is Kind.PLAN_ANSWERED]
    numbers = [one.body["number"] for one in answers]
    assert len(numbers) == len(set(numbers)) == len(MARKS) + 2, name
    called = [one.body["number"] for one in queries.plan_entries(plan) if one.kind is Kind.PLAN_CALLED]
    assert called == list(range(1, len(called) + 1)), name
    views = [
        view
        for (proposal,) in ledger.reader().execute("SELECT id FROM proposal").fetchall()
        if (view := queries.proposal(proposal)) is not None
    ]
    commands = Counter(one.action.command for view in views for one in view.actions)
    assert set(commands.values()) == {1}, (name, commands)
    for view in views:
        for one in view.actions:
            agreed = one.route is RouteKind.AUTO or one.approval is not None
            assert agreed, (name, one.action.command)
            settled = one.ending is not None and one.ending.settled
            reads = one.verdict.risk is Risk.READ_ONLY  # nobody has to find out what became of that
            assert one.state is ActionState.SUCCEEDED or settled or reads, (name, one.action.command)
    done = [one for view in views for one in view.actions if one.state is ActionState.SUCCEEDED]
    return [mark for mark in MARKS if any(f"echo {mark} " in one.action.command for one in done)]
