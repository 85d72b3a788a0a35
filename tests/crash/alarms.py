"""A life of the bot in which nobody speaks and time passes: hundreds of reminders come due.

Time is a file: the campaign's plan holds the instants that the clock shows one after the other, forward and
back, and a file says which of them it shows now. A life goes on along the plan from where the last one was
killed, so that its death moves no clock and the next one may find that hours went by.
"""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from bot.app import build, running
from bot.ports import Capabilities, Message, MessageRef, PlaceRef
from ledger.store import Ledger
from tests.crash.order import USER, Order, config_for, lived
from tests.crash.surface import Journal, Moment, Surface
from tests.crash.trap import Trap

#: A life of hundreds of entries has some checkpoints, not hundreds.
CHECKPOINT_EVERY = 50


class FileClock:
    """Shows the instant of a plan that a file points at."""

    def __init__(self, folder: Path) -> None:
        self._plan: list[float] = json.loads((folder / "plan").read_text())
        self._hand = folder / "hand"

    @property
    def position(self) -> int:
        return int(self._hand.read_text())

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._plan[self.position], UTC)

    def move(self, position: int) -> None:
        """Point at another instant, at once."""
        new = self._hand.with_suffix(".new")
        new.write_text(str(position))
        os.replace(new, self._hand)  # noqa: PTH105 - the same

    def left(self) -> range:
        """Return the positions that are still to come."""
        return range(self.position + 1, len(self._plan))


class Board(Surface):
    """A surface where what was posted can be found again by its nonce."""

    capabilities = Capabilities(finds=True)

    def __init__(self, journal: Journal, *, moment: Moment) -> None:
        super().__init__(journal, moment=moment, user=USER)

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        shown = any(line["nonce"] == nonce for line in self._journal.read("shown"))
        return MessageRef(place=place, message=nonce) if shown else None

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        self._moment("post.before")
        return await super().post(place, message, nonce=nonce)


def live(order: Order, config_file: Path) -> int:
    """Live one life; return the exit code of its process."""
    clock = FileClock(order.path)

    async def passed(ledger: Ledger, journal: Journal, trap: Trap) -> None:
        config = config_for(order.path, config_file)
        board = Board(journal, moment=trap)
        app = build(config, ledger, ports=[board], clock=clock, probe=trap)
        conversation = app.conversation
        async with running(app):
            trap("recovered")
            for position in clock.left():
                clock.move(position)
                conversation._timer.look()  # as it does twice a minute
                await conversation._look_now()
                await conversation._delivery.flush()
            await conversation._delivery.settled()

    return lived(order, clock, passed, checkpoint_every=CHECKPOINT_EVERY)
