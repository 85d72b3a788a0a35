"""What help names is understood, and every control word is named there."""

import re
from typing import get_args

import pytest

from bot import commands as c
from bot.control_words import parse
from bot.showing import HELP

#: Said where they are of use: on cards and beside what they ask about.
NAMED_ELSEWHERE = {c.Help, c.Why, c.DependsOn}


def read(line: str) -> set[object]:
    """Return the sorts of control words that a line of the help reads as."""
    words = re.sub(r"<id>|\[id\]", "k7f3a2", line).replace("<account>", "telegram::123456789")
    return {type(found) for part in re.split(r" · |\s{2,}", words) if (found := parse(part.strip()))}


@pytest.mark.parametrize(
    "word", sorted({*get_args(c.Command)} - NAMED_ELSEWHERE, key=lambda one: one.__name__)
)
def test_help_names_every_control_word(word: type) -> None:
    assert word in set[object]().union(*map(read, HELP))
