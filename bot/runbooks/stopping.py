"""Stopping a run, and undoing what it did: by any operator's word, at once (D19), or step by step as usual.

A run that is stopped ends aborted, whatever it is in: an open question is withdrawn with it, a wait is over,
and what runs is stopped as far as it can be. Undoing is a run of its own that begins at the step which the
runbook names, and is asked about like any other.
"""

from collections.abc import Sequence

from bot import tokens
from bot.answering import Speaker
from bot.controls import deny, withdraw
from bot.core import Core
from bot.outcome import Outcome
from bot.runbooks import runner, wording
from bot.runbooks.going import Going, refresh, write
from bot.runbooks.restoring import Restored, laid_open, restore, undone_by
from bot.text import Text
from gate.domain import Reason, ReasonCode
from gate.lifecycle import NOT_STARTED, ActionState
from gate.supervise import run as runs
from gate.supervise.domain import RunId
from ledger.kinds import RowIs, RunIsAt
from ledger.runs import RunView


def stop(core: Core, outcome: Outcome, speaker: Speaker, run: RunId) -> None:
    """End `run`, and with it what it waits for or does."""
    restored = restore(core, run)
    if restored is None or restored.view.is_over:
        outcome.say(Text.of(f"#{run} is over already."))
        return
    going = Going.of(restored)
    outcome.expect(RunIsAt(run, restored.view.seq))
    running = _drop(core, outcome, speaker, restored.view)
    moved = runs.abort(restored.state, by=speaker.operator.id, now=outcome.at)
    write(outcome, run, moved.events)
    refresh(outcome, going)
    stopping = " Stopping what runs." if running else " Nothing more runs from it."
    lines = [f"Stopped {going.title} (#{run}).{stopping}"]
    if wording.can_undo(moved.state):
        lines.append(f"To undo what it did, say  rollback {run}")
    outcome.say(Text.of(*lines))


def _drop(core: Core, outcome: Outcome, speaker: Speaker, view: RunView) -> bool:
    """Withdraw what waits of the step of a run, and stop what runs; whether anything does."""
    asked = None if view.proposal is None else core.queries.proposal(view.proposal)
    running = False
    for one in () if asked is None else asked.actions:
        if one.state in NOT_STARTED:
            withdraw(outcome, one, by=str(speaker.operator.id))
        elif one.state is ActionState.STARTED:
            outcome.cancel[one.action.id] = speaker.operator.id
            running = True
    if asked is not None:
        outcome.refresh(asked.id, place=asked.shown_in)
    return running


def stop_any(core: Core, outcome: Outcome, speaker: Speaker) -> None:
    """`stop the run`: the one that goes on here, else ask which."""
    found = [view for run in core.queries.open_runs() if (view := core.queries.run(run)) is not None]
    here = [view for view in found if view.place == outcome.place] or found
    if len(here) == 1:
        stop(core, outcome, speaker, here[0].id)
    elif not here:
        outcome.say(Text.of("No run goes on. stop holds everything."))
    else:
        outcome.say(Text.of("Which one?", *_choices(here)))


def stop_here(core: Core, outcome: Outcome, speaker: Speaker) -> bool:
    """End the one run that goes on in the place of the turn; False where there is none, or more."""
    found = [view for run in core.queries.open_runs() if (view := core.queries.run(run)) is not None]
    here = [view for view in found if view.place == outcome.place]
    if len(here) != 1:
        return False
    stop(core, outcome, speaker, here[0].id)
    return True


def _choices(views: Sequence[RunView]) -> list[str]:
    return [
        f"  cancel {view.id}   {view.title}{f' on {view.target}' if view.target else ''}" for view in views
    ]


# ---------------------------------------------------------------- undoing


def roll_back(core: Core, outcome: Outcome, speaker: Speaker, run: str) -> None:
    """Begin a run that undoes `run`."""
    restored = restore(core, RunId(run))
    if restored is None:
        _deny(outcome, speaker, f"No run #{run} here. runs lists them.")
        return
    objection = _objection(core, restored)
    document = core.library.documents.get(restored.view.runbook)
    if objection or document is None or document.spec is None:
        _deny(outcome, speaker, objection or f"{restored.view.title} is not in the library any more.")
        return
    spec = laid_open(core, document.spec)
    if restored.state.undo not in {one.id for one in spec.steps}:
        _deny(outcome, speaker, f"{restored.view.title} has changed: nothing in it undoes #{run} any more.")
        return
    outcome.expect(RowIs("run", run, restored.view.status.value))
    runner.begin(
        core,
        outcome,
        speaker,
        runner.Beginning(
            spec=spec,
            inputs={},
            target=restored.view.target,
            person=speaker.operator.id,
            said=speaker.said,
            undoes=restored.state,
        ),
    )


def press(core: Core, outcome: Outcome, speaker: Speaker, claim: tokens.Claim, token: str) -> None:
    """Handle a pressed Roll back."""
    if not tokens.is_valid(core.token_key, token, shown=claim.subject):
        outcome.note(Text.of("That button belongs to nothing here."))
        return
    roll_back(core, outcome, speaker, claim.subject)


def _objection(core: Core, restored: Restored) -> str:
    run = restored.view.id
    if not restored.view.is_over:
        return f"#{run} goes on still. Stop it first:  cancel {run}"
    if not wording.has_undo(restored.state):
        return f"Nothing in {restored.view.title} undoes what #{run} did."
    undone = undone_by(core, run)
    return "" if undone is None else f"#{undone.id} undoes #{run} already."


def _deny(outcome: Outcome, speaker: Speaker, text: str) -> None:
    deny(outcome, speaker, Reason(code=ReasonCode.CANNOT_PLACE, text=text))
