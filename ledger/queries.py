"""Reading the present state: facts for a decision, views for cards, what is due.

Reads only, on a connection of its own; every answer is a frozen view, put together by
`ledger.readout`. Words that were pruned read as PRUNED.
"""

import json
import sqlite3
from collections.abc import Callable
from datetime import datetime

from gate.domain import (
    Facts,
    PendingApproval,
    PersonId,
    PlaceId,
    ProposalId,
    Risk,
    TargetId,
    TurnId,
    Window,
)
from gate.lifecycle import ActionState, ApprovalState, ClarificationState
from gate.policy import Switches
from ledger.accounts import AccountReader
from ledger.beliefs import BeliefReader
from ledger.codec import (
    instant,
    parse_instant,
    texts,
)
from ledger.commitments import CommitmentReader
from ledger.delegates import DelegateReader
from ledger.dials import DialReader
from ledger.evidence import EvidenceReader
from ledger.guidance import GuidanceReader
from ledger.jobs import JobReader
from ledger.kinds import Json, Kind
from ledger.learning import LearningReader
from ledger.places import PlaceReader
from ledger.plans import PlanReader
from ledger.proposals import ProposalReader
from ledger.readout import (
    clarification_of,
    loosening_of,
    opened_of,
    request_words,
    with_votes,
)
from ledger.runs import RunReader
from ledger.signals import SignalReader
from ledger.trusting import TrustReader
from ledger.views import (
    ClarificationView,
    LooseningView,
)


class Queries(
    ProposalReader,
    PlaceReader,
    AccountReader,
    CommitmentReader,
    JobReader,
    BeliefReader,
    DialReader,
    GuidanceReader,
    TrustReader,
    RunReader,
    SignalReader,
    PlanReader,
    DelegateReader,
    LearningReader,
    EvidenceReader,
):
    """Questions to the projections; see `Reader` for what it is made of."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connect)
        self._live: dict[str, PendingApproval] = {}

    # ------------------------------------------------------------ facts

    def facts(self, place: PlaceId, person: PersonId | None) -> Facts:
        """Return what a decision in `place` about words of `person` reads."""
        return Facts(
            place=place,
            head=self.entries(),
            pending=self.pending(),
            window=None if person is None else self._window(place, person),
        )

    def pending(self) -> tuple[PendingApproval, ...]:
        """Return every live approval, oldest first."""
        # Every turn reads this, however much waits; but for its votes an approval stays as it was opened.
        rows = self._rows(
            "SELECT id FROM approval WHERE state = ? ORDER BY opened_seq", ApprovalState.PENDING
        )
        known = self._live
        new = self._opened([row["id"] for row in rows if row["id"] not in known])
        live = {row["id"]: known.get(row["id"]) or new[row["id"]] for row in rows}
        self._live = live
        votes: dict[str, list[sqlite3.Row]] = {}
        for vote in self._rows(
            "SELECT v.* FROM approval a JOIN vote v ON v.approval = a.id WHERE a.state = ? ORDER BY v.seq",
            ApprovalState.PENDING,
        ):
            votes.setdefault(vote["approval"], []).append(vote)
        return tuple(with_votes(one, votes.get(one.approval, ())) for one in live.values())

    def _opened(self, names: list[str]) -> dict[str, PendingApproval]:
        """Return the approvals of these names as they were opened."""
        if not names:
            return {}
        rows = self._rows(
            "SELECT a.*, e.body AS opened, p.requester, p.asked_in, p.shown_in, p.doc AS parent,"
            " t.doc AS own, t.digest, t.position FROM json_each(?) n JOIN approval a ON a.id = n.value"
            " JOIN proposal p ON p.id = a.proposal JOIN entry e ON e.seq = a.opened_seq"
            " JOIN action t ON t.id = a.action",
            json.dumps(names),
        )
        parents = [json.loads(row["parent"]) for row in rows]
        word = self._words(
            reference
            for row, parent in zip(rows, parents, strict=True)
            for reference in request_words(parent, row["position"])
        )
        return {row["id"]: opened_of(row, parent, word) for row, parent in zip(rows, parents, strict=True)}

    def _window(self, place: PlaceId, person: PersonId) -> Window | None:
        row = self._row("SELECT * FROM window WHERE place=? AND person=?", place, person)
        if row is None:
            return None
        return Window(
            place=place,
            person=person,
            proposal=ProposalId(row["proposal"]),
            opened_by=TurnId(row["opened_by"]),
        )

    def windows(self, place: PlaceId) -> tuple[Window, ...]:
        """Return the open windows of everybody in a place."""
        people = [
            PersonId(row["person"]) for row in self._rows("SELECT person FROM window WHERE place=?", place)
        ]
        found = (self._window(place, person) for person in people)
        return tuple(window for window in found if window is not None)

    def answered_after(self, turn: TurnId, seq: int) -> bool:
        """Whether the answer of `turn` is younger than the entry `seq`."""
        query = "SELECT 1 FROM entry WHERE seq > ? AND kind = ? AND json_extract(body, '$.turn') = ?"
        return self._row(query, seq, Kind.TURN_ANSWERED, turn) is not None

    def switches(self) -> Switches:
        """Return the kill switches as set at run time."""
        values = self.switch_values()
        return Switches(
            stopped=bool(values.get("stopped", False)),
            auto_off=bool(values.get("auto_off", False)),
            approve_everything=bool(values.get("approve_everything", False)),
            never_auto_act=tuple(TargetId(name) for name in texts(values.get("never_auto_act", []))),
        )

    def switch_values(self) -> dict[str, Json]:
        """Return every switch that was set at run time, by name (the posture included)."""
        return {row["name"]: json.loads(row["value"]) for row in self._rows("SELECT * FROM switch")}

    def switch_seq(self) -> int:
        """Return the entry that last changed a switch, 0 for none."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM switch"))

    def frozen(self) -> tuple[TargetId, ...]:
        """Return the targets where a change has an unknown end; reading changes and freezes nothing."""
        rows = self._rows(
            "SELECT DISTINCT target FROM action WHERE state=? AND risk<>? ORDER BY target",
            ActionState.LOST,
            Risk.READ_ONLY,
        )
        return tuple(TargetId(row["target"]) for row in rows)

    def owed(self, place: PlaceId, person: PersonId, now: datetime) -> ProposalId | None:
        """Return the proposal whose refusal by `person` still owes a reason at `now`."""
        row = self._row(
            "SELECT proposal FROM owed WHERE place=? AND person=? AND until_at>?", place, person, instant(now)
        )
        return None if row is None else ProposalId(row["proposal"])

    def owes(self, proposal: ProposalId, person: PersonId) -> bool:
        """Whether `person` still owes the reason for refusing `proposal`."""
        found = self._row("SELECT 1 FROM owed WHERE proposal=? AND person=?", proposal, person)
        return found is not None

    def overdue_reasons(self, now: datetime) -> tuple[tuple[ProposalId, PlaceId], ...]:
        """Return the refused proposals whose reason is owed no more at `now`, each with its place."""
        rows = self._rows("SELECT proposal, place FROM owed WHERE until_at<=?", instant(now))
        return tuple((ProposalId(row["proposal"]), PlaceId(row["place"])) for row in rows)

    # ------------------------------------------------------------ the record

    def entries(self) -> int:
        """Return how many entries there are."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM entry"))

    # ------------------------------------------------------------ what is due, what is under way

    def unfinished(self) -> tuple[ProposalId, ...]:
        """Return the proposals that have an action without an end, oldest first."""
        rows = self._rows(
            "SELECT DISTINCT p.id, p.made_seq FROM action a JOIN proposal p ON p.id = a.proposal"
            " WHERE a.state IN (?, ?, ?, ?) ORDER BY p.made_seq",
            ActionState.PROPOSED,
            ActionState.WAITING,
            ActionState.QUEUED,
            ActionState.STARTED,
        )
        return tuple(ProposalId(row["id"]) for row in rows)

    def next_deadline(self) -> datetime | None:
        """Return the next instant at which an approval, a choice, a loosening or a code ends by itself."""
        found = [
            self._one("SELECT min(deadline_at) FROM approval WHERE state=?", ApprovalState.PENDING),
            self._one("SELECT min(deadline_at) FROM clarification WHERE state=?", ClarificationState.PENDING),
            self._one("SELECT coalesce(min(expires_at), '') FROM commitment WHERE expires_at<>''"),
            self._one("SELECT min(deadline_at) FROM loosening WHERE state='pending'"),
            self._one("SELECT min(deadline_at) FROM pairing"),
        ]
        return min((parse_instant(one) for one in found if one), default=None)

    def clarification(self, clarification: str) -> ClarificationView | None:
        """Return one choice if it is still open."""
        row = self._row(
            "SELECT * FROM clarification WHERE id=? AND state=?", clarification, ClarificationState.PENDING
        )
        return None if row is None else clarification_of(row, self._word)

    def clarifications(self) -> tuple[ClarificationView, ...]:
        """Return every open choice."""
        rows = self._rows("SELECT * FROM clarification WHERE state=?", ClarificationState.PENDING)
        return tuple(clarification_of(row, self._word) for row in rows)

    def loosening_asked(self, loosening: str) -> int:
        """Return the entry that ends the turn that asked for a loosening; 0 for an unknown one."""
        return int(
            self._one(
                "SELECT coalesce(min(t.seq), 0) FROM entry a JOIN entry t ON t.seq > a.seq AND t.kind=?"
                " WHERE a.kind=? AND json_extract(a.body, '$.loosening')=?",
                *(Kind.TURN_ANSWERED, Kind.LOOSENING_ASKED, loosening),
            )
        )

    def loosenings(self) -> tuple[LooseningView, ...]:
        """Return every loosening that waits."""
        rows = self._rows("SELECT * FROM loosening WHERE state='pending'")
        return tuple(loosening_of(row) for row in rows)
