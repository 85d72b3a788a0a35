"""A ledger to write entries to and to ask, for tests of projections and queries; `entries` makes them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from ledger.kinds import Appended, Batch, Draft, Effect, Expectation
from ledger.projections import holds, project
from ledger.queries import Queries
from ledger.store import Ledger
from tests.gate.makers import NOW
from tests.ledger.support import CountedBytes, HandClock, lay_empty

#: Shared, since a ledger that is opened anew must not see the same salts again.
SALTS = CountedBytes()
LATER = NOW + timedelta(minutes=15)


def open_real(folder: Path) -> Ledger:
    """Open a ledger with the real projections."""
    lay_empty(folder)
    return Ledger.open(
        folder / "ledger.db", project=project, holds=holds, random_bytes=SALTS, clock=HandClock(NOW)
    )


@dataclass
class Story:
    """A ledger and the questions to it."""

    ledger: Ledger
    queries: Queries
    at: datetime = NOW

    @classmethod
    def begin(cls, folder: Path) -> "Story":
        """Open a new ledger in `folder`."""
        ledger = open_real(folder)
        return cls(ledger, Queries(ledger.reader))

    def write(
        self, *drafts: Draft, expects: tuple[Expectation, ...] = (), effects: tuple[Effect, ...] = ()
    ) -> Appended:
        """Append one batch."""
        return self.ledger.append(Batch(at=self.at, drafts=drafts, expects=expects, effects=effects))
