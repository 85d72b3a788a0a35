"""Reading entries back, on any connection: what the command line needs, and nothing that writes."""

import json
import sqlite3
from collections.abc import Iterator

from ledger.chain import GENESIS, Head
from ledger.engine import LedgerUnreadableError
from ledger.kinds import Entry, Json

_BATCH = 500
_COLUMNS = "seq, kind, at, correlation_id, body, prev_hash, hash"


def read_head(connection: sqlite3.Connection) -> Head:
    """Return the newest entry's number and hash."""
    row = connection.execute("SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(*row) if row else Head(0, GENESIS)


def read_entry(connection: sqlite3.Connection, seq: int) -> Entry | None:
    """Return one entry; None when there is none of that number."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM entry WHERE seq = ?", (seq,)).fetchone()  # noqa: S608  constant
    return None if row is None else _entry(row)


def read_entries(connection: sqlite3.Connection, *, after: int = 0) -> Iterator[Entry]:
    """Give the entries whose number is greater than `after`, in order.

    It reads a few hundred at a time and leaves no statement open in between: an open one would pin the state
    that its connection sees.

    Raises:
        LedgerUnreadableError: a column holds something else than text.
    """
    query = f"SELECT {_COLUMNS} FROM entry WHERE seq > ? ORDER BY seq LIMIT ?"  # noqa: S608  constant
    while rows := connection.execute(query, (after, _BATCH)).fetchall():
        yield from map(_entry, rows)
        after = rows[-1][0]


def body_of(entry: Entry) -> dict[str, Json]:
    """Return the body of `entry`.

    Raises:
        LedgerUnreadableError: it is no JSON object.
    """
    try:
        body = json.loads(entry.body)
    except (ValueError, RecursionError) as error:
        raise _damaged(entry.seq) from error
    if not isinstance(body, dict):
        raise _damaged(entry.seq)
    return body


def _damaged(seq: int) -> LedgerUnreadableError:
    return LedgerUnreadableError(f"Entry {seq} is damaged. `sayso ledger verify` says what else is.")


def _entry(row: tuple[int, str, str, str, str, str, str]) -> Entry:
    if not all(isinstance(value, str) for value in row[1:]):
        raise _damaged(row[0])
    return Entry._make(row)


def read_hashes(connection: sqlite3.Connection, *, after: int, upto: int) -> Iterator[bytes]:
    """Give the hashes of entries after+1 .. upto, in order; leaves no statement open either.

    Raises:
        ValueError: one of them is no hexadecimal number.
    """
    while rows := connection.execute(
        "SELECT seq, hash FROM entry WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", (after, upto, _BATCH)
    ).fetchall():
        after = rows[-1][0]
        yield from (bytes.fromhex(digest) for _, digest in rows)
