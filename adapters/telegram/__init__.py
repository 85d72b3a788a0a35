"""Telegram: the Bot API over long polling, so no public address is needed.

`port` is the ChatPort. `polling` reads updates and confirms them only once they are stored; `inbound` and
`heard` make events of them; `presses` answers presses in time; `render` draws, `sending` sends, `editing`
keeps edits newest and paced; `status` is what `sayso status` tells; `settings` and `setup` are for the owner.
The library is imported by `create`, so that an install without Telegram never pays for it.
"""

from adapters.telegram.settings import Settings
from bot.ports import Bookmarks, ChatPort, Clock

__all__ = ["Settings", "create"]


def create(settings: Settings, *, clock: Clock, bookmarks: Bookmarks, host: str = "") -> ChatPort:
    """Return the port, not connected yet.

    Args:
        bookmarks: not needed here: Telegram itself keeps what was not confirmed, for 24 hours.
        host: not needed here: Telegram names no connection.

    Raises:
        adapters.telegram.settings.TokenError: there is no usable token; the message says what to do.
    """
    from adapters.telegram.port import TelegramPort  # noqa: PLC0415  # lazy: brings the library

    del bookmarks, host
    return TelegramPort(settings, token=settings.token(), clock=clock)
