"""Instants and recurrences in the few words that a question or a button has room for. English only."""

from datetime import UTC, datetime, timedelta, tzinfo

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WHOLE_DAYS = dict(
    zip(
        ("MO", "TU", "WE", "TH", "FR", "SA", "SU"),
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
        strict=True,
    )
)
_GROUPS = {"MO,TU,WE,TH,FR": "weekday", "SA,SU": "Saturday and Sunday"}
_UNITS = {"MINUTELY": "minute", "HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month"}
_DAY_S, _HOUR_S = 86_400, 3600


def moment(at: datetime, *, now: datetime, zone: tzinfo, seconds: bool = False) -> str:
    """Return "Tue 1 Dec 13:00", the year where it is another, and the zone where it is not `zone`.

    Args:
        seconds: they were said, so they are told; of a time from now they would only be in the way.
    """
    year = "" if at.year == now.astimezone(at.tzinfo).year else f" {at.year}"
    second = f":{at.second:02}" if seconds else ""
    elsewhere = at.utcoffset() != at.astimezone(zone).utcoffset()
    there = f" {zone_word(at)}" if elsewhere else ""
    date = f"{_DAYS[at.weekday()]} {at.day} {_MONTHS[at.month - 1]}{year}"
    return f"{date} {at.hour:02}:{at.minute:02}{second}{there}"


def zone_word(at: datetime) -> str:
    """Return what the zone of an aware instant is called: "CET", "UTC+3"."""
    name = at.tzname() or ""
    if name.isalpha():
        return name
    minutes = int((at.utcoffset() or timedelta()).total_seconds()) // 60
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '-'}{hours}{f':{rest:02}' if rest else ''}"


def full(at: datetime, *, now: datetime, seconds: bool = False) -> str:
    """Return "Tue 1 Dec 13:00 CET"."""
    return f"{moment(at, now=now, zone=at.tzinfo or UTC, seconds=seconds)} {zone_word(at)}"


def recurrence(rrule: str, at: datetime) -> str:
    """Return "every weekday at 09:00" of a rule as `gate.when` writes it; `at` is its first occurrence."""
    parts = dict(part.split("=", 1) for part in rrule.split(";"))
    interval, unit = int(parts.get("INTERVAL", "1")), _UNITS[parts["FREQ"]]
    days = parts.get("BYDAY", "")
    names = _GROUPS.get(days) or " and ".join(_WHOLE_DAYS[day] for day in days.split(",") if day)
    each = f"every {interval} {unit}s" if interval > 1 else f"every {unit}"
    if names:
        each = f"every {names}" if interval == 1 else f"{each} on {names}"
    if "BYMONTHDAY" in parts:
        each += f" on day {parts['BYMONTHDAY']}"
    return f"{each} at {at.hour:02}:{at.minute:02}" if "BYHOUR" in parts else each


def away(length: timedelta) -> str:
    """Return "in an hour", "in 2 days", "now", "30 minutes ago"."""
    seconds = int(length.total_seconds())
    days, rest = divmod(abs(seconds), _DAY_S)
    hours, minutes = rest // _HOUR_S, rest % _HOUR_S // 60
    counted = [(days, "day"), (hours, "hour"), (minutes, "minute")]
    said = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in counted if count]
    if not said:
        return "now"
    words = {"1 hour": "an hour", "1 day": "a day", "1 minute": "a minute"}.get(said[0], said[0])
    whole = " ".join([words, *said[1:]] if len(said) == 1 else said)
    return f"in {whole}" if seconds > 0 else f"{whole} ago"
