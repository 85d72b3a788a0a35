"""What the tests of reading times share: a message's time, some remembered events, a short way to ask."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from gate.when import Anchor, Ask, Impossible, NoTime, Outcome, Resolved, names_of, resolve

#: A Wednesday.
REQUEST = datetime(2027, 6, 16, 13, 5, tzinfo=UTC)
CAIRO, BERLIN, NEW_YORK = ZoneInfo("Africa/Cairo"), ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")


def event(name: str, at: str | None) -> Anchor:
    return Anchor(name=name, at=datetime.fromisoformat(at) if at else None, aliases=names_of(name))


AUDIT = event("audit", "2027-06-21T11:00+00:00")
LICENSE = event("license_expiry", "2027-09-01T00:00+00:00")


def when(
    text: str, *, at: datetime = REQUEST, zone: tzinfo = UTC, anchors: Sequence[Anchor] = (), near: int = 7
) -> Outcome:
    return resolve(text, request_at=at, zone=zone, anchors=anchors, nearby_days=near)


def said(outcome: Outcome) -> str:
    """Return an outcome in one line: "06-17 09:00", "ask which_reading: 06-17 03:00 | 06-17 15:00"."""
    match outcome:
        case Resolved():
            return f"{outcome.at:%m-%d %H:%M}"
        case Ask():
            options = " | ".join(said(option) for option in outcome.options)
            return f"ask {outcome.why.value}" + (f": {options}" if options else "")
        case Impossible():
            nearest = f", nearest {outcome.nearest:%m-%d %H:%M}" if outcome.nearest else ""
            return f"impossible {outcome.reason.value}{nearest}"
        case NoTime():
            return "no time"
