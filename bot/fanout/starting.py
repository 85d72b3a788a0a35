"""Starting: lets members of a fan-out through the door, many in one transaction.

Each is looked at by itself, as everywhere (`bot.execution.door`); those that may start are recorded together,
all of them or none. Where something changed meanwhile, each is looked at anew and by itself.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.core import Core
from bot.execution import door
from bot.fanout.recording import Voided
from gate.domain import ActionId, ApprovalId, ProposalId, Reason, ReasonCode
from gate.lifecycle import ActionState
from ledger.kinds import LedgerUnwritableError, LostRaceError
from ledger.views import ActionView

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A member that is to start.

    Attributes:
        grant: what lets it start, None where nothing needs to; under another one it is of another round.
        cancelled: what was said of it since, "" for nothing.
    """

    action: ActionId
    grant: ApprovalId | None
    boot_id: str | None = None
    cancelled: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What the door said of those that are queued under their grant still.

    Attributes:
        fault: why it is not known of the others; what is started here is started nevertheless.
    """

    started: Mapping[ActionId, ActionView]
    held: Mapping[ActionId, str]
    voided: Sequence[Voided]
    fault: Exception | None = None


def start(core: Core, proposal: ProposalId, wanted: Sequence[Wanted]) -> Looked:
    """Start those of `wanted` that may start; what is void is not recorded here.

    Raises:
        LedgerUnwritableError: nothing of what is not returned as started may run.
    """
    try:
        return _start(core, proposal, wanted)
    except LostRaceError:
        pass
    found: list[Looked] = []
    for one in wanted:
        try:
            found.append(_alone(core, proposal, one))
        except Exception as error:
            if not found:
                raise
            # Those before it stand in the record as started, so they must run.
            return replace(_merged(found), fault=error)
    return _merged(found)


def grant_of(view: ActionView) -> ApprovalId | None:
    """Return what lets a queued member start."""
    return None if view.approval is None else view.approval.id


def _alone(core: Core, proposal: ProposalId, one: Wanted) -> Looked:
    while True:
        try:
            return _start(core, proposal, [one])
        except LostRaceError:
            continue  # each time something was recorded, so that it cannot go on for ever


def _start(core: Core, proposal: ProposalId, wanted: Sequence[Wanted]) -> Looked:
    seen = door.look(core, proposal)
    asks = {one.action: one for one in wanted}
    starts: list[door.Start] = []
    held: dict[ActionId, str] = {}
    voided: list[Voided] = []
    for view in core.queries.actions(list(asks)):
        one = asks[view.action.id]
        if view.state is not ActionState.QUEUED or grant_of(view) != one.grant:
            continue
        looked = _inspected(core, view, seen)
        if isinstance(looked, door.Held):
            held[view.action.id] = looked.reason.text
        elif isinstance(looked, door.Void):
            voided.append(Voided(view=view, note=looked.reason.text))
        elif one.cancelled:
            voided.append(Voided(view=view, note=one.cancelled))
        else:
            starts.append(door.Start(cleared=looked, boot_id=one.boot_id))
    if starts:
        door.start(core, *starts)
    started = {one.cleared.view.action.id: one.cleared.running() for one in starts}
    return Looked(started=started, held=held, voided=voided)


def _inspected(core: Core, view: ActionView, seen: door.Look) -> door.Cleared | door.Held | door.Void:
    """Look at one; a fault about it is its own, and holds up none of the others."""
    try:
        return door.inspect(core, view, seen)
    except LedgerUnwritableError:
        raise
    except Exception as error:
        log.exception("action %s", view.action.id)
        text = f"failed inside sayso before it started: {error!r}"[:200]
        return door.Void(reason=Reason(code=ReasonCode.STRICTER_NOW, text=f"{text}; nothing ran"))


def _merged(looked: Sequence[Looked]) -> Looked:
    return Looked(
        started={name: view for one in looked for name, view in one.started.items()},
        held={name: why for one in looked for name, why in one.held.items()},
        voided=[void for one in looked for void in one.voided],
    )
