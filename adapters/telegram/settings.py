"""What `[adapters.telegram]` may hold, and what is wrong with it, without any network.

The rule it owns: a token comes from a file or the environment, never from the config itself, and goes to
another machine only over TLS.
"""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, field_validator

TOKEN_VARIABLE = "SAYSO_TELEGRAM_BOT_TOKEN"  # noqa: S105  # the name of a variable
PUBLIC_API = "https://api.telegram.org"
_TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]+")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class TokenError(ValueError):
    """There is no bot token. Set token_file under [adapters.telegram]."""


class Settings(BaseModel):
    """The settings of the adapter.

    Attributes:
        api_url: where the Bot API is; another address for a self-hosted server (telegram-bot-api) or a proxy.
        token_file: path of a file that holds the token of @BotFather and nothing else; "" to take it from
            the environment variable SAYSO_TELEGRAM_BOT_TOKEN.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    api_url: str = PUBLIC_API
    token_file: str = ""

    @field_validator("api_url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{value!r} is no web address. Give one like {PUBLIC_API}")
        return value.rstrip("/")

    def token(self, environ: Mapping[str, str] = os.environ) -> str:
        """Return the bot token.

        Raises:
            TokenError: there is none, or it cannot be one; the message says what to do and never quotes it.
        """
        if self.token_file:
            where = f"the file {self.token_file} (token_file under [adapters.telegram])"
            try:
                found = Path(self.token_file).expanduser().read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not text"
                raise TokenError(
                    f"Telegram: {where} cannot be read ({reason}). Put the bot token there, mode 600."
                ) from None
        else:
            where = f"the environment variable {TOKEN_VARIABLE}"
            found = environ.get(TOKEN_VARIABLE, "").strip()
            if not found:
                raise TokenError(
                    "Telegram: there is no bot token. Write the token of @BotFather to a file, mode 600, and"
                    f" set token_file under [adapters.telegram], or set {TOKEN_VARIABLE}."
                )
        if not _TOKEN.fullmatch(found):
            raise TokenError(
                f"Telegram: what {where} holds is no bot token. One looks like 123456789:AA…;"
                " @BotFather shows it with /mybots, API Token."
            )
        return found

    def problems(self, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
        """Return what is wrong, each with what to do; nothing is asked of Telegram."""
        found: list[str] = []
        try:
            self.token(environ)
        except TokenError as error:
            found.append(str(error))
        else:
            found += self._file_problems()
        parts = urlsplit(self.api_url)
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            found.append(
                f"Telegram: api_url {self.api_url} is not encrypted, so the token crosses the network in the"
                " clear. Use https, or a Bot API server on this machine."
            )
        return tuple(found)

    def _file_problems(self) -> list[str]:
        if not self.token_file:
            return []
        file = Path(self.token_file).expanduser()
        if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            return [f"Telegram: others on this machine can read the token. Type: chmod 600 {file}"]
        return []
