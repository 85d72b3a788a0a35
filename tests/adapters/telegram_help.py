"""What the tests of Telegram share: people who speak, places, messages, and waiting for facts."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from adapters.telegram.port import TelegramPort
from bot.ports import Button, Health, Message, PlaceRef
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.simulators.telegram.server import Server
from tests.simulators.telegram.world import Chat

APPROVE = (Button(label="Approve", token="yes"), Button(label="Deny", token="no"))


def message(*lines: object, **more: object) -> Message:
    return replace(Message(body=Text.of(*lines)), **more)


def at(chat: Chat, topic: int = 0) -> PlaceRef:
    return PlaceRef(platform="telegram", channel=str(chat.id), thread=str(topic or ""))


def group(server: Server, number: int = -500, **more: Any) -> Chat:
    return server.world.group(number, **more)


def says(server: Server, text: str, *, by: str = "ana", chat: Chat | None = None) -> int:
    """Somebody says something; return the number of the update."""
    server.world.say(chat or server.world.private(by), server.world.person(by), text)
    return server.world.next_update


async def confirmed(server: Server, update: int) -> None:
    await server.world.until(lambda: server.world.confirmed >= update)


async def until_health(port: TelegramPort, fact: Callable[[Health], bool]) -> str:
    async with asyncio.timeout(30):
        while True:
            health = await port.health()
            if fact(health):
                return health.detail
            await asyncio.sleep(0.002)


def texts(core: FakeCore) -> list[str]:
    return [heard.text for heard in core.heard]
