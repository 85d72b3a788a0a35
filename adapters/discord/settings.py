"""The settings of `[adapters.discord]`, and where the bot token comes from.

The token is never in the config itself: it is in a file or in the environment. Checks here need no network.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

#: The environment variable that holds the bot token.
TOKEN_VARIABLE = "SAYSO_DISCORD_BOT_TOKEN"  # noqa: S105  # a name

_HOW = (
    f"Set token_file in [adapters.discord], or {TOKEN_VARIABLE}. The token is in the Developer Portal:"
    " your application > Bot > Reset Token. docs/setup-discord.md shows each step."
)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
#: Three parts of URL-safe base64 between dots.
_TOKEN = re.compile(r"[\w-]{18,}\.[\w-]{6,}\.[\w-]{20,}")


class NoTokenError(Exception):
    """There is no bot token. Set token_file in [adapters.discord], or the environment variable."""


class Settings(BaseModel):
    """What can be set for Discord.

    Attributes:
        token_file: path of a file that holds the bot token and nothing else.
        api_url: base of the REST API with its version, for proxies and tests.
        gateway_url: where a new gateway session begins; "" lets the SDK's default stand.
        message_content: ask for the privileged Message Content intent. Without it only direct messages,
            mentions and replies to the bot are understood.
        application_id: the application's id, for the invite link; "" reads it from the token.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    token_file: str = ""
    api_url: str = "https://discord.com/api/v10"
    gateway_url: str = ""
    message_content: bool = True
    application_id: str = Field(default="", pattern=r"^\d*$")

    def token(self, environ: Mapping[str, str] = os.environ) -> str:
        """Return the bot token: of the file where one is set, else of the environment.

        Raises:
            NoTokenError: there is none; says what to do.
        """
        if not self.token_file:
            found = environ.get(TOKEN_VARIABLE, "").strip()
            if not found:
                raise NoTokenError(f"Discord has no bot token. {_HOW}")
            return found
        path = Path(self.token_file).expanduser()
        try:
            found = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            raise NoTokenError(f"The Discord token file {path} cannot be read: {why}. {_HOW}") from error
        if not found:
            raise NoTokenError(f"The Discord token file {path} is empty. {_HOW}")
        return found

    def problems(self, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
        """Return what is wrong with these settings as far as this machine can tell; () for nothing."""
        found: list[str] = []
        for name, url, schemes in (
            ("api_url", self.api_url, ("https", "http")),
            ("gateway_url", self.gateway_url, ("wss", "ws")),
        ):
            if url or name == "api_url":
                found += _address_problems(name, url, schemes)
        try:
            token = self.token(environ)
        except NoTokenError as error:
            return (*found, str(error))
        if _TOKEN.fullmatch(token) is None:
            found.append(
                "The Discord token does not look like a bot token (three parts with dots between them)."
                " A client secret or a public key does not work here."
            )
        if self.token_file and Path(self.token_file).expanduser().stat().st_mode & 0o077:
            found.append(
                f"Discord: others on this machine can read the token. Type: chmod 600 {self.token_file}"
            )
        return tuple(found)


def _address_problems(name: str, url: str, schemes: tuple[str, str]) -> list[str]:
    """Return what is wrong with an address; of `schemes`, the second goes to this machine only."""
    encrypted, clear = schemes
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return [f"{name} is no address. Give one like {encrypted}://host/"]
    if parts.scheme not in schemes or not host:
        return [f"{name} must begin with {encrypted}://"]
    if parts.scheme == clear and host not in _LOOPBACK:
        return [
            f"{name} {url} is not encrypted, so the token crosses the network in the clear. Use {encrypted}."
        ]
    return []
