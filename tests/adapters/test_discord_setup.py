"""Discord's settings and what its owner has to do: checked without a network."""

import base64
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import ValidationError

from adapters.discord import NoTokenError, Settings, create, setup
from tests.adapters.console_fakes import StillClock
from tests.adapters.stage_discord import NoBookmarks
from tests.simulators.discord.simulator import TOKEN
from tests.simulators.discord.world import PERMISSIONS

ENVIRON = {"SAYSO_DISCORD_BOT_TOKEN": TOKEN}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    return path


def test_the_token_comes_from_its_file_or_the_environment(file: Path) -> None:
    assert Settings(token_file=str(file)).token({}) == TOKEN
    assert Settings().token(ENVIRON) == TOKEN
    assert Settings(token_file=str(file)).token({"SAYSO_DISCORD_BOT_TOKEN": "other"}) == TOKEN
    assert Settings(token_file=str(file)).problems({}) == ()


@pytest.mark.parametrize("content", [None, "", "\n", b"\xff\xfe"])
def test_without_a_token_it_says_what_to_do(tmp_path: Path, content: str | bytes | None) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    settings = Settings(token_file=str(path))
    with pytest.raises(NoTokenError, match="Reset Token"):
        settings.token(ENVIRON)
    assert any("Reset Token" in problem for problem in settings.problems(ENVIRON))


def test_without_anything_it_says_what_to_do() -> None:
    with pytest.raises(NoTokenError, match=r"Set token_file in \[adapters.discord\], or SAYSO_DISCORD"):
        Settings().token({})


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o620, 0o604])
def test_a_token_that_others_can_get_at_is_a_problem(file: Path, mode: int) -> None:
    file.chmod(mode)
    (problem,) = Settings(token_file=str(file)).problems({})
    assert problem == f"Discord: others on this machine can read the token. Type: chmod 600 {file}"


@pytest.mark.parametrize("token", ["0123456789abcdef" * 4, "a.b.c", "Bot " + TOKEN])
def test_what_is_no_bot_token_is_a_problem(token: str) -> None:
    (problem,) = Settings().problems({"SAYSO_DISCORD_BOT_TOKEN": token})
    assert "does not look like a bot token" in problem
    assert token not in problem


@pytest.mark.parametrize(
    "settings",
    [
        Settings(api_url="discord.com/api"),
        Settings(api_url=""),
        Settings(api_url="ftp://x"),
        Settings(api_url="https://[::1"),
        Settings(gateway_url="https://gateway.discord.gg"),
    ],
)
def test_an_address_that_is_none_is_a_problem(settings: Settings) -> None:
    assert len(settings.problems(ENVIRON)) == 1


@pytest.mark.parametrize(
    "settings",
    [
        Settings(api_url="http://discord.lan/api/v10"),
        Settings(api_url="http://localhost:x@evil.example/api/v10"),
        Settings(gateway_url="ws://gateway.lan/"),
        Settings(gateway_url="ws://127.0.0.1:80@evil.example/"),
    ],
)
def test_a_token_that_would_cross_the_network_in_the_clear_is_told(settings: Settings) -> None:
    (problem,) = settings.problems(ENVIRON)
    assert "not encrypted" in problem


def test_a_token_is_sent_in_the_clear_on_this_machine_only() -> None:
    for host in ("127.0.0.1:80", "localhost:80", "[::1]:80"):
        settings = Settings(api_url=f"http://{host}/api/v10", gateway_url=f"ws://{host}/")
        assert settings.problems(ENVIRON) == ()


@pytest.mark.parametrize(
    "unknown", [{"token": TOKEN}, {"message_content": "yes"}, {"application_id": "sayso"}]
)
def test_what_is_not_known_or_not_meant_is_an_error(unknown: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate(unknown)


def test_the_port_is_made_without_a_network(file: Path) -> None:
    made = create(Settings(token_file=str(file)), clock=StillClock(), bookmarks=NoBookmarks(), host="box")
    assert made.name == "discord"


def test_the_invite_link_asks_for_what_is_used_and_nothing_else() -> None:
    link = urlsplit(setup.invite_url("123"))
    asked = parse_qs(link.query)
    assert (link.netloc, link.path) == ("discord.com", "/oauth2/authorize")
    assert asked == {"client_id": ["123"], "scope": ["bot"], "permissions": [PERMISSIONS]}
    assert int(asked["permissions"][0]) & (1 << 3 | 1 << 17) == 0, (
        "neither administrator nor mention everyone"
    )


def test_the_page_holds_the_link_of_this_bot(file: Path) -> None:
    number = "114738888999900002"
    first = base64.urlsafe_b64encode(number.encode()).decode().rstrip("=")
    file.write_text(f"{first}.GabcDE.{'x' * 38}")
    page = setup.page(Settings(token_file=str(file)))
    assert f"client_id={number}" in page
    assert "Message Content Intent. Save" in page
    assert "x" * 38 not in page


def test_the_page_without_a_token_says_where_the_id_is() -> None:
    page = setup.page(Settings(token_file="/no/such/file", message_content=False))
    assert "APPLICATION_ID is on the page General Information" in page
    assert "Message Content Intent stays off" in page
    assert "client_id=42" in setup.page(Settings(application_id="42"))
