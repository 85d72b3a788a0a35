"""What waits to be told or done by the clock. Reads only, on the connection that is handed in."""

import sqlite3

from gate.domain import ProposalId


def untold(connection: sqlite3.Connection) -> tuple[ProposalId, ...]:
    """Return the proposals shown elsewhere than asked whose end was not told where they were asked."""
    rows = connection.execute("SELECT proposal FROM untold ORDER BY rowid")
    return tuple(ProposalId(row[0]) for row in rows)
