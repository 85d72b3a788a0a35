"""What went wrong with a request, as the three ends that a send can have (P10).

The rule it owns: only what Discord said no to, or what never reached it, counts as not shown.
"""

import aiohttp

from adapters.discord.sdk import discord
from bot.ports import BusyError, RejectedError, UncertainError

#: Codes of Discord's JSON errors. https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
UNKNOWN_INTERACTION, ALREADY_ANSWERED, INVALID_FORM = 10062, 40060, 50035
#: The handle of an interaction is worn out: its fifteen minutes are over, or it was never answered.
WORN_OUT = frozenset({UNKNOWN_INTERACTION, 10015, 10008, 50027})

_WHY = {
    10003: "that channel is gone",
    10008: "that message is gone",
    40005: "a file is too large",
    50001: "the bot cannot see that channel; let it in",
    50007: "that person takes no direct messages",
    50013: "the bot may not write there; give it Send Messages, Attach Files and Read Message History",
    50083: "that thread is archived and locked",
}
LOGIN_REFUSED = (
    "Discord refused the token. Make a new one in the Developer Portal (your application > Bot >"
    " Reset Token), put it where the old one is, and restart sayso."
)
_BUSY_S, _OFFLINE_S = 30.0, 5.0
#: Messages that are older than an hour may be edited less often.
_BUSY = frozenset({30046})

#: What a request can fail with.
Fault = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError, RuntimeError)


def outcome(error: Exception) -> RejectedError | UncertainError:
    """Return what `error` means for what was being sent."""
    match error:
        case discord.RateLimited():
            return BusyError("Discord wants less at once", retry_after_s=error.retry_after)
        case discord.HTTPException():
            return _refused(error)
        case aiohttp.ClientConnectorError():
            return BusyError("Discord cannot be reached", retry_after_s=_OFFLINE_S)
        case RuntimeError() if "Session is closed" in str(error):
            return BusyError("the connection to Discord is being made anew", retry_after_s=_OFFLINE_S)
        case _:
            return UncertainError(f"the connection to Discord broke: {type(error).__name__}")


def _refused(error: "discord.HTTPException") -> RejectedError | UncertainError:
    if error.status == 429 or error.code in _BUSY:  # noqa: PLR2004  # Too Many Requests, after the SDK's own tries
        return BusyError("Discord wants less at once", retry_after_s=_retry_after(error))
    if error.status >= 500:  # noqa: PLR2004  # its own fault, and it may have gone through
        return UncertainError(f"Discord failed: HTTP {error.status}")
    if error.status == 401:  # noqa: PLR2004  # Unauthorized
        return RejectedError(LOGIN_REFUSED)
    why = _WHY.get(error.code, error.text or "no reason given")
    return RejectedError(f"Discord refused it ({error.status}, code {error.code}): {why}")


def _retry_after(error: "discord.HTTPException") -> float:
    try:
        return max(0.0, float(error.response.headers.get("Retry-After", _BUSY_S)))
    except ValueError:
        return _BUSY_S
