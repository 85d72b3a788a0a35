"""A life of the bot in which somebody asks for one thing and sees it through, from wherever it stands."""

import abc
from collections.abc import Callable
from pathlib import Path

from bot.app import App, build, running
from bot.execution.executor import FleetExecutor
from bot.settings.inventory import inventory_of
from gate.lifecycle import ActionState
from ledger.store import Ledger
from tests.crash.order import USER, Order, config_for, lived
from tests.crash.surface import Journal, LateClock, Surface, Watched
from tests.crash.trap import Trap


class Person(abc.ABC):
    """Somebody who talks to the bot until what they asked for is over."""

    def __init__(self, order: Order, app: App, surface: Surface, journal: Journal, clock: LateClock) -> None:
        self._order, self._app, self._surface = order, app, surface
        self._journal, self._clock = journal, clock
        self._said = 0

    @abc.abstractmethod
    async def see_through(self) -> None:
        """Ask for it, if that is not done, and answer what is asked until it is over."""

    async def begin(self, text: str) -> None:
        """Ask for it in the first life in which that is acknowledged."""
        if not any(line["event"] == "begin" for line in self._journal.read("acknowledged")):
            await self.say(text, event="begin")

    async def answer(self, *, ran: Callable[[str], bool]) -> None:
        """Settle what is unknown, and agree to what waits; `ran` looks whether a command did."""
        queries = self._app.core.queries
        for one in queries.in_state(ActionState.LOST):
            how = "ran" if ran(one.action.command) else "did-not-run"
            await self.say(f"settle #{one.action.id} {how}, because I looked")
        for pending in queries.pending():
            await self.say(f"approve #{pending.proposal}")

    async def say(self, text: str, *, event: str = "") -> None:
        """Say a line and wait for everything that it starts."""
        self._said += 1
        now = self._clock.now()
        receipt = await self._surface.say(event or f"{self._said}-{now.timestamp()}", text, at=now)
        await receipt.settled


def live_with(
    person: type[Person], order: Order, config_file: Path, *, given: Callable[[App, Trap], None]
) -> int:
    """Live one life; return the exit code of its process.

    Args:
        given: gives the bot what the config of a cycle does not, before it starts.
    """
    clock = LateClock(0)
    config = config_for(order.path, config_file)

    async def talked(ledger: Ledger, journal: Journal, trap: Trap) -> None:
        surface = Surface(journal, moment=trap, user=USER)
        executor = Watched(FleetExecutor(inventory_of(config)), trap)
        app = build(config, ledger, ports=[surface], clock=clock, executor=executor, probe=trap)
        given(app, trap)
        async with running(app):
            trap("recovered")
            await surface.listen(app.conversation.sink)
            await person(order, app, surface, journal, clock).see_through()

    return lived(order, clock, talked)
