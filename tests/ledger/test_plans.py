"""Plans that a model composes: their entries, their states, and what is asked of them."""

from datetime import timedelta

import pytest

from gate.domain import PersonId
from gate.errors import TransitionError
from gate.lifecycle import PlanState
from ledger.kinds import Draft, Kind, LostRaceError, PlanIsAt, RowIs
from ledger.projections import reset
from ledger.views import PRUNED
from tests.gate.makers import HERE, NOW, THERE
from tests.ledger.entries.beliefs import forgotten, stored
from tests.ledger.entries.plans import plan_asked, plan_ended, plan_went
from tests.ledger.story import Story

PLAN = "p1w3x2"
ANA = PersonId("ana")


def thought(tale: Story, *made: str) -> None:
    """Let a plan be asked for, call the model once, and be answered."""
    tale.write(plan_asked())
    tale.write(plan_went(Kind.PLAN_CALLED))
    tale.write(plan_went(Kind.PLAN_ANSWERED, made=made))


def test_a_plan_goes_from_what_was_said_to_what_was_answered(tale: Story) -> None:
    tale.write(plan_asked())
    view = tale.queries.plan(PLAN)
    assert view is not None
    assert (view.state, view.place, view.person, view.direct) == (PlanState.THINKING, HERE, ANA, False)
    assert (view.said, view.asked_at, view.how, view.text) == ("is web1 well?", NOW, "", "")
    assert not view.is_over
    tale.write(plan_went(Kind.PLAN_CALLED))
    tale.write(plan_went(Kind.PLAN_ANSWERED))
    tale.write(plan_went(Kind.PLAN_CONTINUED))
    tale.write(plan_ended())
    over = tale.queries.plan(PLAN)
    assert over is not None
    assert (over.is_over, over.how, over.text, over.seq) == (True, "answered", "It is well.", view.seq + 4)
    kinds = [one.kind for one in tale.queries.plan_entries(PLAN)]
    assert kinds == [
        Kind.PLAN_ASKED,
        Kind.PLAN_CALLED,
        Kind.PLAN_ANSWERED,
        Kind.PLAN_CONTINUED,
        Kind.PLAN_ENDED,
    ]


def test_an_unknown_plan_is_none(tale: Story) -> None:
    assert tale.queries.plan("p0none") is None
    assert tale.queries.plan_of("p0none") is None
    assert tale.queries.plan_entries("p0none") == ()


def test_its_entries_come_with_their_words(tale: Story) -> None:
    thought(tale, "k7f3a2")
    asked, called, answered = tale.queries.plan_entries(PLAN)
    assert (asked.words, called.words, answered.words) == ({"said": "is web1 well?"}, {}, {"words": "{}"})
    assert answered.body["made"] == ["k7f3a2"]
    assert answered.seq == called.seq + 1
    assert answered.at == NOW


def test_what_a_plan_made_leads_back_to_it(tale: Story) -> None:
    thought(tale, "k7f3a2", "c5d8f2")
    for name in ("k7f3a2", "c5d8f2"):
        view = tale.queries.plan_of(name)
        assert view is not None
        assert view.id == PLAN
    assert tale.queries.made_by(PLAN) == ("k7f3a2", "c5d8f2")


@pytest.mark.parametrize(
    "wrong",
    [
        plan_went(Kind.PLAN_ANSWERED),  # once is enough
        plan_went(Kind.PLAN_CALLED),  # what it waits for is not known yet
        plan_went(Kind.PLAN_CONTINUED, "p0none"),
        plan_ended("p0none"),
    ],
)
def test_what_does_not_fit_is_not_written(tale: Story, wrong: Draft) -> None:
    thought(tale)
    with pytest.raises(TransitionError):
        tale.write(wrong)


def test_a_plan_that_is_over_takes_nothing(tale: Story) -> None:
    tale.write(plan_asked())
    tale.write(plan_ended(how="dropped", text=None))
    for wrong in (plan_went(Kind.PLAN_CALLED), plan_ended()):
        with pytest.raises(TransitionError):
            tale.write(wrong)
    view = tale.queries.plan(PLAN)
    assert view is not None
    assert (view.how, view.text) == ("dropped", "")


def test_a_move_expects_the_plan_where_it_was_read(tale: Story) -> None:
    tale.write(plan_asked(), expects=(RowIs("plan", PLAN, None),))
    with pytest.raises(LostRaceError):
        tale.write(plan_asked(), expects=(RowIs("plan", PLAN, None),))
    view = tale.queries.plan(PLAN)
    assert view is not None
    tale.write(plan_went(Kind.PLAN_CALLED), expects=(PlanIsAt(PLAN, view.seq),))
    with pytest.raises(LostRaceError):
        tale.write(plan_went(Kind.PLAN_CALLED), expects=(PlanIsAt(PLAN, view.seq),))


def test_plans_are_found_by_who_asked_where_and_when(tale: Story) -> None:
    tale.write(plan_asked("p00001"), plan_ended("p00001"))
    tale.write(plan_asked("p00002", place=THERE))
    tale.write(plan_asked("p00003", person="kim"))
    tale.at += timedelta(minutes=5)
    tale.write(plan_asked("p00004"))
    tale.write(plan_asked("p00005"))

    def mine(since_s: int, limit: int = 3) -> list[str]:
        since = NOW + timedelta(seconds=since_s)
        return [one.id for one in tale.queries.plans_of(ANA, HERE, since=since, limit=limit)]

    assert mine(0) == ["p00001", "p00004", "p00005"]
    assert mine(1) == ["p00004", "p00005"]
    assert mine(0, limit=1) == ["p00005"]
    assert [one.id for one in tale.queries.open_plans()] == ["p00002", "p00003", "p00004", "p00005"]


def test_the_words_of_a_plan_stay_while_it_is_open(tale: Story) -> None:
    thought(tale)
    tale.ledger.prune(before=NOW + timedelta(days=1))
    assert tale.queries.plan_entries(PLAN)[0].words == {"said": "is web1 well?"}
    tale.write(plan_ended())
    tale.ledger.prune(before=NOW + timedelta(days=1))
    assert tale.queries.plan_entries(PLAN)[0].words == {"said": PRUNED}
    view = tale.queries.plan(PLAN)
    assert view is not None
    assert (view.said, view.text) == (PRUNED, PRUNED)


def test_forgetting_a_fact_takes_the_words_of_plans_that_were_told_it(tale: Story) -> None:
    tale.write(stored("b1"))
    tale.write(plan_asked())
    tale.write(plan_went(Kind.PLAN_CALLED, beliefs=["b1", "b1"]))
    tale.write(plan_went(Kind.PLAN_ANSWERED), plan_ended())
    assert tale.queries.told_in(PLAN) == ("b1",)
    tale.write(plan_asked("p00002"))
    tale.write(plan_ended("p00002"))
    tale.write(forgotten("b1"))
    assert {word for one in tale.queries.plan_entries(PLAN) for word in one.words.values()} == {PRUNED}
    other = tale.queries.plan("p00002")
    assert other is not None
    assert (other.said, other.text) == ("is web1 well?", "It is well.")


def test_a_rebuild_gives_the_same_plans(tale: Story) -> None:
    thought(tale, "k7f3a2")
    before = tale.queries.open_plans(), tale.queries.plan_of("k7f3a2")
    tale.ledger.rebuild(reset)
    assert (tale.queries.open_plans(), tale.queries.plan_of("k7f3a2")) == before
