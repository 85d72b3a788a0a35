"""Control words about alerts and watches: read as whole messages only."""

import pytest

from bot.commands import Command, Maintain, MaintainNoMore, ShowSignals, ShowWatches, StopWatching
from bot.control_words import parse


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("signals", ShowSignals()),
        ("Alerts?", ShowSignals()),
        ("sayso, which alerts are firing?", ShowSignals()),
        ("watches", ShowWatches()),
        ("what are you watching?", ShowWatches()),
        ("stop watching k7f3a2", StopWatching(job="k7f3a2")),
        ("please unwatch #K7F3A2.", StopWatching(job="k7f3a2")),
        ("maintenance web1 for 2h", Maintain(target="web1", seconds=7200)),
        ("start maintenance of @Web for 30 minutes", Maintain(target="@web", seconds=1800)),
        ("maintenance on web1 for 1 day", Maintain(target="web1", seconds=86_400)),
        ("end maintenance web1", MaintainNoMore(target="web1")),
        ("stop the maintenance of web1", MaintainNoMore(target="web1")),
    ],
)
def test_a_control_word_is_read(said: str, command: Command) -> None:
    assert parse(said) == command


@pytest.mark.parametrize(
    "said",
    [
        "maintenance web1",
        "maintenance web1 for 0h",
        "maintenance",
        "signals on web1",
        "stop watching web1",
        "stop watching television",
        "show me signals of web1",
    ],
)
def test_other_words_are_none(said: str) -> None:
    assert not isinstance(parse(said), ShowSignals | ShowWatches | StopWatching | Maintain | MaintainNoMore)
