"""Presses are acknowledged in time by their adapter itself, however long the core takes (P2).

Two hundred conversations at once, outputs streaming into cards meanwhile. How many milliseconds it takes
depends on the machine and is measured by benchmarks/chat.py; what is held here is that nobody has to wait for
the core.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.clock import SystemClock
from bot.ports import Button, ChatPort, Inbound, InboundKind, Message, MessageRef, Receipt
from bot.settings.config import load
from bot.settings.paths import Paths
from bot.text import Text, block
from tests.adapters.console_fakes import listening
from tests.adapters.stage_discord import NoBookmarks
from tests.adapters.stage_telegram import no_proxy
from tests.simulators.crowd.people import Crowd, Room, config, open_crowd
from tests.simulators.crowd.process import USER, hurried

#: Telegram hands out a hundred updates until the first of them is stored.
ACTIVE = {"slack": 200, "discord": 200, "telegram": 100}
STREAMING = 20


class SlowCore:
    """A core that takes everything and is done with nothing before `let` is set."""

    def __init__(self) -> None:
        self.let = asyncio.Event()
        self.taken: list[Inbound] = []
        self.done = 0

    async def sink(self, inbound: Inbound) -> Receipt:
        self.taken.append(inbound)
        await self.let.wait()
        self.done += 1
        settled = asyncio.get_running_loop().create_future()
        settled.set_result(None)
        return Receipt(fresh=True, settled=settled)


@contextlib.asynccontextmanager
async def listened(crowd: Crowd, folder: Path, core: SlowCore) -> AsyncIterator[ChatPort]:
    """Let a port listen to a crowd."""
    config(folder, [crowd])
    read = load(file=folder / "config.toml", environ={}, flags=[], login=USER, paths=Paths(folder / "state"))
    (port,) = hurried(read, clock=SystemClock(), bookmarks=NoBookmarks())
    running = asyncio.create_task(port.listen(core.sink))
    try:
        await listening(port)
        yield port
    finally:
        core.let.set()
        await port.close()
        await asyncio.wait_for(running, 30)


async def stream(port: ChatPort, card: MessageRef) -> None:
    """Edit a card again and again, as running commands do."""
    for number in range(1_000_000):
        await port.edit(card, Message(body=Text.of(f"● line {number}", block(f"{number}\n" * 10))))
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("platform", ["slack", "discord", "telegram"])
async def test_no_press_waits_for_the_core(platform: str, tmp_path: Path) -> None:
    core, active = SlowCore(), ACTIVE[platform]
    with no_proxy():
        async with open_crowd(platform, active + STREAMING) as crowd, listened(crowd, tmp_path, core) as port:
            card = Message(body=Text.of("◔ restart caddy"), buttons=(Button(label="Approve", token="t"),))

            async def show(room: Room) -> MessageRef:
                return await port.post(crowd.place(room), card, nonce=f"n-{room.name}")

            cards = await asyncio.gather(*map(show, crowd.rooms))
            streams = [asyncio.create_task(stream(port, one)) for one in cards[active:]]
            pressed = [
                await crowd.press(room, one.message, "Approve")
                for room, one in zip(crowd.rooms[:active], cards[:active], strict=True)
            ]
            async with asyncio.timeout(60):
                while not all(one.acknowledged() for one in pressed):  # noqa: ASYNC110 - simulators differ
                    await asyncio.sleep(0.02)
            assert core.done == 0, "it was acknowledged because the core was done"
            clicks = [one for one in core.taken if one.kind is InboundKind.CLICK]
            assert len(clicks) == active, "it was acknowledged before the core was told"
            for task in streams:
                task.cancel()
            ended = await asyncio.gather(*streams, return_exceptions=True)
            assert all(isinstance(one, asyncio.CancelledError) for one in ended), ended
