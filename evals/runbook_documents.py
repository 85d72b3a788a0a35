"""The documents of labelled rows about runbooks, as the gate takes them, and runs begun from them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gate.domain import Digest, PersonId
from gate.policy import Posture
from gate.supervise import run
from gate.supervise.binding import Bound, bind_command
from gate.supervise.domain import (
    InputSpec,
    InputType,
    Retry,
    RunbookId,
    RunbookSpec,
    RunId,
    StepId,
    StepKind,
    StepRisk,
    StepSpec,
)
from gate.supervise.envelope import Envelope, derive
from gate.supervise.proposal import Offer
from gate.supervise.state import RunState

RUN = RunId("r1")
TYPES = {"string": InputType.STRING, "number": InputType.INTEGER}


def inputs_of(declared: dict[str, Any]) -> dict[str, InputSpec]:
    """Return the inputs that a row declares."""
    return {
        name: InputSpec(
            name=name,
            type=TYPES[item["type"]],
            required=item.get("required", True),
            secret=item.get("secret", False),
        )
        for name, item in declared.items()
    }


def _step(item: dict[str, Any]) -> StepSpec:
    retry = item.get("retry")
    return StepSpec(
        id=StepId(item["id"]),
        kind=StepKind(item["kind"]),
        title=item["title"],
        risk=StepRisk(item.get("risk", "read-only")),
        tool=item.get("tool", ""),
        command=item.get("command"),
        requires_approval=item.get("requires_approval"),
        retry=retry and Retry(max=retry["max"], target=StepId(retry["target"])),
        duration_s=int(item["duration"].removesuffix("s")) if "duration" in item else None,
        next=item.get("next", ""),
    )


def spec_of(document: dict[str, Any], name: str) -> RunbookSpec:
    """Return a document as the gate takes it."""
    return RunbookSpec(
        id=RunbookId(name),
        title=name,
        digest=Digest(name),
        capabilities=tuple(document["capabilities"]),
        inputs=inputs_of(document.get("inputs", {})),
        steps=tuple(_step(item) for item in document["steps"]),
    )


def envelope_of(given: dict[str, Any], folder: Path, *, approval_s: int | None = None) -> Envelope:
    """Return the envelope of the document that a row names."""
    document = json.loads((folder / given["runbook"]).read_text())
    return derive(spec_of(document, given["runbook"]), posture=Posture.APPROVE_MOST, approval_s=approval_s)


def at_seconds(seconds: float) -> datetime:
    """Return the instant that a row counts in seconds."""
    return datetime.fromtimestamp(seconds, UTC)


def started(given: dict[str, Any], folder: Path, *, at: float = 0, approval_s: int | None = None) -> RunState:
    """Return the run that a row begins with."""
    moved = run.start(
        envelope_of(given, folder, approval_s=approval_s),
        run=RUN,
        agent=PersonId(given.get("agent") or "agent"),
        inputs=given.get("inputs", {}),
        now=at_seconds(at),
    )
    assert not isinstance(moved, run.NotStarted), moved
    return moved.state


def offer_of(state: RunState, tool: str) -> Offer:
    """Return the offer of exactly what the current step would run, by this tool."""
    step = state.step
    bound = (
        step
        and step.spec.command
        and bind_command(step.spec.command, state.inputs, inputs=state.envelope.inputs)
    )
    return Offer(
        tool=tool,
        command=bound.text if isinstance(bound, Bound) else None,
        digest=state.envelope.digest,
        by=state.agent,
    )
