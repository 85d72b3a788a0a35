"""A life of the bot in which a runbook is run: somebody begins it, agrees, and settles what is unknown.

Each command of the runbook leaves a line in the witness file, so that what ran twice, or was taken for done
and never ran, is seen there whatever the ledger says.
"""

import asyncio
from pathlib import Path

from bot.app import App
from gate.lifecycle import RunStatus
from ledger.runs import RunView
from tests.crash.order import Order
from tests.crash.person import Person, live_with
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

    def given(app: App, _: Trap) -> None:
        text = RUNBOOK.replace("WITNESS", str(order.witness)).replace("FOLDER", order.folder)
        app.core.shelf._library = library_of(text)

    return live_with(_Operator, order, config_file, given=given)


class _Operator(Person):
    """Sees a run through, from wherever it stands."""

    async def see_through(self) -> None:
        """Answer what is asked until the run is over."""
        await self.begin("run runbook marks on local")
        while (view := self._run()) is None or not view.is_over:
            await self._answer(view)
            await self._app.conversation._look_now()
        self._journal.write("over", run=view.id, outcome=view.outcome, cause=view.cause)

    def _run(self) -> RunView | None:
        return next(iter(self._app.core.queries.runs(limit=1)), None)

    async def _answer(self, view: RunView | None) -> None:
        left = {"look", *self._order.witness_lines}
        await self.answer(ran=lambda _: view is not None and view.step in left)
        if view is not None and view.status is RunStatus.WAITING:
            await asyncio.sleep(0.2)
