"""Tally: how many entries of each kind there are, and what waits right now.

Counts are of the ledger itself, so they survive restarts and rebuilt projections and never go back: each
entry is read once, the old ones in pieces at the start, the new ones when somebody asks. Of what an entry
says beyond its kind only a decision, an end, a route and an origin are counted; people and what they said are
not read.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gate.domain import Risk
from gate.lifecycle import ActionState, ApprovalState
from ledger.codec import parse_instant
from ledger.commitments import OPEN
from ledger.kinds import Kind

#: Entries read in one go: a long read keeps the write-ahead log from being cut.
PIECE = 20_000

#: What an entry of a kind is counted by, beside its kind: a key of its body.
_DETAIL = {
    Kind.COMMITMENT_MADE: "decision",
    Kind.COMMITMENT_CLARIFIED: "decision",
    Kind.COMMITMENT_ABORTED: "how",
}
#: One entry may stand for many: how many occurrences nobody was there for.
_MANY = f"CASE kind WHEN '{Kind.OCCURRENCE_MISSED}' THEN json_extract(body, '$.count') ELSE 1 END"
_WHEN = " ".join(f"WHEN '{kind}' THEN json_extract(body, '$.{key}')" for kind, key in _DETAIL.items())
_COUNT = (
    f"SELECT kind, coalesce(CASE kind {_WHEN} END, '') AS detail, sum({_MANY}) FROM entry"  # noqa: S608 - the constants above
    " WHERE seq > ? AND seq <= ? GROUP BY kind, detail"
)
_ROUTES = (
    "SELECT json_extract(one.value, '$.route'), count(*)"
    " FROM entry, json_each(entry.body, '$.actions') AS one"
    " WHERE entry.seq > ? AND entry.seq <= ? AND entry.kind IN (?, ?) GROUP BY 1"
)
#: Entries that list proposed commands.
_LISTS = (Kind.PROPOSAL_MADE, Kind.PROPOSAL_LISTED)
#: Commands by what asked for them: the kind of a machine that did, else the source that is recorded.
_ORIGINS = (
    "SELECT CASE instr(who, ':') WHEN 0 THEN source ELSE substr(who, 1, instr(who, ':') - 1) END, sum(many)"
    " FROM (SELECT json_extract(body, '$.requester') AS who, json_extract(body, '$.source') AS source,"
    " json_array_length(body, '$.actions') AS many FROM entry WHERE seq > ? AND seq <= ? AND kind IN (?, ?))"
    " GROUP BY 1"
)


class Tally:
    """Counts that are kept up with the ledger.

    Args:
        connect: returns a read-only connection for the calling thread.

    Attributes:
        kinds: entries by (kind, detail), or what they count; the detail is "" where a kind has none.
        routes: proposed commands by what became of them before anybody was asked.
        origins: proposed commands by what asked for them, in words of the record.
        seq: the newest entry that is counted.
        is_complete: everything that was there at the start is counted; before that the counts are too low.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.routes: Counter[str] = Counter()
        self.origins: Counter[str] = Counter()
        self.seq = 0
        self.is_complete = False

    def catch_up(self) -> None:
        """Count what was added since the last time. One thread at a time; the counts never go back."""
        connection = self._connect()
        newest = connection.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()[0]
        while self.seq < newest:
            piece = (self.seq, min(self.seq + PIECE, newest))
            kinds = {(kind, detail): count for kind, detail, count in connection.execute(_COUNT, piece)}
            routes = dict(connection.execute(_ROUTES, (*piece, *_LISTS)).fetchall())
            origins = dict(connection.execute(_ORIGINS, (*piece, *_LISTS)).fetchall())
            # All of a piece or nothing of it, should reading fail.
            self.kinds.update(kinds)
            self.routes.update(routes)
            self.origins.update(origins)
            self.seq = piece[1]
        self.is_complete = True

    def of(self, kind: Kind) -> int:
        """Return how many of `kind` there are, whatever their detail."""
        return sum(count for (name, _), count in self.kinds.items() if name == kind)

    def details(self, kind: Kind) -> Mapping[str, int]:
        """Return how many of `kind` there are by their detail."""
        return {detail: count for (name, detail), count in self.kinds.items() if name == kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What waits, read at one instant.

    Attributes:
        approvals: when each open question for a yes was asked.
        commitments: acts that wait for an answer or a phrase.
        actions: queued and started commands, and lost ones that may have changed something, by state.
        inbox, outbox: what arrived and is not handled; what is to be shown and is not.
        newest_at: the instant of the newest entry; None for none.
    """

    approvals: tuple[datetime, ...]
    commitments: int
    actions: Mapping[ActionState, int]
    inbox: int
    outbox: int
    newest_at: datetime | None


#: States of an action that somebody has an eye on.
WATCHED = (ActionState.QUEUED, ActionState.STARTED, ActionState.LOST)


def waiting(connection: sqlite3.Connection) -> Waiting:
    """Return what waits now."""
    opened = connection.execute(
        "SELECT e.at FROM approval a JOIN entry e ON e.seq = a.opened_seq WHERE a.state = ?",
        (ApprovalState.PENDING,),
    )
    approvals = tuple(parse_instant(at) for (at,) in opened)
    marks = ", ".join("?" * len(WATCHED))
    counted = connection.execute(
        f"SELECT state, count(*) FROM action WHERE state IN ({marks})"  # noqa: S608 - question marks
        " AND NOT (state = ? AND risk = ?) GROUP BY state",
        (*WATCHED, ActionState.LOST, Risk.READ_ONLY),
    )
    actions = dict.fromkeys(WATCHED, 0) | {ActionState(state): count for state, count in counted}
    newest = connection.execute("SELECT at FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
    return Waiting(
        approvals=approvals,
        commitments=_count(connection, "SELECT count(*) FROM commitment WHERE state IN (?, ?)", *OPEN),
        actions=actions,
        inbox=_count(connection, "SELECT count(*) FROM inbox WHERE done_at IS NULL"),
        outbox=_count(connection, "SELECT count(*) FROM outbox WHERE state = 'pending'"),
        newest_at=None if newest is None else parse_instant(newest[0]),
    )


def _count(connection: sqlite3.Connection, query: str, *values: object) -> int:
    return int(connection.execute(query, values).fetchone()[0])
