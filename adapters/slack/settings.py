"""The settings of the Slack adapter, `[adapters.slack]`, and where its two tokens come from.

Checks what can be checked without a network. A token never stands in the config: each is read from a file, or
from the environment where no file is named.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

BOT_TOKEN, APP_TOKEN = "SAYSO_SLACK_BOT_TOKEN", "SAYSO_SLACK_APP_TOKEN"
API_URL = "https://slack.com/api/"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Settings(BaseModel):
    """What the config may say.

    Attributes:
        api_url: base address of the Web API; another one for a proxy or a test. Where the socket is, Slack
            itself answers.
        bot_token_file: file that holds the bot token (xoxb-…); SAYSO_SLACK_BOT_TOKEN where it is not set.
        app_token_file: file that holds the app-level token (xapp-…); SAYSO_SLACK_APP_TOKEN likewise.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    api_url: str = Field(default=API_URL, pattern=r"^https?://\S+$")
    bot_token_file: str | None = None
    app_token_file: str | None = None

    def problems(self, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Return what keeps the adapter from starting, each with what to do; () when nothing does."""
        found = []
        for kind in ("bot", "app"):
            try:
                self.token(kind, environ)
            except TokenError as error:
                found.append(str(error))
        if self.api_url.startswith("http://") and _host(self.api_url) not in _LOOPBACK:
            found.append("api_url sends the token in the clear. Use https.")
        return tuple(found)

    def token(self, kind: str, environ: Mapping[str, str] | None = None) -> str:
        """Return the token of a kind, "bot" or "app".

        Raises:
            TokenError: there is none, or it is not of that kind; says what to do.
        """
        prefix, variable = ("xoxb-", BOT_TOKEN) if kind == "bot" else ("xapp-", APP_TOKEN)
        setting = f"{kind}_token_file"
        file = self.bot_token_file if kind == "bot" else self.app_token_file
        token = _read(Path(file).expanduser(), setting) if file else _from(environ, variable)
        if not token:
            raise TokenError(
                f"There is no Slack {kind} token. Put it ({prefix}…) into a file and name that as {setting}"
                f" in [adapters.slack], or set {variable}. docs/setup-slack.md says where it comes from."
            )
        if not token.startswith(prefix) or any(char.isspace() for char in token):
            raise TokenError(
                f"That is no Slack {kind} token: one begins with {prefix} and has no spaces. Look at"
                f" {setting if file else variable}; the two tokens may be swapped."
            )
        return token


class TokenError(ValueError):
    """A Slack token is missing or of the wrong kind. docs/setup-slack.md says where it comes from."""


def _read(path: Path, setting: str) -> str:
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise TokenError(f"{setting}: others on this machine can read the token. Type: chmod 600 {path}")
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise TokenError(
            f"{setting}: {path} cannot be read ({reason}). Put the token there, readable by sayso alone"
            " (chmod 600)."
        ) from error


def _from(environ: Mapping[str, str] | None, variable: str) -> str:
    return (os.environ if environ is None else environ).get(variable, "").strip()


def _host(url: str) -> str | None:
    """Return the host that `url` really leads to: what stands before an @ in it is a name, not a host."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
