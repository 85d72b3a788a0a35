"""The state machines: what the tables allow, and nothing else (D6)."""

from collections.abc import Mapping
from enum import StrEnum

import pytest

from gate.lifecycle import (
    ACTION,
    ACTION_ENDED,
    APPROVAL,
    CLARIFICATION,
    COMMITMENT,
    COMMITMENT_BEGINS,
    JOB,
    PLAN,
    RUN,
    ActionEvent,
    ActionState,
    ApprovalEvent,
    ApprovalState,
    ClarificationEvent,
    ClarificationState,
    CommitmentEvent,
    CommitmentState,
    E,
    JobEvent,
    JobState,
    PlanEvent,
    PlanState,
    RunEvent,
    RunStatus,
    S,
    advance,
    terminal,
)

Table = Mapping[tuple[StrEnum, StrEnum], StrEnum]
A = ActionState


def _plain(table: Mapping[tuple[S, E], S]) -> Table:
    return {(before, event): after for (before, event), after in table.items()}


TABLES: list[tuple[Table, type[StrEnum], type[StrEnum]]] = [
    (_plain(APPROVAL), ApprovalState, ApprovalEvent),
    (_plain(ACTION), ActionState, ActionEvent),
    (_plain(CLARIFICATION), ClarificationState, ClarificationEvent),
    (_plain(COMMITMENT), CommitmentState, CommitmentEvent),
    (_plain(JOB), JobState, JobEvent),
    (_plain(RUN), RunStatus, RunEvent),
    (_plain(PLAN), PlanState, PlanEvent),
]


@pytest.mark.parametrize(("table", "states", "events"), TABLES)
def test_every_state_and_event_is_used(table: Table, states: type[StrEnum], events: type[StrEnum]) -> None:
    assert {state for state, _ in table} | set(table.values()) == set(states)
    assert {event for _, event in table} == set(events)


@pytest.mark.parametrize(("table", "states", "events"), TABLES)
def test_every_state_is_reached_from_the_first(
    table: Table, states: type[StrEnum], events: type[StrEnum]
) -> None:
    reached = {next(iter(states))}
    for _ in states:
        reached |= {after for (before, _), after in table.items() if before in reached}
    assert reached == set(states)


@pytest.mark.parametrize(("table", "states", "events"), TABLES)
def test_advance_follows_the_table_and_refuses_the_rest(
    table: Table, states: type[StrEnum], events: type[StrEnum]
) -> None:
    for state in states:
        for event in events:
            assert advance(table, state, event) == table.get((state, event))


def test_the_ends() -> None:
    assert terminal(APPROVAL) == frozenset(ApprovalState) - {ApprovalState.PENDING}
    assert terminal(CLARIFICATION) == frozenset(ClarificationState) - {ClarificationState.PENDING}
    assert terminal(ACTION) == {A.SUCCEEDED, A.FAILED, A.CANCELLED}
    assert terminal(ACTION) | {A.LOST} == ACTION_ENDED


def test_an_action_starts_only_from_the_queue() -> None:
    assert [before for (before, event) in ACTION if event is ActionEvent.START] == [A.QUEUED]
    assert [before for (before, _), after in ACTION.items() if after is A.STARTED] == [A.QUEUED]


def test_what_ended_never_starts_again() -> None:
    reached = set(ACTION_ENDED)
    for _ in ActionState:
        reached |= {after for (before, _), after in ACTION.items() if before in reached}
    assert reached == ACTION_ENDED


def test_a_lost_action_is_settled_by_a_person_only() -> None:
    assert {event for (before, event) in ACTION if before is A.LOST} == {
        ActionEvent.SETTLE_RAN,
        ActionEvent.SETTLE_DID_NOT_RUN,
    }


def test_a_decided_approval_takes_no_second_decision() -> None:
    assert {before for before, _ in APPROVAL} == {ApprovalState.PENDING}


C = CommitmentState


def test_a_commitment_that_ended_is_never_taken_up_again() -> None:
    assert terminal(COMMITMENT) == {C.COMMITTED, C.ABORTED, C.EXPIRED}


def test_a_commitment_is_done_only_once_it_is_ready() -> None:
    assert [before for (before, _), after in COMMITMENT.items() if after is C.COMMITTED] == [C.READY]
    assert C.COMMITTED not in COMMITMENT_BEGINS.values()


@pytest.mark.parametrize("state", [C.NEEDS_CLARIFY, C.NEEDS_CONFIRM, C.READY])
def test_what_waits_can_be_dropped_and_expires(state: CommitmentState) -> None:
    assert advance(COMMITMENT, state, CommitmentEvent.ABORT) is C.ABORTED
    assert advance(COMMITMENT, state, CommitmentEvent.EXPIRE) is C.EXPIRED


def test_resolving_again_leads_where_resolving_first_does() -> None:
    for event, state in COMMITMENT_BEGINS.items():
        assert advance(COMMITMENT, C.NEEDS_CLARIFY, event) is state


def test_a_job_is_due_only_while_it_is_pending() -> None:
    assert terminal(JOB) == {JobState.ENDED, JobState.CANCELLED}


def test_a_plan_takes_an_answer_only_while_it_thinks_and_nothing_once_it_ended() -> None:
    assert terminal(PLAN) == {PlanState.ENDED}
    assert [before for (before, event) in PLAN if event is PlanEvent.ANSWER] == [PlanState.THINKING]
    assert [before for (before, event) in PLAN if event is PlanEvent.CALL] == [PlanState.THINKING]


def test_a_run_that_ended_never_goes_on() -> None:
    assert terminal(RUN) == {RunStatus.ENDED}


def test_a_step_runs_only_with_a_permission_that_is_used_up() -> None:
    assert [before for (before, _), after in RUN.items() if after is RunStatus.RUNNING] == [
        RunStatus.PERMITTED,
        RunStatus.GRANTED,
    ]
    assert [before for (before, event) in RUN if event is RunEvent.GRANT] == [RunStatus.AWAITING_APPROVAL]
