"""Plans that a model composes: where each one stands, and its entries in order (K1, N18).

The projection and its reader. An entry has to fit the state machine of plans; what the words of a plan are,
and whether they are still those that were recorded, is for whoever goes on with it to judge.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gate.domain import PersonId, PlaceId
from gate.errors import TransitionError
from gate.lifecycle import PLAN, PlanEvent, PlanState, advance
from ledger.codec import Doc, instant, items, parse_instant
from ledger.kinds import Entry, Json, Kind
from ledger.payloads import references
from ledger.reader import Handler, Reader

TABLES = ("plan", "plan_event", "plan_made", "plan_told")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanView:
    """One plan.

    Attributes:
        place: where it was asked for, and is answered.
        direct: nobody but sayso listened there.
        said: the words that it was asked for in.
        how: how it ended; "" while it is open.
        text: what the model said last, as it was shown; "" for nothing.
        seq: the entry that changed it last, for `PlanIsAt`.
    """

    id: str
    state: PlanState
    place: PlaceId
    person: PersonId
    direct: bool
    said: str
    asked_at: datetime
    how: str
    text: str
    seq: int

    @property
    def is_over(self) -> bool:
        """Whether nothing follows any more."""
        return self.state is PlanState.ENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry:
    """One entry of a plan. `words` are its payloads by their keys; those that were pruned read as PRUNED."""

    kind: Kind
    seq: int
    at: datetime
    body: Mapping[str, Json]
    words: Mapping[str, str]


# ---------------------------------------------------------------- entries


def _asked(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO plan (id, state, place, person, asked_seq, seq, doc, ending)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, '{}')",
        (
            body["plan"],
            advance(PLAN, PlanState.NEW, PlanEvent.ASK),
            body["place"],
            body["person"],
            entry.seq,
            entry.seq,
            entry.body,
        ),
    )
    _told(connection, entry, body)


def _moved(event: PlanEvent) -> Handler:
    """Return what moves a plan by `event`."""

    def handle(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
        _move(connection, body, event)
        for name in items(body.get("made", [])):
            connection.execute("INSERT INTO plan_made (name, plan) VALUES (?, ?)", (name, body["plan"]))
        for name in items(body.get("beliefs", [])):
            connection.execute(
                "INSERT OR IGNORE INTO plan_told (plan, belief) VALUES (?, ?)", (body["plan"], name)
            )
        _told(connection, entry, body)

    return handle


def _ended(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    _move(connection, body, PlanEvent.END)
    connection.execute("UPDATE plan SET ending=? WHERE id=?", (entry.body, body["plan"]))
    _told(connection, entry, body)


def _move(connection: sqlite3.Connection, body: Doc, event: PlanEvent) -> None:
    row = connection.execute("SELECT state FROM plan WHERE id=?", (body["plan"],)).fetchone()
    after = None if row is None else advance(PLAN, PlanState(row[0]), event)
    if after is None:
        raise TransitionError(f"plan {body['plan']} does not take {event}")
    connection.execute("UPDATE plan SET state=? WHERE id=?", (after, body["plan"]))


def _told(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute("INSERT INTO plan_event (plan, seq) VALUES (?, ?)", (body["plan"], entry.seq))
    connection.execute("UPDATE plan SET seq=? WHERE id=?", (entry.seq, body["plan"]))


HANDLERS: Mapping[str, Handler] = {
    Kind.PLAN_ASKED: _asked,
    Kind.PLAN_CALLED: _moved(PlanEvent.CALL),
    Kind.PLAN_ANSWERED: _moved(PlanEvent.ANSWER),
    Kind.PLAN_CONTINUED: _moved(PlanEvent.CONTINUE),
    Kind.PLAN_ENDED: _ended,
}


# ---------------------------------------------------------------- questions

_OPEN = tuple(state for state in PlanState if state is not PlanState.ENDED)
_PLANS = "SELECT p.*, e.at AS asked_at FROM plan p JOIN entry e ON e.seq = p.asked_seq"


class PlanReader(Reader):
    """Questions about plans."""

    def plan(self, plan: str) -> PlanView | None:
        """Return one plan, open or over; None for an unknown id."""
        return next(iter(self._plans("WHERE p.id=?", plan)), None)

    def open_plans(self) -> tuple[PlanView, ...]:
        """Return every plan that is not over, oldest first."""
        # Named one by one, so that the index finds them however many are over.
        return self._plans("WHERE p.state IN (?, ?, ?) ORDER BY p.asked_seq", *_OPEN)

    def plans_of(
        self, person: PersonId, place: PlaceId, *, since: datetime, limit: int = 3
    ) -> tuple[PlanView, ...]:
        """Return what `person` asked for in `place` since then, the newest `limit` of it, oldest first."""
        found = self._plans(
            "WHERE p.person=? AND p.place=? AND e.at>=? ORDER BY p.asked_seq DESC LIMIT ?",
            *(person, place, instant(since), limit),
        )
        return found[::-1]

    def plan_of(self, name: str) -> PlanView | None:
        """Return the plan that made the proposal, the run or the choice `name`; None where none did."""
        row = self._row("SELECT plan FROM plan_made WHERE name=?", name)
        return None if row is None else self.plan(row["plan"])

    def made_by(self, plan: str) -> tuple[str, ...]:
        """Return the ids of the proposals, runs and choices that a plan made."""
        rows = self._rows("SELECT name FROM plan_made WHERE plan=? ORDER BY rowid", plan)
        return tuple(row["name"] for row in rows)

    def told_in(self, plan: str) -> tuple[str, ...]:
        """Return the ids of the remembered facts that the model of a plan was told."""
        rows = self._rows("SELECT belief FROM plan_told WHERE plan=? ORDER BY belief", plan)
        return tuple(row["belief"] for row in rows)

    def plan_entries(self, plan: str) -> tuple[PlanEntry, ...]:
        """Return the entries of a plan, in order, each with its words."""
        rows = self._rows(
            "SELECT e.seq, e.kind, e.at, e.body FROM plan_event n JOIN entry e ON e.seq = n.seq"
            " WHERE n.plan=? ORDER BY n.seq",
            plan,
        )
        bodies: list[Doc] = [json.loads(row["body"]) for row in rows]
        word = self._words(body[key] for body in bodies for key in references(body))
        return tuple(
            PlanEntry(
                kind=Kind(row["kind"]),
                seq=row["seq"],
                at=parse_instant(row["at"]),
                body=body,
                words={key: word(body[key]) for key in references(body)},
            )
            for row, body in zip(rows, bodies, strict=True)
        )

    def _plans(self, condition: str, *values: object) -> tuple[PlanView, ...]:
        rows = self._rows(f"{_PLANS} {condition}", *values)
        docs: list[Doc] = [json.loads(row["doc"]) for row in rows]
        ends: list[Doc] = [json.loads(row["ending"]) for row in rows]
        word = self._words([*(doc["said"] for doc in docs), *(end.get("text") for end in ends)])
        return tuple(
            PlanView(
                id=row["id"],
                state=PlanState(row["state"]),
                place=PlaceId(row["place"]),
                person=PersonId(row["person"]),
                direct=bool(doc["direct"]),
                said=word(doc["said"]),
                asked_at=parse_instant(row["asked_at"]),
                how=str(end.get("how", "")),
                text=word(end.get("text")),
                seq=row["seq"],
            )
            for row, doc, end in zip(rows, docs, ends, strict=True)
        )
