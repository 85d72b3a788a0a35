"""What is wrong with one step of a runbook, looked at by itself (R17).

A field that the step's kind has no use for is refused, since whoever wrote it meant something by it. Where a
step leads to is `graph`'s; what it calls, `calls`'.
"""

from collections.abc import Iterator, Mapping

from gate.supervise.binding import BindingError, names, placeholders
from gate.supervise.domain import (
    NO_ROLLBACK,
    RUNNING_KINDS,
    Capture,
    Check,
    FileExists,
    JsonValue,
    Output,
    RunbookSpec,
    StepKind,
    StepRisk,
    StepSpec,
)
from gate.supervise.expect import fault_of
from gate.supervise.graph import turns_back
from gate.supervise.problem import Problem

_MAX_TIMEOUT_S = 86_400

#: Fields that only some kinds have a use for.
_ONLY_FOR: Mapping[str, frozenset[StepKind]] = {
    "command": RUNNING_KINDS,
    "call": frozenset({StepKind.ACTION}),
    "risk": frozenset(StepKind),
    "capture": RUNNING_KINDS,
    "preview": RUNNING_KINDS,
    "target": RUNNING_KINDS,
    "expect": RUNNING_KINDS,
    "timeout": RUNNING_KINDS,
    "requires_approval": RUNNING_KINDS | {StepKind.APPROVAL},
    "rollback": frozenset({StepKind.ACTION}),
    "retry": RUNNING_KINDS | {StepKind.WAIT},
    "on_fail": RUNNING_KINDS | {StepKind.WAIT, StepKind.DECISION},
    "duration": frozenset({StepKind.WAIT}),
    "branches": frozenset({StepKind.DECISION}),
    "next": frozenset(StepKind) - {StepKind.DECISION},
}
#: Fields that a step which calls another runbook leaves to that.
_NOT_WITH_CALL = ("command", "risk", "preview", "expect", "retry", "timeout", "requires_approval")


def of_step(step: StepSpec, spec: RunbookSpec) -> Iterator[Problem]:
    """Yield what is wrong with `step` of `spec`."""
    yield from _of_kind(step)
    yield from _of_running(step, spec)
    yield from _of_branches(step, spec)
    yield from _of_times(step)
    yield from _of_words(step, spec)
    if step.capture is not None:
        yield from _of_capture(step, step.capture, spec)
    for check in step.expect:
        if (fault := fault_of(check)) is not None:
            yield _problem(step, "expect", fault[0], fault[1])


def _problem(step: StepSpec, field: str, what: str, mend: str) -> Problem:
    return Problem(step=step.id, field=field, what=what, mend=mend)


def _said(step: StepSpec) -> frozenset[str]:
    """Return the fields that say something."""
    said = {
        "command": step.command is not None,
        "call": step.call is not None,
        "risk": step.risk is not StepRisk.READ_ONLY,
        "capture": step.capture is not None,
        "preview": step.preview is not None,
        "target": step.target != "",
        "expect": bool(step.expect),
        "timeout": step.timeout_s is not None,
        "requires_approval": step.requires_approval is not None,
        "rollback": step.rollback != "",
        "retry": step.retry is not None,
        "on_fail": step.on_fail != "",
        "duration": step.duration_s is not None,
        "branches": bool(step.branches),
        "next": step.next != "",
    }
    return frozenset(name for name, is_said in said.items() if is_said)


def _of_kind(step: StepSpec) -> Iterator[Problem]:
    said = _said(step)
    for field in sorted(said):
        if step.kind not in _ONLY_FOR[field]:
            yield _problem(
                step, field, f"means nothing in a step of kind {step.kind}.", "Remove it, or change kind."
            )
    if step.call is not None:
        for field in _NOT_WITH_CALL:
            if field in said:
                yield _problem(
                    step, field, "means nothing beside call.", f"Move it into {step.call.runbook}."
                )
    elif step.kind in RUNNING_KINDS and step.command is None:
        yield _problem(step, "command", "is missing.", "Add the command that the step runs.")
    if step.kind is StepKind.APPROVAL and step.requires_approval is False:
        yield _problem(step, "requires_approval", "an approval always asks.", "Remove it, or the step.")
    if turns_back(step) and step.next:
        yield _problem(
            step,
            "next",
            "is never taken: after this wait it is tried again.",
            "Remove it; on_fail says where to go once no try is left.",
        )


def _of_running(step: StepSpec, spec: RunbookSpec) -> Iterator[Problem]:
    if step.kind not in RUNNING_KINDS:
        return
    if step.call is None and step.tool not in spec.capabilities:
        yield _problem(
            step, "tool", f"{step.tool!r} is not among the capabilities.", "Add it to capabilities."
        )
    if step.kind is StepKind.CHECK and step.risk is not StepRisk.READ_ONLY:
        yield _problem(step, "risk", "a check changes nothing.", "Make it an action, or read-only.")
    if step.call is None and step.risk.at_least(StepRisk.DESTRUCTIVE) and not step.rollback:
        yield _problem(
            step,
            "rollback",
            f"is missing, and the step is {step.risk}.",
            f'Name the step that undoes it, or say "{NO_ROLLBACK}": it cannot be undone.',
        )
    if step.rollback == step.id:
        yield _problem(step, "rollback", "a step does not undo itself.", "Name another step.")


def _of_branches(step: StepSpec, spec: RunbookSpec) -> Iterator[Problem]:
    if step.kind is not StepKind.DECISION:
        return
    if not step.branches or step.branches[-1].when is not None:
        yield _problem(step, "branches", "do not say what else.", "End them with a branch that has no when.")
    for number, branch in enumerate(step.branches):
        field = f"branches.{number}.when"
        if branch.when is None:
            if number < len(step.branches) - 1:
                yield _problem(step, field, "is missing, and others follow.", "Put this branch last.")
        elif branch.when.input not in spec.inputs:
            yield _undeclared(step, field, branch.when.input)
        elif spec.inputs[branch.when.input].secret:
            yield _shown(step, field, branch.when.input)


def _of_times(step: StepSpec) -> Iterator[Problem]:
    if step.kind is StepKind.WAIT and not step.duration_s:
        yield _problem(step, "duration", "is missing.", "Say how long to wait, such as 30s.")
    if step.duration_s is not None and step.duration_s < 0:
        yield _problem(step, "duration", "is less than nothing.", "Say how long to wait, such as 30s.")
    if step.timeout_s is not None and not 1 <= step.timeout_s <= _MAX_TIMEOUT_S:
        yield _problem(step, "timeout", "lies outside 1s to 24h.", "Give 30s, 5m or 2h.")
    if step.retry is not None and step.retry.max < 1:
        yield _problem(step, "retry.max", "is less than 1.", "Give 1 or more, or remove retry.")


# ---------------------------------------------------------------- placeholders


def _of_words(step: StepSpec, spec: RunbookSpec) -> Iterator[Problem]:
    for field, command in (("command", step.command), ("preview", step.preview)):
        if command is not None:
            yield from _of_command(step, field, command, spec)
    for field, text in _shown_texts(step):
        try:
            used = names(text)
        except BindingError as error:
            yield _problem(step, field, f"{error}.", "Write {{ inputs.name }}.")
            continue
        for name in dict.fromkeys(used):
            if name not in spec.inputs:
                yield _undeclared(step, field, name)
            elif spec.inputs[name].secret:
                yield _shown(step, field, name)


def _of_command(step: StepSpec, field: str, command: str, spec: RunbookSpec) -> Iterator[Problem]:
    if not command.strip():
        yield _problem(step, field, "is empty.", "Add a command.")
    try:
        used = placeholders(command)
    except BindingError as error:
        yield _problem(
            step, field, f"{error}.", "Let it be part of an argument; quotes around it are not needed."
        )
        return
    captured = {one.capture.input for one in spec.steps if one.capture is not None}
    for name in dict.fromkeys(used):
        declared = spec.inputs.get(name)
        if declared is None:
            yield _undeclared(step, field, name)
        elif not declared.required and declared.default is None and name not in captured:
            yield _problem(
                step,
                field,
                f"the input {name} may have no value.",
                "Make it required, give it a default, or capture it in a step.",
            )


def _shown_texts(step: StepSpec) -> Iterator[tuple[str, str]]:
    """Yield the texts of a step that people see."""
    yield "title", step.title
    yield "target", step.target
    for check in step.expect:
        yield "expect", _text_of(check)


def _text_of(check: Check) -> str:
    match check:
        case Output(text=text) | FileExists(path=text) | JsonValue(value=str(text)):
            return text
        case _:
            return ""


def _undeclared(step: StepSpec, field: str, name: str) -> Problem:
    return _problem(step, field, f"the input {name!r} is not declared.", "Declare it under inputs.")


def _shown(step: StepSpec, field: str, name: str) -> Problem:
    return _problem(step, field, f"would show the secret {name}.", "Use it in commands only.")


def _of_capture(step: StepSpec, capture: Capture, spec: RunbookSpec) -> Iterator[Problem]:
    declared = spec.inputs.get(capture.input)
    if declared is None:
        yield _undeclared(step, "capture.input", capture.input)
    elif declared.type is not capture.type:
        yield _problem(
            step,
            "capture.type",
            f"is {capture.type}, and the input {capture.input} is {declared.type}.",
            "Make them the same.",
        )
