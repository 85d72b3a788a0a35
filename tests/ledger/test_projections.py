"""Projections: the tables are what the models say and what a rebuild gives, whatever kind of entry came."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gate.domain import ProposalId
from gate.errors import TransitionError
from gate.ladder import Rung
from ledger.kinds import Draft, Kind
from ledger.projected import commitments, conversation, delegates, learning, plans, runs, signals
from ledger.projections import HANDLERS, TABLES, reset
from tests.gate.makers import P2, THERE
from tests.ledger.entries.actions import ended, queued, verified
from tests.ledger.entries.beliefs import stored
from tests.ledger.entries.commitments import commitment_made, job_made, occurred
from tests.ledger.entries.learning import kept, taught, trusted
from tests.ledger.entries.operators import cleared, loosening, missed, offered, paired, setting, switched
from tests.ledger.entries.plans import called, plan_asked, plan_went
from tests.ledger.entries.proposals import climbed, decided, made, opened, planned, voted
from tests.ledger.entries.runs import run_entered, run_started
from tests.ledger.entries.signals import grouped, handled, storm_began, watched
from tests.ledger.entries.signals import received as signal_received
from tests.ledger.entries.turns import answered, clarified, moved, received
from tests.ledger.story import Story
from tests.ledger.telling import ONE, ran_until

MODELS = [
    one
    for of in (conversation, commitments, runs, learning, plans, signals, delegates)
    for one in vars(of).values()
    if hasattr(one, "__table__")
]


def tables(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    return {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES}


def test_tables_and_models_are_the_same_set() -> None:
    assert {one.__tablename__ for one in MODELS} == set(TABLES)


def test_the_tables_are_as_the_models_say(tale: Story) -> None:
    for model in MODELS:
        info = tale.ledger.reader().execute(f"PRAGMA table_info({model.__tablename__})").fetchall()
        found = {(name, bool(pk)) for _, name, _, _, _, pk in info}
        assert found == {(one.name, one.primary_key) for one in model.__table__.columns}
        indexes = tale.ledger.reader().execute(f"PRAGMA index_list({model.__tablename__})").fetchall()
        assert {name for _, name, _, origin, _ in indexes if origin == "c"} == {
            one.name for one in model.__table__.indexes
        }


def test_what_no_handler_knows_changes_nothing(tale: Story) -> None:
    before = tables(tale.ledger.reader())
    tale.write(Draft(kind=Kind.BOT_STARTED), Draft(kind=Kind.REQUEST_DENIED, body={"code": "x"}))
    assert tables(tale.ledger.reader()) == before
    assert set(HANDLERS) <= set(Kind)


def test_an_entry_that_does_not_fit_takes_its_batch_with_it(tale: Story) -> None:
    before, head = tables(tale.ledger.reader()), tale.ledger.head()
    with pytest.raises(TransitionError):
        tale.write(received(), made(ONE), opened(ONE), queued(ONE))
    assert (tables(tale.ledger.reader()), tale.ledger.head()) == (before, head)


def test_the_newest_value_of_a_switch_counts(tale: Story) -> None:
    tale.write(switched("stopped", value=True))
    tale.write(switched("stopped", value=False), switched("auto_off", value=True))
    assert tale.queries.switch_values() == {"stopped": False, "auto_off": True}
    assert tale.queries.switch_seq() == 3


@pytest.mark.parametrize("how", ["granted", "expired"])
def test_a_loosening_waits_until_it_ends(tale: Story, how: str) -> None:
    tale.write(loosening(Kind.LOOSENING_ASKED))
    assert [one.id for one in tale.queries.loosenings()] == ["l1"]
    tale.write(loosening(Kind.LOOSENING_ENDED, how=how))
    assert tale.queries.loosenings() == ()


def test_a_rebuild_gives_the_same_tables(tale: Story) -> None:
    ran_until(tale, ended(ONE, output=b"ok"), verified(ONE))
    other = planned(proposal=P2)
    tale.write(received(direct=True), made(other), opened(other), answered(shows=[P2], window=("ana", P2)))
    tale.write(decided(other, Kind.APPROVAL_REFUSED, extra={"reason_state": "owed", "owed_until": "2026"}))
    tale.write(clarified(Kind.CLARIFICATION_ASKED), switched("auto_off", value=True))
    tale.write(loosening(Kind.LOOSENING_ASKED))
    third = planned(proposal=ProposalId("p3"))
    tale.write(made(third, shown_in=THERE), opened(third), voted(third, "ana"), climbed(third, Rung.NUDGE))
    tale.write(moved("here", "there"), offered(), paired(), offered("c2"), missed())
    tale.write(job_made(), occurred())
    tale.write(stored(), stored("b2", supersedes="b1"))
    tale.write(commitment_made("clarify"))
    tale.write(setting("autonomy.max", "propose"), cleared("bot.timezone"))
    tale.write(trusted(), taught())
    tale.write(run_started(), run_entered(), kept(), called())
    tale.write(grouped(), signal_received(), handled(), storm_began(), watched())
    tale.write(plan_asked(), plan_went(Kind.PLAN_CALLED, beliefs=["b2"]))
    tale.write(plan_went(Kind.PLAN_ANSWERED, made=["k7f3a2"]))
    before = tables(tale.ledger.reader())
    assert [name for name, rows in before.items() if not rows] == []
    assert tale.ledger.rebuild(reset) == tale.ledger.head().seq
    assert tables(tale.ledger.reader()) == before


def test_reset_empties_every_table(tale: Story, tmp_path: Path) -> None:
    ran_until(tale)
    with (
        closing(sqlite3.connect(tmp_path / "ledger.db")) as copy,
        closing(sqlite3.connect(":memory:")) as mine,
    ):
        copy.backup(mine)
        reset(mine)
        assert not any(tables(mine).values())
