"""Runbooks that call others: what is wrong with a call, and the one runbook that a caller comes to.

A call is laid open before a run starts: the steps of what is called stand in the place of the call, under
`<step>/<step>`, so that one run, one envelope and one set of budgets cover everything, and each of the steps
is asked about like any other. The inputs of what is called become inputs of the caller that nobody is asked
for.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from gate.supervise.binding import PLACEHOLDER
from gate.supervise.domain import (
    NO_ROLLBACK,
    RUNNING_KINDS,
    Branch,
    Call,
    Check,
    FileExists,
    InputSpec,
    InputType,
    JsonValue,
    Output,
    RunbookSpec,
    StepId,
    StepKind,
    StepSpec,
)
from gate.supervise.graph import FAILURE, SUCCESS, following, turns_back
from gate.supervise.problem import Problem

Catalogue = Mapping[str, RunbookSpec]

#: Kinds that can fail, and so go on to what the caller does about that.
_FAILING_KINDS = RUNNING_KINDS | {StepKind.DECISION}

# ---------------------------------------------------------------- what is wrong with a call


def problems(spec: RunbookSpec, *, catalogue: Catalogue, most: int) -> Iterator[Problem]:
    """Yield what is wrong with the calls of `spec`.

    Args:
        most: how many steps it may come to with everything that it calls.
    """
    sizes: dict[str, int] = {}
    total = len(spec.steps)
    for step in spec.steps:
        if step.call is None:
            continue
        called = catalogue.get(step.call.runbook)
        if called is None:
            yield _problem(step, "call", f"there is no runbook {step.call.runbook!r}.", "Name one there is.")
        elif _comes_back(spec, called, catalogue):
            yield _problem(step, "call", f"{called.id} leads back to a call of itself.", "Break the circle.")
        else:
            yield from _of_call(step, step.call, spec, called)
            total += _size(called, catalogue, sizes)
            if total > most:
                yield _problem(step, "call", f"comes to more than {most} steps.", "Call less.")


def _problem(step: StepSpec, field: str, what: str, mend: str) -> Problem:
    return Problem(step=step.id, field=field, what=what, mend=mend)


def _comes_back(spec: RunbookSpec, called: RunbookSpec, catalogue: Catalogue) -> bool:
    """Whether a circle of calls is reached through `called`, be it through `spec` or without it."""
    known = {**catalogue, spec.id: spec}
    path: list[str] = []
    done: set[str] = set()
    todo: list[tuple[str, bool]] = [(called.id, False)]
    while todo:
        name, left = todo.pop()
        if left:
            path.remove(name)
            done.add(name)
        elif name in path or name == spec.id:
            return True
        elif name not in done and name in known:
            path.append(name)
            todo.append((name, True))
            todo += [(one, False) for one in _called_by(known[name])]
    return False


def _called_by(spec: RunbookSpec) -> list[str]:
    return [step.call.runbook for step in spec.steps if step.call is not None]


def _size(spec: RunbookSpec, catalogue: Catalogue, sizes: dict[str, int]) -> int:
    """Return how many steps `spec`, which leads into no circle, comes to."""
    if spec.id not in sizes:
        below = [_size(catalogue[one], catalogue, sizes) for one in _called_by(spec) if one in catalogue]
        sizes[spec.id] = len(spec.steps) + sum(below)
    return sizes[spec.id]


def _of_call(step: StepSpec, call: Call, spec: RunbookSpec, called: RunbookSpec) -> Iterator[Problem]:
    if beyond := [tool for tool in called.capabilities if tool not in spec.capabilities]:
        yield _problem(step, "call", f"{called.id} may use {beyond[0]!r}.", "Add it to capabilities.")
    for name, value in call.inputs.items():
        declared = called.inputs.get(name)
        if declared is None:
            yield _problem(step, f"with.{name}", f"{called.id} has no such input.", "Remove it.")
        else:
            yield from _of_given(step, name, value, spec, declared)
    own = {called.result} | {one.capture.input for one in called.steps if one.capture is not None}
    for name, declared in called.inputs.items():
        if declared.required and declared.default is None and name not in {*call.inputs, *own}:
            yield _problem(step, f"with.{name}", f"{called.id} needs it.", "Hand it over.")
    yield from _of_result(step, spec, called)


def _of_given(
    step: StepSpec, name: str, value: str, spec: RunbookSpec, declared: InputSpec
) -> Iterator[Problem]:
    field, whole = f"with.{name}", PLACEHOLDER.fullmatch(value.strip())
    if whole is None:
        if "{{" in value:
            yield _problem(step, field, "mixes words and inputs.", "Hand over one input, or words alone.")
        elif not declared.accepts(value) or declared.secret:
            yield _problem(step, field, f"{value!r} does not fit.", f"Give a {declared.type}.")
        return
    handed = spec.inputs.get(whole[1])
    if handed is None:
        yield _problem(step, field, f"the input {whole[1]!r} is not declared.", "Declare it under inputs.")
    elif (handed.type, handed.secret) != (declared.type, declared.secret):
        what = f"is {_kind(declared)} there, and {whole[1]} is {_kind(handed)}."
        yield _problem(step, field, what, "Make them the same.")
    elif not _is_within(handed, declared):
        what = f"takes less there than {whole[1]} may be here."
        yield _problem(step, field, what, f"Give {whole[1]} the same enum, min and max.")


def _is_within(mine: InputSpec, theirs: InputSpec) -> bool:
    """Whether all that an input may be, another of its type may be too: laid open, mine counts for both."""
    if mine.enum or theirs.enum:
        return bool(mine.enum) and all(map(theirs.accepts, mine.enum))
    (least, most), (floor, ceiling) = mine.bounds, theirs.bounds
    return mine.type is not InputType.INTEGER or (floor <= least and most <= ceiling)


def _kind(item: InputSpec) -> str:
    return f"a secret {item.type}" if item.secret else f"{item.type}"


def _of_result(step: StepSpec, spec: RunbookSpec, called: RunbookSpec) -> Iterator[Problem]:
    if step.capture is None:
        return
    result, mine = called.inputs.get(called.result), spec.inputs.get(step.capture.input)
    if result is None:
        yield _problem(step, "capture", f"{called.id} gives no result.", "Remove it, or add result there.")
    elif result.type is not step.capture.type:
        what = f"is {step.capture.type}, and {called.id} gives {result.type}."
        yield _problem(step, "capture.type", what, "Make them the same.")
    elif mine is not None and mine.secret is not result.secret:
        what = f"{step.capture.input} and the result of {called.id} differ in being secret."
        yield _problem(step, "capture.input", what, "Make them the same.")
    elif mine is not None and not _is_within(mine, result):
        what = f"takes more than the result of {called.id} may be."
        yield _problem(step, "capture.input", what, f"Give {mine.name} the same enum, min and max.")


# ---------------------------------------------------------------- laying open


def expand(spec: RunbookSpec, *, catalogue: Catalogue) -> RunbookSpec:
    """Return the runbook that `spec` comes to once every call is laid open; itself where it has none.

    `document.problems` has to have found nothing in it with this catalogue.
    """
    if not _called_by(spec):
        return spec
    after = following(spec)
    inputs = dict(spec.inputs)
    entries: dict[StepId, StepId] = {}
    opened: dict[StepId, _Opened] = {}
    for step in spec.steps:
        if step.call is not None:
            called = expand(catalogue[step.call.runbook], catalogue=catalogue)
            opened[step.id] = _Opened.of(step, step.call, called, taken=inputs)
            inputs |= opened[step.id].inputs
            entries[step.id] = opened[step.id].first
    steps: list[StepSpec] = []
    for step in spec.steps:
        here = replace(_led(step, lambda lead: entries.get(StepId(lead), lead)), next="")
        lead = entries.get(StepId(after[step.id]), after[step.id])
        if step.id in opened:
            steps += opened[step.id].steps(replace(here, next=lead))
        else:
            steps.append(here if _says_no_next(step) else replace(here, next=lead))
    return replace(spec, inputs=inputs, steps=tuple(steps))


def _says_no_next(step: StepSpec) -> bool:
    return step.kind is StepKind.DECISION or turns_back(step)


def _led(step: StepSpec, to: Callable[[str], str]) -> StepSpec:
    """Return a step with every lead but `next` replaced."""
    retry = step.retry and replace(step.retry, target=StepId(to(step.retry.target)))
    return replace(
        step,
        next=to(step.next),
        on_fail=to(step.on_fail),
        retry=retry,
        rollback=to(step.rollback),
        branches=tuple(replace(branch, next=to(branch.next)) for branch in step.branches),
    )


@dataclass(frozen=True, slots=True)
class _Opened:
    """A called runbook in its caller: what its inputs are called there, and the inputs that are new."""

    called: RunbookSpec
    prefix: str
    named: Mapping[str, str]
    inputs: Mapping[str, InputSpec]

    @classmethod
    def of(
        cls, step: StepSpec, call: Call, called: RunbookSpec, *, taken: Mapping[str, InputSpec]
    ) -> "_Opened":
        named: dict[str, str] = {}
        fresh: dict[str, InputSpec] = {}
        for name, item in called.inputs.items():
            given = call.inputs.get(name)
            whole = None if given is None else PLACEHOLDER.fullmatch(given.strip())
            if step.capture is not None and name == called.result:
                named[name] = step.capture.input
            elif whole is not None:
                named[name] = whole[1]
            else:
                own = _free(f"{step.id}__{name}", {*taken, *fresh})
                named[name] = own
                default = item.default if given is None else given
                fresh[own] = replace(item, name=own, required=False, default=default, internal=True)
        return cls(called=called, prefix=f"{step.id}/", named=named, inputs=fresh)

    @property
    def first(self) -> StepId:
        return StepId(self.prefix + self.called.steps[0].id)

    def steps(self, step: StepSpec) -> Iterator[StepSpec]:
        """Yield the steps of what is called; `step` is the call, with its `next` said."""
        known = {one.id for one in self.called.steps}
        after = following(self.called)

        def to(lead: str) -> str:
            if lead in known:
                return self.prefix + lead
            return {SUCCESS: step.next, FAILURE: step.on_fail or FAILURE}.get(lead, lead)

        for one in self.called.steps:
            inner = _led(replace(_renamed(one, self._text, self.named), next=""), to)
            if one.kind in RUNNING_KINDS:
                inner = replace(inner, target=inner.target or step.target)
            if one.kind in _FAILING_KINDS and one.retry is None and not one.on_fail:
                inner = replace(inner, on_fail=to(FAILURE))
            if one.kind is StepKind.ACTION and one.rollback in {"", NO_ROLLBACK} and step.rollback:
                inner = replace(inner, rollback=step.rollback)
            inner = replace(inner, id=StepId(self.prefix + one.id))
            yield inner if _says_no_next(one) else replace(inner, next=to(after[one.id]))

    def _text(self, text: str) -> str:
        return PLACEHOLDER.sub(lambda match: f"{{{{ inputs.{self.named.get(match[1], match[1])} }}}}", text)


def _renamed(step: StepSpec, text: Callable[[str], str], named: Mapping[str, str]) -> StepSpec:
    """Return a step of what is called with the caller's names of its inputs."""
    capture = step.capture and replace(step.capture, input=named[step.capture.input])
    return replace(
        step,
        title=text(step.title),
        target=text(step.target),
        command=None if step.command is None else text(step.command),
        preview=None if step.preview is None else text(step.preview),
        capture=capture,
        expect=tuple(_check(one, text) for one in step.expect),
        branches=tuple(_branch(one, named) for one in step.branches),
    )


def _check(check: Check, text: Callable[[str], str]) -> Check:
    match check:
        case Output():
            return replace(check, text=text(check.text))
        case FileExists():
            return replace(check, path=text(check.path))
        case JsonValue(value=str(value)):
            return replace(check, value=text(value))
        case _:
            return check


def _branch(branch: Branch, named: Mapping[str, str]) -> Branch:
    if branch.when is None:
        return branch
    return replace(branch, when=replace(branch.when, input=named[branch.when.input]))


def _free(name: str, taken: set[str]) -> str:
    """Return a name for an input that nothing has yet."""
    base = re.sub(r"[^A-Za-z0-9_]", "_", name)
    base = base if base[0].isalpha() else f"_{base}"
    free, number = base, 2
    while free in taken:
        free, number = f"{base}_{number}", number + 1
    return free
