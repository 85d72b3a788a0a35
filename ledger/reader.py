"""What every reader of the projections shares: its connection, rows by name, and words by their reference."""

import sqlite3
from collections.abc import Callable, Iterable

from ledger import payloads
from ledger.codec import Doc, mapping
from ledger.kinds import Entry, Json
from ledger.views import PRUNED

#: What an entry of one kind does to the projections, in the transaction of its append.
Handler = Callable[[sqlite3.Connection, Entry, Doc], None]


class Reader:
    """Reads only.

    Args:
        connect: returns a read-only connection for the calling thread.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect

    def _word(self, reference: Json) -> str:
        if reference is None:
            return ""
        return _text(payloads.read(self._connect(), str(mapping(reference)["payload"])))

    def _words(self, references: Iterable[Json]) -> Callable[[Json], str]:
        """Return what reads the words of any of `references`, read at once."""
        names = dict.fromkeys(str(mapping(one)["payload"]) for one in references if one is not None)
        found = {name: _text(content) for name, content in payloads.read_all(self._connect(), names).items()}

        def word(reference: Json) -> str:
            if reference is None:
                return ""
            return found.get(str(mapping(reference)["payload"]), PRUNED)

        return word

    def _rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        return self._run(query, values).fetchall()

    def _row(self, query: str, *values: object) -> sqlite3.Row | None:
        found: sqlite3.Row | None = self._run(query, values).fetchone()
        return found

    def _run(self, query: str, values: tuple[object, ...]) -> sqlite3.Cursor:
        # The connection is shared with readers that want plain tuples, so only this cursor gives rows.
        cursor = self._connect().cursor()
        cursor.row_factory = sqlite3.Row
        return cursor.execute(query, values)

    def _one(self, query: str, *values: object) -> str:
        """Return the first column of a query that always gives a row."""
        value = self._run(query, values).fetchone()[0]
        return "" if value is None else str(value)


def _text(content: bytes | None) -> str:
    return PRUNED if content is None else content.decode("utf-8", "surrogateescape")
