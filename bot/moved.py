"""Places that go on under other ids, as a group does that becomes a bigger one (D3, report 37).

What waits there goes on waiting: the place keeps its own id, only what leads to it changes. Cards that were
posted under the old ids may be out of reach, so those that wait are shown anew.
"""

from bot.core import Core
from bot.outcome import Outcome
from bot.places import place_ref_doc
from bot.ports import Inbound
from ledger.kinds import Kind


def record(core: Core, outcome: Outcome, inbound: Inbound) -> None:
    """Record that a place moved and show again what waits there. Told twice, it does nothing more."""
    old, new = inbound.place, inbound.moved_to
    if new is None:
        return
    here = core.queries.places_at(old.platform, old.tenant, old.channel)
    if not here:
        return
    outcome.write(
        Kind.PLACE_MOVED,
        body={"place_ref": place_ref_doc(old), "moved_to": place_ref_doc(new), "event": inbound.event_id},
    )
    waiting = dict.fromkeys((one.proposal, one.shown_in) for one in core.queries.pending())
    for proposal, place in waiting:
        if place in here:
            outcome.card(proposal, place=place)
