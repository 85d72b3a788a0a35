"""`runs` and `run <id>`: what goes on, how it stands, and what every step of a run came to."""

from datetime import datetime, tzinfo

from bot.answering import Speaker
from bot.controls import deny
from bot.core import Core
from bot.outcome import Outcome
from bot.phrasing import clock_time, listed
from bot.runbooks import wording
from bot.runbooks.cards import draw, shown, standing
from bot.runbooks.restoring import restore
from bot.text import Text, muted
from gate.domain import Reason, ReasonCode
from gate.supervise.binding import render_text
from gate.supervise.domain import RunId
from gate.supervise.state import RunState
from ledger.runs import Came, RunStepView, RunView

#: Runs that `runs` lists, and entries into steps that `run <id>` does; the report holds all of them.
LISTED, ENTRIES = 15, 60

_CAME = {Came.OPEN: "●", Came.PASSED: "✓", Came.FAILED: "✗"}


def show_all(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """List the newest runs, those that go on first."""
    found = sorted(core.queries.runs(limit=LISTED), key=lambda one: one.is_over)
    if not found:
        outcome.say(Text.of("No runbook was run yet. runbooks lists them."))
        return
    lines = [line(core, view, speaker, outcome) for view in found]
    outcome.say(Text.of(*lines, muted("run <id> shows one, report <id> all of it.")))


def line(core: Core, view: RunView, speaker: Speaker, outcome: Outcome) -> str:
    """Return one run as a line."""
    at = clock_time(view.ended_at or view.started_at, zone=speaker.zone, now=outcome.at)
    where = f" on {view.target}" if view.target else ""
    mark = "●" if view.outcome is None else wording.MARKS[view.outcome]
    how = f"in step {view.step}" if view.outcome is None else view.outcome.value
    return f"{mark} #{view.id}  {shown(core, view.title)}{where}: {how}, {at}, asked by {view.person}"


def open_lines(core: Core, *, zone: tzinfo, now: datetime) -> list[str]:
    """Return the runs that go on, a line each."""
    found = [view for run in core.queries.open_runs() if (view := core.queries.run(run)) is not None]
    return [
        f"● #{view.id} {shown(core, view.title)}{f' on {view.target}' if view.target else ''}: "
        f"{standing(core, view, restore(core, view.id), zone=zone, now=now) or f'in step {view.step}'}"
        for view in found
    ]


def digest_lines(core: Core, *, since: datetime, until: datetime) -> list[str]:
    """Return the line of a digest that tells of the runs begun between two instants; none where none was."""
    found = [view for view in core.queries.runs(since=since, limit=LISTED) if view.started_at <= until]
    told = [
        f"{'●' if view.outcome is None else wording.MARKS[view.outcome]} {shown(core, view.title)} #{view.id}"
        for view in found
    ]
    return [f"runs: {listed(told, most=5)}"] if told else []


def show(core: Core, outcome: Outcome, speaker: Speaker, run: str) -> None:
    """Show the card of one run, and every entry into its steps."""
    view = core.queries.run(run)
    if view is None:
        text = f"No run #{run} here. runs lists them."
        deny(outcome, speaker, Reason(code=ReasonCode.UNKNOWN_ID, text=text))
        return
    body = draw(core, view.id, now=outcome.at).body
    restored = restore(core, RunId(run))
    steps = core.queries.run_steps(run)
    left_out = len(steps) - ENTRIES
    lines = [f"… {left_out} earlier, all of them: report {run}"] if left_out > 0 else []
    lines += [
        _entry(core, one, None if restored is None else restored.state, zone=speaker.zone, outcome=outcome)
        for one in steps[-ENTRIES:]
    ]
    if view.deviations:
        lines.append(f"blocked {view.deviations} times, see report {run}")
    outcome.say(body + Text.of(*lines))


def _entry(core: Core, one: RunStepView, state: RunState | None, *, zone: tzinfo, outcome: Outcome) -> str:
    policy = None if state is None else state.envelope.steps.get(one.step)
    title, why = str(one.step), one.why
    if state is not None and policy is not None:
        title = render_text(policy.spec.title, state.inputs, inputs=state.envelope.inputs)
        why = render_text(why, state.inputs, inputs=state.envelope.inputs)
    parts = [
        clock_time(one.entered_at, zone=zone, now=outcome.at),
        f"{_CAME[one.came]} {shown(core, title)}",
        *([f"try {one.attempt}"] if one.attempt > 1 else []),
        *([shown(core, why)] if why else []),
        *([f"show {one.proposal}"] if one.proposal else []),
    ]
    return " · ".join(parts)
