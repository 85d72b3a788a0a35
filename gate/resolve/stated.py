"""When an event is, as a remembered fact states it: an instant, a day, or a time that comes again.

Text in the record, read back here: "2026-12-01T14:00:00+01:00", "2026-12-04", or, with the zone whose wall
clock its rule counts on, "2026-12-01T09:30:00+01:00[Europe/Vienna] FREQ=WEEKLY;BYDAY=MO". Whatever else a
fact says is read by `gate.when.event_time`, leniently and inventing nothing (K27).
"""

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo

from gate.resolve import telling
from gate.when import Grain, Resolved, event_time

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_AGAIN = re.compile(r"(?P<first>[^\s\[]+)\[(?P<zone>[^\]\s]*)\] (?P<rule>FREQ=\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """When an event is.

    Attributes:
        at: aware; the first one of a recurrence, the beginning of a whole day.
        whole_day: only the day was said.
        rrule: RFC 5545 without DTSTART; "" when it happens once.
        zone: the name of the zone that `rrule` counts in; "" for none.
    """

    at: datetime
    whole_day: bool = False
    rrule: str = ""
    zone: str = ""


def stated(found: Resolved, *, zone_name: str) -> str:
    """Return what a fact about an event stores of its time.

    Args:
        found: as resolved, in the zone it was said in.
        zone_name: the zone database's name of that zone.
    """
    if found.rrule:
        return f"{found.at.isoformat()}[{zone_name}] {found.rrule}"
    return found.at.date().isoformat() if found.grain is Grain.DAY else found.at.isoformat()


def read(text: str, zone: tzinfo) -> Stated | None:
    """Return when an event is, in `zone` where the text names none; None where it cannot be read."""
    again = _AGAIN.fullmatch(text)
    at = event_time(text if again is None else again["first"], zone)
    if at is None:
        return None
    if again is None:
        return Stated(at=at, whole_day=_DAY.fullmatch(text) is not None)
    return Stated(at=at, rrule=again["rule"], zone=again["zone"])


def told(text: str, *, now: datetime, zone: tzinfo) -> str:
    """Return it in words: "Tue 1 Dec 14:00 CET", "Fri 4 Dec", "every weekday at 09:30 CET"; else as it is."""
    found = read(text, zone)
    if found is None:
        return text
    here = found.at.astimezone(zone)
    if found.whole_day:
        return telling.moment(here, now=now, zone=zone).removesuffix(" 00:00")
    if found.rrule:
        return f"{telling.recurrence(found.rrule, found.at)} {telling.zone_word(found.at)}"
    return telling.full(here, now=now)
