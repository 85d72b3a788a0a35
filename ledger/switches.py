"""Switches as they stand (stop, freezes and the like), and the questions before one is loosened.

The projection alone: who may turn one, and what it keeps from running, is decided elsewhere.
"""

import json
import sqlite3
from collections.abc import Mapping

from ledger.codec import Doc
from ledger.kinds import Entry, Kind
from ledger.reader import Handler

TABLES = ("switch", "loosening")


def _changed(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO switch (name, value, seq) VALUES (?, ?, ?)",
        (body["switch"], json.dumps(body["value"], sort_keys=True), entry.seq),
    )


def _asked(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO loosening (id, place, person, state, phrase, deadline_at, doc)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            body["loosening"],
            body["place"],
            body["person"],
            "pending",
            body["phrase"],
            body["deadline_at"],
            entry.body,
        ),
    )


def _ended(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    connection.execute("UPDATE loosening SET state=? WHERE id=?", (body["how"], body["loosening"]))


HANDLERS: Mapping[str, Handler] = {
    Kind.SWITCH_CHANGED: _changed,
    Kind.LOOSENING_ASKED: _asked,
    Kind.LOOSENING_ENDED: _ended,
}
