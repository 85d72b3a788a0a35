"""Discord: a bot on the gateway, with buttons, forms and threads.

`port` is the ChatPort; `connection` keeps a login, `client` is the SDK bound to the addresses of one port;
`inbound` reads what the SDK hands over, `markdown` and `render` write what is sent; `sending` posts, edits
and finds; `presses` answers buttons and forms, each once and in time; `catchup` reads what was said
meanwhile. The SDK is imported by `create`, not before.
It decides nothing: who may do what is the core's to know.
"""

from adapters.discord.settings import NoTokenError, Settings
from bot.ports import Bookmarks, ChatPort, Clock

__all__ = ["NoTokenError", "Settings", "create"]


def create(settings: Settings, *, clock: Clock, bookmarks: Bookmarks, host: str = "") -> ChatPort:
    """Return the port; nothing is connected before `listen`.

    Args:
        host: name of this machine, for telling two processes on one token apart.

    Raises:
        NoTokenError: there is no bot token; says what to do.
    """
    from adapters.discord.port import DiscordPort  # noqa: PLC0415  # the SDK loads only where it is used

    return DiscordPort(settings, token=settings.token(), clock=clock, bookmarks=bookmarks, host=host)
