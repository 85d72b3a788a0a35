"""Accounts that were linked to a person by a code, and the codes that are still open (X4).

The projection and its reader. An account that the owner's config names needs no code and stands there.
"""

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from gate.domain import PersonId, PlaceId
from ledger.codec import Doc, parse_instant
from ledger.kinds import Entry, Kind
from ledger.reader import Reader

TABLES = ("account", "pairing")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingView:
    """An open code: whose, what it is recognised by, until when, and how often it was guessed wrong."""

    id: str
    person: PersonId
    mac: str
    deadline_at: datetime
    wrong: int


class AccountReader(Reader):
    """Questions about linked accounts."""

    def paired(self, account: str) -> PersonId | None:
        """Return the person whom an account was linked to; None for others."""
        row = self._row("SELECT person FROM account WHERE id=?", account)
        return None if row is None else PersonId(row["person"])

    def accounts_of(self, person: PersonId) -> tuple[str, ...]:
        """Return the accounts that were linked to a person, oldest first."""
        rows = self._rows("SELECT id FROM account WHERE person=? ORDER BY seq", person)
        return tuple(row["id"] for row in rows)

    def offered_in(self, pairing: str) -> PlaceId | None:
        """Return where a code was shown, open or not; None for one that never was."""
        row = self._row(
            "SELECT json_extract(body, '$.place') AS place FROM entry WHERE kind=?"
            " AND json_extract(body, '$.pairing')=?",
            *(Kind.PAIRING_OFFERED, pairing),
        )
        return None if row is None else PlaceId(row["place"])

    def pairings(self) -> tuple[PairingView, ...]:
        """Return every code that is open."""
        return tuple(
            PairingView(
                id=row["id"],
                person=PersonId(row["person"]),
                mac=row["mac"],
                deadline_at=parse_instant(row["deadline_at"]),
                wrong=row["wrong"],
            )
            for row in self._rows("SELECT * FROM pairing ORDER BY deadline_at")
        )


def offered(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    """Open a code; an older one of the same person is over."""
    connection.execute("DELETE FROM pairing WHERE person=?", (body["person"],))
    connection.execute(
        "INSERT INTO pairing (id, person, mac, deadline_at, wrong) VALUES (?, ?, ?, ?, 0)",
        (body["pairing"], body["person"], body["mac"], body["deadline_at"]),
    )


def missed(connection: sqlite3.Connection, _entry: Entry, _body: Doc) -> None:
    """Count a wrong guess against every open code."""
    connection.execute("UPDATE pairing SET wrong=wrong+1")


def ended(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    """Close a code."""
    connection.execute("DELETE FROM pairing WHERE id=?", (body["pairing"],))


def paired(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    """Link an account and close the code that did it."""
    ended(connection, entry, body)
    connection.execute(
        "INSERT OR REPLACE INTO account (id, person, seq) VALUES (?, ?, ?)",
        (body["account"], body["person"], entry.seq),
    )


def unpaired(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    """Unlink an account."""
    connection.execute("DELETE FROM account WHERE id=?", (body["account"],))
