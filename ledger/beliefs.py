"""Remembered facts, with where they come from and what they took the place of.

The projection and its reader. Who may displace what is `gate.trust`'s rule, and every write is held to it
here (D22): an entry that breaks it raises, and its batch is rolled back. A forgotten fact keeps its row; its
words are pruned, and so are those of the messages and the record of the act that it was told by.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gate.domain import PersonId, PlaceId
from gate.errors import TransitionError
from gate.trust import BLOCKED, LOWER_TRUST, Source, may_supersede
from ledger import payloads
from ledger.codec import Doc, mapping, parse_instant
from ledger.kinds import Entry, Kind, LostRaceError, RowIs
from ledger.reader import Handler, Reader

TABLES = ("belief",)

#: The message that told a fact stands in the same batch, at most so many entries before it.
_BATCH = 32


class BeliefState(StrEnum):
    """Whether a fact still counts. Stored, so a value never changes meaning."""

    LIVE = "live"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """The words of a fact, which are all that is stored of them.

    Attributes:
        about: what it is about, as it was said: "project sync".
        object: an instant or a day as ISO 8601, a rule that recurs, or words.
        kind: what else it is called: "meeting"; "" for nothing else.
        said: the sentence that said it.
    """

    about: str
    object: str
    kind: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefView:
    """One remembered fact.

    Attributes:
        subject: the keyed hash that facts about the same thing share.
        predicate: what is said about it: "at" for when it is, "is" for anything else.
        functional: it has one value at a time, so that another one displaces it.
        private: only `person` is shown it.
        supersedes: the fact that it displaced; "" for none.
        fact: its words; None once they were pruned.
    """

    id: str
    subject: str
    predicate: str
    source: Source
    functional: bool
    private: bool
    person: PersonId
    place: PlaceId
    state: BeliefState
    supersedes: str
    at: datetime
    fact: Fact | None


def packed(fact: Fact) -> str:
    """Return the words of a fact as they are stored."""
    return json.dumps([fact.about, fact.object, fact.kind, fact.said], ensure_ascii=False)


class BeliefReader(Reader):
    """Questions about remembered facts."""

    def belief_revision(self) -> int:
        """Return a number that is another one whenever a fact was stored, displaced or forgotten."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM belief"))

    def live_beliefs(self, *, known: Mapping[str, BeliefView] | None = None) -> tuple[BeliefView, ...]:
        """Return every fact that counts, oldest first.

        Args:
            known: facts that were read before, by their id; they are not read again.
        """
        old = known or {}
        rows = self._rows("SELECT id FROM belief WHERE state=? ORDER BY made_seq", BeliefState.LIVE)
        wanted = [row["id"] for row in rows]
        new = {one.id: one for one in self._beliefs([name for name in wanted if name not in old])}
        return tuple(new.get(name) or old[name] for name in wanted)

    def all_beliefs(self) -> tuple[BeliefView, ...]:
        """Return every fact that was ever remembered, oldest first."""
        return self._beliefs([row["id"] for row in self._rows("SELECT id FROM belief ORDER BY made_seq")])

    def belief(self, belief: str) -> BeliefView | None:
        """Return one fact, whether it still counts or not."""
        return next(iter(self._beliefs([belief])), None)

    def beliefs_about(self, subject: str, predicate: str = "") -> tuple[BeliefView, ...]:
        """Return all that was ever remembered about a subject, oldest first; "" for any predicate."""
        rows = self._rows(
            "SELECT id FROM belief WHERE subject=? AND ? IN ('', predicate) ORDER BY made_seq",
            *(subject, predicate),
        )
        return self._beliefs([row["id"] for row in rows])

    def _beliefs(self, names: list[str]) -> tuple[BeliefView, ...]:
        rows = self._rows(
            "SELECT b.*, e.at FROM json_each(?) n JOIN belief b ON b.id = n.value"
            " JOIN entry e ON e.seq = b.made_seq ORDER BY b.made_seq",
            json.dumps(names),
        )
        words = payloads.read_all(self._connect(), [row["words"] for row in rows])
        return tuple(_view(row, words.get(row["words"])) for row in rows)


def _view(row: sqlite3.Row, words: bytes | None) -> BeliefView:
    doc = json.loads(row["doc"])
    fact: Fact | None = None
    if words is not None:
        about, what, kind, said = json.loads(words.decode("utf-8", "surrogateescape"))
        fact = Fact(about=about, object=what, kind=kind, said=said)
    return BeliefView(
        id=row["id"],
        subject=row["subject"],
        predicate=row["predicate"],
        source=Source(row["source"]),
        functional=bool(row["functional"]),
        private=doc["private"],
        person=PersonId(doc["person"]),
        place=PlaceId(doc["place"]),
        state=BeliefState(row["state"]),
        supersedes=doc["supersedes"],
        at=parse_instant(row["at"]),
        fact=fact,
    )


def _stored(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    old = str(body["supersedes"])
    if old:
        _end(connection, body, old, BeliefState.SUPERSEDED, entry.seq)
    rivals = connection.execute(
        "SELECT id FROM belief WHERE subject=? AND predicate=? AND functional AND state=?",
        (body["subject"], body["predicate"], BeliefState.LIVE),
    ).fetchall()
    if body["functional"] and rivals:
        # Told at the same time somewhere else: decided again, on what is known now.
        raise LostRaceError(RowIs("belief", rivals[0][0], None))
    connection.execute(
        "INSERT INTO belief (id, subject, predicate, source, functional, state, made_seq, seq, words, doc)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(body["belief"], body["subject"], body["predicate"], Source(str(body["source"]))),
            *(bool(body["functional"]), BeliefState.LIVE, entry.seq, entry.seq),
            *(mapping(body["fact"])["payload"], entry.body),
        ),
    )


def _forgotten(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    name = str(body["belief"])
    _end(connection, body, name, BeliefState.FORGOTTEN, entry.seq)
    # What it displaced said something about the same thing, and so do the messages that told each of them.
    for one, made_seq, words in _line(connection, name):
        names = [words, *_told_by(connection, made_seq), *_planned_with(connection, one)]
        payloads.forget(connection, names, at=entry.at)


def _end(connection: sqlite3.Connection, body: Doc, old: str, state: BeliefState, seq: int) -> None:
    """End a fact that counts, if the source of the entry is trusted enough for it."""
    row = connection.execute("SELECT source, state FROM belief WHERE id=?", (old,)).fetchone()
    if row is None or row[1] != BeliefState.LIVE:
        raise TransitionError(f"there is no belief {old} that counts")
    if not may_supersede(Source(row[0]), Source(str(body["source"]))):
        raise TransitionError(f"{LOWER_TRUST}: {body['source']} does not displace {row[0]} ({BLOCKED})")
    connection.execute("UPDATE belief SET state=?, seq=? WHERE id=?", (state, seq, old))


def _line(connection: sqlite3.Connection, name: str) -> Iterable[tuple[str, int, str]]:
    """Return the id, the entry and the words of a fact and of all that it displaced, newest first."""
    query = "SELECT made_seq, words, json_extract(doc, '$.supersedes') FROM belief WHERE id=?"
    while name:
        one = name
        made_seq, words, name = connection.execute(query, (one,)).fetchone()
        yield one, made_seq, words


def _planned_with(connection: sqlite3.Connection, name: str) -> Iterable[str]:
    """Return the words of every plan whose model was told a fact: what it answered may repeat it."""
    rows = connection.execute(
        "SELECT e.body FROM plan_told t JOIN plan_event n ON n.plan = t.plan JOIN entry e ON e.seq = n.seq"
        " WHERE t.belief=?",
        (name,),
    ).fetchall()
    for (text,) in rows:
        yield from (one for one, _ in payloads.references(json.loads(text)).values())


def _told_by(connection: sqlite3.Connection, made_seq: int) -> Iterable[str]:
    """Return the words of the act that stored a fact, and of the messages that it was told by."""
    first = made_seq
    act = connection.execute(
        "SELECT c.id FROM entry e JOIN commitment c ON c.id = e.correlation_id WHERE e.seq=?", (made_seq,)
    ).fetchone()
    if act is not None:
        # Backwards from the fact, so that it ends soon: a question about it is open for minutes.
        (first,) = connection.execute(
            "SELECT seq FROM entry WHERE seq<=? AND kind=? AND correlation_id=? ORDER BY seq DESC LIMIT 1",
            (made_seq, Kind.COMMITMENT_MADE, act[0]),
        ).fetchone()
    rows = connection.execute(
        "SELECT body FROM entry WHERE seq BETWEEN ? AND ? AND correlation_id=?",
        (first, made_seq, "" if act is None else act[0]),
    ).fetchall()
    for seq in {first, made_seq}:
        # A turn is received by the first entry of its batch, and all entries of a batch carry one instant.
        rows += connection.execute(
            "SELECT t.body FROM entry t JOIN entry e ON e.at = t.at WHERE e.seq=? AND t.kind=?"
            " AND t.seq BETWEEN ? AND ? ORDER BY t.seq DESC LIMIT 1",
            (seq, Kind.TURN_RECEIVED, seq - _BATCH, seq),
        ).fetchall()
    for (text,) in rows:
        yield from (name for name, _ in payloads.references(json.loads(text)).values())


HANDLERS: Mapping[str, Handler] = {
    Kind.BELIEF_STORED: _stored,
    Kind.BELIEF_FORGOTTEN: _forgotten,
}
