"""A life of the bot in which a model plans: somebody asks, agrees, and settles what is unknown.

The model is the same in every life: what it answers follows from how often it answered in what it is told.
Each change leaves a line in the witness file, so that what ran twice is seen there whatever
the ledger says.
"""

import asyncio
import logging
import signal
from pathlib import Path

from bot.app import App, build, running
from bot.execution.executor import FleetExecutor
from bot.planning.model.thinking import Reply, Thought
from bot.settings.inventory import inventory_of
from gate.lifecycle import ActionState
from tests.crash.life import HANGS_AFTER_S, USER, Order, config_for, open_ledger
from tests.crash.surface import Complaints, Journal, LateClock, Surface, Watched
from tests.crash.trap import Trap
from tests.simulators.model.double import Scripted, call, calls, says

ASK = "why is local slow"
#: What the witness has to hold in the end, in order.
MARKS = ("first", "second")


class Watching(Scripted):
    """A scripted model that passes a moment while it thinks."""

    trap: Trap

    async def think(self, thought: Thought) -> Reply:
        self.trap("model.thinks")
        await asyncio.sleep(0)
        return await super().think(thought)


def model(order: Order, trap: Trap) -> Watching:
    """Return a model that looks, leaves two marks, and says so."""

    def mark(name: str) -> object:
        command = f"echo {name} >> {order.witness}"
        verify = f"grep -q {name} {order.witness}"
        return calls(call("run", target="local", command=command, purpose=f"mark {name}", verify=verify))

    look = calls(call("run", target="local", command=f"ls {order.folder}", purpose="look"))
    made = Watching([look, *map(mark, MARKS), says("Both marks are there.")])  # type: ignore[list-item]
    made.trap = trap
    return made


def live(order: Order, config_file: Path) -> int:
    """Live one life; return the exit code of its process."""
    signal.alarm(HANGS_AFTER_S)
    journal = Journal(order.path / "journal")
    logging.getLogger().addHandler(Complaints(journal))
    trap = Trap(order.moment, order.nth)
    clock = LateClock(0)
    config = config_for(order.path, config_file)
    ledger = open_ledger(order.state, clock, trap)
    try:
        surface = Surface(journal, moment=trap, user=USER)

        async def lived() -> None:
            executor = Watched(FleetExecutor(inventory_of(config)), trap)
            app = build(config, ledger, ports=[surface], clock=clock, executor=executor, probe=trap)
            object.__setattr__(app.core, "thinker", model(order, trap))  # the config of a cycle names none
            async with running(app):
                trap("recovered")
                await surface.listen(app.conversation.sink)
                await _Person(order, app, surface, journal, clock).see_through()

        asyncio.run(lived())
    finally:
        ledger.close()
    journal.write("counts", counts=trap.counts)
    return 0


class _Person:
    """Sees a plan through, from wherever it stands."""

    def __init__(self, order: Order, app: App, surface: Surface, journal: Journal, clock: LateClock) -> None:
        self._order, self._app, self._surface = order, app, surface
        self._journal, self._clock = journal, clock
        self._said = 0

    async def see_through(self) -> None:
        """Answer what is asked until the plan is over."""
        if not any(line["event"] == "begin" for line in self._journal.read("acknowledged")):
            await self._say(ASK, event="begin")
        while (how := self._how()) == "":
            await self._answer()
            await self._app.conversation._look_now()
            await asyncio.sleep(0.01)
        self._journal.write("over", how=how)

    def _how(self) -> str:
        """Return how the plan ended; "" while it is open, or before it is asked for."""
        reader = self._app.core.ledger.reader()
        found = reader.execute("SELECT coalesce(json_extract(ending, '$.how'), '') FROM plan").fetchone()
        return "" if found is None else str(found[0])

    async def _answer(self) -> None:
        queries = self._app.core.queries
        for one in queries.in_state(ActionState.LOST):
            ran = any(name in one.action.command for name in self._order.witness_lines)
            await self._say(f"settle #{one.action.id} {'ran' if ran else 'did-not-run'}, because I looked")
        for pending in queries.pending():
            await self._say(f"approve #{pending.proposal}")

    async def _say(self, text: str, *, event: str = "") -> None:
        self._said += 1
        now = self._clock.now()
        receipt = await self._surface.say(event or f"{self._said}-{now.timestamp()}", text, at=now)
        await receipt.settled
