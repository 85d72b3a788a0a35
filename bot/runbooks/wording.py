"""What is said about runs: how one ended, and what can be done then.

A refusal, an expiry and a failure never read alike (R12).
"""

from datetime import datetime

from bot.phrasing import duration, plural
from gate.supervise.domain import Outcome, RunId
from gate.supervise.events import EndCause, Ended
from gate.supervise.state import RunState

MARKS = {
    Outcome.COMPLETED: "✓",
    Outcome.FAILED: "✗",
    Outcome.ESCALATED: "▲",
    Outcome.ABORTED: "✗",
}


def ended_words(ended: Ended, *, step: str) -> str:
    """Return how a run ended, in a few words; `step` names the one that it was in."""
    at = f" at {step}" if step else ""
    why = f": {ended.why}" if ended.why else ""
    by = f" by {ended.by}" if ended.by else ""
    if ended.cause is EndCause.TERMINAL:
        return "done" if ended.outcome is Outcome.COMPLETED else f"{_OUTCOMES[ended.outcome]}{at}{why}"
    if ended.cause is EndCause.REFUSED:
        reason = None if ended.refusal is None else ended.refusal.reason
        return f"refused{by}{at}: {reason or 'no reason yet'}"
    if ended.cause is EndCause.EXPIRED:
        return f"nobody answered in time{at}"
    return f"{_CAUSES[ended.cause]}{by}{at}{why}"


_OUTCOMES = {
    Outcome.FAILED: "failed",
    Outcome.ESCALATED: "a person has to look",
    Outcome.ABORTED: "ended to be rolled back",
}
_CAUSES = {
    EndCause.ABORTED: "stopped",
    EndCause.BUDGET: "out of budget",
    EndCause.DEVIATIONS: "blocked too often",
    EndCause.LOST: "its end is unknown",
    EndCause.ESCALATED: "cannot go on",
}


def end(run: RunId, title: str, ended: Ended, *, state: RunState, step: str, target: str) -> list[str]:
    """Return the lines that say how a run ended.

    Args:
        state: where the run stood right before its end, or right after.
    """
    where = f" on {target}" if target else ""
    took = _took(state, ended.at)
    lines = [f"{MARKS[ended.outcome]} {title}{where}: {ended_words(ended, step=step)}. {took} · #{run}"]
    if ended.outcome is Outcome.COMPLETED:
        return lines
    if has_undo(state):
        lines.append(f"To undo what it did, say  rollback {run}.  Each step asks as usual.")
    elif ended.cause in {EndCause.REFUSED, EndCause.EXPIRED, EndCause.ABORTED}:
        lines.append("Nothing more runs from it.")
    return lines


def has_undo(state: RunState) -> bool:
    """Whether something in its runbook undoes what a run did."""
    return state.undo is not None and state.undo in state.envelope.rollbacks


def can_undo(state: RunState) -> bool:
    """Whether undoing is worth offering: a run that is over did something, and not all that it was to."""
    return state.ended is not None and state.outcome is not Outcome.COMPLETED and has_undo(state)


def _took(state: RunState, until: datetime) -> str:
    began = state.started_at or until
    return f"{plural(state.number, 'step')}, {duration(max((until - began).total_seconds(), 1))}"
