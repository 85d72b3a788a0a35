"""What came of what a plan waits for: the ends of its proposals and runs, in words for the model.

Read from the ledger at every look, so that it does not matter who saw an end first. The rules it owns: what
a person refused, dropped or let expire ends the plan without another word of the model (K5); an unknown end
is told as that; and output is quoted, masked and capped.
"""

from dataclasses import dataclass

from bot.core import Core
from bot.phrasing import duration
from bot.planning.model.masking import masked, quoted
from bot.planning.model.restoring import Restored
from bot.planning.model.thinking import Result
from bot.planning.model.wanting import Wait
from gate.digest import action_digest, list_digest
from gate.domain import Digest, ProposalId
from gate.lifecycle import ACTION_ENDED, ActionState
from gate.redact import redact_command
from gate.supervise.events import EndCause
from ledger.views import ActionView, ProposalView


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """The results of every call of the newest answer, in their order."""

    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A person or the clock ended what was proposed before it ran; `words` say how."""

    words: str


class ChangedError(Exception):
    """What a plan proposed is not what the record has of it any more."""


def came(core: Core, restored: Restored) -> Came | Dropped | None:
    """Return what came of the newest answer; None while something of it is open.

    Raises:
        ChangedError: a proposal is not the one that the plan made.
    """
    known = {one.call: one for one in restored.results}
    for wait in restored.waits:
        found = _of_proposal(core, wait) if wait.digest else _of_run(core, wait)
        if found is None or isinstance(found, Dropped):
            return found
        before = known.get(wait.call)
        text = found if before is None else f"{before.text}\n{found}"
        known[wait.call] = Result(call=wait.call, tool=wait.tool, text=text)
    return Came(results=tuple(known[name] for name in restored.order if name in known))


# ---------------------------------------------------------------- proposals


def _of_proposal(core: Core, wait: Wait) -> str | Dropped | None:
    view = core.queries.proposal(ProposalId(wait.name))
    if view is None or not _is_the_same(view, wait.digest):
        raise ChangedError
    newest = _newest(core, view)
    if any(not _is_at_rest(one) for one in newest.actions):
        return None
    dropped = next((one for one in newest.actions if one.state is ActionState.CANCELLED), None)
    if dropped is not None and not any(_went_wrong(one) for one in newest.actions):
        note = "" if dropped.ending is None else dropped.ending.note
        return Dropped(words=f"#{newest.id}: {note or 'it was dropped'}")
    if newest.id != view.id:
        changed = f"A person replaced #{view.id} by #{newest.id}."
        return "\n".join([changed, *(_told(core, one) for one in newest.actions)])
    mine = [one for one in newest.actions if wait.first <= one.action.index <= wait.last]
    return "\n".join(_told(core, one) for one in mine)


def _is_the_same(view: ProposalView, digest: str) -> bool:
    """Whether the actions of a proposal are, word for word, those whose digest was recorded."""
    digests = [action_digest(one.action) for one in view.actions]
    return list_digest(digests) == Digest(digest) and digests == [one.digest for one in view.actions]


def _newest(core: Core, view: ProposalView) -> ProposalView:
    """Return what took the place of a proposal last."""
    while view.replaced_by is not None and (after := core.queries.proposal(view.replaced_by)) is not None:
        view = after
    return view


def _is_at_rest(one: ActionView) -> bool:
    """Whether nothing of an action is open: it ended, so did the check that follows it, and its end is known.

    Reading whose end is unknown has changed nothing; of anything else a person has to say what became of it.
    """
    if one.state not in ACTION_ENDED:
        return False
    if one.state is ActionState.LOST:
        return not one.freezes
    checks = one.action.verify is not None and one.state is ActionState.SUCCEEDED
    # What a person settled is not checked any more: they looked.
    return not checks or one.ending is None or one.ending.checked or bool(one.ending.settled)


def _went_wrong(one: ActionView) -> bool:
    return one.state in (ActionState.FAILED, ActionState.LOST)


def _told(core: Core, one: ActionView) -> str:
    """Return how one action ended, with what it printed."""
    command = redact_command(one.action.command, extra=core.secrets).text
    head = f"#{one.action.id} on {one.action.target.id}: {masked(core, command)}"
    ending = one.ending
    if ending is None:
        return f"{head}\n{one.state.value}"
    how = [_STATES[one.state]]
    if ending.exit_code is not None:
        how.append(f"exit {ending.exit_code} in {duration(ending.run_s)}")
    if ending.note:
        how.append(masked(core, ending.note))
    if ending.settled:
        how.append(f"a person found that out: {masked(core, ending.settled)}")
    if ending.checked:
        how.append("its check passed" if ending.verify_exit == 0 else "its check did not pass")
    if ending.dropped_bytes:
        how.append(f"{ending.dropped_bytes} bytes of output were not kept")
    output = quoted(core, f"output of #{one.action.id} on {one.action.target.id}", ending.output)
    return f"{head}\n{', '.join(how)}\n{output}"


_STATES = {
    ActionState.SUCCEEDED: "it ran and succeeded",
    ActionState.FAILED: "it failed",
    ActionState.CANCELLED: "it did not run",
    ActionState.LOST: "its end is unknown: it may have run or not",
}


# ---------------------------------------------------------------- runs


def _of_run(core: Core, wait: Wait) -> str | Dropped | None:
    view = core.queries.run(wait.name)
    if view is None:
        raise ChangedError
    if not view.is_over:
        return None
    if view.cause in (EndCause.REFUSED, EndCause.EXPIRED, EndCause.ABORTED):
        return Dropped(words=f"run #{view.id} was {view.cause.value}")
    lines = [
        f"run #{view.id}, {masked(core, view.title)}: {'' if view.outcome is None else view.outcome.value}"
    ]
    for step in core.queries.run_steps(view.id):
        lines.append(f"step {step.step}: {step.came.value}")
        asked = None if step.proposal is None else core.queries.proposal(step.proposal)
        lines += [] if asked is None else [_told(core, one) for one in asked.actions]
    return "\n".join(lines)
