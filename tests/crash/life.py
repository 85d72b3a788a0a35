"""One life of the bot: composed by the composition root around a real ledger, then talked to.

Runs in a process forked for it. It ends in a kill at the moment of its trap, in a kill from outside, or by
itself; in the last case of a cycle, `aftermath` looks at what is left.
"""

import asyncio
import logging
import signal
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bot.app import App, build, running
from bot.execution.executor import FleetExecutor
from bot.settings.config import Config, load
from bot.settings.inventory import inventory_of
from bot.settings.paths import Paths
from gate.lifecycle import ActionState
from ledger.projections import holds
from ledger.store import Ledger
from ledger.views import ProposalView
from tests.crash.scripts import SCRIPTS
from tests.crash.surface import Complaints, Journal, LateClock, Surface, Watched
from tests.crash.trap import Trap

USER = "ana"
#: A life that has not ended by then hangs.
HANGS_AFTER_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a life is to do.

    Attributes:
        folder: the cycle's own: state, journal, witness.
        moment, nth: where it is killed; "" for nowhere.
        kill_after_s: when it is killed from outside; 0 for never.
        last: the life after the last kill, whose end is examined.
        ahead_s: how long after the others this life takes place.
    """

    folder: str
    script: str
    moment: str = ""
    nth: int = 0
    kill_after_s: float = 0.0
    last: bool = False
    ahead_s: float = 0.0

    @property
    def path(self) -> Path:
        return Path(self.folder)

    @property
    def witness(self) -> Path:
        return self.path / "witness"

    @property
    def witness_lines(self) -> list[str]:
        return self.witness.read_text().split() if self.witness.exists() else []

    @property
    def state(self) -> Path:
        return self.path / "state"


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
            if not conversation._tasks and not conversation._work._tasks:
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


def config_for(folder: Path, file: Path) -> Config:
    """Return the config of a cycle: two names for this machine, one operator."""
    return load(file=file, environ={}, flags=[], login=USER, paths=Paths(folder / "state"))


CONFIG = """
[targets.local]
kind = "local"
[targets.web1]
kind = "local"
"""


def open_ledger(state: Path, clock: LateClock, trap: Trap) -> Ledger:
    """Open the ledger with a trap in every transaction."""
    import secrets  # noqa: PLC0415 - a forked child draws its own

    ledger = Ledger.open(
        state / "ledger.db",
        project=trap.project,
        holds=holds,
        random_bytes=secrets.token_bytes,
        clock=clock.now,
        checkpoint_every=7,
    )
    ledger._connection.set_trace_callback(trap.traced)
    return ledger


def live(order: Order, config_file: Path) -> int:
    """Live one life; return the exit code of its process."""
    signal.alarm(HANGS_AFTER_S)
    journal = Journal(order.path / "journal")
    logging.getLogger().addHandler(Complaints(journal))
    trap = Trap(order.moment, order.nth)
    clock = LateClock(order.ahead_s)
    config = config_for(order.path, config_file)
    ledger = open_ledger(order.state, clock, trap)
    try:
        asyncio.run(_live(order, config, ledger, journal=journal, trap=trap, clock=clock))
    finally:
        ledger.close()
    journal.write("counts", counts=trap.counts)
    return 0


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
