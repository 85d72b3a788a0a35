"""What people call an event that somebody told of."""

import pytest

from gate.when import Anchor, Ask, Resolved
from gate.when.naming import bare, called, is_event, names_of
from tests.gate.when.when_cases import REQUEST, when


@pytest.mark.parametrize(
    ("about", "kind", "names"),
    [
        ("the project sync", "", ["project sync", "project meeting", "sync", "meeting"]),
        ("my 1:1 with Bo", "", ["1:1 with bo", "meeting with bo", "1:1", "meeting"]),
        ("Sync", "", ["sync", "meeting"]),
        ("lunch", "meeting", ["lunch", "meeting"]),
        ("the lunch with Kim", "Meeting", ["lunch with kim", "meeting with kim", "lunch", "meeting"]),
        ("audit", "", ["audit"]),
        ("release date", "", ["release", "اصدار"]),
        ("with Bo", "", ["with bo", "bo"]),
        ("the", "", []),
        ("", "", []),
        ("اجتماع المشروع", "", ["اجتماع المشروع", "اجتماع", "meeting"]),
        ("الاجتماع", "sync", ["الاجتماع", "meeting", "sync"]),
        ("العشاء", "", ["العشاء"]),
    ],
)
def test_names_of_what_was_told(about: str, kind: str, names: list[str]) -> None:
    assert list(called(about, kind)) == names


def test_what_is_told_goes_by_the_names_of_its_id_too() -> None:
    assert set(called("copilot reset")) == set(names_of("copilot_reset"))


def test_the_person_behind_with_is_no_name_of_the_meeting() -> None:
    assert "bo" not in called("the 1:1 with Bo")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("the 1:1 with Bo", "1:1 with Bo"),
        ("this my Plan", "Plan"),
        ("The", "The"),
        ("  a  b ", "b"),
        ("", ""),
    ],
)
def test_a_name_without_its_articles(said: str, name: str) -> None:
    assert bare(said) == name


def test_one_name_of_two_meetings_asks_which() -> None:
    both = [
        Anchor(name="b1", at=REQUEST.replace(day=20), aliases=called("project sync")),
        Anchor(name="b2", at=REQUEST.replace(day=21), aliases=called("1:1 with Bo")),
    ]
    asked = when("remind me an hour before the meeting", anchors=both)
    assert isinstance(asked, Ask)
    assert [one.anchor for one in asked.options] == ["b1", "b2"]
    one = when("remind me an hour before the meeting with Bo", anchors=both)
    assert isinstance(one, Resolved)
    assert one.anchor == "b2"


@pytest.mark.parametrize(
    ("about", "is_one"),
    [
        ("the project sync", True),
        ("the 1:1 with Bo", True),
        ("our deadline", True),
        ("the disk", False),
        ("we changed the disk", False),
        ("the notes of the meeting", False),
        ("اجتماع المشروع", True),
        ("القرص", False),
        ("", False),
    ],
)
def test_what_takes_place_is_known_by_its_noun(about: str, *, is_one: bool) -> None:
    assert is_event(about) == is_one
