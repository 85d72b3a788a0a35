"""Wall clocks: which instants a local time names, and what a length leads to.

A local time names two instants where the clock is set back, and none where it is set forward: the caller
asks, or says so. Days move the wall clock, seconds the world. A month is both 30 days and a calendar's
month; where they differ, both are returned.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from gate.when.pieces import Lead

_MONTH_DAYS = 30
#: Nothing is promised beyond about ten years.
HORIZON = timedelta(days=3653)


def instants(wall: datetime, zone: tzinfo) -> tuple[datetime, ...]:
    """Return the instants that the naive `wall` names in `zone`: none, one, or two, in order."""
    first, second = wall.replace(tzinfo=zone, fold=0), wall.replace(tzinfo=zone, fold=1)
    if first.utcoffset() == second.utcoffset():
        return (first,)
    there = first.astimezone(UTC).astimezone(zone).replace(tzinfo=None)
    return (first, second) if there == wall else ()


def past_gap(wall: datetime, zone: tzinfo) -> datetime:
    """Return what a clock shows that was not set forward at a gap: 02:30 becomes 03:30."""
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC).astimezone(zone)


def wall_of(at: datetime, zone: tzinfo) -> datetime:
    """Return the naive local time of an instant."""
    return at.astimezone(zone).replace(tzinfo=None, fold=0)


def since(start: datetime, end: datetime) -> timedelta:
    """Return the time from `start` to `end`; two times of one zone would be compared by their wall clocks."""
    return end.astimezone(UTC) - start.astimezone(UTC)


def shifted(start: datetime, lead: Lead, sign: int, zone: tzinfo) -> tuple[datetime, ...]:
    """Return where `lead` leads from `start`, forward (1) or back (-1): every reading, none in a gap."""
    seconds = timedelta(seconds=sign * lead.seconds)
    if not lead.months and not lead.days:
        return ((start.astimezone(UTC) + seconds).astimezone(zone),)
    found: list[datetime] = []
    for wall in walls(wall_of(start, zone), lead, sign):
        found += [(at.astimezone(UTC) + seconds).astimezone(zone) for at in instants(wall, zone)]
    return distinct(found)


def walls(wall: datetime, lead: Lead, sign: int) -> Sequence[datetime]:
    """Return the local times that months and days lead to, without the seconds."""
    days = timedelta(days=sign * lead.days)
    if not lead.months:
        return (wall + days,)
    counted = wall + timedelta(days=sign * lead.months * _MONTH_DAYS) + days
    months = wall.year * 12 + wall.month - 1 + sign * lead.months
    first, next_first = _first_of(wall, months), _first_of(wall, months + 1)
    day = min(wall.day, (next_first - first).days)  # the 31st becomes the month's last day
    return (first.replace(day=day) + days, counted)


def _first_of(wall: datetime, months: int) -> datetime:
    return wall.replace(year=months // 12, month=months % 12 + 1, day=1)


def distinct(times: Sequence[datetime]) -> tuple[datetime, ...]:
    """Return the instants once each, in order."""
    return tuple({at.astimezone(UTC): at for at in sorted(times, key=lambda at: at.astimezone(UTC))}.values())
