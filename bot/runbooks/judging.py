"""Judging a step in the batch that records its end (R21): by its own output, whole and unmasked.

Only here is everything at hand that a runbook may expect something of. Were the end recorded without it, the
run would go on by what the record holds, which proves less.
"""

import asyncio
import logging
import shlex
from collections.abc import Mapping

from bot.core import Core
from bot.execution.settle import probe
from bot.outcome import Outcome
from bot.ports import Ended as CommandEnded
from bot.ports import EndKind
from bot.runbooks import ends
from bot.runbooks.closing import tell_end
from bot.runbooks.going import Going, refresh, write
from bot.runbooks.restoring import Restored, restore
from gate.domain import ProposalId
from gate.lifecycle import ActionState, RunStatus
from gate.supervise import course
from gate.supervise.binding import Unbound
from gate.supervise.domain import RunId
from gate.supervise.events import Ended, Judged
from gate.supervise.invocation import invocation
from ledger.kinds import RunIsAt
from ledger.views import ActionView

log = logging.getLogger(__name__)


def judge(
    core: Core, outcome: Outcome, view: ActionView, ended: CommandEnded, *, files: Mapping[str, bool]
) -> None:
    """Write what the end of `view` means for the run that it is a step of, if it is one."""
    restored = _run_of(core, view)
    if restored is None:
        return
    going, shown = Going.of(restored), ends.evidence(restored.state, ended, files=files)
    if shown is None:
        refresh(outcome, going)  # nothing follows that would
    if shown is None or restored.state.status is not RunStatus.RUNNING:
        return
    outcome.expect(RunIsAt(going.run, restored.view.seq))
    events = course.advance(restored.state, shown, now=outcome.at).events
    write(outcome, going.run, events)
    if any(isinstance(one, Judged) and not one.passed for one in events):
        _show(core, outcome, view)
    if isinstance(events[-1], Ended):
        refresh(outcome, going)
    tell_end(core, outcome, going, restored.state, events)


def finds_secret(core: Core, view: ActionView) -> bool:
    """Whether `view` is a step whose output is to become a secret, which nothing can mask before that."""
    restored = _run_of(core, view)
    step = None if restored is None else restored.state.step
    if restored is None or step is None or step.spec.capture is None:
        return False
    return restored.state.envelope.inputs[step.spec.capture.input].secret


def _show(core: Core, outcome: Outcome, view: ActionView) -> None:
    """Show the card of a step that failed, with what it wrote, where it was not shown before."""
    name = ProposalId(view.action.id.rpartition(".")[0])
    parent = core.queries.proposal(name)
    if parent is not None and view.approval is None:
        outcome.card(name, place=parent.shown_in)


async def look(core: Core, view: ActionView, ended: CommandEnded) -> dict[str, bool]:
    """Look at the files that a runbook expects; whatever fails about that, the end is recorded.

    Returns:
        Which are there; one that nobody can tell of is left out.
    """
    return await _looked(core, view) if ended.kind is EndKind.EXITED else {}


async def look_again(core: Core, run: RunId) -> dict[str, bool]:
    """Look at the files that the step of `run` expects whose end is on record, and was not judged yet."""
    view = await asyncio.to_thread(core.queries.run, run)
    if view is None or view.status is not RunStatus.RUNNING or view.proposal is None:
        return {}
    asked = await asyncio.to_thread(core.queries.proposal, view.proposal)
    ended = [
        one
        for one in (() if asked is None else asked.actions)
        if one.state in (ActionState.SUCCEEDED, ActionState.FAILED)
    ]
    return await _looked(core, ended[0]) if ended else {}


async def _looked(core: Core, view: ActionView) -> dict[str, bool]:
    if view.action.runbook is None:
        return {}
    try:
        files = await asyncio.to_thread(_files_of, core, view)
        return await _look_at(core, view, files)
    except Exception:
        log.exception("nobody looked at the files of %s", view.action.id)
        return {}


def _files_of(core: Core, view: ActionView) -> tuple[str, ...]:
    restored = _run_of(core, view)
    step = None if restored is None else restored.state.step
    if restored is None or step is None:
        return ()
    bound = invocation(restored.state, step)
    return () if isinstance(bound, Unbound) else bound.files


async def _look_at(core: Core, view: ActionView, files: tuple[str, ...]) -> dict[str, bool]:
    found = {}
    for file in files:
        ended = await probe(core.executor, view.action.target, f"test -e {shlex.quote(file)}")
        if ended.kind is EndKind.EXITED and ended.exit_code in (0, 1):
            found[file] = ended.exit_code == 0
    return found


def _run_of(core: Core, view: ActionView) -> Restored | None:
    if view.action.runbook is None:
        return None
    run = core.queries.run_of(ProposalId(view.action.id.rpartition(".")[0]))
    return None if run is None or run.is_over else restore(core, run.id)
