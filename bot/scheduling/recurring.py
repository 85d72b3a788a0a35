"""When a job comes again: a first occurrence and a rule (RFC 5545) to instants. Pure.

Days and longer are counted on the wall clock of a zone and converted, so "every weekday at 9" stays at 9
when the clocks change. A wall time that is skipped then becomes the first instant after the gap, one that
comes twice happens the first time. Hours and minutes without further parts are counted in the world instead:
"every 10 minutes" goes on through the hour that comes twice. COUNT counts the first occurrence, always.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import count, islice, takewhile

from dateutil.rrule import rrule, rrulestr

_UNITS = {"HOURLY": timedelta(hours=1), "MINUTELY": timedelta(minutes=1)}
_FREQUENCIES = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY", *_UNITS)
#: What selects among days within a period, and what else may narrow hours and minutes.
_OF_DAYS = ("BYMONTH", "BYMONTHDAY", "BYSETPOS")
_PARTS = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYHOUR", "BYMINUTE", "BYSECOND", *_OF_DAYS)
_VALUE = re.compile(r"[A-Z0-9,+-]+")
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_WEEK = timedelta(days=7)


class RuleError(ValueError):
    """This rule cannot be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Several occurrences that follow each other."""

    first: datetime
    last: datetime
    count: int


def check(rule: str) -> None:
    """Raise unless `rule` is one that can be kept: of known parts, no finer than minutes, able to occur.

    Raises:
        RuleError: says what is wrong with it.
    """
    parts = _parts(rule)
    unknown = [name for name, value in parts.items() if name not in _PARTS or not _VALUE.fullmatch(value)]
    if unknown:
        raise RuleError(f"{RuleError.__doc__} Unknown: {', '.join(unknown)}.")
    frequency = parts.get("FREQ", "")
    if frequency not in _FREQUENCIES:
        raise RuleError(f"{RuleError.__doc__} Its FREQ is {frequency or 'missing'}.")
    for name in ("INTERVAL", "COUNT"):
        if name in parts and not re.fullmatch(r"[1-9][0-9]{0,5}", parts[name]):
            raise RuleError(f"{RuleError.__doc__} {name} is {parts[name]}.")
    if "," in parts.get("BYSECOND", ""):
        raise RuleError(f"{RuleError.__doc__} It comes more often than every minute.")
    if frequency in _UNITS and any(name in parts for name in _OF_DAYS):
        raise RuleError(f"{RuleError.__doc__} Hours and minutes are chosen by BYDAY and BYHOUR only.")
    if not _has_day(parts):
        raise RuleError(f"{RuleError.__doc__} No month has that day.")
    try:
        _walls(datetime(2026, 1, 1), rule, UTC)  # noqa: DTZ001 - a wall time
    except ValueError as error:
        raise RuleError(f"{RuleError.__doc__} {error}.") from None


def following(first_at: datetime, rule: str, zone: tzinfo, *, after: datetime) -> datetime | None:
    """Return the first occurrence later than `after`, aware UTC; None where there is none.

    Args:
        first_at: the first occurrence, whether or not `rule` has it too.
        rule: without DTSTART; "" for once.
        zone: whose wall clock the rule counts on.
    """
    first_at, after = first_at.astimezone(UTC), after.astimezone(UTC)  # else wall clocks are compared
    if first_at > after:
        return first_at
    return next(_after(first_at, rule, zone, after), None)


def between(
    first_at: datetime, rule: str, zone: tzinfo, *, since: datetime, until: datetime, most: int = 100_000
) -> Run | None:
    """Return the occurrences from `since` to `until`, both included; None for none.

    Args:
        most: no more than this many are counted.
    """
    found = following(first_at, rule, zone, after=since - timedelta(microseconds=1))
    if found is None or found > until:
        return None
    number, last = 1, found
    for one in takewhile(lambda one: one <= until, _after(first_at, rule, zone, found)):
        number, last = number + 1, one
        if number == most:
            break
    return Run(first=found, last=last, count=number)


def _after(first_at: datetime, rule: str, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    """Yield every occurrence later than `after`, which is not before `first_at`, in order."""
    if not rule:
        return
    times = _steps if counts_elapsed(rule) else _on_the_wall
    limit = _parts(rule).get("COUNT")
    if limit is None:
        yield from _rising(times(first_at, rule, zone, after.astimezone(UTC)), after)
        return
    # The first one is one of so many, whether or not the rule has it.
    every = _rising(times(first_at, rule, zone, first_at.astimezone(UTC)), first_at)
    yield from (one for one in islice(every, int(limit) - 1) if one > after)


def _rising(times: Iterator[datetime], after: datetime) -> Iterator[datetime]:
    """Yield what is later than `after` and all before; a wall time in a gap may coincide with the next."""
    for one in times:
        if one > after:
            yield one
            after = one


def _steps(first_at: datetime, rule: str, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    """Yield what comes after so many hours or minutes of the world, from about `after` on."""
    parts = _parts(rule)
    step = _UNITS[parts["FREQ"]] * int(parts.get("INTERVAL", "1"))
    first = first_at.astimezone(UTC)
    until = instant_of(_until(parts["UNTIL"], zone), zone) if "UNTIL" in parts else None
    for number in count((after - first) // step):
        one = first + number * step
        if until is not None and one > until:
            return
        yield one


def _on_the_wall(first_at: datetime, rule: str, zone: tzinfo, after: datetime) -> Iterator[datetime]:
    start = first_at.astimezone(zone).replace(tzinfo=None, fold=0)
    # A gap moves what is before it to after it, so one day earlier is looked at too.
    begin = after.astimezone(zone).replace(tzinfo=None, fold=0) - timedelta(days=1)
    parts = _parts(rule)
    if parts.get("FREQ") in _UNITS and begin - start > _WEEK:
        # What is counted in minutes is not counted from years ago.
        step = _UNITS[parts["FREQ"]] * int(parts.get("INTERVAL", "1"))
        start += (begin - start) // step * step
    for wall in _walls(start, rule, zone).xafter(begin, inc=True):
        yield instant_of(wall, zone)


def instant_of(wall: datetime, zone: tzinfo) -> datetime:
    """Return the instant, aware UTC, that the naive `wall` names in `zone`.

    Of two it is the first; where the clock jumps over it, the first instant after the jump.
    """
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None, fold=0) == wall:
        return first
    # As the offset after the gap reads it, the wall time lies before the jump; as the one before, behind it.
    early = wall.replace(tzinfo=zone, fold=1, microsecond=0).astimezone(UTC)
    before = early.astimezone(zone).utcoffset()
    low, high = 0, int((first - early).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        jumped = (early + timedelta(seconds=middle)).astimezone(zone).utcoffset() != before
        low, high = (low, middle) if jumped else (middle, high)
    return early + timedelta(seconds=high)


def _walls(start: datetime, rule: str, zone: tzinfo) -> rrule:
    """Return the occurrences of `rule` as wall times, from the naive `start` on."""
    parts = {name: value for name, value in _parts(rule).items() if name != "COUNT"}
    if "UNTIL" in parts:
        parts["UNTIL"] = f"{_until(parts['UNTIL'], zone):%Y%m%dT%H%M%S}"
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    made = rrulestr(text, dtstart=start)
    if not isinstance(made, rrule):
        raise RuleError(f"{RuleError.__doc__} It is more than one rule.")
    return made


def _until(text: str, zone: tzinfo) -> datetime:
    """Return the last wall time that UNTIL allows: a day, a wall time, or an instant."""
    if "T" not in text:
        return datetime.strptime(text, "%Y%m%d").replace(hour=23, minute=59, second=59)  # noqa: DTZ007 - a wall time
    if not text.endswith("Z"):
        return datetime.strptime(text, "%Y%m%dT%H%M%S")  # noqa: DTZ007 - a wall time
    instant = datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def counts_elapsed(rule: str) -> bool:
    """Whether `rule` counts time that passes, not hours that a clock shows."""
    parts = _parts(rule)
    return parts.get("FREQ") in _UNITS and not any(name.startswith("BY") for name in parts)


def _has_day(parts: dict[str, str]) -> bool:
    """Whether any month that the rule names has a day that it names; nobody waits for 30 February."""
    try:
        months = [int(one) for one in parts.get("BYMONTH", "").split(",") if one] or range(1, 13)
        days = [abs(int(one)) for one in parts.get("BYMONTHDAY", "").split(",") if one]
        return not days or any(0 < day <= _MONTH_DAYS[month - 1] for month in months for day in days)
    except (ValueError, IndexError):
        return False


def _parts(rule: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in rule.split(";") if part)
    return {name.upper(): value.upper() for name, _, value in pairs}
