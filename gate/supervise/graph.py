"""Where the steps of a runbook lead, as a graph; and what is wrong with its shape (R17).

Owns the reading of `next`, `on_fail`, `branches`, `retry` and `rollback`: what follows a step where nothing
is said, which ways a run can take without spending a retry, and which it can never take. It judges no field.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gate.supervise.domain import END, NO_ROLLBACK, RunbookSpec, StepId, StepKind, StepSpec, Terminal

SUCCESS = END + Terminal.SUCCESS
FAILURE = END + Terminal.FAILURE
ESCALATE = END + Terminal.ESCALATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way out of a step: the field that says so, and the step or terminal it leads to."""

    step: StepId
    field: str
    lead: str


def terminal_of(lead: str) -> Terminal | None:
    """Return the terminal that a lead names, None for a step and for a name that is none."""
    name = lead.removeprefix(END)
    return Terminal(name) if name != lead and name in set(Terminal) else None


def following(spec: RunbookSpec) -> Mapping[StepId, str]:
    """Return what each step goes on to: what it says, else the one after it; `end:success` after the last."""
    after = [*(step.id for step in spec.steps[1:]), SUCCESS]
    pairs = [(step.id, step.next or lead) for step, lead in zip(spec.steps, after, strict=True)]
    return dict(reversed(pairs))  # of two with one id the first counts


def turns_back(step: StepSpec) -> bool:
    """Whether the step is a wait before another try: it never goes on to `next`."""
    return step.kind is StepKind.WAIT and step.retry is not None


def ways(step: StepSpec, *, after: str) -> Iterator[Way]:
    """Yield every way out of a step that costs no retry; `after` is what follows where nothing is said."""
    if step.kind is StepKind.DECISION:
        for number, branch in enumerate(step.branches):
            yield Way(step=step.id, field=f"branches.{number}.next", lead=branch.next)
    elif not turns_back(step):
        yield Way(step=step.id, field="next", lead=after)
    if step.on_fail:
        yield Way(step=step.id, field="on_fail", lead=step.on_fail)


@dataclass(frozen=True, slots=True)
class Graph:
    """The steps of one runbook by id, with their ways; a lead to nothing is left out.

    Attributes:
        loose: steps with such a lead, of which nobody can say where they go.
    """

    first: StepId
    roots: tuple[StepId, ...]
    steps: Mapping[StepId, StepSpec]
    ways: Mapping[StepId, tuple[Way, ...]]
    loose: frozenset[StepId]

    @classmethod
    def of(cls, spec: RunbookSpec) -> "Graph":
        """Read the graph of a runbook that has at least one step; of two with one id the first counts."""
        steps: dict[StepId, StepSpec] = {}
        for step in spec.steps:
            steps.setdefault(step.id, step)
        after = following(spec)
        said = {step.id: tuple(ways(step, after=after[step.id])) for step in steps.values()}
        out = {
            step: tuple(way for way in found if way.lead in steps or terminal_of(way.lead) is not None)
            for step, found in said.items()
        }
        loose = frozenset(step for step, found in said.items() if len(found) > len(out[step]))
        undo = (StepId(step.rollback) for step in steps.values() if step.rollback not in {"", NO_ROLLBACK})
        first = spec.steps[0].id
        roots = dict.fromkeys((first, *(one for one in undo if one in steps)))
        return cls(first=first, roots=tuple(roots), steps=steps, ways=out, loose=loose)

    def reached(self) -> frozenset[StepId]:
        """Return every step that a run can enter, as a rollback too."""
        return _closure(self.roots, {step: self._leads(step) for step in self.steps})

    def ending(self) -> frozenset[StepId]:
        """Return every step from which some end is reached, as far as anybody can say."""
        before: dict[StepId, list[StepId]] = {step: [] for step in self.steps}
        ends = list(self.loose)
        for way in (way for out in self.ways.values() for way in out):
            if terminal_of(way.lead) is not None:
                ends.append(way.step)
            else:
                before[StepId(way.lead)].append(way.step)
        # A retry is spent at some time, and then leads to an end.
        ends += [step.id for step in self.steps.values() if step.retry is not None]
        return _closure(ends, before)

    def loops(self) -> tuple[Way, ...]:
        """Return the ways that close a circle which spends no retry, each circle by one of them."""
        found: list[Way] = []
        done: set[StepId] = set()
        for root in self.steps:
            if root not in done:
                found += self._loops_from(root, done)
        return tuple(found)

    def _loops_from(self, root: StepId, done: set[StepId]) -> list[Way]:
        found: list[Way] = []
        path = {root}
        stack = [(root, iter(self.ways[root]))]
        while stack:
            step, out = stack[-1]
            way = next(out, None)
            if way is None:
                stack.pop()
                path.discard(step)
                done.add(step)
            elif way.lead in path:
                found.append(way)
            elif way.lead in self.steps and way.lead not in done:
                lead = StepId(way.lead)
                path.add(lead)
                stack.append((lead, iter(self.ways[lead])))
        return found

    def _leads(self, step: StepId) -> list[StepId]:
        found = [StepId(way.lead) for way in self.ways[step] if way.lead in self.steps]
        retry = self.steps[step].retry
        if retry is not None and retry.target in self.steps:
            found.append(retry.target)
        return found


def _closure(start: Iterable[StepId], leads: Mapping[StepId, Iterable[StepId]]) -> frozenset[StepId]:
    found = set(start)
    todo = list(found)
    while todo:
        fresh = set(leads[todo.pop()]) - found
        found |= fresh
        todo += fresh
    return frozenset(found)
