"""The envelope: the policy of a run, derived from its document and from nothing else (R2, R3, R4, R13).

Frozen when a run starts. The scope of a step is its own tool, never what the runbook may use in all; whether
a step is asked about is decided here, and a document can make that stricter, never looser.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from gate.domain import Digest
from gate.errors import GateError
from gate.policy import Posture
from gate.supervise.approval import MAX_EXPIRY_S
from gate.supervise.domain import (
    NO_ROLLBACK,
    RUNNING_KINDS,
    InputSpec,
    Limits,
    RunbookId,
    RunbookSpec,
    StepId,
    StepKind,
    StepRisk,
    StepSpec,
)
from gate.supervise.graph import following

#: The least risk that each posture asks about (R15). From destructive up it is always asked.
GATED_FROM: Mapping[Posture, StepRisk] = {
    Posture.APPROVE_ALL: StepRisk.READ_ONLY,
    Posture.APPROVE_MOST: StepRisk.REVERSIBLE,
    Posture.APPROVE_CONFIG: StepRisk.MUTATING,
}
#: Entries into steps that a run may make for each step of its runbook, unless it says otherwise.
_ENTRIES_A_STEP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPolicy:
    """What one step may do.

    Attributes:
        index: its place in the runbook, from 0.
        gated: a person is asked, whatever else is found.
        tools: the scope; empty for a step that runs nothing.
        next: where it goes on, said or not; a step or `end:<name>`.
        rollback_to: the step that undoes it; None where it cannot be undone, or nobody said.
    """

    spec: StepSpec
    index: int
    gated: bool
    tools: tuple[str, ...]
    next: str
    rollback_to: StepId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What a run may do, step by step.

    Attributes:
        digest: of the runbook; a run whose runbook changed is blocked.
        limits: with every budget said.
        rollbacks: the steps that undo others, the only ones besides `first` that a run may start at.
    """

    runbook: RunbookId
    title: str
    digest: Digest
    posture: Posture
    inputs: Mapping[str, InputSpec]
    steps: Mapping[StepId, StepPolicy]
    first: StepId
    rollbacks: frozenset[StepId]
    limits: Limits


def derive(spec: RunbookSpec, *, posture: Posture, approval_s: int | None = None) -> Envelope:
    """Return the envelope of a runbook that `document.problems` found nothing in.

    Args:
        posture: which risks the owner wants to be asked about.
        approval_s: how long a question stays open elsewhere; the shorter of the two counts (C2).

    Raises:
        GateError: it has no steps, or its calls were not laid open (`calls.expand`).
    """
    if not spec.steps or any(step.call is not None for step in spec.steps):
        raise GateError("a runbook is derived from once its calls are laid open")
    after = following(spec)
    steps = {
        step.id: StepPolicy(
            spec=step,
            index=index,
            gated=is_gated(step, posture=posture),
            tools=(step.tool,) if step.kind in RUNNING_KINDS else (),
            next=after[step.id],
            rollback_to=None if step.rollback in {"", NO_ROLLBACK} else StepId(step.rollback),
        )
        for index, step in enumerate(spec.steps)
    }
    return Envelope(
        runbook=spec.id,
        title=spec.title,
        digest=spec.digest,
        posture=posture,
        inputs=spec.inputs,
        steps=steps,
        first=spec.steps[0].id,
        rollbacks=frozenset(one.rollback_to for one in steps.values() if one.rollback_to is not None),
        limits=_limits(spec, approval_s=approval_s),
    )


def is_gated(step: StepSpec, *, posture: Posture) -> bool:
    """Whether a person is asked before this step: as the posture says or more, always where it destroys."""
    if step.kind is StepKind.APPROVAL:
        return True
    if step.kind not in RUNNING_KINDS:
        return False
    return (
        step.requires_approval is True
        or step.risk.at_least(GATED_FROM[posture])
        or step.risk.at_least(StepRisk.DESTRUCTIVE)
    )


def _limits(spec: RunbookSpec, *, approval_s: int | None) -> Limits:
    own = spec.limits
    shortest = min(own.approval_s, MAX_EXPIRY_S, own.approval_s if approval_s is None else approval_s)
    return Limits(
        entries=own.entries,
        steps=_ENTRIES_A_STEP * len(spec.steps) if own.steps is None else own.steps,
        asks=own.asks,
        deviations=own.deviations,
        wall_clock_s=own.wall_clock_s,
        approval_s=shortest,
    )
