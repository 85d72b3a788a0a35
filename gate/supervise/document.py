"""What is wrong with a runbook, all of it at once (R17).

A document that this finds nothing in can be supervised: its steps lead somewhere and to an end, no circle is
without a budget, no tool outside its capabilities, no secret where people look. Unknown fields and values of
another type never come this far, and lines are the loader's. What is wrong with one field of one step is
`step_faults`', with calls of other runbooks `calls`'.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from gate.supervise import calls, step_faults
from gate.supervise.approval import MAX_EXPIRY_S
from gate.supervise.domain import END, NO_ROLLBACK, InputSpec, RunbookSpec, StepSpec, Terminal
from gate.supervise.graph import Graph, terminal_of, ways
from gate.supervise.problem import Problem

_MAX_STEPS = 10_000
_ENDS = ", ".join(END + one for one in Terminal)


def problems(spec: RunbookSpec, *, catalogue: Mapping[str, RunbookSpec] | None = None) -> tuple[Problem, ...]:
    """Return everything that is wrong with `spec`; nothing means that it can be run.

    Args:
        catalogue: every runbook by id, for what `spec` calls; None where that is not looked at.
    """
    if not spec.steps:
        return (Problem(field="steps", what="is empty.", mend="Add a step."),)
    found = [
        *_of_inputs(spec),
        *_of_limits(spec),
        *_of_ids(spec),
        *(one for step in spec.steps for one in step_faults.of_step(step, spec)),
        *_of_leads(spec),
        *_of_shape(spec),
    ]
    if catalogue is not None:
        found += calls.problems(spec, catalogue=catalogue, most=_MAX_STEPS)
    return tuple(dict.fromkeys(found))


# ---------------------------------------------------------------- inputs and limits


def _of_inputs(spec: RunbookSpec) -> Iterator[Problem]:
    for name, item in spec.inputs.items():
        yield from _of_input(f"inputs.{name}", item)
    if spec.result:
        if spec.result not in spec.inputs:
            yield Problem(
                field="result",
                what=f"{spec.result!r} is no input.",
                mend="Name an input that a step captures into.",
            )
        elif not any(step.capture and step.capture.input == spec.result for step in spec.steps):
            yield Problem(
                field="result",
                what=f"nothing captures into {spec.result}.",
                mend="Add capture to the step that finds it.",
            )


def _of_input(field: str, item: InputSpec) -> Iterator[Problem]:
    if item.secret and (item.default is not None or item.enum):
        yield Problem(
            field=f"{field}.secret", what="the secret stands in the document.", mend="Leave out its values."
        )
    if item.minimum is not None and item.maximum is not None and item.minimum > item.maximum:
        yield Problem(field=f"{field}.min", what="is more than max.", mend="Swap them.")
    for value in item.enum:
        if not item.accepts(value):
            yield Problem(
                field=f"{field}.enum", what=f"{value!r} is not of type {item.type}.", mend="Change it."
            )
    if item.default is not None and not item.accepts(item.default):
        yield Problem(
            field=f"{field}.default",
            what=f"{item.default!r} is none that the input takes.",
            mend=f"Give a {item.type}, from enum where there is one.",
        )


def _of_limits(spec: RunbookSpec) -> Iterator[Problem]:
    limits = spec.limits
    counts = {
        "entries": limits.entries,
        "steps": 1 if limits.steps is None else limits.steps,
        "asks": limits.asks,
        "deviations": limits.deviations,
        "wall_clock": limits.wall_clock_s,
        "approval": limits.approval_s,
    }
    for name, count in counts.items():
        if count < 1:
            yield Problem(
                field=f"limits.{name}",
                what="lets nothing happen.",
                mend="Give 1 or more, or leave it out.",
            )
    if limits.approval_s > MAX_EXPIRY_S:
        yield Problem(
            field="limits.approval", what="keeps a question open too long.", mend="Give 1h at most."
        )
    if len(spec.steps) > _MAX_STEPS:
        yield Problem(field="steps", what=f"are more than {_MAX_STEPS}.", mend="Use several runbooks.")


# ---------------------------------------------------------------- the steps together


def _of_ids(spec: RunbookSpec) -> Iterator[Problem]:
    for step, count in Counter(step.id for step in spec.steps).items():
        if count > 1:
            yield Problem(
                step=step, field="id", what=f"{count} steps have this id.", mend="Give each its own."
            )


def _of_leads(spec: RunbookSpec) -> Iterator[Problem]:
    known = {step.id for step in spec.steps}
    for step in spec.steps:
        named = [(way.field, way.lead) for way in ways(step, after=step.next)]
        for field, lead in named:
            if lead and lead not in known and terminal_of(lead) is None:
                yield _nowhere(step, field, lead)
        if step.retry is not None and step.retry.target not in known:
            yield _no_step(step, "retry.target", step.retry.target)
        if step.rollback not in {"", NO_ROLLBACK} and step.rollback not in known:
            yield _no_step(step, "rollback", step.rollback)


def _nowhere(step: StepSpec, field: str, lead: str) -> Problem:
    if lead.startswith(END):
        return Problem(step=step.id, field=field, what=f"there is no end {lead!r}.", mend=f"Use {_ENDS}.")
    return _no_step(step, field, lead)


def _no_step(step: StepSpec, field: str, name: str) -> Problem:
    mend = f'Name a step, or say "{NO_ROLLBACK}".' if field == "rollback" else "Name a step of this runbook."
    return Problem(step=step.id, field=field, what=f"there is no step {name!r}.", mend=mend)


def _of_shape(spec: RunbookSpec) -> Iterator[Problem]:
    graph = Graph.of(spec)
    reached, ending = graph.reached(), graph.ending()
    for step in graph.steps:
        if step not in reached:
            yield Problem(
                step=step, field="id", what="nothing leads to this step.", mend="Lead to it, or remove it."
            )
        elif step not in ending:
            yield Problem(
                step=step,
                field="next",
                what="no end can be reached from here.",
                mend=f"Let some step lead to {_ENDS}.",
            )
    for way in graph.loops():
        yield Problem(
            step=way.step,
            field=way.field,
            what=f"goes back to {way.lead!r} without a budget.",
            mend="Use retry, with max and target, to go back.",
        )
    yield from _of_falling_through(spec)


def _of_falling_through(spec: RunbookSpec) -> Iterator[Problem]:
    """Refuse to go on by mere order into a step that is there for failures."""
    aside = {step.on_fail for step in spec.steps} | {step.rollback for step in spec.steps}
    openly = {step.next for step in spec.steps}
    for step, after in zip(spec.steps, spec.steps[1:], strict=False):
        goes_on = any(way.field == "next" for way in ways(step, after=step.next))
        if goes_on and not step.next and after.id in aside - openly:
            yield Problem(
                step=step.id,
                field="next",
                what=f"is not said, and {after.id!r}, which follows, is there for failures.",
                mend="Say where to go on, such as end:success.",
            )
