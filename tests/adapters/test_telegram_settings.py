"""The settings of Telegram, what is said about wrong ones, and the setup page. No network."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

import adapters.telegram
from adapters.telegram import Settings, setup
from adapters.telegram.settings import TOKEN_VARIABLE, TokenError
from bot.ports import PlaceRef
from tests.adapters.console_fakes import StillClock

TOKEN = "123456:AA-bb_cc"


class NoBookmarks:
    def newest(self, platform: str) -> list[tuple[PlaceRef, str]]:
        return []


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    return file


def test_the_token_is_read_from_its_file(token_file: Path) -> None:
    settings = Settings(token_file=str(token_file))
    assert settings.token({TOKEN_VARIABLE: "1:other"}) == TOKEN
    assert settings.problems({}) == ()


def test_the_token_is_taken_from_the_environment() -> None:
    assert Settings().token({TOKEN_VARIABLE: TOKEN}) == TOKEN
    assert Settings().problems({TOKEN_VARIABLE: TOKEN}) == ()


def test_without_a_token_it_says_what_to_do() -> None:
    with pytest.raises(TokenError, match="set token_file under"):
        Settings().token({})
    (problem,) = Settings().problems({})
    assert "@BotFather" in problem
    assert TOKEN_VARIABLE in problem


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (problem,) = Settings(token_file=str(tmp_path / "none")).problems({})
    assert str(tmp_path / "none") in problem
    assert "No such file" in problem


def test_what_is_no_token_is_not_quoted(token_file: Path) -> None:
    token_file.write_text("hunter2 is no token")
    (problem,) = Settings(token_file=str(token_file)).problems({})
    assert "is no bot token" in problem
    assert "hunter2" not in problem
    token_file.write_bytes(b"\xff\xfe")
    (problem,) = Settings(token_file=str(token_file)).problems({})
    assert "not text" in problem


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o620, 0o604])
def test_a_token_that_others_can_get_at_is_told(token_file: Path, mode: int) -> None:
    token_file.chmod(mode)
    (problem,) = Settings(token_file=str(token_file)).problems({})
    assert f"chmod 600 {token_file}" in problem


def test_a_token_never_stands_in_the_config() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        Settings(token=TOKEN)


@pytest.mark.parametrize("address", ["", "api.telegram.org", "ftp://x", "https://", "https://x/?a=b"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValidationError, match="no web address"):
        Settings(api_url=address)


def test_a_server_of_ones_own_is_an_address_like_another() -> None:
    settings = Settings(api_url="http://127.0.0.1:8081/")
    assert settings.api_url == "http://127.0.0.1:8081"
    assert settings.problems({TOKEN_VARIABLE: TOKEN}) == ()


@pytest.mark.parametrize("host", ["bots.lan:8081", "localhost:x@evil.example", "127.0.0.1:80@evil.example"])
def test_a_token_that_crosses_the_network_in_the_clear_is_told(host: str) -> None:
    (problem,) = Settings(api_url=f"http://{host}").problems({TOKEN_VARIABLE: TOKEN})
    assert "not encrypted" in problem


def test_a_port_is_made_without_any_network(token_file: Path) -> None:
    settings = Settings(token_file=str(token_file))
    port = adapters.telegram.create(settings, clock=StillClock(), bookmarks=NoBookmarks())
    assert port.name == "telegram"
    assert not port.capabilities.forms
    assert not port.capabilities.finds
    with pytest.raises(TokenError):
        adapters.telegram.create(
            Settings(token_file="/none"), clock=StillClock(), bookmarks=NoBookmarks(), host="h"
        )


def test_an_install_without_telegram_never_loads_the_library() -> None:
    code = "import sys, adapters.telegram; sys.exit('telegram' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_setup_page_says_what_is_still_missing(monkeypatch: pytest.MonkeyPatch, token_file: Path) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    page = setup.page(Settings())
    assert "/newbot" in page
    assert "/setprivacy" in page
    assert "- Telegram: there is no bot token." in page
    assert "logOut" not in page
    page = setup.page(Settings(token_file=str(token_file), api_url="http://127.0.0.1:8081"))
    assert f"It is read from {token_file}." in page
    assert "https://api.telegram.org/bot<token>/logOut" in page
    assert "Nothing that can be seen from here." in page
    assert TOKEN not in page
