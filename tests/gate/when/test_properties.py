"""What holds for every message time, zone and text: nothing fires before its request, shifts carry over."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gate.when import Ask, Impossible, Resolved, resolve
from gate.when.text import plain
from tests.gate.when.when_cases import AUDIT, LICENSE, said

#: A loaded machine fails no property.
UNHURRIED = settings(deadline=None)
ZONES = st.sampled_from(
    [
        UTC,
        timezone(timedelta(hours=-9)),
        *map(
            ZoneInfo,
            ("Africa/Cairo", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"),
        ),
    ]  # Lord Howe moves its clock by half an hour
)
TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
LENGTHS = st.tuples(st.integers(1, 400), st.sampled_from(["second", "minute", "hour"]))
PHRASES = st.sampled_from(
    [
        "at 9",
        "tomorrow at 8",
        "tonight at 9",
        "friday at 17:00",
        "next tuesday",
        "in 3 days",
        "in 2 weeks at 9am",
        "at 02:30",
        "tomorrow at 02:30",
        "every day at 02:30",
        "every weekday at 9",
        "the 15th at noon",
        "29 february",
        "july 4 at 8am",
        "in 90 minutes",
        "noon",
        "midnight",
        "monthly on the 1st at 00:15",
        "2 days before the audit",
        "in a month",
        "every 45 minutes",
        "2028-03-01 10:00",
        "yesterday",
        "an hour after the license expiry",
        "بعد يومين",
        "غدا الساعة ٨ صباحا",
        "كل اثنين الساعة ٩",
        "الليلة الساعة ١٠",
    ]
)
_WORDS = (  # noqa: SIM905
    "remind me at in on 5 6 15 pm am tomorrow friday next every day week month hour minutes before after the "
    "audit or and not 9:30 half quarter past to noon utc july 2027-07-02 3/4/2027 - , . "
    "بعد قبل ساعة يومين غدا كل الساعة ٣ صباحا من ب"
).split()
SOUP = st.lists(
    st.sampled_from(_WORDS),
    max_size=9,
).map(" ".join)


@UNHURRIED
@given(at=TIMES, zone=ZONES, length=LENGTHS)
def test_seconds_minutes_and_hours_are_the_worlds(
    at: datetime, zone: ZoneInfo, length: tuple[int, str]
) -> None:
    count, unit = length
    outcome = resolve(f"in {count} {unit}s", request_at=at, zone=zone)
    assert isinstance(outcome, Resolved)
    assert outcome.at.astimezone(UTC) - at == timedelta(**{f"{unit}s": count})


@UNHURRIED
@given(at=TIMES, zone=ZONES, shift=st.integers(1, 10**7), length=LENGTHS)
def test_shifting_the_message_shifts_what_is_counted_from_it(
    at: datetime, zone: ZoneInfo, shift: int, length: tuple[int, str]
) -> None:
    text, by = f"remind me {length[0]} {length[1]}s from now", timedelta(seconds=shift)
    first, second = (resolve(text, request_at=one, zone=zone) for one in (at, at + by))
    assert isinstance(first, Resolved)
    assert isinstance(second, Resolved)
    assert second.at.astimezone(UTC) - first.at.astimezone(UTC) == by


@UNHURRIED
@given(at=TIMES, zone=ZONES, days=st.integers(1, 60))
def test_days_keep_the_wall_clock_or_are_not_resolved(at: datetime, zone: ZoneInfo, days: int) -> None:
    outcome = resolve(f"in {days} days", request_at=at, zone=zone)
    if isinstance(outcome, Resolved):
        wall = at.astimezone(zone).replace(tzinfo=None)
        assert outcome.at.replace(tzinfo=None) == wall + timedelta(days=days)
    else:
        assert said(outcome).startswith(("ask which_reading", "impossible no_such_time"))


@UNHURRIED
@given(at=TIMES, zone=ZONES, text=PHRASES | SOUP)
@example(at=datetime(2027, 10, 31, 0, 45, tzinfo=UTC), zone=ZoneInfo("Europe/Berlin"), text="at 02:30")
def test_nothing_is_resolved_or_offered_before_its_request(at: datetime, zone: ZoneInfo, text: str) -> None:
    outcome = resolve(text, request_at=at, zone=zone, anchors=[AUDIT, LICENSE])
    times = [outcome.at] if isinstance(outcome, Resolved) else []
    times += [option.at for option in outcome.options] if isinstance(outcome, Ask) else []
    assert all(one.utcoffset() is not None and one.astimezone(UTC) > at for one in times)
    if isinstance(outcome, Impossible) and outcome.nearest is not None:
        assert outcome.nearest.astimezone(UTC) >= at


@UNHURRIED
@given(
    at=TIMES,
    zone=ZONES,
    text=PHRASES | SOUP | st.text("abcdefgh 0123456789:-.,/\u0661\u0639\u062f\u0628", max_size=40),
)
def test_the_same_words_mean_the_same_whatever_their_form(at: datetime, zone: ZoneInfo, text: str) -> None:
    first = resolve(text, request_at=at, zone=zone, anchors=[AUDIT])
    assert first == resolve(f"  {plain(text)} ", request_at=at, zone=zone, anchors=[AUDIT])


@pytest.mark.parametrize("digits", ["٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "０１２３４５６７８９"])
def test_figures_of_every_script_count(digits: str) -> None:
    at = datetime(2027, 6, 16, 13, 5, tzinfo=UTC)
    for count in (10, 23, 47, 59, 68):
        text = "".join(digits[int(figure)] for figure in str(count))
        assert resolve(f"in {text} min", request_at=at, zone=UTC) == resolve(
            f"in {count} min", request_at=at, zone=UTC
        )


@UNHURRIED
@given(hour=st.integers(0, 23), minute=st.integers(0, 59), at=TIMES, zone=ZONES)
def test_a_full_clock_time_is_shown_by_that_clock(
    hour: int, minute: int, at: datetime, zone: ZoneInfo
) -> None:
    outcome = resolve(f"at {hour:02}:{minute:02}", request_at=at, zone=zone)
    if isinstance(outcome, Resolved) and (hour == 0 or hour > 12):
        assert (outcome.at.hour, outcome.at.minute) == (hour, minute)
        assert outcome.at.astimezone(UTC) - at <= timedelta(hours=25)
