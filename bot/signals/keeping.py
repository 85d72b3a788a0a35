"""Keeping: what becomes of what was held, once it may go on; computed from the ledger at every look.

A fingerprint that stayed as it is long enough flaps no more; what fired during maintenance and still does is
handled when that is over; a storm ends when no new group came for a while.
"""

import logging
from dataclasses import replace
from datetime import datetime, timedelta

from bot.core import Core
from bot.outcome import Outcome
from bot.signals.maintenance import until
from bot.signals.matching import match
from bot.signals.taking import Delivery, new_outcome, place_of
from gate.domain import PlaceId, ProposalId
from gate.lifecycle import JobState
from gate.signals import WATCH, Signal, SignalStatus
from ledger.kinds import Json, Kind, LostRaceError, SignalsAre
from ledger.signal_views import Held

log = logging.getLogger(__name__)

#: A storm is over once no new group came for so long.
CALM = timedelta(minutes=2)


def close_due(core: Core) -> tuple[Outcome, ...]:
    """Let go of everything that is held no longer; return what was written.

    Raises:
        LedgerUnwritableError: the rest is held still.
    """
    now = core.now()
    made = [_storm(core, now), *_flapping(core, now), *_maintained(core, now), *_unwatched(core, now)]
    return tuple(one for one in made if one is not None)


def _storm(core: Core, now: datetime) -> Outcome | None:
    storm = core.queries.storm()
    newest = core.queries.newest_group_at()
    if storm is None or newest is None or now - newest < CALM:
        return None
    outcome = new_outcome(core, storm.place)
    outcome.expect(SignalsAre(core.queries.signals_seq()))
    outcome.write(Kind.STORM_ENDED, correlation_id=storm.id, body={"storm": storm.id})
    outcome.refresh(ProposalId(storm.id), place=storm.place)
    return _append(core, outcome)


def _flapping(core: Core, now: datetime) -> list[Outcome | None]:
    within = timedelta(seconds=core.settings.number("signals.flap_s"))
    made = []
    for view in core.queries.flapping():
        last = core.queries.last_change(view.id)
        if last is not None and now - last < within:
            continue
        own = core.queries.group(view.group) if view.group else None
        delivery = _delivery(core, place_of(core) if own is None else own.place)
        if view.is_firing and (own is None or not own.is_open):
            delivery.take_up(view)
        else:
            body: dict[str, Json] = {"signal": view.id, "group": view.group}
            delivery.outcome.write(Kind.SIGNAL_RELEASED, correlation_id=view.group, body=body)
        delivery.close()
        made.append(_append(core, delivery.outcome))
    return made


def _maintained(core: Core, now: datetime) -> list[Outcome | None]:
    made = []
    for name in core.queries.held_groups(Held.MAINTENANCE):
        view = core.queries.group(name)
        if view is None or any(_is_maintained(core, one.signal, now) for one in view.firing):
            continue
        delivery = _delivery(core, view.place)
        delivery.take_up_group(view)
        delivery.close()
        made.append(_append(core, delivery.outcome))
    return made


def _is_maintained(core: Core, signal: Signal, now: datetime) -> bool:
    target = match(core, signal).target.name
    return bool(target) and until(core, target, now) is not None


def _unwatched(core: Core, now: datetime) -> list[Outcome | None]:
    """End what a watch told of that is watched no more: nobody looks whether it is over."""
    made = []
    for view in core.queries.open_groups():
        if view.source != WATCH:
            continue
        delivery = _delivery(core, view.place)
        over = [one for one in view.firing if not _is_watched(core, one.signal)]
        delivery.hear([replace(one.signal, status=SignalStatus.RESOLVED, starts_at=now) for one in over])
        if over:
            made.append(_append(core, delivery.outcome))
    return made


def _is_watched(core: Core, signal: Signal) -> bool:
    job = core.queries.job(signal.fingerprint.partition(":")[0])
    return job is not None and job.state is JobState.PENDING


def _delivery(core: Core, place: PlaceId) -> Delivery:
    outcome = new_outcome(core, place)
    outcome.expect(SignalsAre(core.queries.signals_seq()))
    return Delivery(core=core, outcome=outcome, place=place)


def _append(core: Core, outcome: Outcome) -> Outcome | None:
    try:
        core.ledger.append(outcome.batch())
    except LostRaceError:
        return None  # something came meanwhile; the next look sees it
    return outcome
