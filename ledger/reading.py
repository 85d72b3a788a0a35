"""Reading entries back, on any connection: what the command line needs, and nothing that writes."""

import sqlite3
from collections.abc import Iterator

from ledger.chain import GENESIS, Head
from ledger.kinds import Entry


def read_head(connection: sqlite3.Connection) -> Head:
    """Return the newest entry's number and hash."""
    row = connection.execute("SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(*row) if row else Head(0, GENESIS)


def read_entries(connection: sqlite3.Connection, *, after: int = 0) -> Iterator[Entry]:
    """Give the entries whose number is greater than `after`, in order."""
    rows = connection.execute(
        "SELECT seq, kind, at, correlation_id, body, prev_hash, hash FROM entry WHERE seq > ? ORDER BY seq",
        (after,),
    )
    for seq, kind, at, correlation_id, body, prev_hash, digest in rows:
        yield Entry(
            seq=seq,
            kind=kind,
            at=at,
            correlation_id=correlation_id,
            body=body,
            prev_hash=prev_hash,
            hash=digest,
        )
