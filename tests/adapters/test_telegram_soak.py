"""Many people, bad connections and processes that die: every message is heard once, in its chat's order."""

import asyncio
import random

from bot.ports import Inbound, Receipt
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_telegram import new_port, no_proxy
from tests.adapters.telegram_help import confirmed
from tests.simulators.telegram.faults import gateway, nonsense, reset
from tests.simulators.telegram.server import Server, serving
from tests.simulators.telegram.world import Chat

CHATS, MESSAGES, DEATHS = 20, 400, 3


class Inbox(FakeCore):
    """An inbox that outlives processes and takes a moment."""

    async def sink(self, inbound: Inbound) -> Receipt:
        await asyncio.sleep(0)
        return await super().sink(inbound)


def act(server: Server, chats: list[Chat], luck: random.Random, number: int) -> None:
    """Somebody says something; sometimes it is delivered twice, or the connection breaks."""
    world, chat = server.world, luck.choice(chats)
    said = world.say(chat, world.person(f"p{chat.id}"), f"{number}")
    if luck.random() < 0.05:
        world.again("message", chat.posts[said].json)
    if luck.random() < 0.02:
        fault = luck.choice([gateway(), nonsense(), reset(performed=True), reset(performed=False)])
        server.fail("getUpdates", fault)


async def test_every_message_is_heard_once_and_in_order() -> None:
    luck = random.Random(7)
    inbox = Inbox()
    with no_proxy():
        async with serving() as server:
            chats = [server.world.group(-(500 + n)) for n in range(CHATS)]
            for life in range(DEATHS + 1):
                port = new_port(server, hold_s=0.01)
                running = asyncio.create_task(port.listen(inbox.sink))
                for number in range(MESSAGES // (DEATHS + 1)):
                    act(server, chats, luck, life * 1000 + number)
                    if luck.random() < 0.3:
                        await asyncio.sleep(0.002)
                if life == DEATHS:
                    await confirmed(server, server.world.next_update)
                    await port.close()
                    await running
                else:
                    await killed(port, running)
    heard: dict[str, list[int]] = {}
    for inbound in inbox.heard:
        heard.setdefault(inbound.place.channel, []).append(int(inbound.text))
    assert sum(len(numbers) for numbers in heard.values()) == MESSAGES
    assert all(numbers == sorted(set(numbers)) for numbers in heard.values())


async def killed(port: object, running: asyncio.Task[None]) -> None:
    """End a process without any of its last words."""

    async def nothing() -> None:
        return

    port._confirm = nothing
    running.cancel()
    await asyncio.wait([running])
