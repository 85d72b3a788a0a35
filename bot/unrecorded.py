"""What was said while the ledger could not be written: what tightens holds in memory, the rest is void.

It keeps what was braked until it is recorded, and what was called void until that is closed, so that it never
counts later. It takes no turn: whoever holds it says how one is taken and performed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from bot import braking, recovery
from bot.core import Core
from bot.execution.work import Work
from bot.outcome import Outcome
from bot.ports import ChatPort, Inbound, Message, RejectedError, UncertainError
from bot.text import Text
from bot.turn import Turns
from gate.domain import PlaceId

log = logging.getLogger(__name__)

STILL_WORK = "stop and  cancel <id>  work all the same; stop names what runs."
_UNWRITABLE = Text.of(
    "The ledger cannot be written, so nothing runs and nothing is decided.",
    "Check disk space and permissions:  sayso doctor.  Then say it again.",
    STILL_WORK,
)
_NOT_TAKEN = "What was said while the ledger could not be written did not count. Nothing ran from it."


class Unrecorded:
    """What arrived and is not recorded yet."""

    def __init__(self, core: Core, *, turns: Turns, work: Work, ports: Mapping[str, ChatPort]) -> None:
        self._core = core
        self._turns = turns
        self._work = work
        self._ports = ports
        self._void: dict[PlaceId, list[recovery.Arrived]] = {}
        # Tightening words that hold in memory only, and the lock of whoever records them.
        self._braked: list[recovery.Arrived] = []
        self._recording = asyncio.Lock()

    @property
    def places(self) -> list[PlaceId]:
        """Where something was said that is not closed yet."""
        return list(self._void)

    async def brake(self, arrived: recovery.Arrived) -> bool:
        """Act at once on tightening words that were not recorded, and say so; False for other words."""
        held = await asyncio.to_thread(braking.brake, self._core, arrived.inbound, key=arrived.key)
        if held is None:
            return False
        for action in held.cancel:
            self._work.cancel(action, by=held.by)
        self._braked.append(arrived)
        await self._say(arrived.inbound, held.words)
        return True

    async def hold(self, arrived: recovery.Arrived, *, place: PlaceId) -> None:
        """Brake on what arrived in `place`, or call it void."""
        if not await self.brake(arrived):
            self._void.setdefault(place, []).append(arrived)
            await self._say(arrived.inbound, _UNWRITABLE)

    async def record(
        self, *, take: Callable[[recovery.Arrived], Outcome], perform: Callable[[Outcome], Awaitable[None]]
    ) -> None:
        """Take the turns of what was braked in memory, and let the recorded switches hold instead.

        Args:
            take: commits to the inbox what arrived, and takes its turn.
            perform: does what follows from a turn.

        Raises:
            LedgerUnwritableError: nothing can be recorded still; the brake holds.
        """
        async with self._recording:
            while self._braked:
                arrived = self._braked[0]
                outcome = await asyncio.to_thread(take, arrived)
                self._braked.pop(0)
                self._core.brake.release(arrived.key)
                await perform(outcome)

    def close(self, place: PlaceId) -> None:
        """Close what was said while nothing could be recorded: it was called void, so it never counts later.

        Raises:
            LedgerUnwritableError: nothing can be recorded still.
        """
        while void := self._void.get(place):
            self._turns.too_late(void[0].inbound, inbox=void[0].key, words=_NOT_TAKEN)
            void.pop(0)
        self._void.pop(place, None)

    async def _say(self, inbound: Inbound, words: Text) -> None:
        """Say what cannot be recorded as said."""
        port = self._ports.get(inbound.place.platform)
        if port is None:
            return
        try:
            await port.post(inbound.place, Message(body=words), nonce=inbound.event_id)
        except (RejectedError, UncertainError):
            log.exception("nobody could be told that the ledger cannot be written")
