"""What a life of the bot is told, and how the process forked for it begins and ends, whoever talks to it.

It ends in a kill at the moment of its trap, in a kill from outside, or by itself.
"""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from bot.ports import Clock
from bot.settings.config import Config, load
from bot.settings.paths import Paths
from ledger.projections import holds
from ledger.store import Ledger
from tests.crash.surface import Complaints, Journal
from tests.crash.trap import Trap

USER = "ana"
#: A life that has not ended by then hangs; the longest takes some seconds where nothing slows it down.
HANGS_AFTER_S = 200

CONFIG = """
[targets.local]
kind = "local"
[targets.web1]
kind = "local"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a life is to do.

    Attributes:
        folder: the cycle's own: state, journal, witness.
        moment, nth: where it is killed; "" for nowhere.
        kill_after_s: when it is killed from outside; 0 for never.
        last: the life after the last kill, whose end is examined.
        ahead_s: how long after the others this life takes place.
    """

    folder: str
    script: str
    moment: str = ""
    nth: int = 0
    kill_after_s: float = 0.0
    last: bool = False
    ahead_s: float = 0.0

    @property
    def path(self) -> Path:
        return Path(self.folder)

    @property
    def witness(self) -> Path:
        return self.path / "witness"

    @property
    def witness_lines(self) -> list[str]:
        return self.witness.read_text().split() if self.witness.exists() else []

    @property
    def state(self) -> Path:
        return self.path / "state"


def config_for(folder: Path, file: Path) -> Config:
    """Return the config of a cycle: two names for this machine, one operator."""
    return load(file=file, environ={}, flags=[], login=USER, paths=Paths(folder / "state"))


def open_ledger(state: Path, clock: Clock, trap: Trap, *, checkpoint_every: int = 7) -> Ledger:
    """Open the ledger with a trap in every transaction."""
    import secrets  # noqa: PLC0415 - a forked child draws its own

    ledger = Ledger.open(
        state / "ledger.db",
        project=trap.project,
        holds=holds,
        random_bytes=secrets.token_bytes,
        clock=clock.now,
        checkpoint_every=checkpoint_every,
    )
    ledger._connection.set_trace_callback(trap.traced)
    return ledger


def lived(
    order: Order,
    clock: Clock,
    live: Callable[[Ledger, Journal, Trap], Awaitable[None]],
    *,
    checkpoint_every: int = 7,
) -> int:
    """Live one life around the ledger of its cycle; return the exit code of its process."""
    signal.alarm(HANGS_AFTER_S)
    journal = Journal(order.path / "journal")
    logging.getLogger().addHandler(Complaints(journal))
    trap = Trap(order.moment, order.nth)
    ledger = open_ledger(order.state, clock, trap, checkpoint_every=checkpoint_every)

    async def through() -> None:
        await live(ledger, journal, trap)

    try:
        asyncio.run(through())
    finally:
        ledger.close()
    journal.write("counts", counts=trap.counts)
    return 0
