"""What docs/assent.md says of a yes to many targets is what happens."""

import re
from pathlib import Path

import pytest

from tests.bot.fanout.fleet import RELOAD, ends, fleet, ran
from tests.kit import conversation

pytestmark = pytest.mark.timeout(120)

PAGE = (Path(__file__).parents[3] / "docs" / "assent.md").read_text("utf-8")
SECTION = PAGE.partition("### A yes to many targets")[2].partition("\n###")[0]
ROWS = re.findall(r"^\| (`.*) \| (.*) \|$", SECTION, re.MULTILINE)
SAID = [(words, what) for cell, what in ROWS for words in re.findall(r"`([^`]+)`", cell)]


def test_the_page_has_all_kinds_of_answers() -> None:
    assert len(ROWS) == 8
    assert len(SAID) > 15


@pytest.mark.parametrize(("words", "what"), SAID)
async def test_an_answer_does_what_the_page_says(tmp_path: Path, words: str, what: str) -> None:
    async with conversation(tmp_path, inventory=fleet(5), executor=ends()) as kit:
        await kit.say(f"on @web,db1: {RELOAD}")
        proposal = kit.newest_id()
        await kit.say(words)
        await kit.at_rest()
        runs, parts = what.startswith("all of it"), what.startswith("a new card")
        assert len(ran(kit)) == (6 if runs else 0)
        assert (kit.newest_id() != proposal) == parts
        assert set(kit.states(proposal)) == {"succeeded" if runs else "cancelled" if parts else "waiting"}
        assert parts or runs or what.startswith(("nothing", "asked again"))
