"""Braking: what an operator's tightening words do at once although they cannot be recorded yet (D19).

Only stop, auto off, never auto, revoke trust and cancel; whatever else is said into a full disk counts for
nothing. It holds the brake and names what is to be cancelled; it writes nothing.
"""

from dataclasses import dataclass

from bot import commands, control_words, trusting
from bot.controls import may_drop
from bot.core import Core
from bot.phrasing import action_ref, listed, named
from bot.ports import Inbound, InboundKind
from bot.text import Text
from gate.domain import ActionId, PersonId, PlaceId
from gate.lifecycle import ActionState
from gate.policy import Operator, Switches
from ledger.views import ActionView

_HELD = (
    "This holds in memory: the ledger cannot be written now. It is recorded as soon as it can be.",
    "Stopping sayso before that forgets it. Check disk space:  sayso doctor",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Braked:
    """What to tell, and which running actions to cancel for whom."""

    words: Text
    by: PersonId
    cancel: tuple[ActionId, ...] = ()


def brake(core: Core, inbound: Inbound, *, key: str) -> Braked | None:
    """Act in memory on tightening words that were not recorded; None when `inbound` is something else."""
    operator = core.find(inbound.account.key)
    said = inbound.kind is InboundKind.MESSAGE and not inbound.forwarded and not inbound.account.is_bot
    if operator is None or not said:
        return None
    match command := control_words.parse(inbound.text):
        case commands.Stop():
            core.brake.pull(key, Switches(stopped=True))
            running = _running(core, core.queries.in_state(ActionState.STARTED))
            lines = ["Stopped. Nothing starts, approved work included.", *_HELD, *running]
            return Braked(words=Text.of(*lines), by=operator.id)
        case commands.AutoOff():
            core.brake.pull(key, Switches(auto_off=True))
            return Braked(words=Text.of("Auto is off: nothing starts by itself.", *_HELD), by=operator.id)
        case commands.NeverAuto() | commands.RevokeTrust():
            return _narrow(core, operator, command, key=key)
        case commands.Cancel(ref=ref):
            return _cancel(core, operator, ref or _only_open(core, core.place_of(inbound.place)))
        case _:
            return None


def _running(core: Core, running: tuple[ActionView, ...]) -> list[str]:
    if not running:
        return []
    asks = [f"  cancel {action_ref(one.action.id, alone=False)}" for one in running]
    return [
        f"Still running: {listed([named(one, secrets=core.secrets) for one in running])}. Cancel that too?",
        *asks,
    ]


def _narrow(
    core: Core, operator: Operator, command: commands.NeverAuto | commands.RevokeTrust, *, key: str
) -> Braked | None:
    if isinstance(command, commands.RevokeTrust):
        return _untrust(core, operator, command.rule, key=key)
    return _never_auto(core, operator, command.target, key=key)


def _never_auto(core: Core, operator: Operator, target: str, *, key: str) -> Braked | None:
    found = core.inventory.select(target)
    if not isinstance(found, tuple):
        return None
    names = tuple(one.id for one in found)
    core.brake.pull(key, Switches(never_auto_act=names))
    words = f"Nothing runs by itself on {listed([str(name) for name in names])} any more."
    return Braked(words=Text.of(words, *_HELD), by=operator.id)


def _untrust(core: Core, operator: Operator, rule: str, *, key: str) -> Braked | None:
    gone = trusting.named(core, rule)
    if not gone:
        return None
    core.brake.revoke(key, [view.rule.id for view in gone])
    return Braked(words=Text.of(trusting.no_more(gone), *_HELD), by=operator.id)


def _cancel(core: Core, operator: Operator, ref: commands.Ref | None) -> Braked | None:
    view = None if ref is None else core.queries.proposal(ref.proposal)
    if ref is None or view is None or not may_drop(operator, view):
        return None
    running = [
        one
        for one in view.actions
        if one.state is ActionState.STARTED and ref.index in (None, one.action.index)
    ]
    if not running:
        return None
    words = f"Stopping {listed([named(one, secrets=core.secrets) for one in running])}."
    end = "The ledger cannot be written now; its end is recorded as soon as it can be."
    return Braked(words=Text.of(words, end), by=operator.id, cancel=tuple(one.action.id for one in running))


def _only_open(core: Core, place: PlaceId) -> commands.Ref | None:
    """Return what `cancel` without an id means in `place`; None with more than one thing open.

    It must not guess: the words are taken as a turn later, and may then mean only what is left.
    """
    queries = core.queries
    views = [view for one in queries.unfinished() if (view := queries.proposal(one)) is not None]
    here = [view for view in views if place in (view.asked_in, view.shown_in)]
    return commands.Ref(proposal=here[0].id) if len(here) == 1 else None
