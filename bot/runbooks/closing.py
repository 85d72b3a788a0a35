"""Telling how a run ended, in the place that it was asked for in, with the batch that ends it."""

from dataclasses import replace

from bot.core import Core
from bot.outcome import Outcome
from bot.runbooks import wording
from bot.runbooks.going import Going
from bot.text import Text
from gate.redact import redact
from gate.supervise.binding import render_text
from gate.supervise.domain import StepId
from gate.supervise.events import Ended, Event
from gate.supervise.state import RunState


def tell_end(core: Core, outcome: Outcome, going: Going, before: RunState, events: tuple[Event, ...]) -> None:
    """Say how the run ended, if one of `events` ends it.

    Args:
        before: where it stood when they began.
    """
    ended = events[-1] if events else None
    if not isinstance(ended, Ended):
        return
    lines = wording.end(
        going.run,
        going.title,
        ended,
        state=before,
        step=step_name(before, before.current),
        target=before.target,
    )
    text = redact("\n".join(lines), extra=core.secrets).text
    said = outcome.said(Text.of(*text.split("\n")))
    outcome.effects.append(replace(said, place=going.place))


def step_name(state: RunState, step: StepId | None) -> str:
    """Return "step 3, Create the container"; "" for none."""
    policy = None if step is None else state.envelope.steps.get(step)
    if policy is None:
        return ""
    title = render_text(policy.spec.title, state.inputs, inputs=state.envelope.inputs)
    return f"step {policy.index + 1}, {title}"
