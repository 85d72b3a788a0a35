"""A life of sayso in a process of its own, which ends without a word.

    python -m tests.library.life FOLDER PLATFORM ADDRESS ACCOUNT

The process keeps its ledger in FOLDER/state, finds the node's programs in FOLDER/node, and listens to
PLATFORM at ADDRESS, where ACCOUNT is an operator. `elsewhere` is that process for those who are on the
platform: they say there what they want, and look into its ledger.
"""

import asyncio
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

from bot.ports import Inbound, Receipt
from gate.domain import PersonId
from gate.policy import Operator
from ledger.queries import Queries
from ledger.runs import RunView
from tests.adapters.play import heard, introduce
from tests.adapters.stage import LastingSurface, port_at
from tests.adapters.stage_telegram import no_pace
from tests.kit import EVERYTHING, START, ScriptedClock, conversation
from tests.library.tale import HANGS_AFTER_S, PLACE, programs_in, this_machine
from tests.simulators.proxmox.host import Host

ROOT = Path(__file__).parents[2]
LISTENS = "listens"
Answer = TypeVar("Answer")


class RunningClock(ScriptedClock):
    """A clock that begins where those of tests do, and goes on by itself."""

    def __init__(self) -> None:
        super().__init__()
        self._began = time.monotonic()

    def now(self) -> datetime:
        return START + timedelta(seconds=time.monotonic() - self._began)


async def live(folder: Path, platform: str, address: str, account: str) -> None:
    """Listen until killed."""
    clock, port = RunningClock(), port_at(platform, address, folder)
    ana = Operator(id=PersonId("ana"), accounts=(account,), may=EVERYTHING)
    state, inventory = folder / "state", this_machine("pve1")
    with programs_in(Host(folder=folder / "node").path), no_pace():
        async with conversation(
            state, operators=[ana], inventory=inventory, ports=[port], clock=clock
        ) as kit:

            async def sink(inbound: Inbound) -> Receipt:
                return await kit.app.conversation.sink(replace(inbound, sent_at=clock.now()))

            introduce(port, kit)
            async with heard(port, sink):
                (folder / LISTENS).touch()
                await asyncio.Event().wait()


# ---------------------------------------------------------------- for those on the platform


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A process that lives, and who talks to it."""

    surface: LastingSurface
    process: "subprocess.Popen[bytes]"
    ledger: Path

    async def say(self, text: str) -> None:
        """Say something, and wait until a run has begun."""
        await self.surface.say(text, place=PLACE)
        await self.until(lambda: self.look(lambda queries: bool(queries.runs(limit=1))))

    async def agree_until(self, fact: Callable[[], bool]) -> None:
        """Press Approve on every card that asks, until something is so."""
        agreed: set[str] = set()
        while not fact():
            await self.until(lambda: fact() or bool(self._asked().keys() - agreed))
            for proposal, card in {} if fact() else self._asked().items():
                if proposal not in agreed:
                    agreed.add(proposal)
                    await self.surface.press(card, "Approve", place=PLACE)

    def _asked(self) -> dict[str, str]:
        """The proposals that wait, and the cards on which they can be answered."""
        cards = [one for one in self.surface.screen(place=PLACE) if "Approve" in one.labels]
        waiting = self.look(lambda queries: [str(one.proposal) for one in queries.pending()])
        return {name: card.id for name in waiting for card in cards if f"#{name}" in card.text}

    def run(self) -> RunView:
        """The newest run."""
        return self.look(lambda queries: queries.runs(limit=1)[0])

    def look(self, question: Callable[[Queries], Answer]) -> Answer:
        """Ask its ledger."""
        with closing(sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True)) as connection:
            return question(Queries(lambda: connection))

    async def until(self, fact: Callable[[], bool]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(HANGS_AFTER_S):
            while not fact():
                assert self.process.poll() is None, "it ended by itself"
                await asyncio.sleep(0.05)


@asynccontextmanager
async def elsewhere(surface: LastingSurface, folder: Path, platform: str) -> AsyncIterator[Elsewhere]:
    """Let another process listen to a platform; kill it at the end of the block."""
    words = (str(folder), platform, surface.address, surface.account("ana").key)
    process = subprocess.Popen(  # noqa: ASYNC220 - it starts nothing but itself, and is waited for in a thread
        [sys.executable, "-m", "tests.library.life", *words], cwd=ROOT
    )
    life = Elsewhere(surface=surface, process=process, ledger=folder / "state" / "ledger.db")
    try:
        await life.until((folder / LISTENS).exists)
        yield life
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), *sys.argv[2:5]))
