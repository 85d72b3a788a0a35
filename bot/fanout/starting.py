"""Starting: lets members of a fan-out through the door, many in one transaction.

Each is looked at by itself, as everywhere (`bot.execution.door`); those that may start are recorded together,
all of them or none. Where something changed meanwhile, each is looked at anew and by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.core import Core
from bot.execution import door
from bot.fanout.recording import Voided
from gate.domain import ActionId, ProposalId
from gate.lifecycle import ActionState
from ledger.kinds import LostRaceError
from ledger.views import ActionView


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A member that is to start; `cancelled` is what was said of it since, "" for nothing."""

    action: ActionId
    boot_id: str | None = None
    cancelled: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What the door said, for each that asked; None for what is not queued any more."""

    started: Mapping[ActionId, ActionView]
    held: Mapping[ActionId, str]
    voided: Sequence[Voided]


def start(core: Core, proposal: ProposalId, wanted: Sequence[Wanted]) -> Looked:
    """Start those of `wanted` that may start; what is void is not recorded here.

    Raises:
        LedgerUnwritableError: nothing of what is not returned as started may run.
    """
    try:
        return _start(core, proposal, wanted)
    except LostRaceError:
        return _merged([_alone(core, proposal, one) for one in wanted])


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
        if view.state is not ActionState.QUEUED:
            continue
        one = asks[view.action.id]
        looked = door.inspect(core, view, seen)
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


def _merged(looked: Sequence[Looked]) -> Looked:
    return Looked(
        started={name: view for one in looked for name, view in one.started.items()},
        held={name: why for one in looked for name, why in one.held.items()},
        voided=[void for one in looked for void in one.voided],
    )
