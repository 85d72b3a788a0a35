"""Words that ask for something of their own are never a yes to what waits, whatever they share with it."""

from pathlib import Path

import pytest

from tests.bot.fanout.fleet import ends, fleet, view_of
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


@pytest.mark.parametrize("waiting", ["run systemctl reload nginx on web1", "on @web: systemctl reload nginx"])
@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("reload nginx everywhere", False),
        ("reload nginx on all servers", False),
        ("reload nginx on every web server", False),
        ("run systemctl reload nginx on all web servers", False),
        ("yes, everywhere", False),
        ("run it everywhere", False),
        ("run it on all", False),
        ("do it on all web servers", False),
        ("uptime on all of them", False),
        ("uptime on every web server", True),
        ("uptime on all servers", True),
    ],
)
async def test_many_in_plain_words_are_no_yes_to_what_waits(
    tmp_path: Path, waiting: str, text: str, *, reads: bool
) -> None:
    async with conversation(tmp_path, inventory=fleet(5), executor=ends()) as kit:
        await kit.say(waiting)
        proposal = kit.newest_id()
        await kit.say(text)
        await kit.at_rest()
        assert set(kit.states(proposal)) == {"waiting"}
        commands = {command for _, command in kit.core.executor.ran}  # type: ignore[attr-defined] # ByHost
        assert commands == ({"uptime"} if reads else set())
        assert "it" not in {one.action.command for one in view_of(kit).actions}
