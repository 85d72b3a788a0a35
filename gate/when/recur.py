"""Recurrences: "every weekday at 9" becomes an RRULE and its first occurrence.

Only what has one meaning is made: a day without a time of day, the 31st of every month, a rule with an end or
an exception are asked about. The rule is text (RFC 5545); what repeats it lives elsewhere.
"""

from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo

from gate.when.local import shifted, wall_of
from gate.when.outcome import REQUEST, Ask, Grain, Outcome, Resolved, Why
from gate.when.pieces import Clock, Every, Half, Lead, MonthDay, Part, Weekday
from gate.when.points import hours_of, settle

_NAMES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_ALL = tuple(range(7))
_LAST_SAFE = 28  # every month has it
_UNSURE = Ask(options=(), why=Why.UNREAD)


def recurrence(
    every: Every,
    *,
    weekday: Weekday | None,
    month_day: MonthDay | None,
    clock: Clock | None,
    part: Part | None,
    request_at: datetime,
    zone: tzinfo,
) -> Outcome:
    """Return the first occurrence with its rule."""
    lead = every.lead
    if lead is not None and lead.seconds:
        plain = weekday is None and month_day is None and clock is None and part is None
        return _by_seconds(lead, request_at, zone) if plain else _UNSURE
    timed = part is not None or (clock is not None and clock.half is not Half.NONE)
    if lead is None and weekday is None and timed:
        lead = Lead(days=1)  # "every morning", "every midnight"
    rule = _rule(lead, weekday, month_day)
    if rule is None:
        return _UNSURE
    if clock is None:
        return Ask(options=(), why=Why.WHICH_TIME)
    hours = sorted({hour % 24 for hour in hours_of(clock, part, named_day=True)})
    outcomes = [
        _at(rule, replace(clock, hour=hour), _accepts(weekday, month_day), request_at, zone) for hour in hours
    ]
    if len(outcomes) == 1:
        return outcomes[0]
    options = tuple(one for one in outcomes if isinstance(one, Resolved))
    return Ask(options=options, why=Why.WHICH_READING)


def _by_seconds(lead: Lead, request_at: datetime, zone: tzinfo) -> Outcome:
    if lead.days or lead.months or lead.seconds % 60:
        return _UNSURE
    minutes = lead.seconds // 60
    unit, times = ("HOURLY", minutes // 60) if minutes % 60 == 0 else ("MINUTELY", minutes)
    first = shifted(request_at, lead, 1, zone)[0]
    return Resolved(at=first, anchor=REQUEST, grain=Grain.MINUTE, rrule=_text(unit, times))


def _rule(lead: Lead | None, weekday: Weekday | None, month_day: MonthDay | None) -> str | None:
    """Return the rule without its time of day; None when the words do not make one."""
    if month_day is not None:
        monthly = lead is not None and lead.months and not lead.days and weekday is None
        if not monthly or lead is None or month_day.day > _LAST_SAFE:
            return None
        return _text("MONTHLY", lead.months, f"BYMONTHDAY={month_day.day}")
    if weekday is not None:
        weeks = 1 if lead is None else lead.days // 7
        whole = lead is None or (lead.days % 7 == 0 and lead.days > 0 and not lead.months)
        if not whole or weekday.following or (weeks > 1 and len(weekday.days) > 1):
            return None
        return _text("WEEKLY", weeks, f"BYDAY={','.join(_NAMES[day] for day in weekday.days)}")
    if lead is None or lead.months or lead.days % 7 == 0:
        return None  # on which day of the week or month?
    return _text("DAILY", lead.days)


def _text(unit: str, times: int, *more: str) -> str:
    interval = (f"INTERVAL={times}",) if times > 1 else ()
    return ";".join((f"FREQ={unit}", *interval, *more))


def _accepts(weekday: Weekday | None, month_day: MonthDay | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    days = weekday.days if weekday else _ALL
    return days, ((month_day.day,) if month_day else tuple(range(1, 32)))


def _at(
    rule: str,
    clock: Clock,
    accepts: tuple[tuple[int, ...], tuple[int, ...]],
    request_at: datetime,
    zone: tzinfo,
) -> Outcome:
    weekdays, month_days = accepts
    now = wall_of(request_at, zone)
    walls = [
        datetime.combine(day, datetime.min.time()).replace(
            hour=clock.hour, minute=clock.minute, second=clock.second
        )
        for day in _days_from(now.date())
        if day.weekday() in weekdays and day.day in month_days
    ]
    first = next(wall for wall in walls if wall > now)
    outcome = settle([first], zone, request_at, anchor=REQUEST, grain=Grain.MINUTE)
    text = f"{rule};BYHOUR={clock.hour};BYMINUTE={clock.minute};BYSECOND={clock.second}"
    match outcome:
        case Resolved():
            return replace(outcome, rrule=text)
        case Ask():
            return Ask(options=tuple(replace(one, rrule=text) for one in outcome.options), why=outcome.why)
        case _:
            return outcome


def _days_from(today: date) -> list[date]:
    return [today + timedelta(days=n) for n in range(63)]
