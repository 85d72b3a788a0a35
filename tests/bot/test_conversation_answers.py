"""Answers about the past, and about what depends on something, as the conversation gives them."""

from pathlib import Path

from bot.inventory import ServiceConfig
from tests.bot.test_digest import Ends
from tests.kit import conversation, local_inventory


async def test_a_history_that_stops_at_its_limit_says_so(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        for number in range(4):
            await kit.say(f"run echo {number} on local")
        assert "3 of 4 shown, newest first;   history last 9  shows more" in await kit.say("history last 3")
        assert "shown" not in await kit.say("history last 9")


async def test_what_depends_on_a_service_needs_no_target(tmp_path: Path) -> None:
    services = {
        "caddy": ServiceConfig(on=("web1", "web2")),
        "blog": ServiceConfig(depends_on=("caddy",)),
    }
    inventory = local_inventory(services)
    async with conversation(tmp_path, executor=Ends, inventory=inventory) as kit:
        assert await kit.say("what depends on caddy?") == "caddy → blog"
        assert await kit.say("what depends on caddy on web2?") == "caddy → blog"
