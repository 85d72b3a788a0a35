"""Days and times of day against the message's own time; Wednesday 16 June 2027, 13:05."""

from datetime import datetime, timedelta, timezone

import pytest

from gate.when import ABSOLUTE, Grain, Resolved, resolve
from tests.gate.when.when_cases import BERLIN, CAIRO, NEW_YORK, REQUEST, said, when

CERTAIN = [
    # times of day, the next one
    ("at 4pm", "06-16 16:00"),
    ("at 11 am", "06-17 11:00"),
    ("at 4", "06-16 16:00"),
    ("@ 7", "06-16 19:00"),
    ("at 20:45", "06-16 20:45"),
    ("at 9:15", "06-16 21:15"),
    ("at 04:10", "06-17 04:10"),
    ("3:40p", "06-16 15:40"),
    ("at 7p.", "06-16 19:00"),
    ("at seven pm", "06-16 19:00"),
    ("5 o'clock", "06-16 17:00"),
    ("5 o'clock in the afternoon", "06-16 17:00"),
    ("half past four", "06-16 16:30"),
    ("a quarter to six", "06-16 17:45"),
    ("25 minutes past 3pm", "06-16 15:25"),
    ("ten to 4 pm", "06-16 15:50"),
    ("a quarter to 1 pm tomorrow", "06-17 12:45"),
    ("a quarter to one am", "06-17 00:45"),
    ("a quarter to 12 pm", "06-17 11:45"),
    ("noon", "06-17 12:00"),
    ("a quarter past noon", "06-17 12:15"),
    ("midnight", "06-17 00:00"),
    ("at 24:00", "06-17 00:00"),
    ("6 in the morning", "06-17 06:00"),
    ("16:05:30", "06-16 16:05"),
    ("12:30 am", "06-17 00:30"),
    # days
    ("tomorrow", "06-17 13:05"),
    ("tomorrow at 8", "06-17 08:00"),
    ("9am tomorrow", "06-17 09:00"),
    ("tomorrow at midday", "06-17 12:00"),
    ("the day after tomorrow at 10:20", "06-18 10:20"),
    ("tonight at 8", "06-16 20:00"),
    ("9 tonight", "06-16 21:00"),
    ("midnight tonight", "06-17 00:00"),
    ("this evening at 7", "06-16 19:00"),
    ("today at 6pm", "06-16 18:00"),
    ("friday", "06-18 13:05"),
    ("on fri. at 17:30", "06-18 17:30"),
    ("this Saturday at 10am", "06-19 10:00"),
    ("on sat at 9", "06-19 09:00"),
    ("next tuesday at 9am", "06-22 09:00"),
    ("wednesday at 11am", "06-23 11:00"),
    ("next week", "06-23 13:05"),
    ("thursday next week at 14:00", "06-24 14:00"),
    ("in 4 days at 9", "06-20 09:00"),
    ("monday morning at 8", "06-21 08:00"),
    ("set a reminder for tomorrow at 10am", "06-17 10:00"),
    ("remind me at 4 to call the lab", "06-16 16:00"),
    ("remind me tomorrow at 11am about rack 4", "06-17 11:00"),
    # dates
    ("2027-07-02", "07-02 00:00"),
    ("2027-07-02 at 14:00", "07-02 14:00"),
    ("2027/7/2 at 9am", "07-02 09:00"),
    ("2027-07-02T08:30:00Z", "07-02 08:30"),
    ("2027-07-02 18:30", "07-02 18:30"),
    ("on 24/7/2027", "07-24 00:00"),
    ("7/24/2027", "07-24 00:00"),
    ("5.5.2028", "05-05 00:00"),
    ("July 9 at 16:00", "07-09 16:00"),
    ("the 9th of July, 2027", "07-09 00:00"),
    ("on sept. 3rd", "09-03 00:00"),
    ("February 29", "02-29 00:00"),
    ("5 may at 10am", "05-05 10:00"),
    ("Friday, July 9, 2027 at 10am", "07-09 10:00"),
    ("the 28th at 9am", "06-28 09:00"),
    ("monday the 28th at 9am", "06-28 09:00"),
    ("on the 2nd", "07-02 00:00"),
    ("the twentieth at 11am", "06-20 11:00"),
    # Arabic
    ("الساعة ٥ مساء", "06-16 17:00"),
    ("الساعة السادسة والنصف مساءً", "06-16 18:30"),
    ("الساعة 7 إلا ربع", "06-16 18:45"),
    ("الساعة أربعة وثلث", "06-16 16:20"),
    ("الساعة ثمانية إلا خمس دقائق", "06-16 19:55"),
    ("الساعة 22:10", "06-16 22:10"),
    ("غدا الساعة 8 صباحا", "06-17 08:00"),
    ("بكره الساعة ٣ العصر", "06-17 15:00"),
    ("بعد بكرة الساعة 11 الصبح", "06-18 11:00"),
    ("الليلة الساعة ٩", "06-16 21:00"),
    ("يوم الخميس الساعة 10 صباحا", "06-17 10:00"),
    ("الأحد 4 مساء", "06-20 16:00"),
    ("الثلاثاء المقبل الساعة 9 صباحا", "06-22 09:00"),
    ("غدا ظهرا الساعة 12", "06-17 12:00"),
    ("الساعة 9 ص", "06-17 09:00"),
    ("السابعة مساء", "06-16 19:00"),
    ("٣ يوليو الساعة ٨ صباحا", "07-03 08:00"),
    ("الساعة 9 العشاء", "06-16 21:00"),
    ("منتصف الليل", "06-17 00:00"),
    ("بعد 3 أيام الساعة 9", "06-19 09:00"),
]


@pytest.mark.parametrize(("text", "expected"), CERTAIN)
def test_a_point_with_one_meaning(text: str, expected: str) -> None:
    assert said(when(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tomorrow at 5", "ask which_reading: 06-17 05:00 | 06-17 17:00"),
        ("at 1", "ask which_reading: 06-17 01:00 | 06-17 13:00"),
        ("friday at 3:30", "ask which_reading: 06-18 03:30 | 06-18 15:30"),
        ("next friday at 10am", "ask which_reading: 06-18 10:00 | 06-25 10:00"),
        ("next thursday", "ask which_reading: 06-17 13:05 | 06-24 13:05"),
        ("wednesday at 5pm", "ask which_reading: 06-16 17:00 | 06-23 17:00"),
        ("tomorrow at midnight", "ask which_reading: 06-17 00:00 | 06-18 00:00"),
        ("tonight at 3", "ask which_reading"),
        ("noon tonight", "ask which_reading"),
        ("midnight in the afternoon", "ask which_reading"),
        ("in the afternoon at 12", "ask which_reading"),
        ("friday, 8 july 2027", "ask which_reading"),
        ("today", "ask which_time"),
        ("tomorrow morning", "ask which_time: 06-17 09:00"),
        ("in the evening", "ask which_time: 06-16 19:00"),
        ("this morning", "ask which_time"),
        ("next friday morning", "ask which_time: 06-18 09:00 | 06-25 09:00"),
        ("2027-06-16", "ask which_time"),
        ("بكرة الساعة 4", "ask which_reading: 06-17 04:00 | 06-17 16:00"),
        ("الجمعة القادمة الساعة 9 صباحا", "ask which_reading: 06-18 09:00 | 06-25 09:00"),
    ],
)
def test_a_point_with_two_meanings_is_asked_about(text: str, expected: str) -> None:
    assert said(when(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "at 25:10",
        "at 13pm",
        "at 0 am",
        "24:30",
        "2027-02-30",
        "2027-06-20 25:00",
        "february 30",
        "the 35th",
        "on 13/25/2027",
        "4/5/2027",
        "9/11",
        "at 1630",
        "in 2031",
        "at 5 or 6",
        "at 5 not 6",
        "at 5, actually 6",
        "9-11am tomorrow",
        "between 5pm and 7pm",
        "until 5pm",
        "5pm at the latest",
        "مرتين غدا",
        "by 5pm",
        "around 5pm",
        "5ish",
        "last friday",
        "the friday after next",
        "look at 5 servers",
        "check the logs from 3am",
        "about friday",
        "fix friday outage",
        "tomorrow's deploy",
        "book a table for friday",
        "the 4pm call",
        "friday-jun-18",
        "mon, wed at 9",
        "tomorrow at 9 and friday at 10",
        "next friday the 18th",
        "today tomorrow",
        "tomorrow morning evening",
        "2027-07-02T08:00 at 9am",
        "next month at 9am",
        "this very week",
        "the end of the working day",
        "soon",
        "don't remind me at 5pm",
        "two weeks from friday",
        "tuesday at 9 monday",
        "every",
        "الاحد او الاثنين",
        "الثلاثاء السابق",
        "الشهر الماضي",
        "بين ٣ و ٥",
        "غدا والساعة ٥",
        "الساعة 5 و 6",
    ],
)
def test_words_about_time_that_stay_unread_are_asked_about(text: str) -> None:
    assert said(when(text)) == "ask unread"


@pytest.mark.parametrize(
    "text",
    [
        "remind me to call dad",
        "restart caddy on web1",
        "the cat sat in the sun",
        "ذكرني بتجديد الجواز",
        "",
        "5",
    ],
)
def test_a_text_without_a_time(text: str) -> None:
    assert said(when(text)) == "no time"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yesterday at 22:00", "impossible past, nearest 06-16 13:05"),
        ("today at 9am", "impossible past, nearest 06-16 13:05"),
        ("2021-01-01", "impossible past, nearest 06-16 13:05"),
        ("أمس الساعة 10 مساء", "impossible past, nearest 06-16 13:05"),
        ("2090-01-01", "impossible too_far, nearest 06-16 13:05"),
    ],
)
def test_a_point_that_cannot_be_kept(text: str, expected: str) -> None:
    assert said(when(text)) == expected


def test_a_long_text_is_asked_about() -> None:
    assert said(when("a" * 2001 + " in 5 minutes")) == "ask unread"


def test_a_bare_hour_before_dawn_is_asked_about() -> None:
    night = REQUEST.replace(hour=0, minute=30)
    assert said(when("at 3", at=night)) == "ask which_reading: 06-16 03:00 | 06-16 15:00"
    assert said(when("at 7", at=night)) == "06-16 07:00"


def test_next_week_said_on_a_sunday_is_two_weeks_to_somebody() -> None:
    sunday = REQUEST + timedelta(days=4)
    assert said(when("tuesday next week at 9am", at=sunday)) == "ask which_reading: 06-22 09:00 | 06-29 09:00"


def test_a_date_without_a_year_is_the_next_one_and_absolute() -> None:
    outcome = when("june 2 at 9am")
    assert isinstance(outcome, Resolved)
    assert (outcome.at.year, outcome.anchor, outcome.grain) == (2028, ABSOLUTE, Grain.HOUR)


# ---------------------------------------------------------------- zones


def test_a_wall_clock_is_in_the_persons_zone() -> None:
    outcome = when("tomorrow at 9am", zone=CAIRO)
    assert isinstance(outcome, Resolved)
    assert outcome.at == datetime(2027, 6, 17, 9, tzinfo=CAIRO)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tomorrow at 9am utc", "2027-06-17T09:00:00+00:00"),
        ("at 9pm GMT+2", "2027-06-16T21:00:00+02:00"),
        ("at 9pm UTC-03:30", "2027-06-16T21:00:00-03:30"),
        ("at 9pm berlin time", "2027-06-16T21:00:00+02:00"),
        ("at 9pm (Berlin)", "2027-06-16T21:00:00+02:00"),
        ("2027-07-01 10:00 berlin", "2027-07-01T10:00:00+02:00"),
        ("2027-07-01T10:00+05:00", "2027-07-01T10:00:00+05:00"),
        ("fix the utc bug at 9pm", "2027-06-16T21:00:00+03:00"),
        ("every day at 9pm utc", "2027-06-16T21:00:00+00:00"),
    ],
)
def test_a_zone_that_is_said(text: str, expected: str) -> None:
    outcome = resolve(text, request_at=REQUEST, zone=CAIRO, zones={"berlin": BERLIN})
    assert isinstance(outcome, Resolved)
    assert outcome.at.isoformat() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at 3pm PST", "ask unknown_zone"),
        ("at 3pm Lagos time", "ask unknown_zone"),
        ("at 3pm Lagos", "ask unknown_zone"),
        ("tomorrow at 9am in lagos", "ask unknown_zone"),
        ("tomorrow at 9am in the lab", "06-17 09:00"),
        ("at 3pm call Jo", "06-16 15:00"),
        ("at 3pm utc+19", "ask unknown_zone"),
        ("at 3pm utc gmt+1", "ask unread"),
        ("fix bst at 3pm", "ask unread"),
        ("2027-07-01T10:00+05:00 utc", "ask unread"),
        ("restart ct 101 in 20 min", "06-16 13:25"),
    ],
)
def test_a_zone_that_is_not_certain(text: str, expected: str) -> None:
    assert said(when(text)) == expected


def test_tomorrow_is_asked_about_where_it_is_already_tomorrow_there() -> None:
    late = datetime(2027, 6, 16, 23, 30, tzinfo=NEW_YORK)
    outcome = when("tomorrow at 9am utc", at=late, zone=NEW_YORK)
    assert said(outcome) == "ask which_reading: 06-17 09:00 | 06-18 09:00"


def test_a_time_that_the_clock_jumps_over_is_impossible() -> None:
    eve = datetime(2027, 3, 27, 12, tzinfo=BERLIN)
    assert (
        said(when("tomorrow at 02:30", at=eve, zone=BERLIN)) == "impossible no_such_time, nearest 03-28 03:30"
    )
    night = datetime(2027, 3, 27, 2, 30, tzinfo=BERLIN)
    assert said(when("in 1 day", at=night, zone=BERLIN)) == "impossible no_such_time, nearest 03-28 03:30"


def test_a_time_that_the_clock_shows_twice_is_asked_about() -> None:
    eve = datetime(2027, 10, 30, 12, tzinfo=BERLIN)
    outcome = when("tomorrow at 02:30", at=eve, zone=BERLIN)
    assert said(outcome) == "ask which_reading: 10-31 02:30 | 10-31 02:30"
    assert isinstance(when("in 1 day", at=eve, zone=BERLIN), Resolved)


def test_days_keep_the_wall_clock_and_hours_do_not() -> None:
    eve = datetime(2027, 3, 27, 12, tzinfo=BERLIN)
    assert said(when("in 1 day", at=eve, zone=BERLIN)) == "03-28 12:00"
    assert said(when("in 24 hours", at=eve, zone=BERLIN)) == "03-28 13:00"


def test_a_naive_request_is_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        resolve("in 5 minutes", request_at=datetime(2027, 1, 1), zone=timezone.utc)  # noqa: DTZ001, UP017


@pytest.mark.parametrize("text", [text for text, _ in CERTAIN if not text.startswith("remind me")])
def test_no_correction_or_condition_is_passed_over(text: str) -> None:
    tails = (
        "or 7", "not 8", "sorry, make that 9", "until friday", "except on monday", "or an hour earlier",
        "unless it rains", "or friday", "and on friday", "then at 9pm", "و ٧", "الا الجمعة",
    )  # fmt: skip
    assert [tail for tail in tails if isinstance(when(f"{text} {tail}"), Resolved)] == []


@pytest.mark.parametrize("text", [text for text, _ in CERTAIN])
def test_asking_for_it_in_words_changes_nothing(text: str) -> None:
    assert when(f"remind me {text}, please") == when(text)
