"""What a message wants remembered, forgotten or told."""

import pytest

from bot import commands
from bot.acts.fact_requests import MAX_CHARS, Forget, Remember, asked
from bot.control_words import parse
from bot.recall_words import recalled


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("remember that the sync is on Friday", "the sync is on Friday"),
        ("Remember: X is Y", "X is Y"),
        ("remember, web1 is old", "web1 is old"),
        ("remember this: web1 is old", "web1 is old"),
        ("please remember that web1 is old", "web1 is old"),
        ("could you remember that web1 is old", "web1 is old"),
        ("sayso, note that web1 is old", "web1 is old"),
        ("don't forget that web1 is old", "web1 is old"),
        ("for the record, web1 is old", "web1 is old"),
        ("keep in mind that web1 is old.", "web1 is old."),
        ("remember that\nweb1 is old", "web1 is old"),
        ("تذكر أن الاجتماع غدا", "الاجتماع غدا"),
        ("تذكّر: الاجتماع غدا الساعة 14:00.", "الاجتماع غدا الساعة 14:00"),
        ("من فضلك سجل أن web1 قديم", "web1 قديم"),
        ("remember", ""),
        ("remember that.", ""),
    ],
)
def test_what_is_to_be_remembered(said: str, text: str) -> None:
    assert asked(said) == Remember(text=text)


def test_a_thing_alone_counts_only_where_it_says_something() -> None:
    assert asked("remember the sync on Friday") == Remember(text="the sync on Friday", loose=True)


@pytest.mark.parametrize(
    "said",
    [
        "remember for everyone that web1 is old",
        "remember for the team: web1 is old",
        "note for all of us that web1 is old",
        "تذكر للجميع أن web1 is old",
    ],
)
def test_what_is_for_everybody(said: str) -> None:
    assert asked(said) == Remember(text="web1 is old", shared=True)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("forget the project sync", Forget(text="the project sync")),
        ("please forget about the project sync.", Forget(text="the project sync")),
        ("forget everything about web1", Forget(text="web1")),
        ("forget what I said about Bo", Forget(text="Bo")),
        ("forget that web1 is old", Forget(text="web1 is old", sentence=True)),
        ("انس اجتماع المشروع", Forget(text="اجتماع المشروع")),
    ],
)
def test_what_is_to_be_forgotten(said: str, wanted: Forget) -> None:
    assert asked(said) == wanted


@pytest.mark.parametrize(
    "said",
    [
        "remember to call Bo",
        "don't forget to call Bo",
        "remember me",
        "remember the sync?",
        "do you remember that?",
        "ذكرني بعد يومين",
        "forget it",
        "forget about it",
        "forget that",
        "forget everything",
        "forget to run it",
        "forget why we did it",
        "I forget the name",
        "remembering that web1 is old",
        "remember that " + "x" * MAX_CHARS,
        "",
    ],
)
def test_what_asks_for_nothing_of_the_kind(said: str) -> None:
    assert asked(said) is None


@pytest.mark.parametrize(
    ("said", "about"),
    [
        ("what do you remember?", ""),
        ("What do you know", ""),
        ("list facts", ""),
        ("ماذا تتذكر؟", ""),
        ("what do you know about web1?", "web1"),
        ("so, what did I tell you about the sync", "the sync"),
        ("do you know anything about Bo?", "Bo"),
        ("ماذا تعرف عن اجتماع المشروع؟", "اجتماع المشروع"),
    ],
)
def test_what_is_asked_for(said: str, about: str) -> None:
    assert recalled(said) == about
    assert parse(f"sayso {said}") == commands.ShowMemory(about=about)


@pytest.mark.parametrize(
    "said",
    ["what do you do", "what do you know about", "do you remember the sync?", "what is on web1?", "recall"],
)
def test_what_asks_for_something_else(said: str) -> None:
    assert recalled(said) is None
