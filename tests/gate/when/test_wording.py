"""Which words of a text are about its time, and what is left without them."""

from datetime import UTC, datetime

import pytest

from gate.when import Anchor, names_of, remember
from gate.when.wording import take_apart

AT = datetime(2026, 12, 1, 14, tzinfo=UTC)
REMEMBERED = remember(
    [
        Anchor(name="sync", at=AT, aliases=("project sync", "meeting")),
        Anchor(name="standup", at=AT, aliases=names_of("standup")),
    ]
)


@pytest.mark.parametrize(
    ("text", "rest", "time"),
    [
        ("to call Bo at 5pm", "to call Bo", "at 5pm"),
        ("to check  the oven in 20 minutes.", "to check the oven", "in 20 minutes."),
        ("in 20 minutes, to check the oven", "to check the oven", "in 20 minutes,"),
        ("every monday and thursday at 9am to report", "to report", "every monday and thursday at 9am"),
        ("half an hour before the project sync to print", "to print", "half an hour before the project sync"),
        ("about the meeting an hour before", "about the meeting", "an hour before"),
        (
            "on December 24th, 2026 at 18:00 that it closes",
            "that it closes",
            "on December 24th, 2026 at 18:00",
        ),
        ("بعد يومين بالاتصال", "بالاتصال", "بعد يومين"),
        ("غدا الساعة ٩ صباحا أن أتصل بأحمد", "أن أتصل بأحمد", "غدا الساعة ٩ صباحا"),
        ("to pay the bill", "to pay the bill", ""),
        ("next Tuesday", "", "next Tuesday"),
        ("", "", ""),
    ],
)
def test_the_words_of_time_are_taken_out(text: str, rest: str, time: str) -> None:
    wording = take_apart(text, remembered=REMEMBERED, zones={})
    assert (wording.rest, wording.time) == (rest, time)


@pytest.mark.parametrize("text", ["the 24h race", "to check the backup from yesterday"])
def test_words_about_time_that_are_not_a_time_stay(text: str) -> None:
    assert take_apart(text, remembered=REMEMBERED, zones={}).rest == text


def test_what_stands_at_either_end_is_told_as_it_was_typed() -> None:
    first = take_apart("every weekday at 9: run df  -h on web1", remembered=REMEMBERED, zones={})
    assert (first.head, first.after_head, first.tail) == ("every weekday at 9:", "run df  -h on web1", "")
    last = take_apart("run sleep 5m  on web1 at 22:00", remembered=REMEMBERED, zones={})
    assert (last.head, last.tail, last.before_tail) == ("", "at 22:00", "run sleep 5m  on web1")


def test_code_between_backticks_is_no_time() -> None:
    wording = take_apart("run `sleep 5m at 9` on web1 at 22:00", remembered=REMEMBERED, zones={})
    assert (wording.before_tail, wording.time) == ("run `sleep 5m at 9` on web1", "at 22:00")


def test_a_word_that_a_time_and_something_else_share_stays() -> None:
    assert take_apart("5pm/logs", remembered=REMEMBERED, zones={}).rest == "5pm/logs"


def test_the_events_that_are_spoken_of_are_named_and_the_one_that_times_are_counted_from_is_not() -> None:
    spoken = take_apart("about the meeting before standup", remembered=REMEMBERED, zones={})
    assert [anchor.name for event in spoken.events for anchor in event.anchors] == ["sync"]


def test_signs_that_change_what_stands_beside_them_leave_the_text_whole() -> None:
    text = "run \uff40sleep 5m\uff40 at 22:00"  # a wide backtick, which folds to one that quotes
    assert take_apart(text, remembered=REMEMBERED, zones={}).rest == text
