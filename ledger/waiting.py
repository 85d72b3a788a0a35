"""What waits to be told or done by the clock. Reads only, on the connection that is handed in."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from gate.domain import Digest, PersonId, PlaceId, ProposalId, RouteKind
from gate.ladder import Rung
from gate.lifecycle import ActionState, ApprovalState
from gate.sequence import Step
from ledger.codec import instant, parse_instant
from ledger.kinds import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Climbing:
    """A pending approval as the ladder sees it."""

    proposal: ProposalId
    opened_at: datetime
    deadline_at: datetime
    taken: tuple[Rung, ...]


def climbing(connection: sqlite3.Connection, *, opened_by: datetime | None = None) -> tuple[Climbing, ...]:
    """Return every pending approval, the newest of its action; those opened by `opened_by` where given."""
    rows = connection.execute(
        "SELECT a.proposal, e.at, a.deadline_at,"
        " (SELECT group_concat(r.rung) FROM rung r WHERE r.approval = a.id)"
        " FROM approval a JOIN entry e ON e.seq = a.opened_seq WHERE a.state = ? AND e.at <= ?"
        " AND a.opened_seq = (SELECT max(b.opened_seq) FROM approval b WHERE b.action = a.action)",
        (ApprovalState.PENDING, "9999" if opened_by is None else instant(opened_by)),
    )
    return tuple(
        Climbing(
            proposal=ProposalId(proposal),
            opened_at=parse_instant(opened),
            deadline_at=parse_instant(deadline),
            taken=tuple(Rung(one) for one in (taken or "").split(",") if one),
        )
        for proposal, opened, deadline, taken in rows
    )


def overdue(connection: sqlite3.Connection, *, now: datetime, queued_by: datetime) -> frozenset[ProposalId]:
    """Return the proposals with an approval past its deadline or an action in the queue since `queued_by`."""
    rows = connection.execute(
        "SELECT proposal FROM approval WHERE state = ? AND deadline_at <= ?"
        " UNION SELECT proposal FROM action WHERE state = ? AND queued_at <> '' AND queued_at <= ?",
        (ApprovalState.PENDING, instant(now), ActionState.QUEUED, instant(queued_by)),
    )
    return frozenset(ProposalId(row[0]) for row in rows)


def used(connection: sqlite3.Connection, proposal: ProposalId) -> dict[Digest, datetime | None]:
    """Return when anything of each granted list of `proposal` started or ended last; None: something runs.

    A list of which nothing was started is not in it.
    """
    rows = connection.execute(
        "SELECT p.list_digest, max(max(a.started_at, a.ended_at)), sum(a.state = ?) FROM action a"
        " JOIN approval p ON p.id = a.grant_approval WHERE a.proposal = ? AND a.started_at <> ''"
        " GROUP BY p.list_digest",
        (ActionState.STARTED, proposal),
    )
    return {Digest(digest): None if running else parse_instant(last) for digest, last, running in rows}


def asked_anew(connection: sqlite3.Connection, proposal: ProposalId, *, since: int) -> bool:
    """Whether anything that waits of `proposal` was asked about before, and anew after entry `since`."""
    (opened,) = connection.execute(
        "SELECT max(a.opened_seq) FROM approval a WHERE a.proposal = ? AND a.state = ?"
        " AND EXISTS (SELECT 1 FROM approval b WHERE b.action = a.action AND b.opened_seq < a.opened_seq)",
        (proposal, ApprovalState.PENDING),
    ).fetchone()
    if opened is None:
        return False
    row = connection.execute(
        "SELECT seq FROM entry WHERE seq > ? AND kind = ? ORDER BY seq LIMIT 1",
        (opened, Kind.TURN_ANSWERED),
    ).fetchone()
    return row is not None and int(row[0]) > since


def steps(connection: sqlite3.Connection, proposal: ProposalId) -> list[Step]:
    """Return how far each action of `proposal` is, in their order."""
    rows = connection.execute(
        "SELECT state, route FROM action WHERE proposal = ? ORDER BY position", (proposal,)
    )
    return [Step(ActionState(state), RouteKind(route)) for state, route in rows]


def heard_in(connection: sqlite3.Connection, person: PersonId) -> PlaceId | None:
    """Return where `person` was heard last with nobody else there, on whatever platform; None for nowhere."""
    row = connection.execute(
        "SELECT place FROM heard WHERE person=? ORDER BY seq DESC LIMIT 1", (person,)
    ).fetchone()
    return None if row is None else PlaceId(row[0])


def shown_in(connection: sqlite3.Connection, proposal: ProposalId) -> frozenset[PlaceId]:
    """Return every place that the card of `proposal` was sent to, or is about to be."""
    rows = connection.execute(
        "SELECT DISTINCT place FROM outbox"
        " WHERE subject=? AND subject!='' AND kind='card' AND state<>'failed'",
        (proposal,),
    )
    return frozenset(PlaceId(row[0]) for row in rows)


def untold(connection: sqlite3.Connection) -> tuple[ProposalId, ...]:
    """Return the proposals shown elsewhere than asked whose end was not told where they were asked."""
    rows = connection.execute("SELECT proposal FROM untold ORDER BY rowid")
    return tuple(ProposalId(row[0]) for row in rows)
