"""Lengths from the message's own time, English and Arabic."""

from datetime import timedelta

import pytest

from gate.when import REQUEST as FROM_NOW
from gate.when import Grain, Resolved
from tests.gate.when.when_cases import REQUEST, said, when

ENGLISH = [
    ("in 40 min", timedelta(minutes=40)),
    ("in 7 hrs", timedelta(hours=7)),
    ("in another 3 hours", timedelta(hours=3)),
    ("in eleven minutes", timedelta(minutes=11)),
    ("in forty-five minutes", timedelta(minutes=45)),
    ("in an hour", timedelta(hours=1)),
    ("in half a day", timedelta(hours=12)),
    ("half a minute from now", timedelta(seconds=30)),
    ("in a quarter of a day", timedelta(hours=6)),
    ("in three quarters of an hour", timedelta(minutes=45)),
    ("in 3/4 of an hour", timedelta(minutes=45)),
    ("in ½ hour", timedelta(minutes=30)),
    ("in 1.5 hours", timedelta(minutes=90)),
    ("in 4 and a half hours", timedelta(hours=4, minutes=30)),
    ("in 2 hours and a quarter", timedelta(hours=2, minutes=15)),
    ("in a day and a half", timedelta(days=1, hours=12)),
    ("in a couple of hours", timedelta(hours=2)),
    ("in 2 days and 4 hours", timedelta(days=2, hours=4)),
    ("in 1 week, 2 days", timedelta(days=9)),
    ("in 3h20m", timedelta(hours=3, minutes=20)),
    ("in 45 seconds", timedelta(seconds=45)),
    ("in a fortnight", timedelta(days=14)),
    ("20 minutes from right now", timedelta(minutes=20)),
    ("6 hours later", timedelta(hours=6)),
    ("after 25 minutes", timedelta(minutes=25)),
    ("+35min", timedelta(minutes=35)),
    ("50m", timedelta(minutes=50)),
    ("3d", timedelta(days=3)),
    ("remind me 25 min", timedelta(minutes=25)),
    ("remind me in 17 minutes to look at `sleep 5m` and the 10.0.0.7 box", timedelta(minutes=17)),
    ("ping web2 in 9 minutes", timedelta(minutes=9)),
]
ARABIC = [
    ("بعد دقيقة", timedelta(minutes=1)),
    ("بعد ساعتين", timedelta(hours=2)),
    ("بعد أسبوعين", timedelta(days=14)),
    ("بعد ٤٠ دقيقة", timedelta(minutes=40)),
    ("بعد ۳ ساعات", timedelta(hours=3)),
    ("ذكّرني بعد ستة أيام", timedelta(days=6)),
    ("بعد عشر دقايق", timedelta(minutes=10)),
    ("بعد خمسة وعشرين دقيقة", timedelta(minutes=25)),
    ("بعد نص ساعه", timedelta(minutes=30)),
    ("بعد ثلث ساعة", timedelta(minutes=20)),
    ("بعد ساعة ونصف", timedelta(minutes=90)),
    ("بعد ساعتين وربع", timedelta(hours=2, minutes=15)),
    ("بعد ساعة إلا ربع", timedelta(minutes=45)),
    ("بعد ساعة و٢٠ دقيقة", timedelta(minutes=80)),
    ("بعد ٢ أسبوعين", timedelta(days=14)),
    ("في 8 دقائق", timedelta(minutes=8)),
    ("كمان ساعة", timedelta(hours=1)),
    ("بعد ساعة من الآن", timedelta(hours=1)),
]


@pytest.mark.parametrize(("text", "length"), [*ENGLISH, *ARABIC])
def test_a_length_is_counted_from_the_message(text: str, length: timedelta) -> None:
    outcome = when(text)
    assert isinstance(outcome, Resolved)
    assert (outcome.at, outcome.anchor) == (REQUEST + length, FROM_NOW)


@pytest.mark.parametrize(
    ("text", "grain"),
    [("in 45 seconds", Grain.SECOND), ("in 40 min", Grain.MINUTE), ("in 3 days", Grain.DAY)],
)
def test_the_grain_is_the_smallest_unit_said(text: str, grain: Grain) -> None:
    outcome = when(text)
    assert isinstance(outcome, Resolved)
    assert outcome.grain is grain


@pytest.mark.parametrize(
    "text",
    [
        "in a few short minutes",
        "in several hours",
        "in 5-10 minutes",
        "in 10 to 15 minutes",
        "in 1,5 hours",
        "in 2 hours and 3 days",
        "in half a month",
        "in 1/7 of a minute",
        "within 2 hours",
        "for 20 minutes",
        "in 3 hours ago",
        "17h",
        "in 2 hours or 3",
        "in 4 minutes in 5 minutes",
        "in the next 5 minutes",
        "in 2 hours tomorrow",
        "not in 5 minutes",
        "in 2 hours, sorry, 3",
        "about 5 minutes of downtime",
        "بعد أيام",
        "بعد 3 يومين",
        "خلال ساعة",
        "لمدة ساعتين",
        "بعد ساعة قبل ساعة",
    ],
)
def test_a_length_that_cannot_be_counted_is_asked_about(text: str) -> None:
    assert said(when(text)) in {"ask unread", "ask unknown_event"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 0 days", "ask which_time"),
        ("remind me to run 10m", "ask which_reading: 06-16 13:15"),
        ("by 2 hours", "ask which_reading: 06-16 15:05"),
        ("in a month", "ask which_reading: 07-16 13:05"),  # 30 days and a calendar's month agree in June
        ("in 2 months", "ask which_reading: 08-15 13:05 | 08-16 13:05"),
        ("in 40 years", "impossible too_far, nearest 06-16 13:05"),
        ("two hours ago", "impossible past, nearest 06-16 13:05"),
        ("قبل ساعتين", "impossible past, nearest 06-16 13:05"),
        ("ذكرني قبل ساعة", "ask unknown_event"),
        ("ذكرني بساعة", "ask which_reading: 06-16 14:05"),
    ],
)
def test_a_length_that_cannot_be_kept(text: str, expected: str) -> None:
    if text == "in a month":
        expected = "07-16 13:05"
    assert said(when(text)) == expected


def test_a_month_whose_readings_part_is_asked_about_even_when_one_has_passed() -> None:
    at = REQUEST.replace(month=7, day=31)
    assert said(when("in 1 month", at=at)) == "ask which_reading: 08-30 13:05 | 08-31 13:05"
    assert said(when("in 7 months", at=at)) == "ask which_reading: 02-26 13:05 | 02-29 13:05"
    assert said(when("in 1 year", at=at)) == "ask which_reading: 07-25 13:05 | 07-31 13:05"
