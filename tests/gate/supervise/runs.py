"""Makers of runbooks and runs for tests: small, everything that is not said is the usual."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from gate.domain import Digest, PersonId
from gate.policy import Posture
from gate.supervise import course, run
from gate.supervise.approval import Decision, Identities
from gate.supervise.binding import Unbound
from gate.supervise.domain import (
    InputSpec,
    InputType,
    Limits,
    RunbookId,
    RunbookSpec,
    RunId,
    StepId,
    StepKind,
    StepRisk,
    StepSpec,
    Value,
)
from gate.supervise.envelope import Envelope, derive
from gate.supervise.expect import Ending, Evidence
from gate.supervise.invocation import invocation
from gate.supervise.proposal import Offer, Permit, RequireApproval, propose
from gate.supervise.state import Moved, RunState

NOW = datetime(2026, 3, 2, 14, tzinfo=UTC)
RUN = RunId("r1")
BOT, ANA, KIM = PersonId("agent-7"), PersonId("ana"), PersonId("kim")
WHO = Identities(
    people={"ana": ANA, "slack:T1:U7": ANA, "kim": KIM, "helper": BOT, "slack:T1:U9": BOT},
    machines=frozenset({"discord::99", "Deploy Bot"}),
)


def after(seconds: float) -> datetime:
    """Return an instant so many seconds later."""
    return NOW + timedelta(seconds=seconds)


def step(name: str, command: str | None = "true", **fields: Any) -> StepSpec:
    """Return a step, an action that only reads where nothing else is said."""
    kind = StepKind(fields.pop("kind", "action"))
    runs = kind in {StepKind.ACTION, StepKind.CHECK} and "call" not in fields
    risk = StepRisk(fields.pop("risk", "read-only"))
    return StepSpec(
        id=StepId(name),
        kind=kind,
        risk=risk,
        title=fields.pop("title", f"do {name}"),
        command=command if runs else None,
        **fields,
    )


def text(name: str, **fields: Any) -> InputSpec:
    """Return an input."""
    return InputSpec(name=name, type=InputType(fields.pop("type", "string")), **fields)


def book(
    *steps: StepSpec, inputs: tuple[InputSpec, ...] = (), name: str = "book", **fields: Any
) -> RunbookSpec:
    """Return a runbook."""
    return RunbookSpec(
        id=RunbookId(name),
        title=f"the {name}",
        digest=Digest(f"digest of {name}"),
        inputs={one.name: one for one in inputs},
        steps=steps,
        **fields,
    )


def envelope(
    *steps: StepSpec,
    inputs: tuple[InputSpec, ...] = (),
    limits: Limits | None = None,
    posture: Posture = Posture.APPROVE_MOST,
) -> Envelope:
    """Return the envelope of a runbook of these steps."""
    return derive(book(*steps, inputs=inputs, limits=limits or Limits()), posture=posture)


def begun(made: Envelope, inputs: Mapping[str, Value] | None = None, *, now: datetime = NOW) -> RunState:
    """Return a run in its first step."""
    moved = run.start(made, run=RUN, agent=BOT, inputs=inputs or {}, target="web1", now=now)
    assert isinstance(moved, Moved)
    return moved.state


def offer(state: RunState, **fields: Any) -> Offer:
    """Return the offer of exactly what the current step would run."""
    bound = None if state.step is None else invocation(state, state.step)
    known = bound is not None and not isinstance(bound, Unbound)
    usual: dict[str, Any] = {
        "tool": bound.tool if known else "run",  # type: ignore[union-attr] # it is known
        "target": bound.target if known else "web1",  # type: ignore[union-attr] # likewise
        "command": bound.command if known else "true",  # type: ignore[union-attr] # likewise
        "digest": state.envelope.digest,
        "by": BOT,
    }
    return Offer(**usual | fields)


def asked(state: RunState, *, now: datetime = NOW, **fields: Any) -> RunState:
    """Return the run once a person is asked about its step."""
    ruling = propose(state, offer(state, **fields), now=now)
    assert isinstance(ruling, RequireApproval), ruling
    return ruling.state


def yes(state: RunState, who: str = "ana", *, now: datetime = NOW) -> RunState:
    """Return the run once somebody agreed."""
    assert state.request is not None
    decision = Decision(run=RUN, request_id=state.request.id, decided_by=who)
    made = run.grant(state, decision, identities=WHO, now=now)
    return run.apply_grant(state, made, now=now).state


def let_go(state: RunState, *, now: datetime = NOW) -> RunState:
    """Return the run once the invocation of its step was let go."""
    ruling = propose(state, offer(state), now=now)
    assert isinstance(ruling, Permit), ruling
    return ruling.state


def came(state: RunState, *, now: datetime = NOW, **fields: Any) -> RunState:
    """Return the run after its step ended with exit code 0, or as said."""
    return ending(state, now=now, **fields).state


def ending(state: RunState, *, now: datetime = NOW, **fields: Any) -> Moved:
    """Return the run after its step ended, with the events of that."""
    assert state.current is not None
    usual: dict[str, Any] = {
        "step": state.current,
        "number": state.number,
        "ending": Ending.EXITED,
        "exit_code": 0,
    }
    return course.advance(state, Evidence(**usual | fields), now=now)


def did(state: RunState, *, now: datetime = NOW, **fields: Any) -> RunState:
    """Return the run after its step was asked about where it is gated, let go, and ended."""
    if state.step is not None and state.step.gated:
        state = yes(asked(state, now=now), now=now)
    return came(let_go(state, now=now), now=now, **fields)
