"""A conversation over hosts whose commands end when a test lets them, and words to wait for what it does."""

import asyncio
from collections.abc import Callable

from bot.execution.work import Work
from bot.ports import Ended, EndKind, OutputSink
from gate.domain import Action
from tests.bot.fanout.fleet import ByHost
from tests.kit import Kit


class Gated(ByHost):
    """An executor whose commands end when a test lets their host go, well or badly."""

    def __init__(self, inventory: object) -> None:
        super().__init__(inventory)
        self.gates: dict[str, asyncio.Event] = {}
        self.failing: set[str] = set()

    def gate(self, name: str) -> asyncio.Event:
        return self.gates.setdefault(name, asyncio.Event())

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        name = str(action.target.id)
        self.ran.append((name, action.command))
        await self.gate(name).wait()
        return Ended(kind=EndKind.EXITED, exit_code=int(name in self.failing))


def gates(kit: Kit) -> Gated:
    executor = kit.core.executor
    assert isinstance(executor, Gated)
    return executor


def work(kit: Kit) -> Work:
    return kit.app.conversation._work


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - nothing says when
            await asyncio.sleep(0.01)


async def begins(kit: Kit, request: str) -> str:
    """Say `request`, agree and return the proposal without waiting for anything that runs."""
    await kit.say(request)
    proposal = kit.newest_id()
    await kit.say(f"approve {proposal}", settle=False)
    return proposal
