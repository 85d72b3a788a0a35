"""Instructions that sayso was taught, and who confirmed them (K55).

The projection and its reader. One is held first and counts once somebody confirmed it; a rejected one never
counts again.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gate.domain import PersonId
from gate.errors import TransitionError
from ledger.chain import canonical
from ledger.codec import Doc, mapping, parse_instant
from ledger.kinds import Entry, Kind
from ledger.reader import Handler, Reader

TABLES = ("guidance",)


class GuidanceState(StrEnum):
    """How far an instruction is."""

    HELD = "held"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"


#: What each change may follow.
_AFTER = {
    GuidanceState.CONFIRMED: (GuidanceState.HELD,),
    GuidanceState.REJECTED: (GuidanceState.HELD, GuidanceState.CONFIRMED),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidanceView:
    """One instruction as recorded; `text` is PRUNED once its words are gone.

    Attributes:
        taught_by: who said it, at `held_at`.
        decided_by: who confirmed or rejected it, at `decided_at`; None while it is held.
    """

    id: str
    text: str
    state: GuidanceState
    taught_by: PersonId
    held_at: datetime
    decided_by: PersonId | None = None
    decided_at: datetime | None = None


def _held(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO guidance (id, state, seq, words, doc) VALUES (?, ?, ?, ?, ?)",
        (
            body["guidance"],
            GuidanceState.HELD,
            entry.seq,
            mapping(body["text"])["payload"],
            canonical({"text": body["text"], "by": body["by"], "at": entry.at}),
        ),
    )


def _decided(state: GuidanceState) -> Handler:
    def handle(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
        row = connection.execute("SELECT state, doc FROM guidance WHERE id=?", (body["guidance"],)).fetchone()
        if row is None or row[0] not in _AFTER[state]:
            raise TransitionError(f"guidance {body['guidance']} cannot be {state} now")
        doc = canonical({**json.loads(row[1]), "decided_by": body["by"], "decided_at": entry.at})
        connection.execute("UPDATE guidance SET state=?, doc=? WHERE id=?", (state, doc, body["guidance"]))

    return handle


HANDLERS: Mapping[str, Handler] = {
    Kind.GUIDANCE_HELD: _held,
    Kind.GUIDANCE_CONFIRMED: _decided(GuidanceState.CONFIRMED),
    Kind.GUIDANCE_REJECTED: _decided(GuidanceState.REJECTED),
}


class GuidanceReader(Reader):
    """Questions about instructions that were taught."""

    def one_guidance(self, guidance: str) -> GuidanceView | None:
        """Return one instruction, whatever became of it."""
        row = self._row("SELECT * FROM guidance WHERE id=?", guidance)
        return None if row is None else self._guidance(row)

    def guidance(self, *states: GuidanceState) -> tuple[GuidanceView, ...]:
        """Return every instruction in one of `states`, oldest first."""
        rows = self._rows(
            "SELECT * FROM guidance WHERE state IN (SELECT value FROM json_each(?)) ORDER BY seq",
            json.dumps(states),
        )
        return tuple(map(self._guidance, rows))

    def _guidance(self, row: sqlite3.Row) -> GuidanceView:
        doc = json.loads(row["doc"])
        decided = "decided_by" in doc
        return GuidanceView(
            id=row["id"],
            text=self._word(doc["text"]),
            state=GuidanceState(row["state"]),
            taught_by=PersonId(doc["by"]),
            held_at=parse_instant(doc["at"]),
            decided_by=PersonId(doc["decided_by"]) if decided else None,
            decided_at=parse_instant(doc["decided_at"]) if decided else None,
        )
