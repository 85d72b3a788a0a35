"""The state machines, as tables: (state, event) -> state.

Owns which ends exist and what may follow what (D6). `advance` is the only way a state changes, in tests, in
the ledger's projections and in docs (the diagrams in docs/lifecycle.md are generated from these tables).
It does not decide whether an event may happen: that is gate.decide.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

S = TypeVar("S", bound=StrEnum)
E = TypeVar("E", bound=StrEnum)


class ApprovalState(StrEnum):
    """A pending consent and its ends."""

    PENDING = "pending"
    GRANTED = "granted"
    REFUSED = "refused"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"


class ApprovalEvent(StrEnum):
    """What can happen to an approval."""

    NUDGE = "nudge"  # who was asked was reminded
    ESCALATE = "escalate"  # somebody else was asked too
    VOTE = "vote"  # one of several people who have to agree did
    GRANT = "grant"
    REFUSE = "refuse"
    EXPIRE = "expire"
    SUPERSEDE = "supersede"
    WITHDRAW = "withdraw"


class ActionState(StrEnum):
    """An action from proposal to recorded end. `lost` is the only word for an unknown end."""

    PROPOSED = "proposed"
    WAITING = "waiting"
    QUEUED = "queued"
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"


class ActionEvent(StrEnum):
    """What can happen to an action."""

    ASK = "ask"  # an approval was opened for it
    QUEUE = "queue"  # granted, or needs no consent
    UNQUEUE = "unqueue"  # its grant lapsed or was voided, or a predecessor failed: waits for a new yes
    START = "start"
    SUCCEED = "succeed"
    FAIL = "fail"
    CANCEL = "cancel"
    LOSE = "lose"
    SETTLE_RAN = "settle_ran"
    SETTLE_DID_NOT_RUN = "settle_did_not_run"


class ClarificationState(StrEnum):
    """A pending choice and its ends. Never consent."""

    PENDING = "pending"
    ANSWERED = "answered"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


class ClarificationEvent(StrEnum):
    """What can happen to a clarification."""

    ANSWER = "answer"
    CANCEL = "cancel"
    EXPIRE = "expire"
    SUPERSEDE = "supersede"


class CommitmentState(StrEnum):
    """An act that was resolved, and its ends. What it stands at first is in COMMITMENT_BEGINS."""

    NEEDS_CLARIFY = "needs_clarify"
    NEEDS_CONFIRM = "needs_confirm"
    READY = "ready"
    COMMITTED = "committed"
    ABORTED = "aborted"
    EXPIRED = "expired"


class CommitmentEvent(StrEnum):
    """What can happen to a commitment. The first four are the ends of `gate.resolve`, first time or again."""

    CLARIFY = "clarify"
    CONFIRM = "confirm"
    ALLOW = "allow"  # also: its phrase was typed
    DENY = "deny"
    COMMIT = "commit"
    ABORT = "abort"
    EXPIRE = "expire"


class JobState(StrEnum):
    """A reminder, a scheduled command or post, and its ends."""

    PENDING = "pending"
    ENDED = "ended"
    CANCELLED = "cancelled"


class JobEvent(StrEnum):
    """What can happen to a job."""

    CLAIM = "claim"  # one time that it was due is taken, and it is done or asked for
    MISS = "miss"  # times that it was due went by, and are not made up
    END = "end"
    CANCEL = "cancel"


class RunStatus(StrEnum):
    """Where the run of a runbook stands. What else is known of it is `gate.supervise.state`."""

    NEW = "new"
    BETWEEN = "between"  # what came of a step is known, and the next is not entered yet
    ENTERED = "entered"
    PERMITTED = "permitted"
    AWAITING_APPROVAL = "awaiting_approval"
    GRANTED = "granted"
    RUNNING = "running"
    WAITING = "waiting"
    ENDED = "ended"


class RunEvent(StrEnum):
    """What can happen to a run. A deviation is blocked and recorded, and moves nothing."""

    START = "start"
    ENTER = "enter"
    PROPOSE = "propose"  # nobody has to be asked
    ASK = "ask"
    GRANT = "grant"
    CONSUME = "consume"  # the one invocation was let go
    TAKE_BACK = "take_back"
    BEGIN_WAIT = "begin_wait"
    END_WAIT = "end_wait"
    JUDGE = "judge"
    END = "end"


class PlanState(StrEnum):
    """Where a plan stands that a model composes. What else is known of it is in its entries."""

    NEW = "new"
    THINKING = "thinking"  # the model is owed a call
    WAITING = "waiting"  # for the ends of what it proposed
    ENDED = "ended"


class PlanEvent(StrEnum):
    """What can happen to a plan."""

    ASK = "ask"
    CALL = "call"  # counted, before it is made
    ANSWER = "answer"  # the model answered, and what it wants was proposed
    CONTINUE = "continue"  # all of that is known, and goes back to the model
    END = "end"


APPROVAL: Mapping[tuple[ApprovalState, ApprovalEvent], ApprovalState] = {
    (ApprovalState.PENDING, ApprovalEvent.NUDGE): ApprovalState.PENDING,
    (ApprovalState.PENDING, ApprovalEvent.ESCALATE): ApprovalState.PENDING,
    (ApprovalState.PENDING, ApprovalEvent.VOTE): ApprovalState.PENDING,
    (ApprovalState.PENDING, ApprovalEvent.GRANT): ApprovalState.GRANTED,
    (ApprovalState.PENDING, ApprovalEvent.REFUSE): ApprovalState.REFUSED,
    (ApprovalState.PENDING, ApprovalEvent.EXPIRE): ApprovalState.EXPIRED,
    (ApprovalState.PENDING, ApprovalEvent.SUPERSEDE): ApprovalState.SUPERSEDED,
    (ApprovalState.PENDING, ApprovalEvent.WITHDRAW): ApprovalState.WITHDRAWN,
}

ACTION: Mapping[tuple[ActionState, ActionEvent], ActionState] = {
    (ActionState.PROPOSED, ActionEvent.ASK): ActionState.WAITING,
    (ActionState.PROPOSED, ActionEvent.QUEUE): ActionState.QUEUED,
    (ActionState.PROPOSED, ActionEvent.CANCEL): ActionState.CANCELLED,
    (ActionState.WAITING, ActionEvent.ASK): ActionState.WAITING,
    (ActionState.WAITING, ActionEvent.QUEUE): ActionState.QUEUED,
    (ActionState.WAITING, ActionEvent.CANCEL): ActionState.CANCELLED,
    (ActionState.QUEUED, ActionEvent.START): ActionState.STARTED,
    (ActionState.QUEUED, ActionEvent.UNQUEUE): ActionState.PROPOSED,
    (ActionState.QUEUED, ActionEvent.CANCEL): ActionState.CANCELLED,
    (ActionState.STARTED, ActionEvent.SUCCEED): ActionState.SUCCEEDED,
    (ActionState.STARTED, ActionEvent.FAIL): ActionState.FAILED,
    (ActionState.STARTED, ActionEvent.CANCEL): ActionState.CANCELLED,
    (ActionState.STARTED, ActionEvent.LOSE): ActionState.LOST,
    (ActionState.LOST, ActionEvent.SETTLE_RAN): ActionState.SUCCEEDED,
    (ActionState.LOST, ActionEvent.SETTLE_DID_NOT_RUN): ActionState.FAILED,
}

CLARIFICATION: Mapping[tuple[ClarificationState, ClarificationEvent], ClarificationState] = {
    (ClarificationState.PENDING, ClarificationEvent.ANSWER): ClarificationState.ANSWERED,
    (ClarificationState.PENDING, ClarificationEvent.CANCEL): ClarificationState.CANCELLED,
    (ClarificationState.PENDING, ClarificationEvent.EXPIRE): ClarificationState.EXPIRED,
    (ClarificationState.PENDING, ClarificationEvent.SUPERSEDE): ClarificationState.SUPERSEDED,
}

#: What a commitment stands at when it is made, by how its act was resolved.
COMMITMENT_BEGINS: Mapping[CommitmentEvent, CommitmentState] = {
    CommitmentEvent.CLARIFY: CommitmentState.NEEDS_CLARIFY,
    CommitmentEvent.CONFIRM: CommitmentState.NEEDS_CONFIRM,
    CommitmentEvent.ALLOW: CommitmentState.READY,
    CommitmentEvent.DENY: CommitmentState.ABORTED,
}

COMMITMENT: Mapping[tuple[CommitmentState, CommitmentEvent], CommitmentState] = {
    (CommitmentState.NEEDS_CLARIFY, CommitmentEvent.CLARIFY): CommitmentState.NEEDS_CLARIFY,
    (CommitmentState.NEEDS_CLARIFY, CommitmentEvent.CONFIRM): CommitmentState.NEEDS_CONFIRM,
    (CommitmentState.NEEDS_CLARIFY, CommitmentEvent.ALLOW): CommitmentState.READY,
    (CommitmentState.NEEDS_CLARIFY, CommitmentEvent.DENY): CommitmentState.ABORTED,
    (CommitmentState.NEEDS_CLARIFY, CommitmentEvent.ABORT): CommitmentState.ABORTED,
    (CommitmentState.NEEDS_CLARIFY, CommitmentEvent.EXPIRE): CommitmentState.EXPIRED,
    # A time that passed while it waited is asked for again (C22).
    (CommitmentState.NEEDS_CONFIRM, CommitmentEvent.CLARIFY): CommitmentState.NEEDS_CLARIFY,
    (CommitmentState.NEEDS_CONFIRM, CommitmentEvent.ALLOW): CommitmentState.READY,
    (CommitmentState.NEEDS_CONFIRM, CommitmentEvent.DENY): CommitmentState.ABORTED,
    (CommitmentState.NEEDS_CONFIRM, CommitmentEvent.ABORT): CommitmentState.ABORTED,
    (CommitmentState.NEEDS_CONFIRM, CommitmentEvent.EXPIRE): CommitmentState.EXPIRED,
    (CommitmentState.READY, CommitmentEvent.CLARIFY): CommitmentState.NEEDS_CLARIFY,
    (CommitmentState.READY, CommitmentEvent.COMMIT): CommitmentState.COMMITTED,
    (CommitmentState.READY, CommitmentEvent.ABORT): CommitmentState.ABORTED,
    (CommitmentState.READY, CommitmentEvent.EXPIRE): CommitmentState.EXPIRED,
}

JOB: Mapping[tuple[JobState, JobEvent], JobState] = {
    (JobState.PENDING, JobEvent.CLAIM): JobState.PENDING,
    (JobState.PENDING, JobEvent.MISS): JobState.PENDING,
    (JobState.PENDING, JobEvent.END): JobState.ENDED,
    (JobState.PENDING, JobEvent.CANCEL): JobState.CANCELLED,
}


_R = RunStatus

RUN: Mapping[tuple[RunStatus, RunEvent], RunStatus] = {
    (_R.NEW, RunEvent.START): _R.BETWEEN,
    (_R.BETWEEN, RunEvent.ENTER): _R.ENTERED,
    (_R.ENTERED, RunEvent.PROPOSE): _R.PERMITTED,
    (_R.ENTERED, RunEvent.ASK): _R.AWAITING_APPROVAL,
    (_R.ENTERED, RunEvent.BEGIN_WAIT): _R.WAITING,
    (_R.ENTERED, RunEvent.JUDGE): _R.BETWEEN,  # a step that runs nothing, or that lacks a value
    (_R.AWAITING_APPROVAL, RunEvent.GRANT): _R.GRANTED,
    (_R.AWAITING_APPROVAL, RunEvent.TAKE_BACK): _R.ENTERED,
    (_R.PERMITTED, RunEvent.CONSUME): _R.RUNNING,
    (_R.GRANTED, RunEvent.CONSUME): _R.RUNNING,
    (_R.GRANTED, RunEvent.TAKE_BACK): _R.ENTERED,
    (_R.RUNNING, RunEvent.JUDGE): _R.BETWEEN,
    (_R.RUNNING, RunEvent.TAKE_BACK): _R.ENTERED,
    (_R.WAITING, RunEvent.END_WAIT): _R.BETWEEN,
    **{(status, RunEvent.END): _R.ENDED for status in RunStatus if status not in {_R.NEW, _R.ENDED}},
}

PLAN: Mapping[tuple[PlanState, PlanEvent], PlanState] = {
    (PlanState.NEW, PlanEvent.ASK): PlanState.THINKING,
    (PlanState.THINKING, PlanEvent.CALL): PlanState.THINKING,
    (PlanState.THINKING, PlanEvent.ANSWER): PlanState.WAITING,
    (PlanState.WAITING, PlanEvent.CONTINUE): PlanState.THINKING,
    (PlanState.THINKING, PlanEvent.END): PlanState.ENDED,
    (PlanState.WAITING, PlanEvent.END): PlanState.ENDED,
}


def advance(table: Mapping[tuple[S, E], S], state: S, event: E) -> S | None:
    """Return the state after `event`, or None where `state` does not take it."""
    return table.get((state, event))


def terminal(table: Mapping[tuple[S, E], S]) -> frozenset[S]:
    """Return the states of `table` that no event leaves."""
    reached = set(table.values()) | {state for state, _ in table}
    return frozenset(reached - {state for state, _ in table})


#: States of an action that nothing of has run.
NOT_STARTED = frozenset({ActionState.PROPOSED, ActionState.WAITING, ActionState.QUEUED})
#: A settled or ended action never starts again; `lost` waits for a person, so it is not terminal.
ACTION_ENDED = frozenset({ActionState.SUCCEEDED, ActionState.FAILED, ActionState.CANCELLED, ActionState.LOST})
