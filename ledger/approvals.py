"""What happens around an approval: nudges, escalations, votes, and that its end was told elsewhere.

Handlers of entries, as in `ledger.projections`; the ends of an approval are handled there.
"""

import sqlite3
from collections.abc import Callable

from gate.errors import TransitionError
from gate.ladder import Rung
from gate.lifecycle import APPROVAL, ApprovalEvent, ApprovalState, advance
from ledger.codec import Doc
from ledger.kinds import Entry


def voted(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    """Keep one person's yes; a second one of theirs does not fit."""
    approval, person = str(body["approval"]), str(body["decider"])
    _check(connection, approval, ApprovalEvent.VOTE)
    known = connection.execute("SELECT 1 FROM vote WHERE approval=? AND person=?", (approval, person))
    if known.fetchone() is not None:
        raise TransitionError(f"{person} said yes to {approval} already")
    connection.execute(
        "INSERT INTO vote (approval, person, seq, at, doc) VALUES (?, ?, ?, ?, ?)",
        (approval, person, entry.seq, entry.at, entry.body),
    )


def climbed(event: ApprovalEvent, rung: Rung) -> Callable[[sqlite3.Connection, Entry, Doc], None]:
    """Return the handler of a step of the ladder; a second one of its kind does not fit."""

    def handle(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
        approval = str(body["approval"])
        _check(connection, approval, event)
        known = connection.execute("SELECT 1 FROM rung WHERE approval=? AND rung=?", (approval, rung))
        if known.fetchone() is not None:
            raise TransitionError(f"{approval} had its {rung} already")
        connection.execute(
            "INSERT INTO rung (approval, rung, at, doc) VALUES (?, ?, ?, ?)",
            (approval, rung, entry.at, entry.body),
        )

    return handle


def _check(connection: sqlite3.Connection, approval: str, event: ApprovalEvent) -> None:
    """Raise unless the approval exists and takes `event`."""
    row = connection.execute("SELECT state FROM approval WHERE id=?", (approval,)).fetchone()
    if row is None or advance(APPROVAL, ApprovalState(row[0]), event) is None:
        raise TransitionError(f"{approval} does not take {event}")


def told(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    """Wait no more to tell the end of a proposal where it was asked."""
    if not connection.execute("DELETE FROM untold WHERE proposal=?", (body["proposal"],)).rowcount:
        raise TransitionError(f"the end of {body['proposal']} is told already, or has nobody to tell")
