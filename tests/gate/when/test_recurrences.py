"""Recurrences: the rule and its first occurrence; Wednesday 16 June 2027, 13:05."""

import pytest

from gate.when import Ask, Resolved
from tests.gate.when.when_cases import BERLIN, REQUEST, said, when


def at(hour: int, minute: int = 0) -> str:
    return f";BYHOUR={hour};BYMINUTE={minute};BYSECOND=0"


RULES = [
    ("every weekday at 9", "06-17 09:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR" + at(9)),
    ("on working days at 8:45", "06-17 08:45", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR" + at(8, 45)),
    ("every weekend at 11am", "06-19 11:00", "FREQ=WEEKLY;BYDAY=SA,SU" + at(11)),
    ("each day at 6pm", "06-16 18:00", "FREQ=DAILY" + at(18)),
    ("daily at noon", "06-17 12:00", "FREQ=DAILY" + at(12)),
    ("every midnight", "06-17 00:00", "FREQ=DAILY" + at(0)),
    ("every morning at 6:30", "06-17 06:30", "FREQ=DAILY" + at(6, 30)),
    ("every other day at 10am", "06-17 10:00", "FREQ=DAILY;INTERVAL=2" + at(10)),
    ("every 3 days at 22:00", "06-16 22:00", "FREQ=DAILY;INTERVAL=3" + at(22)),
    ("every tuesday at 9", "06-22 09:00", "FREQ=WEEKLY;BYDAY=TU" + at(9)),
    ("every mon, wed and fri at 2pm", "06-16 14:00", "FREQ=WEEKLY;BYDAY=MO,WE,FR" + at(14)),
    ("on thursdays at 16:00", "06-17 16:00", "FREQ=WEEKLY;BYDAY=TH" + at(16)),
    ("mondays and fridays at 7am", "06-18 07:00", "FREQ=WEEKLY;BYDAY=MO,FR" + at(7)),
    ("weekly on sundays at 10", "06-20 10:00", "FREQ=WEEKLY;BYDAY=SU" + at(10)),
    ("every 2 weeks on monday at 10am", "06-21 10:00", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO" + at(10)),
    ("monthly on the 5th at 8am", "07-05 08:00", "FREQ=MONTHLY;BYMONTHDAY=5" + at(8)),
    ("every 3 months on the 28th at 8am", "06-28 08:00", "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=28" + at(8)),
    ("every 20 minutes", "06-16 13:25", "FREQ=MINUTELY;INTERVAL=20"),
    ("every hour", "06-16 14:05", "FREQ=HOURLY"),
    ("every other hour", "06-16 15:05", "FREQ=HOURLY;INTERVAL=2"),
    ("hourly", "06-16 14:05", "FREQ=HOURLY"),
    ("كل يوم الساعة ٨ مساء", "06-16 20:00", "FREQ=DAILY" + at(20)),
    ("كل يوم جمعة الساعة 10 صباحا", "06-18 10:00", "FREQ=WEEKLY;BYDAY=FR" + at(10)),
    ("كل أحد وثلاثاء الساعة ٧ صباحا", "06-20 07:00", "FREQ=WEEKLY;BYDAY=TU,SU" + at(7)),
    ("يوميا الساعة 11 صباحا", "06-17 11:00", "FREQ=DAILY" + at(11)),
    ("كل ساعتين", "06-16 15:05", "FREQ=HOURLY;INTERVAL=2"),
    ("كل ١٥ دقيقة", "06-16 13:20", "FREQ=MINUTELY;INTERVAL=15"),
]


@pytest.mark.parametrize(("text", "first", "rule"), RULES)
def test_a_recurrence_has_a_rule_and_a_first_time(text: str, first: str, rule: str) -> None:
    outcome = when(text)
    assert isinstance(outcome, Resolved)
    assert (said(outcome), outcome.rrule) == (first, rule)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("every day", "ask which_time"),
        ("every friday", "ask which_time"),
        ("every day at 4", "ask which_reading: 06-17 04:00 | 06-16 16:00"),
        ("every night at 3", "ask which_reading"),
        ("every week at 9", "ask unread"),
        ("every sprint at 9am", "ask unread"),
        ("every 9", "ask unread"),
        ("every month at 9", "ask unread"),
        ("every 30 seconds", "ask unread"),
        ("every 1 day 2 hours", "ask unread"),
        ("every hour at 9", "ask unread"),
        ("every few hours", "ask unread"),
        ("every other 3 days at 9", "ask unread"),
        ("every other tuesday at 9", "ask unread"),
        ("every second friday at 9", "ask unread"),
        ("every 2 weeks on monday and friday at 9", "ask unread"),
        ("every 10 days on monday at 9", "ask unread"),
        ("every month on monday at 9", "ask unread"),
        ("monthly on the 31st at 9am", "ask unread"),
        ("every week on the 5th at 9am", "ask unread"),
        ("every month on monday the 5th at 9am", "ask unread"),
        ("every day at 9 and 10", "ask unread"),
        ("every day at 9 except friday", "ask unread"),
        ("every day at 9 until july 1", "ask unread"),
        ("every day at 9 in 3 days", "ask unread"),
        ("weekly daily at 9", "ask unread"),
        ("next mondays at 9", "ask unread"),
        ("every next monday at 9", "ask unread"),
        ("كل أسبوع الساعة ٩ صباحا", "ask unread"),
        ("كل يوم عمل الساعة ٩ صباحا", "ask unread"),
    ],
)
def test_a_recurrence_in_doubt_is_asked_about(text: str, expected: str) -> None:
    assert said(when(text)) == expected


def test_the_options_of_a_recurrence_carry_their_rules() -> None:
    outcome = when("every day at 4")
    assert isinstance(outcome, Ask)
    assert [option.rrule.split(";")[1] for option in outcome.options] == ["BYHOUR=4", "BYHOUR=16"]


def test_a_first_time_that_the_clock_shows_twice_is_asked_about_with_its_rule() -> None:
    eve = REQUEST.replace(month=10, day=30)
    outcome = when("every day at 02:30", at=eve, zone=BERLIN)
    assert isinstance(outcome, Ask)
    assert [option.rrule for option in outcome.options] == ["FREQ=DAILY" + at(2, 30)] * 2


def test_a_first_time_that_the_clock_jumps_over_is_impossible() -> None:
    eve = REQUEST.replace(month=3, day=27)
    outcome = when("every day at 02:30", at=eve, zone=BERLIN)
    assert said(outcome) == "impossible no_such_time, nearest 03-28 03:30"
