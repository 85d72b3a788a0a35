"""Days and times of day against the message's own time: which local times the words allow.

Two readings are two candidates, and two that still lie ahead are asked about. What decides without asking:
a bare hour without a day is the next one by day ("at 6" in the afternoon is 18:00); on a named day 7 to 12
are as written, and 1 to 6 are asked about.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo

from gate.when.local import HORIZON, distinct, instants, past_gap, since, wall_of
from gate.when.outcome import (
    ABSOLUTE,
    REQUEST,
    Ask,
    Grain,
    Impossible,
    Outcome,
    Reason,
    Resolved,
    Why,
)
from gate.when.pieces import Clock, Date, DayShift, Half, MonthDay, NextWeek, Part, Weekday

Day = DayShift | Weekday | Date | MonthDay | NextWeek

_DAWN = 6  # a bare hour before it is asked about
_MORNING = 7  # as written from here on a named day
_NOON = 12
_WEEK = timedelta(days=7)
#: Which hours a part of the day may mean, and the one offered when none is said.
_HOURS = {
    Part.MORNING: range(1, 12),
    Part.NOON: range(11, 16),
    Part.AFTERNOON: range(12, 19),
    Part.EVENING: range(16, 24),
    Part.NIGHT: range(18, 24),
}
_USUAL = {Part.MORNING: 9, Part.NOON: 12, Part.AFTERNOON: 15, Part.EVENING: 19, Part.NIGHT: 21}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What was said of one point in time; at least one of `days`, `clock` and `part` is there.

    Attributes:
        days: what names the day; two when a weekday stands beside a date.
        clock: the time of day.
        part: the part of the day.
        zone: the zone the point is in.
        home: the person's own zone, in which "today" is also meant.
    """

    days: tuple[Day, ...]
    clock: Clock | None
    part: Part | None
    zone: tzinfo
    home: tzinfo


def locate(point: Point, request_at: datetime) -> Outcome:
    """Return the one time ahead that the point names, or why there is none."""
    anchor = ABSOLUTE if any(isinstance(day, Date | MonthDay) for day in point.days) else REQUEST
    walls = _walls(point, request_at)
    if walls is None:
        return Ask(options=_usual(point, request_at), why=Why.WHICH_TIME)
    if not walls:
        return Ask(options=(), why=Why.WHICH_READING)
    return settle(walls, point.zone, request_at, anchor=anchor, grain=_grain(point.clock))


def settle(
    walls: Sequence[datetime], zone: tzinfo, request_at: datetime, *, anchor: str, grain: Grain
) -> Outcome:
    """Return the outcome of candidate local times, at least one."""
    times = distinct([at for wall in walls for at in instants(wall, zone)])
    if not times:
        return Impossible(reason=Reason.NO_SUCH_TIME, asked_at=None, nearest=past_gap(walls[0], zone))
    return choose(times, request_at, anchor=anchor, grain=grain)


def choose(times: Sequence[datetime], request_at: datetime, *, anchor: str, grain: Grain) -> Outcome:
    """Return the outcome of candidate instants, at least one: those that have passed do not count."""
    ahead = [at for at in times if since(request_at, at) > timedelta()]
    if not ahead:
        return Impossible(reason=Reason.PAST, asked_at=times[-1], nearest=request_at)
    if since(request_at, ahead[0]) > HORIZON:
        return Impossible(reason=Reason.TOO_FAR, asked_at=ahead[0], nearest=request_at + HORIZON)
    options = tuple(Resolved(at=at, anchor=anchor, grain=grain) for at in ahead)
    return options[0] if len(options) == 1 else Ask(options=options, why=Why.WHICH_READING)


def _grain(clock: Clock | None) -> Grain:
    if clock is None:
        return Grain.DAY
    return Grain.SECOND if clock.second else Grain.MINUTE if clock.fine else Grain.HOUR


# ---------------------------------------------------------------- local times


def _walls(point: Point, request_at: datetime) -> list[datetime] | None:
    """Return the candidates, [] when the words contradict each other, None when the time is missing."""
    now = wall_of(request_at, point.zone)
    if not point.days:
        return _without_day(point, now)
    dates = {day for home in (point.zone, point.home) for day in _dates(point, wall_of(request_at, home))}
    if point.clock is None:
        return None if point.part or _today(point) else _same_time(point, sorted(dates), now)
    hours = hours_of(point.clock, point.part, named_day=not _today(point))
    return sorted(_on(day, hour, point.clock) for day in dates for hour in hours)


def _today(point: Point) -> bool:
    return all(isinstance(day, DayShift) and day.days == 0 for day in point.days)


def _without_day(point: Point, now: datetime) -> list[datetime] | None:
    clock = point.clock
    if clock is None:
        return None
    hours = hours_of(clock, point.part, named_day=False)
    walls = sorted(_on(now.date() + timedelta(days=n), hour, clock) for n in (0, 1) for hour in hours)
    ahead = [wall for wall in walls if wall > now]
    certain = clock.half is not Half.NONE or point.part is not None
    first = ahead[:1]
    if certain or not first or (first[0].date() == now.date() and first[0].hour >= _DAWN):
        return first
    return ahead[:2]


def _same_time(point: Point, dates: Sequence[date], now: datetime) -> list[datetime] | None:
    if any(isinstance(day, Date | MonthDay) for day in point.days):
        midnights = [datetime.combine(day, time()) for day in dates]
        return None if now.date() in dates else midnights
    return [datetime.combine(day, now.time()) for day in dates]


def _on(day: date, hour: int, clock: Clock) -> datetime:
    start = datetime.combine(day, time(hour % 24, clock.minute, clock.second))
    return start + timedelta(days=hour // 24)


def hours_of(clock: Clock, part: Part | None, *, named_day: bool) -> tuple[int, ...]:
    """Return the hours (24 is the midnight that ends the day) that a clock may mean; () when none fits."""
    hours = _said(clock, named_day=named_day and part is None)
    if part is None:
        return (0, 24) if hours == (24,) and named_day else hours
    if hours == (24,):
        return hours if part is Part.NIGHT else ()
    if part is Part.AFTERNOON and clock == Clock(hour=_NOON):
        return ()  # noon, or the midnight that ends it?
    return tuple(hour for hour in hours if hour in _HOURS[part])


def _said(clock: Clock, *, named_day: bool) -> tuple[int, ...]:
    morning, evening = clock.hour % 12, clock.hour % 12 + 12
    if clock.half is Half.EXACT or (clock.half is Half.NONE and named_day and clock.hour >= _MORNING):
        return (clock.hour,)
    return {Half.AM: (morning,), Half.PM: (evening,)}.get(clock.half, (morning, evening))


def _usual(point: Point, request_at: datetime) -> tuple[Resolved, ...]:
    """Return what is offered for a day without a time: the usual hour of its part."""
    part = point.part or Part.MORNING
    clock = Clock(hour=_USUAL[part], half=Half.EXACT)
    outcome = locate(replace(point, clock=clock, part=None), request_at)
    if isinstance(outcome, Resolved):
        return (outcome,)
    return outcome.options if isinstance(outcome, Ask) else ()


# ---------------------------------------------------------------- dates


def _dates(point: Point, now: datetime) -> set[date]:
    """Return the dates that all of the point's days allow: beside a date, a weekday only confirms it."""
    weekdays = [day for day in point.days if isinstance(day, Weekday)]
    others = [day for day in point.days if not isinstance(day, Weekday)]
    if not (weekdays and others):
        return _dates_of(point.days[0], now.date())
    wanted, other = weekdays[0].days[0], others[0]
    if isinstance(other, NextWeek):
        return _next_week(wanted, now.date())
    return {one for one in _dates_of(other, now.date()) if one.weekday() == wanted}


def _dates_of(day: Day, today: date) -> set[date]:
    match day:
        case DayShift():
            return {today + timedelta(days=day.days)}
        case NextWeek():
            return {today + _WEEK}
        case Weekday():
            return _weekdays(day, today)
        case MonthDay():
            return set(_month_days(day.day, today))
        case _:
            return {date(day.year, day.month, day.day)} if day.year else set(_anniversaries(day, today))


def _weekdays(day: Weekday, today: date) -> set[date]:
    wanted = day.days[0]
    first = today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)
    if day.following:
        return {first} | _next_week(wanted, today)
    return {first, today} if today.weekday() == wanted else {first}


def _next_week(wanted: int, today: date) -> set[date]:
    """Return that day of next week, for weeks that begin on Monday and on Sunday."""
    monday = today - timedelta(days=today.weekday()) + _WEEK
    sunday = today - timedelta(days=(today.weekday() + 1) % 7) + _WEEK
    return {monday + timedelta(days=wanted), sunday + timedelta(days=(wanted + 1) % 7)}


def _month_days(wanted: int, today: date) -> list[date]:
    days = (today + timedelta(days=n) for n in range(62))
    return [day for day in days if day.day == wanted][:1]


def _anniversaries(day: Date, today: date) -> list[date]:
    years = (today.year + n for n in range(9))
    found = [date(year, day.month, day.day) for year in years if _exists(year, day)]
    return [one for one in found if one >= today][:1]


def _exists(year: int, day: Date) -> bool:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return (day.month, day.day) != (2, 29) or leap
