"""The card of a run: one message that is edited in place, with a line a step (R23, P4).

What a phone shows at once: the target and where the run stands first, then the steps around the one that it
is in; what is further away is counted. Commands are on the cards of the steps; nothing here is what runs.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo

from bot import tokens
from bot.core import Core
from bot.delegates import scope
from bot.origin import asker
from bot.phrasing import clock_time, plural, shortened
from bot.ports import Button, ButtonStyle, Message
from bot.runbooks import wording
from bot.runbooks.closing import step_name
from bot.runbooks.owed import with_reason
from bot.runbooks.restoring import Restored, restore, undone_by
from bot.text import Span, Text, muted, strong
from gate.domain import PlaceId, ProposalId
from gate.lifecycle import ActionState, RunStatus
from gate.redact import redact
from gate.supervise.binding import render_text
from gate.supervise.domain import RunId, StepId, StepKind
from gate.supervise.envelope import StepPolicy
from ledger.runs import Came, RunStepView, RunView

#: Steps that are shown on each side of the current one; the others are counted.
BEFORE, AFTER = 4, 4
_TITLE_MAX = 80
_NOT_REACHED = "\u2013"

_Line = str | Span | list[Span | str]


def draw(core: Core, run: RunId, *, now: datetime) -> Message:
    """Return the card of `run` as it stands; raises LookupError for an unknown one."""
    view = core.queries.run(run)
    if view is None:
        raise LookupError(f"no proposal or run {run}")
    restored = restore(core, run)
    zone = core.zone_for(view.person)
    head = _head(core, view, restored)
    steps = [] if restored is None else _steps(core, restored)
    foot = _foot(core, view, restored, zone=zone, now=now)
    return Message(body=Text.of(head, *steps, *foot), buttons=_buttons(core, restored))


def cards_of(core: Core, proposals: Iterable[ProposalId]) -> dict[ProposalId, PlaceId]:
    """Return the cards of the runs that `proposals` are steps of, by their subject, and where each stands."""
    found = (core.queries.run_of(one) for one in proposals)
    return {ProposalId(view.id): view.place for view in found if view is not None}


def shown(core: Core, text: str) -> str:
    """Return words as people may see them: secrets masked, one line of them."""
    return shortened(" ".join(redact(text, extra=core.secrets).text.split()), most=_TITLE_MAX)


def _head(core: Core, view: RunView, restored: Restored | None) -> _Line:
    mark = _mark(core, view)
    where: list[Span | str] = [strong(view.target), " · "] if view.target else []
    at = "" if restored is None or view.is_over else _place_in(restored)
    return [f"{mark} ", *where, shown(core, view.title), at]


def _place_in(restored: Restored) -> str:
    step, undoes = restored.state.step, restored.view.undoes
    if undoes is not None:
        return f" · undoes #{undoes}"
    return "" if step is None else f" · step {step.index + 1} of {len(_in_reach(restored))}"


def _mark(core: Core, view: RunView) -> str:
    if view.outcome is not None:
        return wording.MARKS[view.outcome]
    if view.status is RunStatus.RUNNING:
        return _running_mark(core, view)
    return "◔" if view.status is not RunStatus.BETWEEN else "●"


def _running_mark(core: Core, view: RunView) -> str:
    asked = None if view.proposal is None else core.queries.proposal(view.proposal)
    states = () if asked is None else tuple(one.state for one in asked.actions)
    return "?" if ActionState.LOST in states else "●"


# ---------------------------------------------------------------- steps


def _steps(core: Core, restored: Restored) -> list[_Line]:
    policies = _in_reach(restored)
    newest = {one.step: one for one in core.queries.last_steps(restored.view.id)}
    at = next((at for at, one in enumerate(policies) if one.spec.id == restored.view.step), 0)
    first, last = max(0, at - BEFORE), min(len(policies), at + AFTER + 1)
    lines: list[_Line] = []
    if first > 0:
        lines.append(muted(_counted(policies[:first], newest)))
    lines += [_step(core, restored, one, newest.get(one.spec.id)) for one in policies[first:last]]
    if last < len(policies):
        lines.append(muted(_counted(policies[last:], newest)))
    return lines


def _in_reach(restored: Restored) -> list[StepPolicy]:
    """Return the steps that a run can come to, in their order: what only undoes is none of them."""
    steps = restored.state.envelope.steps
    todo = [restored.state.first or restored.state.envelope.first]
    found: dict[StepId, StepPolicy] = {}
    while todo:
        policy = steps.get(todo.pop())
        if policy is None or policy.spec.id in found:
            continue
        found[policy.spec.id] = policy
        spec = policy.spec
        leads = [policy.next, spec.on_fail, *(one.next for one in spec.branches)]
        todo += [StepId(lead) for lead in leads] + ([] if spec.retry is None else [spec.retry.target])
    return sorted(found.values(), key=lambda one: one.index)


def _counted(policies: Sequence[StepPolicy], newest: dict[StepId, RunStepView]) -> str:
    came = [newest[one.spec.id].came for one in policies if one.spec.id in newest]
    passed, failed = came.count(Came.PASSED), came.count(Came.FAILED)
    rest = len(policies) - passed - failed
    counts = ((passed, "✓"), (failed, "✗"), (rest, _NOT_REACHED))
    parts = ", ".join(f"{mark} {count}" for count, mark in counts if count)
    return f"… {plural(len(policies), 'step')}: {parts}"


def _step(core: Core, restored: Restored, policy: StepPolicy, entry: RunStepView | None) -> _Line:
    state = restored.state
    title = shown(core, render_text(policy.spec.title, state.inputs, inputs=state.envelope.inputs))
    mark = _step_mark(core, restored, entry)
    again = "" if entry is None or entry.attempt == 1 else f" · try {entry.attempt}"
    line = f"{mark} {policy.index + 1} {title}{again}"
    if entry is not None and entry.came is Came.FAILED:
        return f"{line} · {shown(core, render_text(entry.why, state.inputs, inputs=state.envelope.inputs))}"
    return muted(line) if mark == _NOT_REACHED else line


def _step_mark(core: Core, restored: Restored, entry: RunStepView | None) -> str:
    if entry is None:
        return _NOT_REACHED
    if entry.came is not Came.OPEN:
        return "✓" if entry.came is Came.PASSED else "✗"
    if restored.view.is_over:
        return "✗"  # it was stopped in this one
    return _mark(core, restored.view)


# ---------------------------------------------------------------- what is said below


def _foot(
    core: Core, view: RunView, restored: Restored | None, *, zone: tzinfo, now: datetime
) -> list[_Line]:
    by = f"#{view.id} · asked by {asker(view.person, scope.behalf(core, view.person))}"
    ended = None if restored is None else with_reason(core.queries, view, restored.state.ended)
    if view.outcome is not None:
        at = "" if restored is None else step_name(restored.state, StepId(view.step))
        words = view.outcome.value if ended is None else wording.ended_words(ended, step=at)
        lines: list[_Line] = [shown(core, f"{wording.MARKS[view.outcome]} {words}")]
        if restored is not None and wording.can_undo(restored.state):
            lines.append(f"To undo what it did, say  rollback {view.id}")
        return [*lines, muted(by)]
    now_words = standing(core, view, restored, zone=zone, now=now)
    return [*([now_words] if now_words else []), muted(by)]


def standing(core: Core, view: RunView, restored: Restored | None, *, zone: tzinfo, now: datetime) -> str:
    """Return what an open run waits for."""
    if view.status is RunStatus.WAITING and view.until is not None:
        return f"waits until {clock_time(view.until, zone=zone, now=now)}"
    if view.status is RunStatus.AWAITING_APPROVAL:
        kind = None if restored is None or restored.state.step is None else restored.state.step.spec.kind
        what = "somebody to agree" if kind is StepKind.APPROVAL else "a yes"
        return f"waits for {what} · #{view.proposal}"
    if view.status is RunStatus.RUNNING and _running_mark(core, view) == "?":
        return f"the end of this step is unknown: look, then settle #{view.proposal}"
    held = core.runs.held.get(view.id, "")
    return shown(core, f"waits: {held}") if held and view.status is RunStatus.ENTERED else ""


def _buttons(core: Core, restored: Restored | None) -> tuple[Button, ...]:
    if restored is None or not restored.view.is_over or not wording.can_undo(restored.state):
        return ()
    run = restored.view.id
    if undone_by(core, run) is not None:
        return ()
    token = tokens.make(core.token_key, choice=tokens.ROLLBACK, subject=run, shown=run)
    return (Button(label=tokens.LABELS[tokens.ROLLBACK], token=token, style=ButtonStyle.STOP),)
