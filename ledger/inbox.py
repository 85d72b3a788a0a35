"""Inbound events, committed before their platform is told that they arrived (D26).

A key is remembered for good, so that a redelivery is recognised however late it comes; the document is kept
only until the event is done, since it holds people's words. The batch that finishes an event marks it in its
own transaction (`Batch.inbox`); what is still open after a restart is `pending`.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ledger.chain import instant
from ledger.group import GroupWriter
from ledger.kinds import DraftError

_DONE = "UPDATE inbox SET done_at = ?, document = '' WHERE key = ? AND done_at IS NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """One event that arrived and is not done: `document` as it was committed."""

    key: str
    place_key: str
    document: str
    at: str


def mark_done(connection: sqlite3.Connection, key: str, *, at: str) -> None:
    """Mark an event done, inside the caller's transaction; once more does nothing.

    Raises:
        DraftError: no such event ever arrived.
    """
    if connection.execute(_DONE, (at, key)).rowcount:
        return
    if connection.execute("SELECT 1 FROM inbox WHERE key = ?", (key,)).fetchone() is None:
        raise DraftError(f"{DraftError.__doc__} No inbound event {key!r} to finish.")


class Inbox:
    """The inbox of one ledger; `reader` returns a connection that this thread may read with."""

    def __init__(self, writer: GroupWriter, *, reader: Callable[[], sqlite3.Connection]) -> None:
        self._writer = writer
        self._reader = reader

    def commit(self, key: str, place_key: str, document: str, at: datetime) -> bool:
        """Store an event; once this returns, it survives anything.

        Args:
            key: unique to the event over all platforms, the same on redelivery.
            place_key: events of one place are handled in their order.
            document: the event as JSON, for `pending` after a restart.
            at: when it arrived.

        Returns:
            False when the key is known already: acknowledge it and do nothing else.

        Raises:
            LedgerUnwritableError: it is not stored; do not acknowledge.
        """
        stamp = instant(at)

        def work(connection: sqlite3.Connection) -> bool:
            return (
                connection.execute(
                    "INSERT INTO inbox (key, place_key, document, at) VALUES (?, ?, ?, ?)"
                    " ON CONFLICT (key) DO NOTHING",
                    (key, place_key, document, stamp),
                ).rowcount
                == 1
            )

        return self._writer.submit(work)

    def finish(self, key: str, at: datetime) -> None:
        """Mark an event done that leads to no entry.

        Raises:
            DraftError: no such event ever arrived.
            LedgerUnwritableError: it is still open.
        """
        stamp = instant(at)
        self._writer.submit(lambda connection: mark_done(connection, key, at=stamp))

    def newest(self, *, like: str) -> dict[str, str]:
        """Return the newest event of each place whose key is LIKE `like`: its key, by that of its place."""
        # One reading for all: places are many, and each of its own would read all that ever arrived.
        rows = self._reader().execute(
            "SELECT place_key, key, max(id) FROM inbox WHERE key LIKE ? GROUP BY place_key", (like,)
        )
        return {place: key for place, key, _ in rows}

    def pending(self) -> list[InboxItem]:
        """Return what arrived and is not done, in the order of arrival."""
        rows = self._reader().execute(
            "SELECT key, place_key, document, at FROM inbox WHERE done_at IS NULL ORDER BY id"
        )
        return [InboxItem(key=key, place_key=place, document=doc, at=at) for key, place, doc, at in rows]
