"""A terminal window at the console's socket, of a person who opens it again whenever the other end is gone.

The bot may be this process or another one. There is one person, who runs the tests, and one place; what was
shown stays in the window, as it does in a terminal. No replies, fields, forwards or talk of others.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

from adapters.console.board import plain, render
from adapters.console.session import account_of
from bot.ports import Account, Message, PlaceRef
from tests.adapters.stage import NotOnThisSurfaceError, OnScreen
from tests.adapters.stage_console import LOGIN, ConsoleStage, port_at


class ConsoleWindow:
    """What "dm-ana" is elsewhere, is here whatever the person who runs the tests says."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.restart()
        self._connection: ConsoleStage | None = None
        self._following: asyncio.Task[None] | None = None
        self._shown: dict[str, Message] = {}
        self._said = 0

    def restart(self) -> None:
        self.port = port_at(self.address, Path())

    def account(self, name: str) -> Account:
        del name
        return account_of(LOGIN)

    def place(self, name: str) -> PlaceRef:
        return PlaceRef(platform="console", channel=LOGIN if name.startswith("dm-") else name)

    async def say(
        self,
        text: str,
        *,
        by: str = "ana",
        place: str = "ops",
        reply_to: str = "",
        forwarded: bool = False,
        is_bot: bool = False,
        addressed: bool = True,
    ) -> str:
        del by, place
        if reply_to or forwarded or is_bot or not addressed:
            raise NotOnThisSurfaceError
        connection, event = await self.open(), self._event()
        await connection.say(text, event)
        await connection.acknowledged(event)
        return ""

    async def edit(self, message: str, text: str, *, by: str = "ana", place: str = "ops") -> None:
        raise NotOnThisSurfaceError

    async def press(self, message: str, label: str, *, by: str = "ana", place: str = "ops") -> None:
        del by, place
        connection, event = await self.open(), self._event()
        (token,) = [one.token for one in self._now()[message].buttons if one.label == label]
        await connection.press(token, event)
        await connection.acknowledged(event)

    async def fill(self, text: str, *, by: str = "ana", place: str = "ops") -> None:
        raise NotOnThisSurfaceError

    def screen(self, *, by: str = "ana", place: str = "ops") -> Sequence[OnScreen]:
        del by
        shown = self._now() if place.startswith("dm-") else {}
        return [
            OnScreen(
                id=key,
                text=plain(render(replace(message, buttons=()))),
                labels=tuple(button.label for button in message.buttons),
            )
            for key, message in shown.items()
        ]

    async def open(self) -> ConsoleStage:
        """Return the connection to whoever is there now, once somebody is."""
        if self._connection is not None and self._following is not None and not self._following.done():
            return self._connection
        await self.close()
        self._shown = self._now()
        async with asyncio.timeout(30):
            while True:
                try:
                    reader, writer = await asyncio.open_unix_connection(self.address)
                    break
                except (FileNotFoundError, ConnectionRefusedError):
                    await asyncio.sleep(0.05)
        self._connection = ConsoleStage(self.port, reader, writer)
        self._following = asyncio.create_task(self._connection.follow())
        return self._connection

    async def close(self) -> None:
        """Close the window."""
        if self._connection is not None and self._following is not None:
            await self._connection.hang_up()
            await asyncio.wait([self._following], timeout=30)

    def _event(self) -> str:
        self._said += 1
        return f"w{self._said}"

    def _now(self) -> dict[str, Message]:
        new = {} if self._connection is None else self._connection.shown
        return {**self._shown, **new}


@contextlib.asynccontextmanager
async def window(folder: Path) -> AsyncIterator[ConsoleWindow]:
    """Open a window whose other end is, or comes, in `folder`."""
    opened = ConsoleWindow(str(folder / "s.sock"))
    try:
        yield opened
    finally:
        await opened.close()
