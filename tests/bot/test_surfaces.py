"""Surfaces: platforms found by name, their settings checked by themselves, ports made from the config."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot import surfaces
from bot.bookmarks import InboxBookmarks
from bot.ports import PlaceRef
from bot.settings.config import Config, load
from bot.settings.errors import ConfigError
from bot.settings.paths import Paths
from tests.kit import ScriptedClock, conversation

TOKEN = "123456789:AAabcdefghijklmnopqrstuvwxyz012345678"


class NoBookmarks:
    """Bookmarks of nowhere."""

    def newest(self, platform: str) -> Sequence[tuple[PlaceRef, str]]:
        return ()


def config(folder: Path, text: str) -> Config:
    file = folder / "config.toml"
    file.write_text(text, encoding="utf-8")
    return load(file=file, environ={}, flags=(), login="ana", paths=Paths(folder / "state"))


def telegram(folder: Path, *more: str) -> Config:
    """Return a config that switches Telegram on, with a token that can be read."""
    token = folder / "token"
    token.write_text(TOKEN, encoding="utf-8")
    token.chmod(0o600)
    return config(folder, "\n".join(["[adapters.telegram]", f'token_file = "{token}"', *more]))


def told(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        surfaces.check(config(folder, text))
    return [str(one).replace(str(folder), "") for one in caught.value.problems]


def test_the_platforms_are_the_packages_but_for_the_console() -> None:
    found = surfaces.names()
    assert {"discord", "slack", "telegram"} <= set(found)
    assert "console" not in found
    assert found == sorted(found)


@pytest.mark.parametrize("name", surfaces.names())
def test_each_platform_has_settings_and_a_page_to_set_it_up(name: str, tmp_path: Path) -> None:
    assert surfaces.settings_of(name, {})
    if name == "mcp":  # `sayso mcp` is what agents start, and docs/agents.md the page
        return
    assert surfaces.setup_page(name, config(tmp_path, "[bot]\n")).strip()


def test_what_agents_come_in_by_is_no_port(tmp_path: Path) -> None:
    found = config(tmp_path, "[adapters.mcp]\n")
    assert surfaces.problems(found) == {"mcp": []}
    assert surfaces.open_ports(found, clock=ScriptedClock(), bookmarks=NoBookmarks()) == []


def test_a_secret_of_an_agent_that_cannot_be_read_is_told_with_the_rest(tmp_path: Path) -> None:
    agent = '[agents.claude]\ntoken_file = "/nonexistent/x"\nplace = "console::ana"\n'
    (said,) = told(tmp_path, f"[adapters.mcp]\n{agent}")
    assert "agents.claude.token_file: /nonexistent/x cannot be read" in said


def test_what_is_not_switched_on_is_not_looked_at(tmp_path: Path) -> None:
    nothing = config(tmp_path, "[bot]\n")
    surfaces.check(nothing)
    assert surfaces.problems(nothing) == {}
    assert surfaces.open_ports(nothing, clock=ScriptedClock(), bookmarks=NoBookmarks()) == []


def test_good_settings_make_a_port_that_is_not_connected(tmp_path: Path) -> None:
    found = telegram(tmp_path)
    assert surfaces.problems(found) == {"telegram": []}
    (port,) = surfaces.open_ports(found, clock=ScriptedClock(), bookmarks=NoBookmarks())
    assert port.name == "telegram"


def test_an_unknown_adapter_is_named_with_the_nearest(tmp_path: Path) -> None:
    (problem,) = told(tmp_path, "[adapters.telegrm]\n")
    assert "adapters.telegrm" in problem
    assert "telegram" in problem.replace("telegrm", "")


def test_the_console_is_no_adapter_of_the_config(tmp_path: Path) -> None:
    (problem,) = told(tmp_path, "[adapters.console]\n")
    assert "adapters.console" in problem


def test_an_unknown_key_is_named_with_the_nearest(tmp_path: Path) -> None:
    (problem,) = told(tmp_path, '[adapters.telegram]\ntoken_fil = "/etc/token"\n')
    assert "adapters.telegram.token_fil" in problem
    assert "token_file" in problem.replace("telegram.token_fil:", "")


def test_a_wrong_value_is_named_by_its_key_and_is_not_quoted(tmp_path: Path) -> None:
    (problem,) = told(tmp_path, "[adapters.telegram]\ntoken_file = 3\n")
    assert "adapters.telegram.token_file" in problem
    assert problem.endswith(".")


def test_every_problem_of_every_adapter_is_told_at_once(tmp_path: Path) -> None:
    lines = told(
        tmp_path,
        f'[adapters.telegram]\ntoken_file = "{tmp_path}/none"\n'
        "[adapters.discord]\nnonsense = 1\n[adapters.x]\n",
    )
    assert [any(name in line for line in lines) for name in ("telegram", "discord", "adapters.x")] == [
        True
    ] * 3


def test_nothing_is_opened_where_one_of_them_is_wrong(tmp_path: Path) -> None:
    found = telegram(tmp_path, "[adapters.nonsense]")
    with pytest.raises(ConfigError):
        surfaces.open_ports(found, clock=ScriptedClock(), bookmarks=NoBookmarks())


async def test_a_bookmark_is_the_newest_message_of_each_place(tmp_path: Path) -> None:
    async with conversation(tmp_path) as kit:
        bookmarks = InboxBookmarks(kit.core.ledger.inbox, kit.core.queries)
        assert bookmarks.newest("script") == []
        await kit.say("pending", event_id="m:17.1")
        await kit.say("pending", event_id="m:17.2")
        await kit.say("pending", event_id="c:17.3")
        await kit.say("pending", place="other", event_id="c:1")
        await kit.say("pending", place="third", event_id="m:9")
        assert bookmarks.newest("script") == [
            (PlaceRef(platform="script", channel="ops"), "m:17.2"),
            (PlaceRef(platform="script", channel="third"), "m:9"),
        ]
        assert bookmarks.newest("elsewhere") == []
