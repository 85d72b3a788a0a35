"""Projections: what each kind of entry does to the present state."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gate.domain import PersonId, PlaceId, ProposalId, RouteKind
from gate.errors import TransitionError
from gate.ladder import Rung
from gate.lifecycle import ActionState, ApprovalState
from ledger.codec import instant
from ledger.kinds import (
    Draft,
    Kind,
)
from ledger.projected import commitments, conversation, delegates, learning, plans, runs, signals
from ledger.projections import HANDLERS, TABLES, reset
from ledger.waiting import untold
from tests.gate.makers import HERE, NOW, P1, P2, THERE
from tests.ledger.entries.actions import ended, queued, settled, started, unqueued, verified
from tests.ledger.entries.beliefs import stored
from tests.ledger.entries.commitments import commitment_made, job_made, occurred
from tests.ledger.entries.learning import kept, taught, trusted
from tests.ledger.entries.operators import cleared, loosening, missed, offered, paired, setting, switched
from tests.ledger.entries.plans import called, plan_asked, plan_went
from tests.ledger.entries.proposals import Planned, climbed, decided, made, opened, planned, told, voted
from tests.ledger.entries.runs import run_entered, run_started
from tests.ledger.entries.signals import grouped, handled, storm_began, watched
from tests.ledger.entries.signals import received as signal_received
from tests.ledger.entries.turns import answered, clarified, moved, received
from tests.ledger.story import Story

ONE = planned()
ANA, KIM = PersonId("ana"), PersonId("kim")


def tables(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    return {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in TABLES}


def asked(tale: Story, *actions: Planned) -> None:
    """Write a proposal of `actions` and an approval for each."""
    tale.write(made(*actions), *map(opened, actions))


def ran_until(tale: Story, *more: Draft) -> None:
    """Write a proposal of ONE, its grant, its start and what follows."""
    asked(tale, ONE)
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED), queued(ONE))
    tale.write(started(ONE))
    for draft in more:
        tale.write(draft)


def state(tale: Story, one: Planned = ONE) -> ActionState:
    return tale.queries.action(one.action.id).state


MODELS = [
    one
    for of in (conversation, commitments, runs, learning, plans, signals, delegates)
    for one in vars(of).values()
    if hasattr(one, "__table__")
]


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


# ---------------------------------------------------------------- turns and windows


@pytest.mark.parametrize("kind", [Kind.TURN_RECEIVED, Kind.TURN_CRASHED])
def test_a_turn_names_its_place_and_person(tale: Story, kind: Kind) -> None:
    assert tale.queries.last_turn(HERE) is None
    tale.write(received("t1", kind=kind))
    tale.write(received("t2", person="kim", kind=kind))
    assert tale.queries.last_turn(HERE) == ("t2", "kim")
    assert tale.queries.place(HERE) == ("console", "", "here", "")
    assert tale.queries.place(THERE) is None


def _window(tale: Story, person: PersonId = ANA, place: PlaceId = HERE) -> ProposalId | None:
    found = tale.queries.facts(place, person).window
    return None if found is None else found.proposal


def test_a_window_opens_for_one_person_in_one_place(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    assert _window(tale) == P1
    assert _window(tale, KIM) is None
    assert _window(tale, ANA, THERE) is None
    assert tale.queries.facts(HERE, None).window is None
    window = tale.queries.facts(HERE, ANA).window
    assert window is not None
    assert window.opened_by == "t1"


def test_the_next_message_of_its_person_closes_it(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    tale.write(received("t2", person="kim"))
    tale.write(received("t3", place=THERE))
    tale.write(received("t4", consumes=False))
    assert _window(tale) == P1
    tale.write(received("t5"))
    assert _window(tale) is None


def test_showing_another_proposal_closes_every_window_of_the_place(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    tale.write(answered("t2", window=("kim", P1)))
    tale.write(answered("t3", shows=[P2], place=THERE))
    assert (_window(tale), _window(tale, KIM)) == (P1, P1)
    tale.write(answered("t4"))
    assert _window(tale) == P1
    tale.write(answered("t5", shows=[P2]))
    assert (_window(tale), _window(tale, KIM)) == (None, None)


def test_what_was_said_in_between_closes_the_windows_of_its_place(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    tale.write(answered("t2", place=THERE, closes_windows=True))
    assert _window(tale) == P1
    tale.write(answered("t3", closes_windows=True))
    assert _window(tale) is None


def test_a_window_can_open_anew(tale: Story) -> None:
    tale.write(answered("t1", shows=[P1], window=("ana", P1)))
    tale.write(received("t2"), answered("t2", shows=[P2], window=("ana", P2)))
    assert _window(tale) == P2


# ---------------------------------------------------------------- proposals and approvals


def test_a_proposal_may_replace_another(tale: Story) -> None:
    other = planned(proposal=P2)
    tale.write(made(ONE))
    tale.write(made(other, replaces=P1))
    views = [tale.queries.proposal(name) for name in (P1, P2)]
    assert [view and view.replaced_by for view in views] == [P2, None]


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        (Kind.APPROVAL_GRANTED, ApprovalState.GRANTED),
        (Kind.APPROVAL_REFUSED, ApprovalState.REFUSED),
        (Kind.APPROVAL_EXPIRED, ApprovalState.EXPIRED),
        (Kind.APPROVAL_SUPERSEDED, ApprovalState.SUPERSEDED),
        (Kind.APPROVAL_WITHDRAWN, ApprovalState.WITHDRAWN),
    ],
)
def test_an_approval_ends_once(tale: Story, kind: Kind, end: ApprovalState) -> None:
    asked(tale, ONE)
    tale.write(decided(ONE, kind))
    for again in (kind, Kind.APPROVAL_GRANTED, Kind.APPROVAL_REFUSED):
        with pytest.raises(TransitionError, match=f"{end} does not take"):
            tale.write(decided(ONE, again))
    approval = tale.queries.action(ONE.action.id).approval
    assert approval is not None
    assert (approval.state, approval.decided_by, approval.decided_at) == (end, "ana", NOW)
    assert tale.queries.pending() == ()


def test_an_unknown_approval_cannot_be_decided(tale: Story) -> None:
    tale.write(made(ONE))
    with pytest.raises(ValueError, match="'None' is not a valid"):
        tale.write(decided(ONE, Kind.APPROVAL_GRANTED))


def test_an_unknown_action_cannot_be_queued(tale: Story) -> None:
    with pytest.raises(TransitionError, match=f"there is no action {ONE.action.id}"):
        tale.write(queued(ONE))


def test_a_grant_belongs_to_the_action_that_was_asked_about(tale: Story) -> None:
    two = planned(index=2)
    asked(tale, ONE, two)
    # An entry that names another action grants the one of its approval all the same.
    wrong = decided(ONE, Kind.APPROVAL_GRANTED)
    tale.write(replace(wrong, body={**wrong.body, "action": two.action.id}))
    with pytest.raises(TransitionError, match="does not hold the grant"):
        tale.write(queued(two))
    tale.write(queued(ONE))
    assert (state(tale), state(tale, two)) == (ActionState.QUEUED, ActionState.WAITING)


def test_a_refusal_without_a_reason_owes_one(tale: Story) -> None:
    asked(tale, ONE)
    until = NOW + timedelta(minutes=5)
    owing = {"reason_state": "owed", "owed_until": instant(until)}
    tale.write(decided(ONE, Kind.APPROVAL_REFUSED, extra=owing))
    assert tale.queries.owed(HERE, ANA, NOW) == P1
    assert tale.queries.owed(HERE, ANA, until) is None
    assert tale.queries.owed(HERE, KIM, NOW) is None
    assert tale.queries.owed(THERE, ANA, NOW) is None
    tale.write(Draft(kind=Kind.REASON_GIVEN, correlation_id=P1, body={"proposal": P1}))
    assert tale.queries.owed(HERE, ANA, NOW) is None


def test_a_reason_given_later_stands_with_the_refusal(tale: Story) -> None:
    asked(tale, ONE)
    owing = {"reason_state": "owed", "owed_until": instant(NOW + timedelta(minutes=5))}
    tale.write(decided(ONE, Kind.APPROVAL_REFUSED, extra=owing))
    words = {"reason": b"backup is running"}
    tale.write(Draft(kind=Kind.REASON_GIVEN, correlation_id=P1, body={"proposal": P1}, words=words))
    approval = tale.queries.action(ONE.action.id).approval
    assert approval is not None
    assert approval.why == "backup is running"


def test_a_refusal_with_a_reason_owes_none(tale: Story) -> None:
    asked(tale, ONE)
    given = decided(
        ONE, Kind.APPROVAL_REFUSED, extra={"reason_state": "given"}, words={"reason": b"too early"}
    )
    tale.write(given)
    assert tale.queries.owed(HERE, ANA, NOW) is None


# ---------------------------------------------------------------- actions


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        (Kind.ACTION_SUCCEEDED, ActionState.SUCCEEDED),
        (Kind.ACTION_FAILED, ActionState.FAILED),
        (Kind.ACTION_CANCELLED, ActionState.CANCELLED),
        (Kind.ACTION_LOST, ActionState.LOST),
    ],
)
def test_a_started_action_ends_once_and_never_starts_again(tale: Story, kind: Kind, end: ActionState) -> None:
    ran_until(tale, ended(ONE, kind))
    assert state(tale) is end
    for more in (started(ONE), queued(ONE), unqueued(ONE), opened(ONE, name="b"), ended(ONE, kind)):
        with pytest.raises(TransitionError):
            tale.write(more)
    assert state(tale) is end


def test_what_needs_no_consent_is_queued_without_a_grant(tale: Story) -> None:
    free = planned(route=RouteKind.AUTO)
    tale.write(made(free))
    tale.write(queued(free, grant=None))
    tale.write(started(free, grant=None))
    assert state(tale, free) is ActionState.STARTED


@pytest.mark.parametrize("route", [RouteKind.APPROVAL, RouteKind.PHRASE])
def test_what_needs_consent_is_never_queued_without_its_grant(tale: Story, route: RouteKind) -> None:
    one = planned(route=route)
    tale.write(made(one))
    for grant in (None, "a"):
        with pytest.raises(TransitionError):
            tale.write(queued(one, grant=grant))
    tale.write(opened(one))
    for grant in (None, "a"):
        with pytest.raises(TransitionError):
            tale.write(queued(one, grant=grant))
    assert state(tale, one) is ActionState.WAITING


def test_what_ran_at_once_and_was_asked_about_since_needs_its_grant(tale: Story) -> None:
    free = planned(route=RouteKind.AUTO)
    tale.write(made(free), queued(free, grant=None))
    tale.write(unqueued(free, route=RouteKind.AUTO), opened(free))
    with pytest.raises(TransitionError, match="needs a grant"):
        tale.write(queued(free, grant=None))
    tale.write(decided(free, Kind.APPROVAL_GRANTED), queued(free))
    assert state(tale, free) is ActionState.QUEUED


@pytest.mark.parametrize("grant", [None, "b"])
def test_a_start_names_the_grant_that_it_consumes(tale: Story, grant: str | None) -> None:
    asked(tale, ONE)
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED), queued(ONE))
    with pytest.raises(TransitionError, match="does not hold the grant"):
        tale.write(started(ONE, grant=grant))
    assert state(tale) is ActionState.QUEUED


def test_a_grant_that_was_taken_back_starts_nothing(tale: Story) -> None:
    asked(tale, ONE)
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED), queued(ONE))
    tale.write(unqueued(ONE))
    view = tale.queries.action(ONE.action.id)
    assert (view.state, view.queued_at, view.route) == (ActionState.PROPOSED, None, RouteKind.APPROVAL)
    with pytest.raises(TransitionError):
        tale.write(queued(ONE))
    tale.write(opened(ONE, name="b"))
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED, name="b"), queued(ONE, grant="b"))
    tale.write(started(ONE, grant="b"))
    assert state(tale) is ActionState.STARTED


@pytest.mark.parametrize(("ran", "end"), [(True, ActionState.SUCCEEDED), (False, ActionState.FAILED)])
def test_a_lost_action_is_settled_once(tale: Story, *, ran: bool, end: ActionState) -> None:
    ran_until(tale, ended(ONE, Kind.ACTION_LOST, exit_code=None))
    assert tale.queries.frozen() == ("web1",)
    tale.write(settled(ONE, ran=ran))
    assert (state(tale), tale.queries.frozen()) == (end, ())
    with pytest.raises(TransitionError):
        tale.write(settled(ONE, ran=ran))


def test_an_entry_that_does_not_fit_takes_its_batch_with_it(tale: Story) -> None:
    before, head = tables(tale.ledger.reader()), tale.ledger.head()
    with pytest.raises(TransitionError):
        tale.write(received(), made(ONE), opened(ONE), queued(ONE))
    assert (tables(tale.ledger.reader()), tale.ledger.head()) == (before, head)


# ---------------------------------------------------------------- choices, switches, loosenings


@pytest.mark.parametrize(
    "kind",
    [
        Kind.CLARIFICATION_ANSWERED,
        Kind.CLARIFICATION_CANCELLED,
        Kind.CLARIFICATION_EXPIRED,
        Kind.CLARIFICATION_SUPERSEDED,
    ],
)
def test_a_choice_ends_once(tale: Story, kind: Kind) -> None:
    tale.write(clarified(Kind.CLARIFICATION_ASKED))
    assert tale.queries.clarification("c1") is not None
    tale.write(clarified(kind))
    assert tale.queries.clarification("c1") is None
    with pytest.raises(TransitionError):
        tale.write(clarified(kind))


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


# ---------------------------------------------------------------- rebuilding


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


# ---------------------------------------------------------------- votes


def test_a_person_votes_once_and_only_while_it_is_pending(tale: Story) -> None:
    tale.write(made(ONE), opened(ONE))
    tale.write(voted(ONE, "ana"))
    assert state(tale) is ActionState.WAITING
    for wrong in (voted(ONE, "ana"), voted(ONE, "kim", name="nothing")):
        with pytest.raises(TransitionError):
            tale.write(wrong)
    tale.write(decided(ONE, Kind.APPROVAL_EXPIRED))
    with pytest.raises(TransitionError):
        tale.write(voted(ONE, "kim"))


# ---------------------------------------------------------------- told elsewhere


def test_what_was_shown_elsewhere_is_untold_until_it_is_told_once(tale: Story) -> None:
    tale.write(made(ONE, shown_in=THERE), made(planned(proposal=P2)))
    assert untold(tale.ledger.reader()) == (P1,)
    tale.write(told(ONE))
    assert untold(tale.ledger.reader()) == ()
    with pytest.raises(TransitionError):
        tale.write(told(ONE))


def test_what_takes_its_place_is_told_instead(tale: Story) -> None:
    tale.write(made(ONE, shown_in=THERE))
    tale.write(made(planned(proposal=P2), replaces=P1, shown_in=THERE))
    assert untold(tale.ledger.reader()) == (P2,)
