"""Many people, each in a direct conversation with a bot in another process, the same way on every platform.

A `Crowd` is one simulated platform seen by its people: they say, press and read; the platform loses, repeats
and disconnects. Event ids are those under which the ledger knows what was said, so that both can be compared.
`open_crowd` opens one by name. People do not wait for acknowledgements: that is what is measured.
"""

import asyncio
import contextlib
import random
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.ports import PlaceRef


@dataclass
class Room:
    """One person's conversation with the bot. `posted` is when each message of the bot came, by its id."""

    name: str
    where: Any
    posted: dict[str, float] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def heard(self, message: str, *, is_new: bool) -> None:
        """Take note of a post or an edit."""
        if is_new:
            self.posted.setdefault(message, time.monotonic())
        self.news.set()
        self.news = asyncio.Event()

    async def until(self, fact: Callable[[], Any], *, seconds: float) -> bool:
        """Wait until something is so in this room; False when it took too long."""
        try:
            async with asyncio.timeout(seconds):
                while not fact():
                    await self.news.wait()
        except TimeoutError:
            return bool(fact())
        return True


@dataclass
class Press:
    """One press: `event` as the ledger would know it, "" when it was lost on its way."""

    event: str
    acknowledged: Callable[[], bool]


class Crowd(ABC):
    """One platform and its people."""

    platform: str
    #: The platform gives back what was pressed while nobody listened.
    keeps_presses = False

    def __init__(self) -> None:
        self.rooms: list[Room] = []
        self._by_channel: dict[Any, Room] = {}

    def _add(self, room: Room, channel: object) -> None:
        self.rooms.append(room)
        self._by_channel[channel] = room

    def _shown(self, channel: object, message: object, *, is_new: bool) -> None:
        room = self._by_channel.get(channel)
        if room is not None:
            room.heard(str(message), is_new=is_new)

    @abstractmethod
    def open_room(self, name: str) -> None:
        """Let a person begin a direct conversation."""

    @abstractmethod
    def adapter(self, folder: Path) -> str:
        """Return the adapter's table of the config; writes its tokens to `folder`."""

    @abstractmethod
    def account(self, room: Room) -> str:
        """Return the account as `[operators.NAME]` has it."""

    @abstractmethod
    def place(self, room: Room) -> PlaceRef:
        """Return a room as the core knows it."""

    @abstractmethod
    async def say(self, room: Room, text: str) -> str:
        """Say something; return its event."""

    @abstractmethod
    async def chat(self, text: str) -> str:
        """Say something in a shared room that is not for the bot; return its event."""

    @abstractmethod
    async def again(self, room: Room, event: str) -> None:
        """Deliver what was said once more."""

    @abstractmethod
    async def press(self, room: Room, message: str, label: str) -> Press:
        """Press a button."""

    @abstractmethod
    def text(self, room: Room, message: str) -> str:
        """Return what a message of the bot says now."""

    @abstractmethod
    def labels(self, room: Room, message: str) -> Sequence[str]:
        """Return the buttons of a message now."""

    @abstractmethod
    def is_connected(self) -> bool:
        """Tell whether a bot listens."""

    @abstractmethod
    def acknowledgements(self) -> Iterable[float]:
        """Return how many seconds each acknowledgement took, by the platform's clock."""

    @abstractmethod
    def faults(self) -> Sequence[Callable[[], Any]]:
        """Return every way in which this platform loses a connection."""

    async def disconnect(self, luck: random.Random) -> str:
        """Lose the connection in one of the ways there are; return which."""
        fault = luck.choice(self.faults())
        result = fault()
        if asyncio.iscoroutine(result):
            await result
        return fault.__name__

    async def redeliver(self) -> None:
        """Deliver again what was not acknowledged; only some platforms do."""
        return

    def nonces(self, room: Room) -> Sequence[str]:
        """Return by what each message of the bot is known again, where the platform keeps that."""
        del room
        return ()

    def card(self, room: Room) -> str:
        """Return the newest message with buttons to say yes with, "" for none."""
        return next((one for one in reversed(room.posted) if "Approve" in self.labels(room, one)), "")


def of(message: str) -> str:
    """Return the id of the proposal that a card shows."""
    return message.rpartition("#")[2][:6]


@contextlib.asynccontextmanager
async def open_crowd(platform: str, people: int) -> AsyncIterator[Crowd]:
    """Open a platform with so many people on it."""
    from tests.simulators.crowd import discord, slack, telegram  # noqa: PLC0415 - they import this module

    opener = {"slack": slack.opened, "discord": discord.opened, "telegram": telegram.opened}[platform]
    async with opener() as crowd:
        for number in range(people):
            crowd.open_room(f"{platform[0]}{number:03d}")
        yield crowd


def config(folder: Path, crowds: Sequence[Crowd], *, more: str = "") -> None:
    """Write a config: every person an operator, with a target of their own on this machine."""
    folder.mkdir(exist_ok=True)
    lines = [more]
    for crowd in crowds:
        lines.append(crowd.adapter(folder))
        for room in crowd.rooms:
            lines += [
                f"[operators.{room.name}]",
                f'accounts = ["{crowd.account(room)}"]',
                'may = [{ risk = "destructive", targets = ["*"] }]',
                f"[targets.{room.name}]",
                'kind = "local"',
            ]
    (folder / "config.toml").write_text("\n".join(lines) + "\n")


def secret(folder: Path, name: str, token: str) -> Path:
    """Write a token where only we can read it."""
    file = folder / name
    file.touch(mode=0o600)
    file.write_text(token + "\n")
    return file
