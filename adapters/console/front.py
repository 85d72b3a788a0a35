"""Front ends: what shows messages to a person or a pipe and reads what they say.

`FrontEnd` is what the port and the client of the socket both talk to; `piped` and `terminal` are the two.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bot.ports import Message

if TYPE_CHECKING:
    import asyncio


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One thing that a person did: a line, or a pressed button (then `token` is set)."""

    text: str = ""
    token: str = ""


class GoneError(Exception):
    """The other end is gone; what it had started is settled there. Start `sayso chat` again."""


#: Hands one thing over and returns once it is stored; what it returns is done once its turn has ended.
Send = Callable[[Said], Awaitable["asyncio.Future[None]"]]


class FrontEnd(Protocol):
    """Shows and reads."""

    def show(self, key: str, message: Message) -> None:
        """Show a message, or the change of one that has this key."""

    def hint(self, text: str) -> None:
        """Show a line of the console's own."""

    async def run(self, send: Send) -> int:
        """Read until the input ends and return the exit code."""
