"""A life of the bot in which one command goes to many hosts: somebody asks, and agrees as often as it takes.

Every host is this machine, and its command learns from its environment which of them it is on, as a real
host knows its own name. Each run leaves that name in the witness file, and each command that the executor is
handed one in the file `runs`, so that what ran twice is seen whatever the ledger says.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bot.app import App
from bot.ports import Ended, Executor, OutputSink
from gate.domain import Action, ProposalId, Target
from gate.lifecycle import ACTION_ENDED, ActionState
from ledger.views import ActionView, ProposalView
from tests.crash.order import Order
from tests.crash.person import Person, live_with
from tests.crash.surface import Journal
from tests.crash.trap import Trap

HOSTS = tuple(f"web{number}" for number in range(1, 11))
#: Where the command fails, in the stories in which it may.
FAILING = ("web3", "web6", "web9")
_MARK = "echo $HOST >> {w}; sleep 0.05"
_OR_FAIL = "test ! -e {dir}/$HOST"
#: What is asked for, by the name of its story.
STORIES: Mapping[str, str] = {
    "braked": f"on @web: `{_MARK}; {_OR_FAIL}`, 3 at a time, stop after 2 failures",
    "unbraked": f"on @web: `{_MARK}; {_OR_FAIL}`, no canary, 4 at a time, don't stop on failures",
    "destroys": f"on @web: `rm -rf {{dir}}/old; {_MARK}`, 4 at a time",
    "checked": f"on @web: `{_MARK}`, no canary, 3 at a time then verify `test -s {{w}}`",
    "reads": "on @web: uptime",
}
_CONFIG = "".join(f'[targets.{name}]\nkind = "local"\ntags = ["web"]\n' for name in HOSTS)


def live(order: Order, _config_file: Path) -> int:
    """Live one life; return the exit code of its process."""
    config = order.path / "config.toml"
    config.write_text(_CONFIG)
    for name in FAILING:
        (order.path / name).touch()

    def given(app: App, trap: Trap) -> None:
        named = Named(app.core.executor, order.path / "runs", trap)
        object.__setattr__(app.core, "executor", named)
        ((entries,),) = app.core.ledger.reader().execute("SELECT count(*) FROM entry").fetchall()
        Journal(order.path / "journal").write("life", entries=entries)

    return live_with(_Operator, order, config, given=given)


class Named:
    """The real executor; a command is told which host it is on, and stands in a file before it runs."""

    def __init__(self, real: Executor, file: Path, trap: Trap) -> None:
        self._real, self._trap = real, trap
        self._fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def identify(self, target: Target) -> Target:
        return await self._real.identify(target)

    async def run(
        self, action: Action, *, on_output: OutputSink, cancel: asyncio.Event, reads: bool = False
    ) -> Ended:
        os.write(self._fd, f"{action.id}\n".encode())
        self._trap("run.handed")
        here = replace(action, env=(("HOST", action.target.id),))
        return await self._real.run(here, on_output=on_output, cancel=cancel)

    async def close(self) -> None:
        await self._real.close()


class _Operator(Person):
    """Sees a fan-out through, from wherever it stands."""

    async def see_through(self) -> None:
        """Answer what is asked until all of it has ended, then settle what is unknown."""
        text = STORIES[self._order.script].format(w=self._order.witness, dir=self._order.folder)
        await self.begin(text)
        while not all(one.state in ACTION_ENDED for one in self._view.actions):
            await self._agree()
            await self._app.conversation._look_now()
            await asyncio.sleep(0.01)
        for one in self._in_state(ActionState.LOST):
            ran = one.action.target.id in self._order.witness_lines
            await self.say(f"settle #{one.action.id} {'ran' if ran else 'did-not-run'}, because I looked")
        self._journal.write("over", states={one.action.target.id: one.state for one in self._view.actions})

    async def _agree(self) -> None:
        """Say yes to what waits, in the words that it takes."""
        waiting = self._app.core.queries.pending()
        if waiting:
            self._journal.write("asked", phrase=waiting[0].phrase, waiting=len(waiting))
            await self.say(waiting[0].phrase or f"approve #{waiting[0].proposal}")

    def _in_state(self, state: ActionState) -> list[ActionView]:
        return [one for one in self._view.actions if one.state is state]

    @property
    def _view(self) -> ProposalView:
        queries = self._app.core.queries
        ((name,),) = self._app.core.ledger.reader().execute("SELECT id FROM proposal").fetchall()
        view = queries.proposal(ProposalId(name))
        assert view is not None
        return view
