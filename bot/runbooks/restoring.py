"""Restoring a run from the ledger: the supervisor's state is what replaying its events gives (R20, R22).

Only the events that came since the last look are read again, so that a run of many steps costs each of them
once. The envelope is derived from the runbook as it was when the run began; what the library holds by now is
only compared with it.
"""

from dataclasses import dataclass
from functools import reduce

from bot.core import Core
from bot.runbooks.hidden import secrets_of_runs
from bot.runbooks.kept import Known
from gate.domain import Digest
from gate.supervise.binding import as_text
from gate.supervise.calls import expand
from gate.supervise.domain import RunbookSpec, RunId
from gate.supervise.envelope import derive
from gate.supervise.events import Consumed, Started
from gate.supervise.state import RunState, apply, fresh
from ledger.runs import RunView


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """One run, as its row and its events tell it; `spec` has its calls laid open."""

    view: RunView
    spec: RunbookSpec
    state: RunState


def restore(core: Core, run: RunId) -> Restored | None:
    """Return where `run` stands; None for an unknown one, and for one whose words were pruned."""
    view = core.queries.run(run)
    if view is None:
        return None
    known = core.runs.known.get(run)
    if known is None or known.seq > view.seq:
        known = _from_the_start(core, view)
    elif known.seq < view.seq:
        events = core.queries.run_events(run, after=known.seq, upto=view.seq)
        known = Known(seq=view.seq, spec=known.spec, state=reduce(apply, events, known.state))
    if known is None:
        return None
    if view.is_over:
        core.runs.forget(run)
    else:
        core.runs.known[run] = known
    learn(core, known.spec, known.state)
    return Restored(view=view, spec=known.spec, state=known.state)


def _from_the_start(core: Core, view: RunView) -> Known | None:
    spec = core.queries.run_spec(view.id)
    events = core.queries.run_events(view.id, upto=view.seq)
    first = events[0]
    if spec is None or not isinstance(first, Started):
        return None
    envelope = derive(spec, posture=first.posture, approval_s=core.policy.approval_s)
    return Known(seq=view.seq, spec=spec, state=reduce(apply, events, fresh(view.id, envelope)))


def learn(core: Core, spec: RunbookSpec, state: RunState) -> None:
    """Let the secrets of a run be masked wherever anything is shown."""
    named = [name for name, item in spec.inputs.items() if item.secret]
    core.secrets.learn(as_text(state.inputs.get(name)) for name in named)


def learn_all(core: Core) -> None:
    """Let the secrets of every run on record be masked, those that are over too."""
    core.secrets.learn(secrets_of_runs(core.queries))


def undone_by(core: Core, run: RunId) -> RunView | None:
    """Return the run that undoes `run`, or did; None where none does, or it ended before it did anything."""
    found = core.queries.undone_by(run)
    if found is None or not found.is_over:
        return found
    return found if any(isinstance(one, Consumed) for one in core.queries.run_events(found.id)) else None


def laid_open(core: Core, spec: RunbookSpec) -> RunbookSpec:
    """Return `spec` with every call of another runbook laid open, as the library holds those now."""
    catalogue = {name: one.spec for name, one in core.library.documents.items() if one.spec is not None}
    return expand(spec, catalogue=catalogue)


def digest_now(core: Core, runbook: str) -> Digest:
    """Return the digest of the runbook as the library holds it now; "" where it is gone."""
    document = core.library.documents.get(runbook)
    return Digest("") if document is None or document.spec is None else document.spec.digest
