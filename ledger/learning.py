"""What was learned and how well things went: capabilities since when, outcomes, answers, tries (N32, N37).

The projection of kept and retired runbooks and its reader, with questions to the projections of runs and
actions. It counts nothing and judges nothing: what the outcomes prove is gate.learning's. What was stopped by
a person, expired, or has an unknown end says nothing of how well something works, and is left out.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gate.domain import ActionId, Digest, PersonId, ProposalId, Risk, TargetId
from gate.errors import TransitionError
from gate.lifecycle import ActionState, ApprovalState, RunStatus
from gate.supervise.domain import Outcome, RunbookId, RunId
from gate.supervise.events import EndCause
from ledger.chain import canonical
from ledger.codec import Doc, instant, mapping, optional, parse_instant, texts
from ledger.kinds import Entry, Kind
from ledger.reader import Handler, Reader
from ledger.readout import did_run

TABLES = ("capability",)


class CapabilityState(StrEnum):
    """Whether a kept runbook counts still. Stored, so a value never changes meaning."""

    KEPT = "kept"
    REPLACED = "replaced"  # by a newer one of its id
    RETIRED = "retired"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityView:
    """One runbook that was learned.

    Attributes:
        document: its text as kept; PRUNED once its words are gone.
        proposals: what it was drafted from.
        with_whom: the second person, None for none.
        ended_by, ended_at: of its retirement or replacement; None while it counts.
    """

    id: str
    runbook: RunbookId
    title: str
    digest: Digest
    state: CapabilityState
    document: str
    proposals: tuple[ProposalId, ...]
    kept_by: PersonId
    with_whom: PersonId | None
    kept_at: datetime
    ended_by: PersonId | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """One run that came to an end of its own."""

    run: RunId
    runbook: RunbookId
    title: str
    good: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    """One command of a library document; `revision` is that of the document then."""

    proposal: ProposalId
    revision: str
    step: str
    good: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TryView:
    """One earlier run of exactly this action. `why` is a note and the last line of what it printed."""

    proposal: ProposalId
    target: TargetId
    good: bool
    at: datetime
    exit_code: int | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredView:
    """How people answered one typed command on one target, oldest first; `action` is the newest of them."""

    digest: Digest
    action: ActionId
    command: str
    target: TargetId
    risk: Risk
    answers: tuple[bool, ...]
    ends: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """Something that sayso knows since `at`: `what` is runbook, trust rule, instruction or fact."""

    what: str
    id: str
    at: datetime


# ---------------------------------------------------------------- entries


def _kept(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    _end(connection, entry, body, CapabilityState.REPLACED)
    connection.execute(
        "INSERT INTO capability (id, runbook, state, seq, words, doc) VALUES (?, ?, ?, ?, ?, ?)",
        (
            body["capability"],
            body["runbook"],
            CapabilityState.KEPT,
            entry.seq,
            mapping(body["document"])["payload"],
            canonical({**body, "kept_at": entry.at}),
        ),
    )


def _retired(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    if not _end(connection, entry, body, CapabilityState.RETIRED):
        raise TransitionError(f"there is no runbook {body['runbook']} to retire")


def _end(connection: sqlite3.Connection, entry: Entry, body: Doc, state: CapabilityState) -> bool:
    """End what is kept under this id of a runbook; False where nothing is."""
    row = connection.execute(
        "SELECT id, doc FROM capability WHERE runbook=? AND state=?", (body["runbook"], CapabilityState.KEPT)
    ).fetchone()
    if row is None:
        return False
    doc = canonical({**json.loads(row[1]), "ended_by": body["by"], "ended_at": entry.at})
    connection.execute("UPDATE capability SET state=?, doc=? WHERE id=?", (state, doc, row[0]))
    return True


HANDLERS: Mapping[str, Handler] = {Kind.RUNBOOK_KEPT: _kept, Kind.RUNBOOK_RETIRED: _retired}


# ---------------------------------------------------------------- questions


class LearningReader(Reader):
    """Questions about what was learned."""

    def capability(self, capability: str) -> CapabilityView | None:
        """Return one runbook that was learned, whatever became of it."""
        row = self._row("SELECT * FROM capability WHERE id=?", capability)
        return None if row is None else self._capability(row)

    def capabilities(self, *, kept_only: bool = False) -> tuple[CapabilityView, ...]:
        """Return every runbook that was learned, the oldest first."""
        rows = self._rows(
            "SELECT * FROM capability WHERE ?=0 OR state=? ORDER BY seq", int(kept_only), CapabilityState.KEPT
        )
        return tuple(map(self._capability, rows))

    def run_outcomes(self, *, runbook: str = "") -> tuple[RunOutcome, ...]:
        """Return how runs ended, of one runbook or of all for "", the oldest first.

        A run that rolls another back is none of its runbook's.
        """
        rows = self._rows(
            "SELECT id, runbook, doc, ending FROM run WHERE state=? AND undoes='' AND (?='' OR runbook=?)"
            " ORDER BY seq",
            *(RunStatus.ENDED, runbook, runbook),
        )
        found = []
        for row in rows:
            doc, ending = json.loads(row["doc"]), json.loads(row["ending"])
            if ending["outcome"] == Outcome.ABORTED or ending["cause"] == EndCause.LOST:
                continue
            found.append(
                RunOutcome(
                    run=RunId(row["id"]),
                    runbook=RunbookId(row["runbook"]),
                    title=doc["title"],
                    good=ending["outcome"] == Outcome.COMPLETED,
                    at=parse_instant(ending["at"]),
                )
            )
        return tuple(found)

    def command_outcomes(self) -> tuple[CommandOutcome, ...]:
        """Return how commands of library documents ended, the oldest first; no look of a watch is one."""
        rows = self._rows(
            "SELECT proposal, ended_at, state, ending, json_extract(doc, '$.slots.runbook') AS origin"
            " FROM action WHERE state IN (?, ?) AND origin IS NOT NULL AND proposal NOT IN"
            " (SELECT id FROM proposal WHERE json_extract(doc, '$.source')='watch') ORDER BY ended_at",
            *_ENDED_BY_ITSELF,
        )
        found = []
        for row in rows:
            if did_run(json.loads(row["ending"])):
                revision, _, step = row["origin"].partition("#")
                found.append(
                    CommandOutcome(
                        proposal=ProposalId(row["proposal"]),
                        revision=revision,
                        step=step,
                        good=row["state"] == ActionState.SUCCEEDED,
                        at=parse_instant(row["ended_at"]),
                    )
                )
        return tuple(found)

    def tries(self, digest: Digest, *, limit: int) -> tuple[TryView, ...]:
        """Return the newest runs of exactly this action on its target, the oldest of them first."""
        rows = self._rows(
            "SELECT proposal, target, state, ended_at, ending FROM action"
            " WHERE digest=? AND state IN (?, ?) AND started_at<>'' ORDER BY ended_at DESC LIMIT ?",
            *(digest, *_ENDED_BY_ITSELF, limit),
        )
        return tuple(self._try(row) for row in reversed(rows) if did_run(json.loads(row["ending"])))

    def answered_commands(self, *, since: datetime) -> tuple[AnsweredView, ...]:
        """Return how typed commands were answered since an instant, those that were asked first, first."""
        rows = self._rows(
            "SELECT a.id, a.digest, a.target, a.command, a.state, a.ending, p.state AS answer,"
            " json_extract(a.doc, '$.verdict.risk') AS risk"
            " FROM approval p JOIN action a ON a.id=p.action"
            " WHERE p.state IN (?, ?) AND p.decided_at>=? AND json_extract(a.doc, '$.slots.runbook') IS NULL"
            " ORDER BY p.decided_at",
            *(ApprovalState.GRANTED, ApprovalState.REFUSED, instant(since)),
        )
        groups: dict[str, list[sqlite3.Row]] = {}
        for row in rows:
            groups.setdefault(row["digest"], []).append(row)
        word = self._words({"payload": group[-1]["command"]} for group in groups.values())
        return tuple(
            AnsweredView(
                digest=Digest(digest),
                action=ActionId(group[-1]["id"]),
                command=word({"payload": group[-1]["command"]}),
                target=TargetId(group[-1]["target"]),
                risk=max((Risk(row["risk"]) for row in group), key=lambda risk: risk.rank),
                answers=tuple(row["answer"] == ApprovalState.GRANTED for row in group),
                ends=tuple(
                    row["state"] == ActionState.SUCCEEDED
                    for row in group
                    if row["state"] in _ENDED_BY_ITSELF and did_run(json.loads(row["ending"]))
                ),
            )
            for digest, group in groups.items()
        )

    def knowledge(self, *, since: datetime, until: datetime) -> tuple[Knowledge, ...]:
        """Return what is known since some time between two instants, both included, the oldest first.

        A held instruction counts from when it was confirmed; what was told in private is not among it.
        """
        rows = self._rows(
            "SELECT 'runbook' AS what, c.runbook AS id, e.at AS at"
            " FROM capability c JOIN entry e ON e.seq=c.seq"
            " UNION ALL SELECT 'trust rule', id, json_extract(doc, '$.made_at') FROM trust_rule"
            " UNION ALL SELECT 'instruction', id, json_extract(doc, '$.decided_at') FROM guidance"
            "   WHERE state='confirmed'"
            " UNION ALL SELECT 'fact', b.id, e.at FROM belief b JOIN entry e ON e.seq=b.made_seq"
            "   WHERE b.state='live' AND NOT json_extract(b.doc, '$.private')"
            " ORDER BY 3",
        )
        first, last = instant(since), instant(until)
        return tuple(
            Knowledge(what=row["what"], id=row["id"], at=parse_instant(row["at"]))
            for row in rows
            if first <= row["at"] <= last
        )

    def _capability(self, row: sqlite3.Row) -> CapabilityView:
        doc = json.loads(row["doc"])
        with_whom, ended_by = optional(doc["with_whom"]), optional(doc.get("ended_by"))
        return CapabilityView(
            id=row["id"],
            runbook=RunbookId(row["runbook"]),
            title=doc["title"],
            digest=Digest(doc["digest"]),
            state=CapabilityState(row["state"]),
            document=self._word(doc["document"]),
            proposals=tuple(map(ProposalId, texts(doc["proposals"]))),
            kept_by=PersonId(doc["by"]),
            with_whom=None if with_whom is None else PersonId(with_whom),
            kept_at=parse_instant(doc["kept_at"]),
            ended_by=None if ended_by is None else PersonId(ended_by),
            ended_at=None if ended_by is None else parse_instant(doc["ended_at"]),
        )

    def _try(self, row: sqlite3.Row) -> TryView:
        ending = json.loads(row["ending"])
        good = row["state"] == ActionState.SUCCEEDED
        printed = "" if good else self._word(ending.get("output")).strip()
        last = printed.splitlines()[-1].strip() if printed else ""
        code = ending["exit_code"]
        return TryView(
            proposal=ProposalId(row["proposal"]),
            target=TargetId(row["target"]),
            good=good,
            at=parse_instant(row["ended_at"]),
            exit_code=code if isinstance(code, int) else None,
            why=str(ending["note"]) or last,
        )


_ENDED_BY_ITSELF = (ActionState.SUCCEEDED, ActionState.FAILED)
