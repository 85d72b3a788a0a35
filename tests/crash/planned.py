"""A life of the bot in which a model plans: somebody asks, agrees, and settles what is unknown.

The model is the same in every life: what it answers follows from how often it answered in what it is told.
Each change leaves a line in the witness file, so that what ran twice is seen there whatever
the ledger says.
"""

import asyncio
from pathlib import Path

from bot.app import App
from bot.planning.model.thinking import Reply, Thought
from tests.crash.order import Order
from tests.crash.person import Person, live_with
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

    def given(app: App, trap: Trap) -> None:
        object.__setattr__(app.core, "thinker", model(order, trap))  # the config of a cycle names none

    return live_with(_Asker, order, config_file, given=given)


class _Asker(Person):
    """Sees a plan through, from wherever it stands."""

    async def see_through(self) -> None:
        """Answer what is asked until the plan is over, and all of it is shown."""
        await self.begin(ASK)
        while (how := self._how()) == "" or self._app.core.ledger.outbox.pending():
            await self.answer(ran=self._left_its_mark)
            await self._app.conversation._look_now()
            await asyncio.sleep(0.01)
        self._journal.write("over", how=how)

    def _how(self) -> str:
        """Return how the plan ended; "" while it is open, or before it is asked for."""
        reader = self._app.core.ledger.reader()
        found = reader.execute("SELECT coalesce(json_extract(ending, '$.how'), '') FROM plan").fetchone()
        return "" if found is None else str(found[0])

    def _left_its_mark(self, command: str) -> bool:
        return any(name in command for name in self._order.witness_lines)
