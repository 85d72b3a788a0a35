"""What resolving a time needs to know, as values, and how a time is written into slots."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from gate.resolve.decision import Slots
from gate.when import Anchor, Grain, Remembered, Resolved, remember

#: Fixed offsets that have a name of their own in the zone database, in hours.
_NAMED_OFFSETS = range(-12, 15)


class Width(StrEnum):
    """How readily a person is asked where words allow more than one thing (C5). Stored in settings."""

    STRICT = "strict"
    BALANCED = "balanced"
    RELAXED = "relaxed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """What a time is resolved by.

    Attributes:
        request_at: when the words were said that are to be read, aware.
        now: the instant of the decision, aware; a picked time that lies before it has passed.
        zone: the zone that the person's wall clock is in.
        remembered: the events that are remembered.
        zones: zones by folded name, for times said in another one.
        width: how readily to ask.
        guesses: what somebody else reads words as that are not understood here; offered, never taken.
    """

    request_at: datetime
    now: datetime
    zone: tzinfo
    remembered: Remembered = field(default_factory=lambda: remember(()))
    zones: Mapping[str, tzinfo] = field(default_factory=dict)
    width: Width = Width.BALANCED
    guesses: tuple[datetime, ...] = ()

    def event(self, name: str) -> Anchor | None:
        """Return the remembered event of that id."""
        return self.remembered.by_id.get(name)


def slots_of(found: Resolved) -> Slots:
    """Return a time as slots; `slots_time` reads them back."""
    return {
        "fire_at": found.at.isoformat(),
        "rrule": found.rrule,
        "zone": zone_name(found.at.tzinfo),
        "anchor": found.anchor,
        "grain": found.grain.value,
    }


def slots_time(slots: Slots, zone: tzinfo) -> Resolved | None:
    """Return the time that `slots` hold, in `zone` where they name no other; None where they hold none.

    Raises:
        ValueError: they hold one that is no instant.
    """
    text = slots.get("fire_at", "")
    if not text:
        return None
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("Give aware times.")
    here = at.astimezone(zone)
    return Resolved(
        at=here if here.utcoffset() == at.utcoffset() else at,
        anchor=slots.get("anchor", ""),
        grain=Grain(slots.get("grain", Grain.MINUTE.value)),
        rrule=slots.get("rrule", ""),
    )


def zone_name(zone: tzinfo | None) -> str:
    """Return the zone database's name of `zone`; "" where it has none."""
    key = getattr(zone, "key", "")
    if isinstance(key, str) and key:
        return key
    offset = None if zone is None else zone.utcoffset(None)
    if zone is UTC or offset is None:
        return "UTC" if zone is UTC else ""
    hours, rest = divmod(offset, timedelta(hours=1))
    if rest or hours not in _NAMED_OFFSETS:
        return ""
    return f"Etc/GMT{'-' if hours >= 0 else '+'}{abs(hours)}"  # the database counts these the other way
