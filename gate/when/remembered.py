"""The date that a remembered fact states, as "2026-08-17 02:48 Kuwait (UTC+3)" (K27).

ISO first; then words of a zone behind it, whose stated offset is applied. Anything else is an event whose
date is unknown: never invented.
"""

import re
from datetime import datetime, tzinfo

from gate.when.text import plain

_STATED = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:[t ](?P<clock>\d\d:\d\d(?::\d\d)?)(?:\.\d+)?)?"
    r"(?P<iso> ?z| ?[+-]\d\d:?\d\d)?"
    r"(?: (?P<place>[^\W\d_]+(?: [^\W\d_]+)?))?"
    r"(?: \(?(?P<utc>utc|gmt)? ?(?P<sign>[+-]) ?(?P<h>\d\d?)(?::?(?P<m>\d\d))?\)?)?"
)
_EARLIEST = 1970
_UTC_WORDS = frozenset({"utc", "gmt", "z"})


def event_time(text: str, zone: tzinfo) -> datetime | None:
    """Return the instant that `text` states, in `zone` where it states none; None when it cannot be read.

    A zone given only by a place's name is not known, so neither is the instant.
    """
    found = _STATED.fullmatch(plain(text))
    if found is None:
        return None
    iso, place, sign = (found["iso"] or "").strip(), found["place"], found["sign"]
    if place in _UTC_WORDS:
        iso = iso or "+00:00"
    elif place and not (sign or iso):
        return None
    if sign:
        iso = f"{sign}{int(found['h']):02}:{found['m'] or '00'}"
    try:
        at = datetime.fromisoformat(f"{found['day']}T{found['clock'] or '00:00'}{iso.replace('z', '+00:00')}")
    except ValueError:
        return None
    if at.year < _EARLIEST:
        return None
    return at if at.tzinfo else at.replace(tzinfo=zone)
