"""Hearing deliveries one after the other, and looking after what was held; called by the conversation.

A delivery that was committed and cannot be recorded now is kept and taken later: its sender was told that it
arrived, and nobody else speaks for it.
"""

import asyncio
import logging

from bot.core import Core
from bot.outcome import Outcome
from bot.ports import Inbound
from bot.signals import keeping, taking
from ledger.kinds import LedgerUnwritableError

log = logging.getLogger(__name__)


class SignalLane:
    """Takes deliveries, in their order."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._kept: list[tuple[Inbound, str]] = []
        self._one = asyncio.Lock()

    async def hear(self, inbound: Inbound, *, key: str) -> tuple[Outcome, ...]:
        """Take a delivery, after those that were kept; () where it is kept too."""
        async with self._one:
            self._kept.append((inbound, key))
            return await self._take_kept()

    async def look(self) -> tuple[Outcome, ...]:
        """Take what was kept, and let go of what is held no longer.

        Raises:
            LedgerUnwritableError: what is held stays so.
        """
        async with self._one:
            heard = await self._take_kept()
        return (*heard, *await asyncio.to_thread(keeping.close_due, self._core))

    async def _take_kept(self) -> tuple[Outcome, ...]:
        made = []
        while self._kept:
            inbound, key = self._kept[0]
            try:
                made.append(await asyncio.to_thread(taking.take, self._core, inbound, inbox=key))
            except LedgerUnwritableError as error:
                log.error("a delivery of signals waits: %s", error)  # noqa: TRY400 - expected, and tried again
                break
            self._kept.pop(0)
        return tuple(made)
