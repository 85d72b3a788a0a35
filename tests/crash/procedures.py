"""A life of the bot in which a runbook is run: somebody begins it, agrees, and settles what is unknown.

Each command of the runbook leaves a line in the witness file, so that what ran twice, or was taken for done
and never ran, is seen there whatever the ledger says.
"""

import asyncio
import logging
import signal
from pathlib import Path

from bot.app import App, build, running
from bot.execution.executor import FleetExecutor
from bot.settings.inventory import inventory_of
from gate.lifecycle import ActionState, RunStatus
from ledger.runs import RunView
from tests.crash.life import HANGS_AFTER_S, USER, Order, config_for, open_ledger
from tests.crash.surface import Complaints, Journal, LateClock, Surface, Watched
from tests.crash.trap import Trap
from tests.runbooks import library_of

#: What the witness has to hold in the end, in order.
MARKS = ("make", "boot")
RUNBOOK = """\
version: 1
id: marks
title: leave marks
steps:
  - {id: begin, kind: note, title: It begins}
  - id: look
    kind: check
    title: Look
    risk: read-only
    command: ls FOLDER
  - id: make
    title: Leave the first mark
    risk: mutating
    command: sleep 0.1; echo make >> WITNESS
    retry: {max: 9, target: make}
    rollback: none
  - {id: agree, kind: approval, title: Is it there?}
  - {id: pause, kind: wait, title: Wait, duration: 1s}
  - id: boot
    title: Leave the second mark
    risk: mutating
    command: echo boot >> WITNESS
    expect: {file_exists: WITNESS}
    retry: {max: 9, target: boot}
    rollback: none
"""


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
            text = RUNBOOK.replace("WITNESS", str(order.witness)).replace("FOLDER", order.folder)
            app.core.shelf._library = library_of(text)
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
    """Sees a run through, from wherever it stands."""

    def __init__(self, order: Order, app: App, surface: Surface, journal: Journal, clock: LateClock) -> None:
        self._order, self._app, self._surface = order, app, surface
        self._journal, self._clock = journal, clock
        self._said = 0

    async def see_through(self) -> None:
        """Answer what is asked until the run is over."""
        if not any(line["event"] == "begin" for line in self._journal.read("acknowledged")):
            await self._say("run runbook marks on local", event="begin")
        while (view := self._run()) is None or not view.is_over:
            await self._answer(view)
            await self._app.conversation._look_now()
        self._journal.write("over", run=view.id, outcome=view.outcome, cause=view.cause)

    def _run(self) -> RunView | None:
        return next(iter(self._app.core.queries.runs(limit=1)), None)

    async def _answer(self, view: RunView | None) -> None:
        queries = self._app.core.queries
        for one in queries.in_state(ActionState.LOST):
            ran = view is not None and view.step in {"look", *self._order.witness_lines}
            await self._say(f"settle #{one.action.id} {'ran' if ran else 'did-not-run'}, because I looked")
        for pending in queries.pending():
            await self._say(f"approve #{pending.proposal}")
        if view is not None and view.status is RunStatus.WAITING:
            await asyncio.sleep(0.2)

    async def _say(self, text: str, *, event: str = "") -> None:
        self._said += 1
        now = self._clock.now()
        receipt = await self._surface.say(event or f"{self._said}-{now.timestamp()}", text, at=now)
        await receipt.settled
