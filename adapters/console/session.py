"""A session: one connected person of this machine, where their messages go, and the place they speak in.

It holds who the kernel or this process says is there; `speaker` differs from that in a rehearsal only.
"""

import secrets
from dataclasses import dataclass, field
from typing import Protocol

from bot.ports import Account, Message, PlaceRef

NAME = "console"


class Screen(Protocol):
    """Where a session's messages go."""

    async def show(self, key: str, message: Message) -> None:
        """Show a message or its change. Raises ConnectionError when nobody is there any more."""


@dataclass(slots=True, eq=False)
class Session:
    """One connected person; `login` is also the place they speak in."""

    login: str
    screen: Screen
    speaker: str = ""
    spoken: int = 0
    nonce: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def place(self) -> PlaceRef:
        """Where they speak."""
        return PlaceRef(platform=NAME, channel=self.login)

    @property
    def account(self) -> Account:
        """Who speaks."""
        return account_of(self.speaker or self.login)


def account_of(login: str) -> Account:
    """Return the account of a user of this machine."""
    return Account(platform=NAME, user=login, display=login)
