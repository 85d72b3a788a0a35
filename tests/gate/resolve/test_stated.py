"""When an event is, as a fact stores it and as people read it."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from gate.resolve.stated import Stated, read, stated, told
from gate.when import Grain, Resolved

WEEKDAYS = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=14;BYMINUTE=0;BYSECOND=0"
VIENNA = ZoneInfo("Europe/Vienna")
NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)
AT = datetime(2026, 12, 1, 14, tzinfo=VIENNA)


def found(grain: Grain = Grain.MINUTE, rrule: str = "") -> Resolved:
    return Resolved(at=AT, anchor="absolute", grain=grain, rrule=rrule)


@pytest.mark.parametrize(
    ("resolved", "text", "back", "words"),
    [
        (found(), "2026-12-01T14:00:00+01:00", Stated(at=AT), "Tue 1 Dec 14:00 CET"),
        (
            found(Grain.DAY),
            "2026-12-01",
            Stated(at=AT.replace(hour=0), whole_day=True),
            "Tue 1 Dec",
        ),
        (
            found(rrule=WEEKDAYS),
            f"2026-12-01T14:00:00+01:00[Europe/Vienna] {WEEKDAYS}",
            Stated(
                at=AT,
                rrule=WEEKDAYS,
                zone="Europe/Vienna",
            ),
            "every weekday at 14:00",
        ),
    ],
)
def test_a_time_is_read_back_as_it_was_stored(
    resolved: Resolved, text: str, back: Stated, words: str
) -> None:
    assert stated(resolved, zone_name="Europe/Vienna") == text
    assert read(text, VIENNA) == back
    assert told(text, now=NOW, zone=VIENNA).startswith(words)


def test_what_states_no_time_is_told_as_it_is() -> None:
    assert read("when Bo is back", VIENNA) is None
    assert told("when Bo is back", now=NOW, zone=VIENNA) == "when Bo is back"


def test_an_instant_is_told_on_the_readers_own_clock() -> None:
    assert told("2026-12-01T14:00:00+01:00", now=NOW, zone=UTC) == "Tue 1 Dec 13:00 UTC"
    assert told("2026-12-01 14:00 Kuwait (UTC+3)", now=NOW, zone=UTC) == "Tue 1 Dec 11:00 UTC"
