"""When a job comes again: on the wall clock, through every change of it, once each."""

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.scheduling.recurring import RuleError, _after, between, check, following, instant_of

VIENNA, NEW_YORK = ZoneInfo("Europe/Vienna"), ZoneInfo("America/New_York")
ZONES = [
    VIENNA,
    NEW_YORK,
    ZoneInfo("Australia/Lord_Howe"),  # half an hour
    ZoneInfo("Africa/Cairo"),  # at midnight
    ZoneInfo("Asia/Kuwait"),
    ZoneInfo("UTC"),
]


def at(text: str, zone: ZoneInfo = VIENNA) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def times(first: datetime, rule: str, zone: ZoneInfo = VIENNA, *, most: int) -> list[datetime]:
    return [first.astimezone(UTC), *islice(_after(first, rule, zone, first), most - 1)]


def texts(first: datetime, rule: str, zone: ZoneInfo = VIENNA, *, most: int) -> list[str]:
    return [f"{one.astimezone(zone):%m-%d %H:%M %z}" for one in times(first, rule, zone, most=most)]


def test_every_weekday_at_nine_stays_at_nine_when_the_clocks_change() -> None:
    rule = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0"
    assert texts(at("2026-03-26 09:00"), rule, most=4) == [
        "03-26 09:00 +0100",
        "03-27 09:00 +0100",
        "03-30 09:00 +0200",
        "03-31 09:00 +0200",
    ]


def test_an_hour_that_does_not_exist_is_the_next_instant_that_does() -> None:
    assert texts(at("2026-03-28 02:30"), "FREQ=DAILY", most=3) == [
        "03-28 02:30 +0100",
        "03-29 03:00 +0200",
        "03-30 02:30 +0200",
    ]
    assert instant_of(datetime.fromisoformat("2026-03-29 02:30"), VIENNA) == at("2026-03-29 03:00")


def test_the_first_one_counts_where_its_wall_time_does_not_exist() -> None:
    rule = "FREQ=DAILY;COUNT=2;BYHOUR=2;BYMINUTE=30;BYSECOND=0"
    assert texts(at("2026-03-29 03:00"), rule, most=4) == ["03-29 03:00 +0200", "03-30 02:30 +0200"]


def test_an_hour_that_exists_twice_happens_once() -> None:
    assert texts(at("2026-10-24 02:30"), "FREQ=DAILY", most=3) == [
        "10-24 02:30 +0200",
        "10-25 02:30 +0200",
        "10-26 02:30 +0100",
    ]


def test_every_ten_minutes_goes_on_through_the_hour_that_comes_twice() -> None:
    found = times(at("2026-10-25 01:50"), "FREQ=MINUTELY;INTERVAL=10", most=20)
    assert {later - one for one, later in pairwise(found)} == {timedelta(minutes=10)}


def test_several_wall_times_in_a_gap_are_one_instant() -> None:
    rule = "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30"
    assert texts(at("2026-03-29 01:00"), rule, most=4)[1:] == [
        "03-29 03:00 +0200",
        "03-29 03:30 +0200",
        "03-30 02:00 +0200",
    ]


@pytest.mark.parametrize(
    ("rule", "count"),
    [
        ("", 1),
        ("FREQ=DAILY;COUNT=3", 3),
        ("FREQ=HOURLY;COUNT=3", 3),
        ("FREQ=DAILY;UNTIL=20260304", 3),
        ("FREQ=DAILY;UNTIL=20260304T075959Z", 2),
        ("FREQ=DAILY;UNTIL=20260304T080000Z", 3),
        ("FREQ=DAILY;UNTIL=20260304T085959", 2),
        ("FREQ=HOURLY;INTERVAL=12;UNTIL=20260303T200000Z", 4),
        ("FREQ=HOURLY;INTERVAL=12;UNTIL=20260303", 4),
    ],
)
def test_a_rule_may_end(rule: str, count: int) -> None:
    first = at("2026-03-02 09:00")
    assert len(times(first, rule, most=9)) == count
    assert following(first, rule, VIENNA, after=first + timedelta(days=9)) is None
    run = between(first, rule, VIENNA, since=first, until=first + timedelta(days=99))
    assert run is not None
    assert run.count == count


@pytest.mark.parametrize(
    "rule",
    [
        "",
        "DAILY",
        "FREQ=SECONDLY",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;FOO=1",
        "FREQ=DAILY;BYHOUR=25",
        "FREQ=DAILY;BYSECOND=0,30",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTHDAY=32",
        "FREQ=MONTHLY;BYMONTH=13;BYMONTHDAY=1",
        "FREQ=MONTHLY;BYMONTHDAY=x",
        "FREQ=MINUTELY;BYMONTHDAY=1",
        "FREQ=DAILY;BYDAY=MO\nEXDATE:20260302T090000",
        "RRULE:FREQ=DAILY",
        "FREQ=DAILY;UNTIL=tomorrow",
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused(rule: str) -> None:
    with pytest.raises(RuleError):
        check(rule)


RULES = [
    "FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=3",
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU",
    "FREQ=MONTHLY;BYMONTHDAY=31",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
    "FREQ=HOURLY",
    "FREQ=HOURLY;INTERVAL=5",
    "FREQ=HOURLY;BYHOUR=1,2,3",
    "FREQ=MINUTELY;INTERVAL=7",
    "FREQ=MINUTELY;INTERVAL=20;BYDAY=SA,SU",
]
instants = st.integers(0, 730 * 24 * 3600).map(
    lambda seconds: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)


@pytest.mark.parametrize("rule", RULES)
def test_rules_that_people_say_can_be_kept(rule: str) -> None:
    check(rule)


@given(first=instants, rule=st.sampled_from(RULES), zone=st.sampled_from(ZONES))
def test_occurrences_follow_each_other(first: datetime, rule: str, zone: ZoneInfo) -> None:
    found = times(first, rule, zone, most=5)
    assert found[0] == first
    assert all(one < later for one, later in pairwise(found))
    run = between(first, rule, zone, since=first, until=found[-1])
    assert run is not None
    assert (run.first, run.last, run.count) == (first, found[-1], len(found))


@given(
    first=instants,
    rule=st.sampled_from(RULES),
    zone=st.sampled_from(ZONES),
    ahead=st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=120)),
)
def test_what_follows_is_the_same_wherever_one_begins_to_look(
    first: datetime, rule: str, zone: ZoneInfo, ahead: timedelta
) -> None:
    moment = first + ahead
    one = following(first, rule, zone, after=moment)
    assert one is not None
    assert one > moment
    # Nothing lies between, and from just before it the same is found.
    assert (
        between(first, rule, zone, since=moment + timedelta(seconds=1), until=one - timedelta(seconds=1))
        is None
    )
    assert following(first, rule, zone, after=one - timedelta(seconds=1)) == one


@given(first=instants, zone=st.sampled_from(ZONES))
def test_a_daily_job_keeps_its_wall_time_but_where_there_is_none(first: datetime, zone: ZoneInfo) -> None:
    wall = first.astimezone(zone).time()
    days = set()
    for one in times(first, "FREQ=DAILY", zone, most=400):
        local = one.astimezone(zone)
        days.add(local.date())
        if local.time() != wall:
            # It was skipped: a second before, another offset held.
            assert (one - timedelta(seconds=1)).astimezone(zone).utcoffset() != local.utcoffset()
            missing = datetime.combine(local.date(), wall, tzinfo=zone)
            there_and_back = missing.astimezone(UTC).astimezone(zone)
            assert there_and_back.replace(tzinfo=None) != missing.replace(tzinfo=None)
    assert len(days) == 400  # none twice


def test_a_run_is_counted_to_a_bound_only() -> None:
    first = at("2026-03-02 09:00")
    until = first + timedelta(days=400)
    run = between(first, "FREQ=MINUTELY", VIENNA, since=first, until=until, most=1000)
    assert run is not None
    assert (run.count, run.last - run.first) == (1000, timedelta(minutes=999))
    assert (
        between(first, "FREQ=DAILY", VIENNA, since=first - timedelta(days=9), until=first - timedelta(days=1))
        is None
    )
