"""The settings of Slack, the setup page, and that nothing of them leaks."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

import adapters.slack
from adapters.slack import Settings, TokenError, create, setup
from adapters.slack.state import SCOPES
from bot.ports import Message
from bot.text import Text
from tests.adapters.console_fakes import FakeCore, StillClock
from tests.adapters.stage_slack import SlackStage, port_for, serving
from tests.simulators.slack.server import running
from tests.simulators.slack.world import APP_TOKEN, BOT_TOKEN

ENVIRON = {"SAYSO_SLACK_BOT_TOKEN": "xoxb-1", "SAYSO_SLACK_APP_TOKEN": "xapp-1"}


def file(folder: Path, content: str, mode: int = 0o600) -> str:
    path = folder / "token"
    path.write_text(content)
    path.chmod(mode)
    return str(path)


def test_tokens_come_from_the_environment() -> None:
    settings = Settings()
    assert settings.problems(ENVIRON) == ()
    assert (settings.token("bot", ENVIRON), settings.token("app", ENVIRON)) == ("xoxb-1", "xapp-1")


def test_a_file_wins_over_the_environment(tmp_path: Path) -> None:
    settings = Settings(bot_token_file=file(tmp_path, "xoxb-2\n"))
    assert settings.token("bot", ENVIRON) == "xoxb-2"


def test_what_is_missing_is_named_with_what_to_do() -> None:
    bot, app = Settings().problems({})
    assert "no Slack bot token" in bot
    assert "bot_token_file" in bot
    assert "SAYSO_SLACK_BOT_TOKEN" in bot
    assert "docs/setup-slack.md" in bot
    assert "SAYSO_SLACK_APP_TOKEN" in app


def test_swapped_tokens_are_seen_and_not_shown() -> None:
    swapped = {"SAYSO_SLACK_BOT_TOKEN": "xapp-secret", "SAYSO_SLACK_APP_TOKEN": "xoxb-secret"}
    problems = Settings().problems(swapped)
    assert all("swapped" in one for one in problems)
    assert not any("secret" in one for one in problems)
    assert len(problems) == 2


@pytest.mark.parametrize("token", ["xoxb-a b", "xoxb-a\nxoxb-b", "bot"])
def test_what_is_no_token_is_refused(token: str, tmp_path: Path) -> None:
    with pytest.raises(TokenError, match="begins with xoxb-"):
        Settings(bot_token_file=file(tmp_path, token)).token("bot")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o620, 0o604])
def test_a_file_that_others_can_get_at_is_refused(tmp_path: Path, mode: int) -> None:
    settings = Settings(bot_token_file=file(tmp_path, "xoxb-1", mode=mode))
    with pytest.raises(TokenError, match="chmod 600"):
        settings.token("bot")
    (problem,) = settings.problems(ENVIRON)
    assert f"chmod 600 {tmp_path / 'token'}" in problem


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TokenError, match="No such file"):
        Settings(bot_token_file=str(tmp_path / "none")).token("bot")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "binary").chmod(0o600)
    with pytest.raises(TokenError, match="not text"):
        Settings(bot_token_file=str(tmp_path / "binary")).token("bot")


def test_a_token_is_sent_in_the_clear_on_this_machine_only() -> None:
    assert Settings(api_url="http://127.0.0.1:80/api/").problems(ENVIRON) == ()
    assert Settings(api_url="http://localhost:80/api/").problems(ENVIRON) == ()
    assert Settings(api_url="http://[::1]:80/api/").problems(ENVIRON) == ()


@pytest.mark.parametrize(
    "host",
    [
        "slack.example",
        "localhost:x@evil.example",
        "127.0.0.1:80@evil.example",
        "[::1]@evil.example",
        "localhost.evil.example",
        "[::1",
        "evil.example#@localhost",
        "evil.example?localhost",
    ],
)
def test_a_token_that_would_cross_the_network_in_the_clear_is_told(host: str) -> None:
    (problem,) = Settings(api_url=f"http://{host}/api/").problems(ENVIRON)
    assert "https" in problem


@pytest.mark.parametrize("doc", [{"bot_token": "xoxb-1"}, {"api_url": "slack.com"}, {"api_url": 3}])
def test_what_is_not_a_setting_is_refused(doc: dict[str, object]) -> None:
    """A token never stands in the config."""
    with pytest.raises(ValidationError):
        Settings(**doc)  # type: ignore[arg-type]


def test_without_tokens_there_is_no_port(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENVIRON:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(TokenError):
        create(Settings(), clock=StillClock(), bookmarks=None)


async def test_create_makes_a_port(tmp_path: Path) -> None:
    settings = Settings(
        bot_token_file=file(tmp_path, "xoxb-1"), app_token_file=_other(tmp_path, "app", "xapp-1")
    )
    port = create(settings, clock=StillClock(), bookmarks=None)
    assert port.name == "slack"
    health = await port.health()
    assert not health.ok
    assert "Not connected" in health.detail
    await port.close()


def _other(folder: Path, name: str, content: str) -> str:
    path = folder / name
    path.write_text(content)
    path.chmod(0o600)
    return str(path)


def test_the_package_is_light() -> None:
    """What is not used is not imported: the library takes a quarter of a second."""
    code = (
        "import sys, adapters.slack; print([n for n in sys.modules if n.startswith(('slack_', 'aiohttp'))])"
    )
    root = str(Path(adapters.slack.__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------- setup


def test_the_manifest_asks_for_what_is_used_and_no_more() -> None:
    document = json.loads(setup.manifest())
    assert document["oauth_config"]["scopes"]["bot"] == sorted(SCOPES)
    settings = document["settings"]
    assert settings["socket_mode_enabled"]
    assert settings["interactivity"] == {"is_enabled": True}
    assert not settings["token_rotation_enabled"]
    # Each event needs a scope, and each direct message a tab to be written in.
    assert set(settings["event_subscriptions"]["bot_events"]) == {
        "app_mention",
        "message.channels",
        "message.groups",
        "message.im",
        "message.mpim",
    }
    home = document["features"]["app_home"]
    assert (home["messages_tab_enabled"], home["messages_tab_read_only_enabled"]) == (True, False)


def test_the_page_has_the_manifest_and_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ENVIRON:
        monkeypatch.delenv(name, raising=False)
    page = setup.page(Settings())
    assert setup.manifest() in page
    assert "connections:write" in page
    assert "There is no Slack bot token" in page
    both = Settings(bot_token_file=file(tmp_path, "xoxb-1"), app_token_file=_other(tmp_path, "app", "xapp-1"))
    assert "Both tokens are there." in setup.page(both)


def test_the_guide_says_what_the_page_says() -> None:
    guide = Path(adapters.slack.__file__).parents[2].joinpath("docs/setup-slack.md").read_text()
    for scope in SCOPES:
        assert f"`{scope}`" in guide
    for event in setup.EVENTS:
        assert f"`{event}`" in guide
    assert "connections:write" in guide


# ---------------------------------------------------------------- nothing leaks


async def test_no_token_and_no_word_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    core = FakeCore()
    async with running() as slack, serving(port_for(slack, tmp_path), core) as port:
        stage = SlackStage(slack, port)
        await port.post(stage.place, Message(body=Text.of("secret answer")), nonce="n")
        await slack.sockets.acked(await slack.say("secret question"))
        core.full = frozenset({"secret refused"})
        await slack.say("secret refused")
        await slack.sockets.acked(await slack.say("end"))
        slack.sockets.cut()
        await slack.world.until(lambda: slack.sockets.opened == 2)
    ours = [one for one in caplog.records if not one.name.startswith(("aiohttp", "asyncio", "tests"))]
    logged = "\n".join(one.getMessage() for one in ours)
    for secret in (BOT_TOKEN, APP_TOKEN, "secret", "ticket"):
        assert secret not in logged
    assert "was not stored" in logged
