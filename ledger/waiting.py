"""What waits to be told or done by the clock. Reads only, on the connection that is handed in."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from gate.domain import PersonId, PlaceId, ProposalId
from gate.ladder import Rung
from gate.lifecycle import ApprovalState
from ledger.codec import parse_instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Climbing:
    """A pending approval as the ladder sees it."""

    opened_at: datetime
    deadline_at: datetime
    taken: tuple[Rung, ...]


def climbing(connection: sqlite3.Connection) -> tuple[Climbing, ...]:
    """Return every pending approval, the newest of its action."""
    rows = connection.execute(
        "SELECT e.at, a.deadline_at,"
        " (SELECT group_concat(r.rung) FROM rung r WHERE r.approval = a.id)"
        " FROM approval a JOIN entry e ON e.seq = a.opened_seq WHERE a.state = ?"
        " AND a.opened_seq = (SELECT max(b.opened_seq) FROM approval b WHERE b.action = a.action)",
        (ApprovalState.PENDING,),
    )
    return tuple(
        Climbing(
            opened_at=parse_instant(opened),
            deadline_at=parse_instant(deadline),
            taken=tuple(Rung(one) for one in (taken or "").split(",") if one),
        )
        for opened, deadline, taken in rows
    )


def heard_in(connection: sqlite3.Connection, person: PersonId) -> PlaceId | None:
    """Return where `person` was heard last, on whatever platform; None for somebody who never spoke."""
    row = connection.execute(
        "SELECT place FROM heard WHERE person=? ORDER BY seq DESC LIMIT 1", (person,)
    ).fetchone()
    return None if row is None else PlaceId(row[0])


def shown_in(connection: sqlite3.Connection, proposal: ProposalId) -> frozenset[PlaceId]:
    """Return every place that the card of `proposal` was sent to, or is about to be."""
    rows = connection.execute(
        "SELECT DISTINCT place FROM outbox WHERE subject=? AND kind='card' AND state<>'failed'", (proposal,)
    )
    return frozenset(PlaceId(row[0]) for row in rows)


def untold(connection: sqlite3.Connection) -> tuple[ProposalId, ...]:
    """Return the proposals shown elsewhere than asked whose end was not told where they were asked."""
    rows = connection.execute("SELECT proposal FROM untold ORDER BY rowid")
    return tuple(ProposalId(row[0]) for row in rows)
