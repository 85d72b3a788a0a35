"""Words that ask for something of their own are never a yes to what waits, whatever they share with it."""

from pathlib import Path

import pytest

from tests.kit import conversation

WAITING = "run sh -c 'echo s1 >> /tmp/never' on local"


@pytest.mark.parametrize(
    "text",
    ["run echo fine on local", "run sh -c 'echo' on local", "run echo s1 on local"],
)
async def test_a_request_that_shares_words_with_what_waits_is_no_yes(tmp_path: Path, text: str) -> None:
    async with conversation(tmp_path) as kit:
        await kit.say(WAITING)
        waiting = kit.newest_id()
        await kit.say(text)
        assert kit.states(waiting) == ["waiting"]
        assert kit.newest_id() != waiting


@pytest.mark.parametrize("text", ["run it", "go ahead", "yes, run it"])
async def test_a_yes_stays_one(tmp_path: Path, text: str) -> None:
    async with conversation(tmp_path) as kit:
        await kit.say("run sh -c 'echo s1 >> /dev/null' on local")
        await kit.say(text)
        assert kit.states() == ["succeeded"]
