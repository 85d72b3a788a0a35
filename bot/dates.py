"""A second opinion on a date that the gate's own grammar did not read: "01/09/2026", "24 dec 26 6pm".

Only a date in figures or with a month's name is looked at, in English and Arabic, whole and never searched
for; a date whose day and month can be told either way gives both. What comes out is offered to a person as an
option and never taken (D12). The library is loaded when it is first needed.
"""

import re
from datetime import datetime, tzinfo

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"(?<![\w/.-])(?:\d{{1,4}}[/.-]\d{{1,2}}[/.-]\d{{2,4}}|"
    rf"\d{{1,2}}(?:st|nd|rd|th)?[ -](?:of )?{_MONTH}(?:[ ,-]+\d{{2,4}})?|"
    rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?)(?![\w/])"
    r"(?:,? (?:at )?\d{1,2}(?::\d\d(?::\d\d)?)?(?: ?[ap]m)?(?![\w:]))?",
    re.IGNORECASE,
)
_ORDERS = ("DMY", "MDY")
#: Longer texts are not looked at.
_MAX_CHARS = 500


def second_opinion(text: str, *, request_at: datetime, zone: tzinfo) -> tuple[datetime, ...]:
    """Return the instants that the one date in `text` may mean, soonest first; () for none or several dates.

    Args:
        text: as typed.
        request_at: when it was typed, aware; years and months that are not said lie after it.
        zone: the zone that the date is meant in.
    """
    dates = [found[0] for found in _DATE.finditer(text[:_MAX_CHARS])]
    if len(dates) != 1:
        return ()
    base = request_at.astimezone(zone).replace(tzinfo=None)
    read = {_parsed(dates[0], order, base) for order in _ORDERS}
    return tuple(sorted(at.replace(tzinfo=zone) for at in read if at is not None))


def _parsed(date: str, order: str, base: datetime) -> datetime | None:
    # A third of a second to load, for what few messages need; it ships no types.
    from dateparser.date import DateDataParser  # type: ignore[import-untyped] # noqa: PLC0415

    reader = DateDataParser(
        languages=["en", "ar"],
        settings={
            "DATE_ORDER": order,
            "PREFER_LOCALE_DATE_ORDER": False,
            "PARSERS": ["absolute-time"],
            "PREFER_DATES_FROM": "future",
            "REQUIRE_PARTS": ["day", "month"],
            "RELATIVE_BASE": base,
            "STRICT_PARSING": False,
        },
    )
    at: datetime | None = reader.get_date_data(date).date_obj
    return at
