"""Slack over Socket Mode: no public address is needed.

`port` is the ChatPort. `settings` says where the tokens are, `link` and `socket` keep the connection,
`intake` hears and acknowledges, `inbound` and `reading` make values of what arrives, `render` makes payloads
of what is shown, `sending` and `web` send them, `catchup` reads what was missed, `state` says how it is,
`people` knows names, `setup` says what to paste where. Importing the package imports no SDK; `create` does.
"""

from adapters.slack.settings import Settings, TokenError
from bot.ports import Bookmarks, ChatPort, Clock

__all__ = ["Settings", "TokenError", "create"]


def create(
    settings: Settings,
    *,
    clock: Clock,
    bookmarks: Bookmarks | None,
    host: str = "",  # noqa: ARG001 - every adapter is made alike
) -> ChatPort:
    """Return the port, not connected yet; `host` means nothing to Slack.

    Raises:
        TokenError: a token is missing or of the wrong kind; says what to do.
    """
    from adapters.slack.port import SlackPort  # noqa: PLC0415 - the SDK is slow to import and may not be needed

    return SlackPort(settings, clock=clock, bookmarks=bookmarks)
