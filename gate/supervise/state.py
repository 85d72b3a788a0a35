"""The state of a run: what replaying its events gives, and nothing else.

`functools.reduce(apply, events, fresh(...))` restores a run. Every event costs about the same to apply,
however many went before it. An event that does not fit where the run stands is a mistake of whoever made it,
and changes nothing; what may happen at all is decided by `run`, before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gate.domain import AGENT, PersonId
from gate.errors import TransitionError
from gate.lifecycle import RUN, RunEvent, RunStatus, advance
from gate.supervise.approval import ApprovalRequest, Grant, Refusal
from gate.supervise.budgets import Tally
from gate.supervise.domain import Outcome, RunId, StepId, Terminal, Value
from gate.supervise.envelope import Envelope, StepPolicy
from gate.supervise.events import (
    Consumed,
    Deviated,
    Ended,
    Entered,
    Event,
    Granted,
    Judged,
    Moving,
    Proposed,
    Started,
    TakenBack,
    WaitBegan,
    WaitEnded,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """Where a run stands.

    Attributes:
        target: for steps that name none.
        inputs: bound and captured so far, with defaults.
        current: the step that was entered last; None before the first and after the end.
        number: how many entries there were, this one included.
        asked: how often people were asked, or would have been, in this entry.
        request: the open question; None where there is none.
        grant: what was agreed to and not used yet.
        passed: what came of the step before, None where it is not known.
        branch: where the last decision leads.
        until: the end of the wait that it is in.
        alone: a wait has ended since a person last had a word in it, so that what comes comes by itself.
        undo: the step that undoes what was done last, as far as it can be undone.
    """

    run: RunId
    envelope: Envelope
    status: RunStatus = RunStatus.NEW
    agent: PersonId = AGENT
    target: str = ""
    inputs: Mapping[str, Value] = field(default_factory=dict)
    started_at: datetime | None = None
    first: StepId | None = None
    current: StepId | None = None
    number: int = 0
    asked: int = 0
    request: ApprovalRequest | None = None
    grant: Grant | None = None
    passed: bool | None = None
    branch: str = ""
    until: datetime | None = None
    alone: bool = False
    undo: StepId | None = None
    entries: Tally = field(default_factory=Tally)
    retries: Tally = field(default_factory=Tally)
    deviations: int = 0
    ended: Ended | None = None

    @property
    def step(self) -> StepPolicy | None:
        """The policy of the current step."""
        return None if self.current is None else self.envelope.steps[self.current]

    @property
    def outcome(self) -> Outcome | None:
        """How the run ended, None while it goes on."""
        return None if self.ended is None else self.ended.outcome

    @property
    def terminal(self) -> Terminal | None:
        """Where its document led, None while it goes on and where it was stopped."""
        return None if self.ended is None else self.ended.terminal

    @property
    def refusal(self) -> Refusal | None:
        """The no that ended the run; never there for an expiry (R12)."""
        return None if self.ended is None else self.ended.refusal

    def entered(self, step: StepId) -> int:
        """Return how often `step` was entered."""
        return self.entries.count(self.envelope.steps[step].index)

    def retried(self, step: StepId) -> int:
        """Return how many tries of the retry of `step` are spent."""
        return self.retries.count(self.envelope.steps[step].index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A run after something happened, and the events to record for it, in one batch."""

    state: RunState
    events: tuple[Event, ...] = ()

    def then(self, *events: Event) -> "Moved":
        """Return the run after `events` too."""
        state = self.state
        for event in events:
            state = apply(state, event)
        return Moved(state=state, events=(*self.events, *events))


def fresh(run: RunId, envelope: Envelope) -> RunState:
    """Return the state of a run that has not begun."""
    steps = len(envelope.steps)
    return RunState(run=run, envelope=envelope, entries=Tally.of(steps), retries=Tally.of(steps))


def apply(state: RunState, event: Event) -> RunState:
    """Return the state after `event`.

    Raises:
        TransitionError: the event does not fit where the run stands.
    """
    if isinstance(event, Deviated):
        return replace(state, deviations=state.deviations + 1)
    status = advance(RUN, state.status, kind_of(event))
    if status is None or not _fits(state, event):
        raise TransitionError(f"run {state.run} is {state.status} and takes no {type(event).__name__}")
    return _applied(replace(state, status=status), event)


def kind_of(event: Moving) -> RunEvent:
    """Return what `event` is in the table of the lifecycle."""
    if isinstance(event, Proposed):
        return RunEvent.PROPOSE if event.request is None else RunEvent.ASK
    return _KINDS[type(event)]


_KINDS: Mapping[type, RunEvent] = {
    Started: RunEvent.START,
    Entered: RunEvent.ENTER,
    Granted: RunEvent.GRANT,
    Consumed: RunEvent.CONSUME,
    TakenBack: RunEvent.TAKE_BACK,
    WaitBegan: RunEvent.BEGIN_WAIT,
    WaitEnded: RunEvent.END_WAIT,
    Judged: RunEvent.JUDGE,
    Ended: RunEvent.END,
}


def _fits(state: RunState, event: Moving) -> bool:
    """Whether an event is about this run, this document and this entry."""
    match event:
        case Started():
            envelope = state.envelope
            mine = (state.run, envelope.digest, envelope.posture)
            return (event.run, event.digest, event.posture) == mine and event.first in envelope.steps
        case Entered():
            known = event.step in state.envelope.steps and event.number == state.number + 1
            return known and event.attempt == state.entered(event.step) + 1
        case Granted(grant=grant):
            asked = state.request
            return asked is not None and (grant.request_id, grant.number) == (asked.id, asked.number)
        case Ended():
            return True
        case _:
            return (event.step, event.number) == (state.current, state.number)


def _applied(state: RunState, event: Moving) -> RunState:
    match event:
        case Proposed() | Granted() | Consumed() | TakenBack():
            return _asked(state, event)
        case WaitBegan() | WaitEnded() | Judged():
            return _came(state, event)
        case Started():
            return replace(
                state,
                agent=event.agent,
                target=event.target,
                inputs=dict(event.inputs),
                started_at=event.at,
                first=event.first,
            )
        case Entered():
            return _entered(state, event)
        case _:
            return replace(
                state, ended=event, current=None, grant=None, request=None, until=None, passed=None, branch=""
            )


def _asked(state: RunState, event: Proposed | Granted | Consumed | TakenBack) -> RunState:
    match event:
        case Proposed():
            return replace(state, asked=state.asked + 1, request=event.request)
        case Granted():
            return replace(state, grant=event.grant, alone=False)
        case Consumed():
            return replace(state, grant=None, request=None, undo=_undo(state, event.step))
        case _:
            return replace(state, grant=None, request=None)


def _came(state: RunState, event: WaitBegan | WaitEnded | Judged) -> RunState:
    match event:
        case WaitBegan():
            return replace(state, until=event.until)
        case WaitEnded():
            return replace(state, until=None, passed=True, alone=event.by is None)
        case _:
            captured = event.captured
            inputs = state.inputs if captured is None else {**state.inputs, captured[0]: captured[1]}
            return replace(state, passed=event.passed, branch=event.branch, inputs=inputs)


def _entered(state: RunState, event: Entered) -> RunState:
    """Whatever was granted for an entry is gone with it (R10)."""
    steps, retries = state.envelope.steps, state.retries
    return replace(
        state,
        current=event.step,
        number=event.number,
        asked=0,
        request=None,
        grant=None,
        passed=None,
        branch="",
        entries=state.entries.add(steps[event.step].index),
        retries=retries if event.edge is None else retries.add(steps[event.edge].index),
    )


def _undo(state: RunState, step: StepId) -> StepId | None:
    """Return what would undo the run once `step` was let go; undoing itself leaves nothing to undo."""
    if step in state.envelope.rollbacks:
        return None
    return state.envelope.steps[step].rollback_to or state.undo
