"""What the step that a run is in would run: its tool, its target, its command (R7, R8).

Bound from the frozen envelope and the values known by then. What somebody proposes is compared with this, and
never the other way round. What is shown is made apart and never executed.
"""

from dataclasses import dataclass

from gate.domain import Digest
from gate.supervise.binding import (
    Unbound,
    bind_command,
    bind_text,
    command_digest,
    render_command,
    render_text,
)
from gate.supervise.domain import RunId
from gate.supervise.envelope import StepPolicy
from gate.supervise.expect import files_of
from gate.supervise.state import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One invocation of the current step.

    Attributes:
        tool: "" for a step that runs nothing.
        target: a name; "" where neither the step nor the run names one.
        command: what runs; None for a step that runs nothing.
        shown: the command as people see it, secrets masked; never executed.
        title: likewise.
        files: to be looked at on the target once the command has ended.
    """

    run: RunId
    tool: str
    target: str
    command: str | None
    shown: str | None
    title: str
    files: tuple[str, ...] = ()

    @property
    def digest(self) -> Digest:
        """What a grant for it pins."""
        return command_digest(tool=self.tool, target=self.target, command=self.command)


def invocation(state: RunState, step: StepPolicy) -> Invocation | Unbound:
    """Return what `step` would run as things stand, or the inputs that keep it from running."""
    inputs, spec = state.envelope.inputs, step.spec
    target = bind_text(spec.target, state.inputs, inputs=inputs)
    command = None if spec.command is None else bind_command(spec.command, state.inputs, inputs=inputs)
    lacking = [one for one in (target, command) if isinstance(one, Unbound)]
    if isinstance(target, Unbound) or isinstance(command, Unbound):
        return Unbound(
            missing=tuple(dict.fromkeys(name for one in lacking for name in one.missing)),
            unfit=tuple(dict.fromkeys(name for one in lacking for name in one.unfit)),
        )
    return Invocation(
        run=state.run,
        tool=step.tools[0] if step.tools else "",
        target=target.text or state.target,
        command=None if command is None else command.text,
        shown=None if spec.command is None else render_command(spec.command, state.inputs, inputs=inputs),
        title=render_text(spec.title, state.inputs, inputs=inputs),
        files=files_of(spec.expect, values=state.inputs, inputs=inputs),
    )
