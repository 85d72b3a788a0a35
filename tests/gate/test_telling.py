"""Instants, recurrences and lengths in few words."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from gate.resolve import telling

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (datetime(2026, 12, 1, 13, tzinfo=BERLIN), "Tue 1 Dec 13:00 CET"),
        (datetime(2027, 1, 2, 9, 5, 30, tzinfo=BERLIN), "Sat 2 Jan 2027 09:05 CET"),
        (datetime(2026, 12, 1, 13, tzinfo=UTC), "Tue 1 Dec 13:00 UTC"),
        (datetime(2026, 12, 1, 13, tzinfo=timezone(timedelta(hours=3))), "Tue 1 Dec 13:00 UTC+3"),
        (
            datetime(2026, 12, 1, 13, tzinfo=timezone(-timedelta(hours=3, minutes=30))),
            "Tue 1 Dec 13:00 UTC-3:30",
        ),
        (datetime(2026, 12, 1, 13, tzinfo=ZoneInfo("Etc/GMT-3")), "Tue 1 Dec 13:00 UTC+3"),
        (datetime(2026, 12, 1, 13, tzinfo=timezone(timedelta(), "+00")), "Tue 1 Dec 13:00 UTC"),
    ],
)
def test_an_instant_is_told_with_its_zone(at: datetime, said: str) -> None:
    assert telling.full(at, now=NOW) == said


def test_seconds_are_told_where_they_were_said() -> None:
    at = datetime(2026, 12, 1, 13, 5, 30, tzinfo=BERLIN)
    assert telling.full(at, now=NOW, seconds=True) == "Tue 1 Dec 13:05:30 CET"


def test_a_button_names_the_zone_only_where_it_is_another() -> None:
    at = datetime(2026, 12, 1, 13, tzinfo=BERLIN)
    assert telling.moment(at, now=NOW, zone=BERLIN) == "Tue 1 Dec 13:00"
    assert telling.moment(at, now=NOW, zone=UTC) == "Tue 1 Dec 13:00 CET"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "every weekday at 09:00"),
        ("FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "every Monday at 09:00"),
        ("FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "every Monday and Thursday at 09:00"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9;BYMINUTE=0", "every 2 weeks on Monday at 09:00"),
        ("FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "every day at 09:00"),
        ("FREQ=MONTHLY;BYMONTHDAY=15;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "every month on day 15 at 09:00"),
        ("FREQ=HOURLY;INTERVAL=2", "every 2 hours"),
        ("FREQ=MINUTELY", "every minute"),
    ],
)
def test_a_recurrence_is_told(rule: str, said: str) -> None:
    assert telling.recurrence(rule, datetime(2026, 12, 1, 9, tzinfo=BERLIN)) == said


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (timedelta(hours=1), "in an hour"),
        (timedelta(days=2), "in 2 days"),
        (timedelta(days=1), "in a day"),
        (timedelta(minutes=30), "in 30 minutes"),
        (timedelta(minutes=1), "in a minute"),
        (timedelta(hours=1, minutes=30), "in 1 hour 30 minutes"),
        (timedelta(seconds=20), "now"),
        (timedelta(), "now"),
        (timedelta(hours=-2), "2 hours ago"),
    ],
)
def test_how_far_away_something_is(length: timedelta, said: str) -> None:
    assert telling.away(length) == said
