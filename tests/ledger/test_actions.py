"""Actions: none is queued without the consent that it needs, each starts on its grant and ends once."""

import pytest

from gate.domain import RouteKind
from gate.errors import TransitionError
from gate.lifecycle import ActionState
from ledger.kinds import Kind
from tests.ledger.entries.actions import ended, queued, settled, started, unqueued
from tests.ledger.entries.proposals import decided, made, opened, planned
from tests.ledger.story import Story
from tests.ledger.telling import ONE, asked, ran_until, state


def test_an_unknown_action_cannot_be_queued(tale: Story) -> None:
    with pytest.raises(TransitionError, match=f"there is no action {ONE.action.id}"):
        tale.write(queued(ONE))


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
