"""A channel on the simulated Discord with people, the bot and a card; shared by the tests of the adapter."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

from bot.ports import Button, ChatPort, Form, Inbound, Message, Receipt
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_discord import QUICK, place_of
from tests.simulators.discord.simulator import Discord, buttons
from tests.simulators.discord.world import Interaction

IMPATIENT = replace(QUICK, alive_s=2.0)
CARD = Message(
    body=Text.of("◔ web1 · restart caddy"),
    buttons=(Button(label="Approve", token="yes"), Button(label="Deny", token="no")),
)
FORM = Form(token="reason", title="Why not?", label="Reason", hint="in a few words")
TAKEN, SAID, OPENED = 6, 4, 9
#: The core is given no time at all before a press is answered without it.
AT_ONCE = replace(QUICK, ack_s=0.0)


class Room:
    """A channel with people, the bot, and a card."""

    def __init__(self, simulated: Discord, port: Any, core: FakeCore) -> None:
        self.discord, self.port, self.core = simulated, port, core
        self.gateway = simulated.gateway
        self.ops = simulated.world.channel("ops")
        self.place = place_of(self.ops)
        self.ana = simulated.world.user("ana")
        self.bo = simulated.world.user("bo")

    async def card(self, nonce: str = "n1") -> dict[str, Any]:
        ref = await self.port.post(self.place, CARD, nonce=nonce)
        return self.ops.messages[int(ref.message)]

    async def press(self, card: dict[str, Any], label: str = "Approve", user: Any = None) -> Interaction:
        custom_id = next(one["custom_id"] for one in buttons(card) if one["label"] == label)
        return await self.discord.press(user or self.ana, self.ops, card, custom_id)

    async def answer(self, interaction: Interaction) -> dict[str, Any]:
        await self.discord.until(lambda: bool(interaction.answers))
        (only,) = interaction.answers
        return only

    def callbacks(self) -> int:
        """Return how often a first answer was tried."""
        return sum(call.path.endswith("/callback") for call in self.discord.rest.calls)

    async def say(self, words: str) -> str:
        return str((await self.discord.say(self.ana, self.ops, words))["id"])

    async def heard(self, count: int) -> list[str]:
        return [event.text for event in await self.core.heard_of(count)]

    def private(self) -> list[tuple[int, str]]:
        """Return what was shown to one person only, with whom."""
        return [(one["for"], one["content"]) for one in self.discord.world.ephemeral]


def hold(room: Room) -> tuple[asyncio.Event, asyncio.Event]:
    """Let the core take its time; return what tells that it began, and what lets it go on."""
    inner, entered, let = room.core.sink, asyncio.Event(), asyncio.Event()

    async def slow(inbound: Inbound) -> Receipt:
        entered.set()
        await let.wait()
        return await inner(inbound)

    room.port._sink = slow
    return entered, let


async def until_health(port: ChatPort, fact: Callable[[Any], bool]) -> Any:
    async with asyncio.timeout(30):
        while not fact(health := await port.health()):  # noqa: ASYNC110  # health is all that a port tells
            await asyncio.sleep(0.001)
    return health


@contextlib.asynccontextmanager
async def trying(port: Any, core: FakeCore) -> AsyncIterator[None]:
    """Let a port listen that may not get in."""
    running = asyncio.create_task(port.listen(core.sink))
    try:
        yield
        assert not running.done()
    finally:
        await port.close()
        await asyncio.wait_for(running, 30)
