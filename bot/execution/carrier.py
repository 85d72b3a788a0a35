"""Carrying out one started action: from its recorded start to the end that the executor tells.

An end that cut its own connection is settled where that can be checked (D7). It records nothing by itself:
whoever started an action says how its end is recorded.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import replace

from bot.core import Core
from bot.execution.running import Running
from bot.execution.settle import boot_id, probe, settle_reboot, settle_verify
from bot.judging import AGREE
from bot.phrasing import duration
from bot.ports import Ended, EndKind, OutputSink
from gate.domain import ActionId
from gate.lifecycle import ActionState
from ledger.kinds import ActionIs, LedgerUnwritableError, LostRaceError
from ledger.views import ActionView

log = logging.getLogger(__name__)

#: While the end of a command cannot be recorded, it is tried again this often.
RECORD_RETRY_S = 2.0

_CUTS_ITSELF_OFF = frozenset({"reboot", "shut down", "power off", "halt"})


class Carrier:
    """Runs what was started."""

    def __init__(self, core: Core, running: Running) -> None:
        self._core = core
        self._running = running

    async def boot_id(self, view: ActionView) -> str | None:
        """Return the boot id of the target where the end of `view` will be told by it; None elsewhere."""
        deed = view.verdict.deed
        if deed is None or deed.verb not in _CUTS_ITSELF_OFF:
            return None
        return await boot_id(self._core.executor, view.action.target)

    async def run(self, view: ActionView, *, booted: str | None, on_output: OutputSink) -> Ended:
        """Run `view`, whose start is recorded, and return its end, whatever goes wrong."""
        try:
            return await self._executed(view, booted=booted, on_output=on_output)
        except Exception as error:
            # It was started, so its end is unknown, whatever went wrong here.
            log.exception("action %s", view.action.id)
            return Ended(kind=EndKind.LOST, note=f"failed inside sayso while it ran: {error!r}"[:200])

    async def check(self, view: ActionView, verify: str) -> Ended:
        """Return how the verify command of `view` ended, whatever goes wrong."""
        try:
            return await probe(
                self._core.executor, view.action.target, verify, timeout_s=view.action.timeout_s
            )
        except Exception as error:
            # A check without a recorded result would let what follows wait for ever.
            log.exception("the check of %s", view.action.id)
            return Ended(kind=EndKind.LOST, note=f"the check failed inside sayso: {error!r}"[:200])

    async def _executed(self, view: ActionView, *, booted: str | None, on_output: OutputSink) -> Ended:
        core, action = self._core, view.action
        if action.act == AGREE:
            return Ended(kind=EndKind.EXITED, exit_code=0)  # that somebody agreed is all that there is to it
        core.probe("run.before")
        ended = await core.executor.run(
            action,
            on_output=on_output,
            cancel=self._running.cancelled(action.id),
            reads=view.verdict.risk.rank == 0,
        )
        core.probe("run.after")
        if ended.kind is EndKind.CANCELLED:
            stopped = f"stopped{self._running.by(action.id)} after {duration(ended.run_s)}"
            return replace(ended, note=f"{stopped}; what it did until then stays done")
        return await self._settled(view, ended, booted=booted) if ended.kind is EndKind.LOST else ended

    async def _settled(self, view: ActionView, ended: Ended, *, booted: str | None) -> Ended:
        """Find out how a command ended that cut its own connection, where that can be checked (D7)."""
        executor, target = self._core.executor, view.action.target
        found: Ended | None = None
        if booted is not None:
            found = await settle_reboot(executor, target, before=booted)
        elif view.action.verify is not None:
            found = await settle_verify(executor, target, verify=view.action.verify)
        return ended if found is None else replace(found, output=ended.output, run_s=ended.run_s)


async def until_recorded(record: Callable[[], None], *, started: Collection[ActionId]) -> None:
    """Record what happened to what was `started`, however long the disk stays full: it must not be forgotten.

    Raises:
        LostRaceError: one of them has ended already.
    """
    while True:
        try:
            return await asyncio.to_thread(record)
        except LostRaceError as race:
            if any(race.expectation == ActionIs(action, ActionState.STARTED) for action in started):
                raise
            # What follows it in its proposal changed meanwhile; that is read anew.
        except LedgerUnwritableError as error:
            log.error("the end of %s is not recorded yet: %s", ", ".join(started), error)  # noqa: TRY400 - every 2 s
            await asyncio.sleep(RECORD_RETRY_S)
