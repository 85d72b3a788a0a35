"""Runs: where each one is, and that its events come back as they were written."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from gate.domain import ActionId, Digest, PersonId
from gate.errors import TransitionError
from gate.lifecycle import RunStatus
from gate.supervise.approval import ApprovalRequest, Grant, Refusal
from gate.supervise.domain import Outcome, RunId, StepId, StepRisk, Terminal
from gate.supervise.events import (
    Consumed,
    Deviated,
    EndCause,
    Ended,
    Entered,
    Event,
    Granted,
    Judged,
    Proposed,
    TakenBack,
    Via,
    WaitBegan,
    WaitEnded,
)
from ledger import run_documents
from ledger.kinds import Kind, LostRaceError, RowIs, RunIsAt
from ledger.run_events import KINDS
from ledger.runs import Came
from ledger.views import PRUNED
from tests.gate.makers import HERE, NOW
from tests.ledger.entries.actions import ended
from tests.ledger.entries.proposals import made, opened, planned
from tests.ledger.entries.runs import SPEC, run_entered, run_started, run_went
from tests.ledger.story import LATER, Story

RUN, STEP, ANA = RunId("r4m8n2"), StepId("restart"), PersonId("ana")
COMMAND = Digest("c" * 64)
AFTER = LATER + timedelta(days=1)


def asked(number: int = 1, *, with_request: bool = True, proposal: str = "k7f3a2") -> Proposed:
    request = ApprovalRequest(
        id="restart@1",
        run=RUN,
        step_id=STEP,
        number=number,
        title="Restart it",
        risk=StepRisk.REVERSIBLE,
        command="systemctl restart ***",
        command_digest=COMMAND,
        target="web1",
        capabilities=("run",),
        rollback_to=None,
        expires_in_s=900,
        issued_at=NOW,
    )
    return Proposed(
        step=STEP,
        number=number,
        proposal=proposal,
        command="systemctl restart ***",
        command_digest=COMMAND,
        request=request if with_request else None,
        at=NOW,
    )


def granted(number: int = 1) -> Granted:
    grant = Grant(
        run=RUN,
        request_id="restart@1",
        step_id=STEP,
        number=number,
        decided_by=ANA,
        command_digest=COMMAND,
    )
    return Granted(grant=grant, at=NOW)


def consumed(number: int = 1) -> Consumed:
    return Consumed(step=STEP, number=number, request="restart@1", command_digest=COMMAND, at=NOW)


def taken_back(number: int = 1) -> TakenBack:
    return TakenBack(step=STEP, number=number, why="the yes lapsed", at=NOW)


def wait(number: int = 1, *, until: datetime = LATER) -> WaitBegan:
    return WaitBegan(step=STEP, number=number, until=until, at=NOW)


def waited(number: int = 1) -> WaitEnded:
    return WaitEnded(step=STEP, number=number, by=ANA, at=NOW)


def judged(number: int = 1, **more: Any) -> Judged:
    return Judged(**{"step": STEP, "number": number, "passed": True, "why": "exit 0", "at": NOW, **more})


def deviated(number: int = 1) -> Deviated:
    return Deviated(
        step=STEP,
        number=number,
        reason="the command is another one",
        tool="run",
        target="web2",
        command="rm -rf /srv",
        scope=("run",),
        by=ANA,
        at=NOW,
    )


def over(**more: Any) -> Ended:
    return Ended(**{"outcome": Outcome.COMPLETED, "cause": EndCause.TERMINAL, "at": LATER, **more})


def entered(number: int = 1) -> Entered:
    return Entered(step=STEP, number=number, attempt=number, via=Via.RETRY, edge=STEP, at=NOW)


def tell(tale: Story, *events: Event) -> None:
    tale.write(*map(run_went, events))


def begun(tale: Story, *events: Event) -> None:
    tale.write(run_started(), run_entered(), *map(run_went, events))


def test_every_event_has_a_kind_of_its_own() -> None:
    assert set(KINDS.values()) == set(Event.__args__)
    assert {kind for kind in Kind if kind.startswith("run:")} == set(KINDS)


REFUSED = Refusal(request_id="restart@1", step_id=STEP, decided_by=ANA, reason="not now")
EVENTS: Sequence[Event] = (
    asked(),
    granted(),
    taken_back(),
    asked(with_request=False),
    consumed(),
    judged(exit_code=0, captured=("vmid", "hunter2")),
    entered(2),
    wait(2),
    waited(2),
    entered(3),
    judged(3, passed=False, why="exit 1", exit_code=1),
    entered(4),
    deviated(4),
    over(outcome=Outcome.ABORTED, cause=EndCause.REFUSED, refusal=REFUSED, request="restart@1", by=ANA),
)
WHERE = (
    (RunStatus.AWAITING_APPROVAL, 1, "k7f3a2"),
    (RunStatus.GRANTED, 1, "k7f3a2"),
    (RunStatus.ENTERED, 1, "k7f3a2"),
    (RunStatus.PERMITTED, 1, "k7f3a2"),
    (RunStatus.RUNNING, 1, "k7f3a2"),
    (RunStatus.BETWEEN, 1, "k7f3a2"),
    (RunStatus.ENTERED, 2, None),
    (RunStatus.WAITING, 2, None),
    (RunStatus.BETWEEN, 2, None),
    (RunStatus.ENTERED, 3, None),
    (RunStatus.BETWEEN, 3, None),
    (RunStatus.ENTERED, 4, None),
    (RunStatus.ENTERED, 4, None),
    (RunStatus.ENDED, 4, None),
)


def test_events_come_back_as_they_were_written(tale: Story) -> None:
    begun(tale, *EVENTS)
    start, first, *rest = tale.queries.run_events(RUN)
    assert rest == list(EVENTS)
    assert (start.at, first.at) == (NOW, NOW)
    assert start.inputs == {"service": "caddy", "tries": 3, "force": False, "note": None}  # type: ignore[union-attr]  # it is Started
    assert tale.queries.run_events("r0none") == ()


def test_what_may_be_secret_stands_in_no_body(tale: Story) -> None:
    begun(tale, *EVENTS)
    bodies = [row[0] for row in tale.ledger.reader().execute("SELECT body FROM entry")]
    for word in ("caddy", "restart ***", "hunter2", "rm -rf", "web2", "not now", "exit 1", "lapsed"):
        assert not any(word in body for body in bodies), word


def test_words_of_a_run_that_is_over_can_be_pruned(tale: Story) -> None:
    begun(tale, asked(with_request=False), consumed(), judged(captured=("vmid", "hunter2")))
    tale.ledger.prune(before=AFTER)
    assert tale.queries.run_events(RUN)[-1] == judged(captured=("vmid", "hunter2"))  # it goes on with it
    tell(tale, entered(2), asked(2))
    tell(tale, over(cause=EndCause.REFUSED, refusal=REFUSED, why="no"), deviated())
    tale.ledger.prune(before=AFTER)
    start, _, unasked, _, judgement, _, question, end, deviation = tale.queries.run_events(RUN)
    assert start.inputs == {}  # type: ignore[union-attr]  # it is Started
    assert (unasked.command, unasked.request) == (PRUNED, None)  # type: ignore[union-attr]  # it is Proposed
    assert question.command == question.request.command == PRUNED  # type: ignore[union-attr]  # likewise
    assert (judgement.why, judgement.captured) == (PRUNED, None)  # type: ignore[union-attr]  # it is Judged
    assert (end.why, end.refusal.reason) == (PRUNED, PRUNED)  # type: ignore[union-attr]  # it is Ended
    assert deviation.command == PRUNED  # type: ignore[union-attr]  # it is Deviated
    view = tale.queries.run(RUN)
    assert view is not None
    assert view.said == PRUNED
    assert [one.why for one in tale.queries.run_steps(RUN)] == [PRUNED, ""]


def test_a_run_is_seen_whole(tale: Story) -> None:
    tale.write(run_started())
    run = tale.queries.run(RUN)
    assert run is not None
    assert (run.id, run.runbook, run.title, run.target) == (
        RUN,
        "restart-service",
        "Restart a service",
        "web1",
    )
    assert (run.place, run.person, run.said) == (HERE, "ana", "restart caddy on web1")
    assert (run.status, run.step, run.number, run.proposal) == (RunStatus.BETWEEN, "", 0, None)
    assert (run.started_at, run.until, run.ended_at) == (NOW, None, None)
    assert (run.undoes, run.outcome, run.cause, run.is_over) == (None, None, None, False)
    assert tale.queries.run("r0none") is None


def test_a_run_is_where_its_newest_entry_says(tale: Story) -> None:
    begun(tale)
    seen = []
    for event in EVENTS:
        tell(tale, event)
        run = tale.queries.run(RUN)
        assert run is not None
        seen.append((run.status, run.number, run.proposal))
    assert tuple(seen) == WHERE
    assert run is not None
    assert (run.deviations, run.outcome, run.cause) == (1, Outcome.ABORTED, EndCause.REFUSED)
    assert (run.terminal, run.ended_by, run.ended_at) == (None, ANA, LATER)
    assert run.is_over


def test_every_entry_into_a_step_is_seen(tale: Story) -> None:
    begun(tale, asked(), granted(), consumed(), judged(passed=False, why="exit 1", exit_code=1))
    tell(tale, entered(2), wait(2), waited(2), entered(3))
    first, second, third = tale.queries.run_steps(RUN)
    assert (first.step, first.number, first.attempt, first.came) == (STEP, 1, 1, Came.FAILED)
    assert (first.proposal, first.exit_code, first.why, first.entered_at) == ("k7f3a2", 1, "exit 1", NOW)
    assert (second.number, second.attempt, second.came, second.why) == (2, 2, Came.PASSED, "")
    assert (third.came, third.proposal, third.exit_code, third.why) == (Came.OPEN, None, None, "")


def test_a_terminal_is_seen(tale: Story) -> None:
    begun(tale, over(terminal=Terminal.SUCCESS))
    run = tale.queries.run(RUN)
    assert run is not None
    assert (run.outcome, run.terminal, run.ended_by) == (Outcome.COMPLETED, Terminal.SUCCESS, None)


def test_a_run_is_found_by_the_newest_proposal_of_a_step(tale: Story) -> None:
    begun(tale, asked(), granted(), taken_back(), asked(proposal="m2p4q6"))
    found = tale.queries.run_of("m2p4q6")
    assert found is not None
    assert found.id == RUN
    assert [tale.queries.run_of(name) for name in ("k7f3a2", "")] == [None, None]


@pytest.mark.parametrize("event", [asked(2), wait(2), judged(2)])
def test_an_entry_is_about_the_step_that_the_run_is_in(tale: Story, event: Event) -> None:
    begun(tale)
    with pytest.raises(TransitionError, match="run r4m8n2 is at 1, not at 2"):
        tell(tale, event)


def test_steps_are_counted_without_a_gap(tale: Story) -> None:
    tale.write(run_started())
    with pytest.raises(TransitionError, match="so 2 is not entered next"):
        tale.write(run_entered(2))


@pytest.mark.parametrize("event", [granted(), consumed(), taken_back(), waited(), entered(2)])
def test_an_entry_fits_where_the_run_stands(tale: Story, event: Event) -> None:
    begun(tale)
    with pytest.raises(TransitionError, match="run r4m8n2 is entered and does not take"):
        tell(tale, event)


def test_a_run_that_is_over_takes_nothing_but_a_deviation(tale: Story) -> None:
    begun(tale, over())
    for event in (asked(), granted(), consumed(), wait(), judged(), entered(2), over()):
        with pytest.raises(TransitionError, match="is ended and does not take"):
            tell(tale, event)
    tell(tale, deviated())
    run = tale.queries.run(RUN)
    assert run is not None
    assert (run.deviations, run.status) == (1, RunStatus.ENDED)


def test_an_unknown_run_takes_nothing(tale: Story) -> None:
    for event in (asked(), entered(1), over()):
        with pytest.raises(TransitionError, match="there is no run r4m8n2"):
            tell(tale, event)


def test_what_a_decision_read_of_a_run_still_stands(tale: Story) -> None:
    tale.write(run_started(), expects=(RowIs("run", RUN, None),))
    run = tale.queries.run(RUN)
    assert run is not None
    right = RunIsAt(RUN, run.seq)
    for wrong in (RunIsAt(RUN, run.seq - 1), RunIsAt("r0none", run.seq)):
        with pytest.raises(LostRaceError):
            tale.write(run_entered(), expects=(wrong,))
    tale.write(run_entered(), expects=(right,))
    with pytest.raises(LostRaceError):
        tale.write(run_went(asked()), expects=(right,))


def test_runs_are_listed_newest_first_and_open_ones_oldest_first(tale: Story) -> None:
    tale.write(run_started("r1"), run_started("r2"), run_started("r3", undoes="r1"), run_started("r4"))
    tale.write(run_went(over(), run="r1"))
    queries = tale.queries
    assert [one.id for one in queries.runs()] == ["r4", "r3", "r2", "r1"]
    assert [one.id for one in queries.runs(open_only=True)] == ["r4", "r3", "r2"]
    assert [one.id for one in queries.runs(limit=1)] == ["r4"]
    assert queries.runs(since=NOW + timedelta(seconds=1)) == ()
    assert queries.open_runs() == ("r2", "r3", "r4")
    undoing = queries.undone_by("r1")
    assert undoing is not None
    assert (undoing.id, undoing.undoes) == ("r3", "r1")
    assert queries.undone_by("r3") is None


def test_a_run_is_due_when_its_wait_is_over(tale: Story) -> None:
    queries = tale.queries
    tale.write(run_started(), run_entered())
    assert queries.next_run_due() is None
    tell(tale, wait(until=LATER))
    run = queries.run(RUN)
    assert run is not None
    assert (queries.next_run_due(), run.until) == (LATER, LATER)
    tell(tale, waited(), entered(2))
    assert queries.next_run_due() is None
    tell(tale, wait(2, until=AFTER))
    assert queries.next_run_due() == AFTER
    tell(tale, over())
    assert queries.next_run_due() is None


def test_events_can_be_read_in_parts(tale: Story) -> None:
    begun(tale, *EVENTS)
    run = tale.queries.run(RUN)
    assert run is not None
    assert tale.queries.run_events(RUN, after=run.seq - 2) == EVENTS[-2:]
    assert tale.queries.run_events(RUN, after=run.seq - 3, upto=run.seq - 1) == EVENTS[-3:-1]


def test_the_newest_entry_into_each_step_is_seen(tale: Story) -> None:
    begun(tale, judged(passed=False))
    other = Entered(step=StepId("which"), number=2, attempt=1, via=Via.ON_FAIL, at=NOW)
    tell(tale, other, judged(2, step=StepId("which"), branch="restart"), entered(3))
    assert [(one.step, one.number) for one in tale.queries.last_steps(RUN)] == [("which", 2), ("restart", 3)]


def test_the_runbook_of_a_run_stays_as_it_was_when_that_began(
    tale: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_documents, "PIECE", 50)
    tale.write(run_started())
    assert tale.queries.run_spec(RUN) == SPEC
    tale.ledger.prune(before=AFTER)
    assert tale.queries.run_spec(RUN) == SPEC  # it goes on with it
    tell(tale, over())
    tale.ledger.prune(before=AFTER)
    assert tale.queries.run_spec(RUN) is None


def test_runs_that_know_secrets_are_found(tale: Story) -> None:
    tale.write(run_started("r1"), run_started("r2", secrets=["password"]))
    assert tale.queries.runs_with_secrets() == ("r2",)


def test_who_cancelled_an_action_is_told(tale: Story) -> None:
    one, other = planned(), planned(index=2)
    tale.write(made(one, other), opened(one), opened(other))
    first = ended(one, Kind.ACTION_CANCELLED)
    tale.write(replace(first, body={**first.body, "by": "kim"}), ended(other, Kind.ACTION_CANCELLED))
    assert tale.queries.stopped_by(one.action.id) == "kim"
    assert tale.queries.stopped_by(other.action.id) is None
    assert tale.queries.stopped_by(ActionId("nobody.1")) is None
