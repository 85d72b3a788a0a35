"""One life of the bot: composed by the composition root around a real ledger, then talked to.

When the last life of a cycle ends by itself, `aftermath` looks at what is left.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bot.app import App, build, running
from bot.execution.executor import FleetExecutor
from bot.settings.config import Config
from bot.settings.inventory import inventory_of
from gate.lifecycle import ActionState
from ledger.store import Ledger
from ledger.views import ProposalView
from tests.crash.order import USER, Order, config_for, lived
from tests.crash.scripts import SCRIPTS
from tests.crash.surface import Journal, LateClock, Surface, Watched
from tests.crash.trap import Trap


@dataclass(slots=True, kw_only=True)
class Life:
    """A bot that runs, and the person who talks to it."""

    order: Order
    app: App
    surface: Surface
    journal: Journal
    clock: LateClock
    said: int = 0

    async def say(self, text: str, *, event: str = "") -> None:
        """Say a line and wait for everything that it starts."""
        await self.start_saying(text, event=event, waits=True)

    async def start_saying(self, text: str, *, event: str, waits: bool) -> None:
        if not event:
            self.said += 1
            event = f"after-{self.said}-{self.clock.now().timestamp()}"
        receipt = await self.surface.say(event, text, at=self.clock.now())
        if waits:
            await receipt.settled

    async def talk(self) -> None:
        """Say what of the script was never acknowledged, in order; the platform delivers it again."""
        done = {line["event"] for line in self.journal.read("acknowledged")}
        for number, line in enumerate(SCRIPTS[self.order.script]):
            event = f"{self.order.script}-{number}"
            if event in done:
                continue
            text = self._filled(line.removeprefix("& "))
            if text is not None:
                await self.start_saying(text, event=event, waits=not line.startswith("& "))
        await self.rest()

    async def rest(self) -> None:
        """Wait until nothing is under way any more."""
        conversation, queries = self.app.conversation, self.app.core.queries
        while True:
            await asyncio.gather(*conversation._tasks)
            # What a task came to is told after its last action ended.
            await conversation._work.quiet([*queries.unfinished(), *conversation._work._open_tasks])
            await conversation._delivery.flush()
            await conversation._delivery.settled()
            if not conversation._tasks and not conversation._work._running._tasks:
                return

    def newest(self, limit: int = 1) -> tuple[ProposalView, ...]:
        """Return the newest proposals, newest first."""
        since = self.clock.now() - timedelta(days=1)
        return self.app.core.queries.proposals(since=since, limit=limit)

    def _filled(self, line: str) -> str | None:
        queries = self.app.core.queries
        words: dict[str, str] = {"w": str(self.order.witness), "dir": self.order.folder}
        for view in self.newest():
            words["id"] = view.id
        phrases = [one.phrase for one in queries.pending() if one.phrase]
        if phrases:
            words["phrase"] = phrases[-1]
        try:
            return line.format_map(words)
        except KeyError:
            return None


def live(order: Order, config_file: Path) -> int:
    """Live one life; return the exit code of its process."""
    clock = LateClock(order.ahead_s)
    config = config_for(order.path, config_file)

    async def talked(ledger: Ledger, journal: Journal, trap: Trap) -> None:
        await _live(order, config, ledger, journal=journal, trap=trap, clock=clock)

    return lived(order, clock, talked)


async def _live(
    order: Order, config: Config, ledger: Ledger, *, journal: Journal, trap: Trap, clock: LateClock
) -> None:
    from tests.crash.aftermath import examine  # noqa: PLC0415 - it talks through this module

    surface = Surface(journal, moment=trap, user=USER)
    executor = Watched(FleetExecutor(inventory_of(config)), trap)
    app = build(config, ledger, ports=[surface], clock=clock, executor=executor, probe=trap)
    life = Life(order=order, app=app, surface=surface, journal=journal, clock=clock)
    async with running(app):
        trap("recovered")
        await surface.listen(app.conversation.sink)
        await life.talk()
        if order.last:
            await examine(life)
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    if left:
        journal.write("complaint", text=f"tasks are left: {left}")
    if (
        ledger.reader()
        .execute("SELECT 1 FROM action WHERE state=? LIMIT 1", (ActionState.STARTED,))
        .fetchone()
    ):
        journal.write("complaint", text="an action is still started after an orderly stop")
