"""Where a life of the bot ends: at the n-th time that it passes a named moment.

Moments come from the core's probes, from every entry that is projected (inside the transaction that writes
it), from every COMMIT, and from what the scripted port and the executor see. The end is a SIGKILL of the own
process: no handler, no flush, no goodbye.
"""

import os
import signal
import sqlite3
import threading
import time
from collections import Counter

from ledger.kinds import Entry, Json
from ledger.projections import project


def die() -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)  # the signal is on its way; this thread must not get any further


class Trap:
    """Counts moments, and ends the process at one of them."""

    def __init__(self, moment: str = "", nth: int = 0) -> None:
        self.counts: Counter[str] = Counter()
        self._moment = moment
        self._nth = nth
        self._mutex = threading.Lock()

    def __call__(self, moment: str) -> None:
        """Pass a moment."""
        with self._mutex:
            self.counts[moment] += 1
            if moment == self._moment and self.counts[moment] == self._nth:
                die()

    def project(self, connection: sqlite3.Connection, entry: Entry, body: dict[str, Json]) -> None:
        """Apply an entry, and pass the moment in which it is written and not committed."""
        project(connection, entry, body)
        self(f"writing {entry.kind}")

    def traced(self, statement: str) -> None:
        """Pass the moment before a commit."""
        if statement == "COMMIT":
            self("commit")
