"""sayso itself, put together as `sayso serve` does, with a screen that remembers in the place of a console.

sides.py starts it. Real are the core, the ledger on disk, the inventory from a config file,
the executor and the cards; what is said here comes from the operator that a config without people has.
"""

import asyncio
import contextlib
import itertools
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.fanout.asked import Handler, memory_mb, serve
from bot import sweeping
from bot.app import App, build, open_ledger, running
from bot.clock import SystemClock
from bot.execution.executor import FleetExecutor
from bot.execution.limits import Limits
from bot.local_socket import login_name
from bot.ports import Account, Inbound, PlaceRef
from bot.settings.config import load
from bot.settings.paths import Paths
from gate.lifecycle import ActionState
from ledger.views import ActionView
from tests.kit import ScriptedPort

#: Nobody waits longer for anything.
PATIENCE_S = 600.0
_NAME = "console"
_OVER = frozenset(
    {ActionState.SUCCEEDED, ActionState.FAILED, ActionState.CANCELLED, ActionState.LOST, ActionState.WAITING}
)


class Daemon:
    """One core after the other, each with a ledger of its own and no connection.

    Args:
        folder: has the config file.
        login: who speaks.
        flags: settings, as on a command line.
    """

    def __init__(self, folder: Path, login: str, flags: Sequence[str]) -> None:
        self._folder = folder
        self._login = login
        self._flags = flags
        self._numbers = itertools.count(1)
        self._stack = contextlib.AsyncExitStack()
        self._app: App | None = None
        self._port = ScriptedPort(_NAME)

    async def open(self) -> dict[str, Any]:
        """Put a new core together."""
        state = self._folder / f"state-{next(self._numbers)}"
        state.mkdir(mode=0o700)
        config = load(
            file=self._folder / "config.toml",
            environ={},
            flags=self._flags,
            login=self._login,
            paths=Paths(state),
        )
        clock, self._port = SystemClock(), ScriptedPort(_NAME)
        ledger = open_ledger(config, clock)
        self._stack.callback(ledger.close)
        app = build(config, ledger, ports=[self._port], clock=clock)
        sweeping.settle()
        await self._stack.enter_async_context(running(app))
        self._app = app
        return {}

    async def close(self) -> dict[str, Any]:
        """Stop it, with its connections."""
        self._app = None
        await self._stack.aclose()
        return {}

    async def say(self, text: str) -> dict[str, Any]:
        """Say something that runs at once; return when all of it is over and shown, and how it ended.

        The seconds are those until then, those of the processor too; how each host ended is read after.
        """
        if self._app is None:
            await self.open()
        app = self._app
        if app is None:
            raise RuntimeError("there is no core")
        place = PlaceRef(platform=_NAME, channel=self._login)
        inbound = Inbound(
            event_id=app.core.ids.token(),
            place=place,
            account=Account(platform=_NAME, user=self._login, display=self._login),
            sent_at=app.core.now(),
            text=text,
            direct=True,
        )
        before = app.core.queries.newest_in(app.core.place_of(place))
        began, spent = time.perf_counter(), time.process_time()
        receipt = await app.conversation.sink(inbound)
        async with asyncio.timeout(PATIENCE_S):
            await receipt.settled
        took, cpu = time.perf_counter() - began, time.process_time() - spent
        shown = [one.text for one in self._port.screen.values()]
        proposal = app.core.queries.newest_in(app.core.place_of(place))
        view = None if proposal in (None, before) else app.core.queries.proposal(proposal)
        if view is None:
            raise RuntimeError(f"nothing came of it: {shown[-1:]}")
        if under_way := [one.action.id for one in view.actions if one.state not in _OVER]:
            raise RuntimeError(f"it was called settled before {under_way[0]} had ended")
        ends = {one.action.target.id: _end(one) for one in view.actions}
        return {"took": took, "ends": ends, "shown": shown[-2:], "cpu": cpu}

    async def settle(self) -> dict[str, Any]:
        """Wait until no more shells come to wait, as they do while nobody asks; return how many do."""
        executor = None if self._app is None else self._app.core.executor
        if not isinstance(executor, FleetExecutor):
            raise TypeError("there is no core")
        before = -1
        while before != executor.waiting_shells:
            before = executor.waiting_shells
            await asyncio.sleep(2 * Limits().quiet_s)
        return {"waiting": before}

    async def memory(self) -> dict[str, Any]:
        """Return what this process holds and held."""
        return memory_mb()


def _end(one: ActionView) -> dict[str, Any]:
    ending = one.ending
    if ending is None:
        return {"state": one.state, "note": "", "ran": False, "bytes": 0, "output": ""}
    kept = {"bytes": ending.total_bytes, "output": ending.output[:200]}
    return {"state": one.state, "note": ending.note, "ran": ending.ran, **kept}


async def main(argv: Sequence[str]) -> None:
    daemon = Daemon(Path(argv[0]), login_name(os.geteuid()), argv[1:])
    handlers: dict[str, Handler] = {"open": daemon.open, "say": daemon.say, "close": daemon.close}
    await serve({**handlers, "settle": daemon.settle, "memory": daemon.memory})
    await daemon.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
