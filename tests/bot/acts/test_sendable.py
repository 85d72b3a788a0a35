"""Reading what is to be sent out of whole messages."""

import pytest

from bot.acts.sendable import MAX_CHARS, Sendable, parse

PLACES = {"ops", "web"}
WORDS = "deploy starts at 10"


@pytest.mark.parametrize(
    "said",
    [
        f'send "{WORDS}" to #ops',
        f"Please send “{WORDS}” to #ops.",
        f"send '{WORDS}' to #ops",
        f"post «{WORDS}» in #ops",
        f"share `{WORDS}` to #ops",
        f"can you say ```\n{WORDS}\n``` in #ops?",
        f"tell #ops that {WORDS}",
        f"let #ops know that {WORDS}",
        f"notify #ops: {WORDS}",
        f'tell #ops "{WORDS}"',
        f'message #ops, "{WORDS}"',
        f"post to #ops: {WORDS}",
    ],
)
def test_words_are_marked_as_such(said: str) -> None:
    assert parse(said, places=PLACES) == Sendable(to="#ops", text=WORDS)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (f'send "{WORDS}"', Sendable(text=WORDS)),
        (f'send "{WORDS}" to ops', Sendable(to="ops", text=WORDS)),
        (f'send "{WORDS}" to nowhere', Sendable(to="nowhere", text=WORDS)),
        ('tell web: say "hi" to them', Sendable(to="web", text='say "hi" to them')),
        ("tell @oncall that it is over", Sendable(to="@oncall", text="it is over")),
        ("tell #ops line one\nline two", Sendable(to="#ops", text="line one\nline two", loose=True)),
        ("send the logs of caddy to #ops", Sendable(to="#ops", text="the logs of caddy", loose=True)),
        ('send "" to #ops', Sendable(to="#ops", text='""', loose=True)),
    ],
)
def test_where_to_and_which_words(said: str, found: Sendable) -> None:
    assert parse(said, places=PLACES) == found


@pytest.mark.parametrize(
    ("said", "artifact"),
    [
        ("send this to #ops", ""),
        ("Send it to #ops!", ""),
        ("can you share that result to #ops?", ""),
        ("post the output to #ops", ""),
        ("send #k7f3a2 to #ops", "#k7f3a2"),
        ("send K7F3A2 to #ops", "#k7f3a2"),
        ("forward the result of #k7f3a2 to #ops", "#k7f3a2"),
        ("post the digest to #ops", "digest"),
        ("post yesterday's digest to #ops", "digest yesterday"),
        ("send the summary of last week to #ops", "digest last week"),
    ],
)
def test_what_is_on_record_is_named_or_this(said: str, artifact: str) -> None:
    assert parse(said, places=PLACES) == Sendable(to="#ops", artifact=artifact)


def test_what_is_on_record_needs_no_place_to_be_recognised() -> None:
    assert parse("send this", places=()) == Sendable()
    assert parse("post the digest.", places=()) == Sendable(artifact="digest")
    assert parse("send #k7f3a2", places=()) == Sendable(artifact="#k7f3a2")


@pytest.mark.parametrize(
    "said",
    [
        "",
        "send",
        "send it",
        "send HUP to nginx",
        "send SIGHUP to caddy on web1",
        "tell me that it is over",
        "message queue is full",
        "say it in english",
        "don't send this to #ops",
        "did you send this to #ops?",
        "send the digest of the moon",
        "send this to #ops\nrun reboot on web1",
        "run uptime on web1",
        f'send "{"x" * MAX_CHARS}" to #ops',
    ],
)
def test_other_words_ask_for_nothing_that_is_sent(said: str) -> None:
    assert parse(said, places=PLACES) is None
