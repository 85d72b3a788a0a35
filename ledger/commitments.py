"""Acts that were resolved, and what became of each (K30 to K35).

The projection and its reader. A commitment that is over never opens again: an answer that comes too late is
recorded as such and changes nothing (K32).
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gate.domain import PersonId, PlaceId
from gate.errors import TransitionError
from gate.lifecycle import COMMITMENT, COMMITMENT_BEGINS, CommitmentEvent, CommitmentState, advance
from ledger.codec import Doc, instant, mapping, parse_instant
from ledger.kinds import Entry, Kind
from ledger.reader import Handler, Reader
from ledger.views import PRUNED

TABLES = ("commitment",)

#: What the word for a decision is as an event.
_DECIDED = {
    "allow": CommitmentEvent.ALLOW,
    "clarify": CommitmentEvent.CLARIFY,
    "confirm": CommitmentEvent.CONFIRM,
    "deny": CommitmentEvent.DENY,
}
#: States in which it waits for a person.
OPEN = (CommitmentState.NEEDS_CLARIFY, CommitmentState.NEEDS_CONFIRM)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentView:
    """One act that was asked for.

    Attributes:
        act: as in `gate.resolve.decision.Act`.
        said: the whole message that asked for it.
        slots: as bound so far; empty once its words were pruned.
        phrase: what has to be typed; "" unless it waits for that.
        expires_at: until when it waits; None where it does not wait.
        asked_seq: the entry that asked for what it waits for.
    """

    id: str
    act: str
    tool: str
    state: CommitmentState
    place: PlaceId
    person: PersonId
    request_at: datetime
    expires_at: datetime | None
    said: str
    slots: Mapping[str, str]
    phrase: str
    asked_seq: int


def _made(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO commitment (id, act, state, place, person, request_at, expires_at, made_seq, words, doc)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            body["commitment"],
            body["act"],
            COMMITMENT_BEGINS[_DECIDED[str(body["decision"])]],
            body["place"],
            body["person"],
            body["request_at"],
            body["expires_at"],
            entry.seq,
            mapping(body["slots"])["payload"],
            entry.body,
        ),
    )


def _answered(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    """Bind what an answer patched: resolved again, to whichever end."""
    _move(connection, body, _DECIDED[str(body["decision"])])
    row = connection.execute("SELECT doc FROM commitment WHERE id=?", (body["commitment"],)).fetchone()
    doc = {**json.loads(row[0]), **{name: body[name] for name in ("slots", "expires_at", "decision")}}
    doc["phrase"] = body.get("phrase")
    connection.execute(
        "UPDATE commitment SET expires_at=?, made_seq=?, words=?, doc=? WHERE id=?",
        (
            body["expires_at"],
            entry.seq,
            mapping(body["slots"])["payload"],
            json.dumps(doc, sort_keys=True),
            body["commitment"],
        ),
    )


def _moved(event: CommitmentEvent) -> Handler:
    def handle(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
        _move(connection, body, event)

    return handle


def _move(connection: sqlite3.Connection, body: Doc, event: CommitmentEvent) -> None:
    row = connection.execute("SELECT state FROM commitment WHERE id=?", (body["commitment"],)).fetchone()
    after = None if row is None else advance(COMMITMENT, CommitmentState(row[0]), event)
    if after is None:
        raise TransitionError(f"commitment {body['commitment']} does not take {event}")
    waits = "" if after not in OPEN else body.get("expires_at", "")
    connection.execute(
        "UPDATE commitment SET state=?, expires_at=? WHERE id=?", (after, waits, body["commitment"])
    )


HANDLERS: Mapping[str, Handler] = {
    Kind.COMMITMENT_MADE: _made,
    Kind.COMMITMENT_CLARIFIED: _answered,
    Kind.COMMITMENT_CONFIRMED: _moved(CommitmentEvent.ALLOW),
    Kind.COMMITMENT_COMMITTED: _moved(CommitmentEvent.COMMIT),
    Kind.COMMITMENT_ABORTED: _moved(CommitmentEvent.ABORT),
    Kind.COMMITMENT_EXPIRED: _moved(CommitmentEvent.EXPIRE),
}


class CommitmentReader(Reader):
    """Questions about acts that were resolved."""

    def commitment(self, commitment: str) -> CommitmentView | None:
        """Return one act, whatever became of it."""
        row = self._row("SELECT * FROM commitment WHERE id=?", commitment)
        return None if row is None else self._commitment(row)

    def open_commitments(self, place: PlaceId | None = None) -> tuple[CommitmentView, ...]:
        """Return every act that waits for a person, oldest first; of one place where given."""
        rows = self._rows(
            "SELECT * FROM commitment WHERE state IN (?, ?) AND (? IS NULL OR place=?) ORDER BY made_seq",
            *OPEN,
            *(place, place),
        )
        return tuple(map(self._commitment, rows))

    def expired_commitments(self, *, since: datetime) -> tuple[CommitmentView, ...]:
        """Return the acts that expired and were asked for since then, oldest first."""
        rows = self._rows(
            "SELECT * FROM commitment WHERE state=? AND request_at>=? ORDER BY made_seq",
            *(CommitmentState.EXPIRED, instant(since)),
        )
        return tuple(map(self._commitment, rows))

    def _commitment(self, row: sqlite3.Row) -> CommitmentView:
        doc = json.loads(row["doc"])
        slots = self._word(doc["slots"])
        return CommitmentView(
            id=row["id"],
            act=row["act"],
            tool=doc["tool"],
            state=CommitmentState(row["state"]),
            place=PlaceId(row["place"]),
            person=PersonId(row["person"]),
            request_at=parse_instant(row["request_at"]),
            expires_at=parse_instant(row["expires_at"]) if row["expires_at"] else None,
            said=self._word(doc["said"]),
            slots={} if slots == PRUNED else json.loads(slots),
            phrase=self._word(doc.get("phrase")),
            asked_seq=row["made_seq"],
        )
