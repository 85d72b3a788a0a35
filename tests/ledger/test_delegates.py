"""What agents asked for in the ledger: counted within an hour, whatever restarts; found by whoever asked."""

from datetime import timedelta

from gate.domain import PersonId
from ledger import delegates
from ledger.kinds import Kind
from ledger.projections import reset
from tests.gate.makers import NOW, P1, P2
from tests.ledger.entries.actions import ended, queued, started, verified
from tests.ledger.entries.plans import called
from tests.ledger.entries.proposals import decided, made, opened, planned
from tests.ledger.story import Story

CLAUDE = "agent:claude"
HOUR = timedelta(hours=1)
ONE, OTHER = planned(), planned(proposal=P2)


def test_calls_are_counted_by_agent_and_time(tale: Story) -> None:
    assert tale.queries.calls(CLAUDE, since=NOW - HOUR) == 0
    assert tale.queries.first_call(CLAUDE, since=NOW - HOUR) is None
    tale.write(called(), called(delegates.DENIED, subject=""), called(agent="agent:codex"))
    tale.at += HOUR
    tale.write(called(delegates.RUN, subject="r1"))
    assert tale.queries.calls(CLAUDE, since=NOW - HOUR) == 3
    assert tale.queries.calls(CLAUDE, since=NOW) == 1  # what is an hour old counts no more
    assert tale.queries.first_call(CLAUDE, since=NOW - HOUR) == NOW
    assert tale.queries.runs_begun_by(CLAUDE, limit=5) == ("r1",)
    tale.ledger.rebuild(reset)
    assert tale.queries.calls(CLAUDE, since=NOW - HOUR) == 3


def test_one_too_many_is_known_and_counts_for_nothing(tale: Story) -> None:
    assert not tale.queries.was_limited(CLAUDE, since=NOW - HOUR)
    tale.write(called(delegates.LIMITED, subject=""))
    assert tale.queries.was_limited(CLAUDE, since=NOW - HOUR)
    assert not tale.queries.was_limited(CLAUDE, since=NOW)
    assert tale.queries.calls(CLAUDE, since=NOW - HOUR) == 0


def test_what_an_agent_asked_for_is_found_by_it_alone(tale: Story) -> None:
    tale.write(made(ONE, requester=CLAUDE, on_behalf="ana", source="agent"), opened(ONE))
    tale.write(made(OTHER), opened(OTHER))
    assert tale.queries.asked_by(CLAUDE, limit=5) == (P1,)
    assert tale.queries.waiting_of(CLAUDE) == (P1,)
    assert tale.queries.waiting_of("ana") == (P2,)
    tale.write(decided(ONE, Kind.APPROVAL_REFUSED))
    assert tale.queries.waiting_of(CLAUDE) == ()
    assert tale.queries.asked_by(CLAUDE, limit=0) == ()


def test_what_runs_of_an_agents_own_is_known(tale: Story) -> None:
    tale.write(made(ONE, requester=CLAUDE), opened(ONE))
    assert tale.queries.running_of(CLAUDE) == ()
    tale.write(decided(ONE, Kind.APPROVAL_GRANTED), queued(ONE))
    assert tale.queries.running_of(CLAUDE) == (P1,)
    tale.write(started(ONE))
    assert tale.queries.running_of(CLAUDE) == (P1,)
    assert tale.queries.running_of("ana") == ()
    tale.write(ended(ONE))
    assert tale.queries.running_of(CLAUDE) == ()
    assert tale.queries.requester_of(P1) == CLAUDE
    assert tale.queries.requester_of(P2) == ""


def test_whom_an_agent_works_for_stands_with_its_request(tale: Story) -> None:
    tale.write(made(ONE, requester=CLAUDE, on_behalf="ana", source="agent"), opened(ONE))
    tale.write(made(OTHER), opened(OTHER))
    view = tale.queries.proposal(P1)
    assert view is not None
    assert (view.requester, view.on_behalf, view.owner) == (CLAUDE, "ana", "ana")
    mine, others = tale.queries.pending()
    assert (mine.on_behalf, mine.owner) == (PersonId("ana"), PersonId("ana"))
    assert (others.on_behalf, others.owner) == (None, PersonId("ana"))
    plain = tale.queries.proposal(P2)
    assert plain is not None
    assert plain.owner == "ana"


def test_whether_a_check_was_made_is_known(tale: Story) -> None:
    tale.write(made(ONE), opened(ONE), decided(ONE, Kind.APPROVAL_GRANTED), queued(ONE))
    tale.write(started(ONE), ended(ONE))
    before = tale.queries.action(ONE.action.id).ending
    assert before is not None
    assert not before.checked
    tale.write(verified(ONE))
    after = tale.queries.action(ONE.action.id).ending
    assert after is not None
    assert after.checked
