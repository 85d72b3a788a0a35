"""What agents asked for: each call, and what came of it (K35).

The projection and its reader. Quotas are counted from here, so that neither a restart nor a second connection
begins a new count. What an agent said stands in the entries; who an agent is the ledger does not know.
"""

import sqlite3
from collections.abc import Mapping
from datetime import datetime

from gate.domain import ProposalId
from gate.lifecycle import ActionState, ApprovalState
from ledger.codec import Doc, instant, parse_instant
from ledger.kinds import Entry, Kind
from ledger.reader import Handler, Reader

TABLES = ("delegate_call",)

#: What came of a call: it became a proposal or a run, it was denied, or there were too many.
PROPOSED, RUN, DENIED, LIMITED = "proposed", "run", "denied", "limited"


def _asked(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO delegate_call (seq, agent, at, how, subject) VALUES (?, ?, ?, ?, ?)",
        (entry.seq, body["agent"], entry.at, body["how"], body["subject"]),
    )


HANDLERS: Mapping[str, Handler] = {Kind.DELEGATE_ASKED: _asked}


class DelegateReader(Reader):
    """Questions about what agents asked for; an agent is named as the requester of its proposals is."""

    def calls(self, agent: str, *, since: datetime) -> int:
        """Return how many calls an agent made after an instant, those that were one too many left out."""
        query = "SELECT count(*) FROM delegate_call WHERE agent=? AND at>? AND how<>?"
        return int(self._one(query, agent, instant(since), LIMITED))

    def first_call(self, agent: str, *, since: datetime) -> datetime | None:
        """Return when the first of those calls was made; None for none."""
        query = "SELECT min(at) FROM delegate_call WHERE agent=? AND at>? AND how<>?"
        at = self._one(query, agent, instant(since), LIMITED)
        return parse_instant(at) if at else None

    def was_limited(self, agent: str, *, since: datetime) -> bool:
        """Whether it is recorded that an agent made one call too many after an instant."""
        query = "SELECT 1 FROM delegate_call WHERE agent=? AND at>? AND how=?"
        return self._row(query, agent, instant(since), LIMITED) is not None

    def waiting_of(self, requester: str) -> tuple[ProposalId, ...]:
        """Return the proposals of a requester that wait for a yes, oldest first."""
        rows = self._rows(
            "SELECT DISTINCT p.id, p.made_seq FROM approval a JOIN proposal p ON p.id = a.proposal"
            " WHERE a.state=? AND p.requester=? ORDER BY p.made_seq",
            ApprovalState.PENDING,
            requester,
        )
        return tuple(ProposalId(row["id"]) for row in rows)

    def requester_of(self, proposal: ProposalId) -> str:
        """Return who asked for a proposal, in the word of the record; "" for an unknown one."""
        row = self._row("SELECT requester FROM proposal WHERE id=?", proposal)
        return "" if row is None else str(row["requester"])

    def running_of(self, requester: str) -> tuple[ProposalId, ...]:
        """Return the proposals of a requester of which something runs or is about to, oldest first."""
        rows = self._rows(
            "SELECT DISTINCT p.id, p.made_seq FROM action a JOIN proposal p ON p.id = a.proposal"
            " WHERE a.state IN (?, ?) AND p.requester=? ORDER BY p.made_seq",
            ActionState.QUEUED,
            ActionState.STARTED,
            requester,
        )
        return tuple(ProposalId(row["id"]) for row in rows)

    def asked_by(self, requester: str, *, limit: int) -> tuple[ProposalId, ...]:
        """Return the newest proposals of a requester, newest first."""
        query = "SELECT id FROM proposal WHERE requester=? ORDER BY made_seq DESC LIMIT ?"
        return tuple(ProposalId(row["id"]) for row in self._rows(query, requester, limit))

    def runs_begun_by(self, agent: str, *, limit: int) -> tuple[str, ...]:
        """Return the newest runs that an agent began, newest first."""
        query = "SELECT subject FROM delegate_call WHERE agent=? AND how=? ORDER BY seq DESC LIMIT ?"
        return tuple(row["subject"] for row in self._rows(query, agent, RUN, limit))
