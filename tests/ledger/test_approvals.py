"""Approvals: each ends once, a refusal may owe its reason, and what was shown elsewhere is told once."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gate.errors import TransitionError
from gate.lifecycle import ActionState, ApprovalState
from ledger.codec import instant
from ledger.kinds import Draft, Kind
from ledger.waiting import untold
from tests.gate.makers import HERE, NOW, P1, P2, THERE
from tests.ledger.entries.actions import queued
from tests.ledger.entries.proposals import decided, made, opened, planned, told, voted
from tests.ledger.story import Story
from tests.ledger.telling import ANA, KIM, ONE, asked, state


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
