"""Queries about what is due and what is under way: by state, by deadline, and what people owe."""

from datetime import datetime, timedelta

from gate.domain import PersonId, ProposalId, Risk
from gate.lifecycle import ActionState
from gate.sequence import Step
from ledger import waiting
from ledger.kinds import Kind
from ledger.views import OptionView
from tests.gate.makers import HERE, NOW, P1, P2
from tests.ledger.begun import run
from tests.ledger.entries.actions import ended, queued, started
from tests.ledger.entries.operators import loosening
from tests.ledger.entries.proposals import decided, made, opened, planned
from tests.ledger.entries.turns import answered, clarified, received
from tests.ledger.story import LATER, Story

ONE = planned()
TWO = planned(index=2, command="apt upgrade -y", risk=Risk.CONFIG_MUTATION)
OTHER = planned(proposal=P2, command="systemctl restart nginx")
ANA = PersonId("ana")


def test_actions_are_found_by_state_in_order(tale: Story) -> None:
    run(tale, OTHER)
    tale.write(made(ONE, TWO), opened(TWO))
    found = tale.queries.in_state(ActionState.STARTED, ActionState.PROPOSED, ActionState.WAITING)
    assert [one.action.id for one in found] == [OTHER.action.id, ONE.action.id, TWO.action.id]
    assert [one.action.id for one in tale.queries.in_state(ActionState.WAITING)] == [TWO.action.id]
    assert tale.queries.in_state(ActionState.LOST) == ()


def test_a_proposal_is_unfinished_until_its_last_action_ended(tale: Story) -> None:
    tale.write(made(ONE, TWO))
    run(tale, OTHER, ended(OTHER, Kind.ACTION_LOST, exit_code=None))
    assert tale.queries.unfinished() == (P1,)
    tale.write(ended(ONE, Kind.ACTION_CANCELLED))
    assert tale.queries.unfinished() == (P1,)
    tale.write(ended(TWO, Kind.ACTION_CANCELLED))
    assert tale.queries.unfinished() == ()


def test_the_next_deadline_is_the_nearest_of_any(tale: Story) -> None:
    def minutes(count: int) -> datetime:
        return NOW + timedelta(minutes=count)

    tale.write(loosening(Kind.LOOSENING_ASKED))
    assert tale.queries.next_deadline() == LATER
    tale.write(made(ONE), opened(ONE, deadline_at=minutes(9)))
    assert tale.queries.next_deadline() == minutes(9)
    tale.write(clarified(Kind.CLARIFICATION_ASKED, deadline_at=minutes(3)))
    assert tale.queries.next_deadline() == minutes(3)
    tale.write(clarified(Kind.CLARIFICATION_EXPIRED), decided(ONE, Kind.APPROVAL_GRANTED))
    assert tale.queries.next_deadline() == LATER
    tale.write(loosening(Kind.LOOSENING_ENDED))
    assert tale.queries.next_deadline() is None


def test_what_is_overdue_is_past_its_deadline_or_long_in_the_queue(tale: Story) -> None:
    def overdue(minutes: int) -> frozenset[ProposalId]:
        now = NOW + timedelta(minutes=minutes)
        return waiting.overdue(tale.ledger.reader(), now=now, queued_by=now - timedelta(minutes=5))

    tale.write(made(ONE), opened(ONE, deadline_at=NOW + timedelta(minutes=9)))
    tale.write(made(OTHER), opened(OTHER, deadline_at=NOW + timedelta(minutes=9)))
    tale.write(decided(OTHER, Kind.APPROVAL_GRANTED, extra={"alone": True}), queued(OTHER))
    assert overdue(4) == frozenset()
    assert overdue(5) == {P2}
    assert overdue(9) == {P1, P2}
    tale.write(started(OTHER), decided(ONE, Kind.APPROVAL_REFUSED))
    assert overdue(9) == frozenset()


def test_how_far_each_action_of_a_proposal_is(tale: Story) -> None:
    tale.write(made(ONE, TWO), opened(TWO))
    assert waiting.steps(tale.ledger.reader(), P1) == [
        Step(ActionState.PROPOSED, ONE.route),
        Step(ActionState.WAITING, TWO.route),
    ]
    assert waiting.steps(tale.ledger.reader(), P2) == []


def test_an_open_choice_is_seen_whole(tale: Story) -> None:
    assert tale.queries.clarification("c1") is None
    tale.write(clarified(Kind.CLARIFICATION_ASKED))
    choice = tale.queries.clarification("c1")
    assert choice is not None
    assert tale.queries.clarifications() == (choice,)
    assert (choice.place, choice.person, choice.deadline_at) == (HERE, "ana", LATER)
    assert (choice.said, choice.question) == ("restart it", "Which one?")
    assert choice.options == (
        OptionView(label="first", request="run a on web1"),
        OptionView(label="second", request="run b on web1"),
    )


def test_a_loosening_was_asked_by_the_end_of_its_turn(tale: Story) -> None:
    assert tale.queries.loosening_asked("l1") == 0
    tale.write(received(), answered())
    tale.write(received("t2"), loosening(Kind.LOOSENING_ASKED))
    assert tale.queries.loosening_asked("l1") == 0
    tale.write(answered("t2"))
    tale.write(received("t3"), answered("t3"))
    assert tale.queries.loosening_asked("l1") == 5


def test_a_waiting_loosening_is_seen_whole(tale: Story) -> None:
    tale.write(loosening(Kind.LOOSENING_ASKED))
    (one,) = tale.queries.loosenings()
    assert (one.place, one.person, one.phrase, one.deadline_at) == (HERE, "ana", "resume everything", LATER)
    assert one.wants == {"stopped": False}


def test_the_newest_proposals_come_first(tale: Story) -> None:
    tale.write(made(ONE))
    tale.at = LATER
    tale.write(made(OTHER))
    found = tale.queries.proposals(since=NOW, limit=9)
    assert [one.id for one in found] == [P2, P1]
    assert [one.id for one in tale.queries.proposals(since=LATER, limit=9)] == [P2]
    assert [one.id for one in tale.queries.proposals(since=NOW, limit=1)] == [P2]
    assert tale.queries.proposals(since=LATER + timedelta(seconds=1), limit=9) == ()


def test_a_reason_is_overdue_from_its_deadline_on(tale: Story) -> None:
    tale.write(made(ONE), opened(ONE))
    owing = {"reason_state": "owed", "owed_until": "2026-03-02T14:15:00.000000Z"}
    tale.write(decided(ONE, Kind.APPROVAL_REFUSED, extra=owing))
    assert tale.queries.overdue_reasons(LATER - timedelta(microseconds=1)) == ()
    assert tale.queries.overdue_reasons(LATER) == ((ProposalId(P1), HERE),)


def test_a_reason_is_owed_by_who_refused(tale: Story) -> None:
    tale.write(made(ONE), opened(ONE))
    assert not tale.queries.owes(P1, ANA)
    owing = {"reason_state": "owed", "owed_until": "2026-03-02T14:15:00.000000Z"}
    tale.write(decided(ONE, Kind.APPROVAL_REFUSED, extra=owing))
    assert tale.queries.owes(P1, ANA)
    assert not tale.queries.owes(P1, PersonId("kim"))
    assert not tale.queries.owes(P2, ANA)
