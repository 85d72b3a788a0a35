"""Watching over the runs that go on: each is looked at when something may have become of what it waits for.

It decides nothing and keeps nothing; what is due is read from the ledger at every look, so that a new process
goes on where the last one stopped.
"""

import asyncio
import logging

from bot.core import Core
from bot.execution.work import Work
from bot.runbooks import judging, runner
from ledger.kinds import LedgerUnwritableError

log = logging.getLogger(__name__)


async def keep_runs(core: Core, work: Work) -> None:
    """Go on with every run that an answer, the end of its wait or a settled step lets go on."""
    for run in await asyncio.to_thread(core.queries.open_runs):
        try:
            files = await judging.look_again(core, run)
            made = await asyncio.to_thread(runner.go_on, core, run, files=files)
        except LedgerUnwritableError as error:
            log.error("run %s does not go on: %s", run, error)  # noqa: TRY400 - expected, and tried again
            return
        except Exception:
            log.exception("run %s", run)
            continue
        for proposal in made:
            await work.move(proposal)
