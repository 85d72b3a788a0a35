"""What happens to a run, as values: the ledger stores exactly these, in order (R19 to R23).

An event says what happened and when, nothing about what follows from it: `state.apply` does that. `number`
counts the entries into steps over the whole run, from 1, so that one entry is never taken for another. Words
that people or programs wrote (`inputs`, `command`, `captured`, `why` of a person) may be secret: they belong
among the words of an entry, never in its body.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gate.domain import Digest, PersonId
from gate.policy import Posture
from gate.supervise.approval import ApprovalRequest, Grant, Refusal
from gate.supervise.domain import Outcome, RunbookId, RunId, StepId, Terminal, Value


class Via(StrEnum):
    """How a step came to be entered."""

    START = "start"
    NEXT = "next"
    BRANCH = "branch"
    ON_FAIL = "on_fail"
    RETRY = "retry"


class EndCause(StrEnum):
    """Why a run ended. Refused and expired are never the same (R12)."""

    TERMINAL = "terminal"  # its document says so here
    REFUSED = "refused"
    EXPIRED = "expired"  # nobody answered
    ABORTED = "aborted"  # a person stopped it
    BUDGET = "budget"
    DEVIATIONS = "deviations"
    LOST = "lost"  # a step's end is unknown
    ESCALATED = "escalated"  # whoever runs it could not go on


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A run began; its document and its inputs are pinned.

    Attributes:
        digest: of the runbook, with everything that it calls.
        posture: what decided which risks are asked about; frozen for this run.
        target: for steps that name none; "" where all do.
        first: the step that is entered first; the rollback step where this run undoes another.
        undoes: the run that this one rolls back, None for any other.
    """

    run: RunId
    runbook: RunbookId
    digest: Digest
    agent: PersonId
    posture: Posture
    inputs: Mapping[str, Value] = field(default_factory=dict)
    target: str = ""
    first: StepId
    undoes: RunId | None = None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """A step was entered; whatever was granted before is gone.

    Attributes:
        attempt: how often this step has been entered, this time included.
        edge: the step whose retry led here; None for every other way.
    """

    step: StepId
    number: int
    attempt: int
    via: Via
    edge: StepId | None = None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What the step would run was proposed. `request` is None where nobody has to be asked.

    Attributes:
        proposal: the id of the proposal that people see; "" where the step runs nothing.
        command: as it may be shown; None for a step that runs nothing.
    """

    step: StepId
    number: int
    proposal: str = ""
    command: str | None
    command_digest: Digest
    request: ApprovalRequest | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """A person agreed."""

    grant: Grant
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumed:
    """The one invocation was let go; a grant for it is used up. `request` is None where none was needed."""

    step: StepId
    number: int
    request: str | None
    command_digest: Digest
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """A permission went before anything started: its grant lapsed, or the gate became stricter."""

    step: StepId
    number: int
    why: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitBegan:
    """A wait has begun; nothing is asked or done before `until`."""

    step: StepId
    number: int
    until: datetime
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitEnded:
    """A wait is over. `by` is who cut it short; None where its time had come."""

    step: StepId
    number: int
    by: PersonId | None = None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What came of a step.

    Attributes:
        why: what decided, without any output of the command.
        exit_code: None where nothing ran, or it is not known.
        captured: the input that got a value, and the value; None where nothing was captured.
        branch: where a decision leads; "" for any other step.
    """

    step: StepId
    number: int
    passed: bool
    why: str
    exit_code: int | None = None
    captured: tuple[str, str] | None = None
    branch: str = ""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviated:
    """Something outside the envelope was proposed, and blocked.

    Attributes:
        step: where the run was; None where it had ended.
        tool, target, command: what was proposed.
        scope: the tools of the step.
        by: who proposed it.
    """

    step: StepId | None
    number: int
    reason: str
    tool: str
    target: str
    command: str | None
    scope: tuple[str, ...]
    by: PersonId
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The run is over.

    Attributes:
        terminal: where its document led; None where it was stopped on the way.
        refusal: exactly where `cause` says so.
        request: the request that nobody answered, where it expired.
        by: the person who stopped it.
    """

    outcome: Outcome
    cause: EndCause
    terminal: Terminal | None = None
    refusal: Refusal | None = None
    request: str | None = None
    by: PersonId | None = None
    why: str = ""
    at: datetime


#: What moves a run. A deviation is blocked and recorded, and moves nothing.
Moving = (
    Started | Entered | Proposed | Granted | Consumed | TakenBack | WaitBegan | WaitEnded | Judged | Ended
)
Event = Moving | Deviated
