"""The timer: wakes the core when something is due, and knows nothing itself.

What is due, and what comes next, is read from the ledger at every look. APScheduler only waits; besides, the
timer looks every half a minute and whenever something changed, so that neither a clock that jumps nor a lost
alarm keeps anything from its time for longer. What cannot be written does not happen, and stays due.
"""

import asyncio
import logging
from datetime import UTC, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler  # type: ignore[import-untyped]  # has no types

from bot.clock import SystemClock
from bot.core import Core
from bot.delivery import Delivery
from bot.execution.work import Work
from bot.scheduling.firing import Fired, fire_due
from ledger.kinds import LedgerUnwritableError

log = logging.getLogger(__name__)

#: The longest sleep; a clock that jumps is noticed within it.
LOOK_EVERY_S = 30.0
#: The shortest, where something is due still: lost a race, or could not be done.
PAUSE_S = 1.0
_ALARM = "due"


class Timer:
    """Fires what is due when it is due.

    Args:
        work: moves what a fired command proposes.
        delivery: shows what was said.
    """

    def __init__(self, core: Core, *, work: Work, delivery: Delivery) -> None:
        self._core = core
        self._work = work
        self._delivery = delivery
        self._changed = asyncio.Event()
        self._firing = asyncio.Lock()

    def look(self) -> None:
        """Look again soon: something may have changed."""
        self._changed.set()

    async def fire(self) -> Fired:
        """Do what is due now, and begin to show it.

        Raises:
            LedgerUnwritableError: what was not done is still due.
        """
        async with self._firing:
            fired = await asyncio.to_thread(fire_due, self._core)
            for outcome in fired.outcomes:
                for proposal in outcome.work:
                    await self._work.move(proposal)
            if fired.outcomes:
                await self._delivery.kick()
        return fired

    async def keep(self) -> None:
        """Keep time until cancelled."""
        alarms = AsyncIOScheduler(timezone=UTC)
        alarms.start()
        try:
            while True:
                self._changed.clear()
                self._arm(alarms, await self._wait_s())
                try:
                    # Not wait_for: in Python 3.11 that forgets to be cancelled where both happen at once.
                    async with asyncio.timeout(LOOK_EVERY_S):
                        await self._changed.wait()
                except TimeoutError:
                    continue
        finally:
            alarms.shutdown(wait=False)

    async def _wait_s(self) -> float:
        """Fire, and return the seconds until the next look."""
        try:
            fired = await self.fire()
        except LedgerUnwritableError as error:
            log.error("what is due stays due: %s", error)  # noqa: TRY400 - expected, and tried again
            return PAUSE_S
        except Exception:
            log.exception("what is due could not be done; it is tried again")
            return PAUSE_S
        if fired.next_at is None:
            return LOOK_EVERY_S
        wait_s = (fired.next_at - self._core.now()).total_seconds()
        if wait_s <= 0:
            return 0.0 if fired.outcomes else PAUSE_S
        return min(wait_s, LOOK_EVERY_S)

    def _arm(self, alarms: AsyncIOScheduler, wait_s: float) -> None:
        # Its alarms are of this machine's clock, which need not be that of the core: so a delay.
        at = SystemClock().now() + timedelta(seconds=wait_s)
        alarms.add_job(
            self.look, "date", run_date=at, id=_ALARM, replace_existing=True, misfire_grace_time=None
        )
