"""Runs of runbooks: where each one is, what became of its steps, and its events in order.

The projection and its reader. What may happen is the supervisor's rule (gate.supervise); here an entry has
to fit the state machine and be about the step that the run is in. Everything else raises, and its batch is
rolled back. A deviation moves nothing, and is entered after the end of a run too.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gate.domain import ActionId, Digest, PersonId, PlaceId, ProposalId
from gate.errors import TransitionError
from gate.lifecycle import RUN, RunEvent, RunStatus, advance
from gate.supervise.domain import Outcome, RunbookId, RunbookSpec, RunId, StepId, Terminal
from gate.supervise.events import EndCause, Event
from ledger.codec import Doc, instant, mapping, optional, parse_instant
from ledger.kinds import Entry, Json, Kind
from ledger.reader import Handler, Reader
from ledger.run_documents import references, spec_of
from ledger.run_events import event_of, words_of

TABLES = ("run", "run_step", "run_event")


class Came(StrEnum):
    """What came of one entry into a step. Stored, so a value never changes meaning."""

    OPEN = "open"  # nothing yet
    PASSED = "passed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One run.

    Attributes:
        title: of its runbook when it began.
        place: where it was asked for, which is where its card stands.
        person: who asked for it, in the words `said`; `source` is what began it for them, "" for most.
        step, number, proposal: of the newest entry into a step; "", 0 and None before the first.
        until: when its wait is over; None where it does not wait.
        undoes: the run that this one rolls back; None for most.
        outcome, cause, terminal, ended_by: None while it is not over.
        seq: the entry that changed it last, for `RunIsAt`.
    """

    id: RunId
    runbook: RunbookId
    title: str
    digest: Digest
    status: RunStatus
    place: PlaceId
    person: PersonId
    said: str
    target: str
    step: str
    number: int
    proposal: ProposalId | None
    until: datetime | None
    undoes: RunId | None
    deviations: int
    started_at: datetime
    ended_at: datetime | None
    outcome: Outcome | None
    cause: EndCause | None
    terminal: Terminal | None
    ended_by: PersonId | None
    seq: int
    source: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing of it runs or waits any more."""
        return self.status is RunStatus.ENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStepView:
    """One entry into a step; `proposal` is the newest that it made, None for none."""

    run: RunId
    number: int
    step: StepId
    attempt: int
    came: Came
    proposal: ProposalId | None
    entered_at: datetime
    exit_code: int | None = None
    why: str = ""


# ---------------------------------------------------------------- entries


def _started(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO run (id, runbook, state, place, undoes, step, number, proposal, until_at, deviations,"
        " started_seq, seq, doc, ending) VALUES (?, ?, ?, ?, ?, '', 0, '', '', 0, ?, ?, ?, '{}')",
        (
            body["run"],
            body["runbook"],
            advance(RUN, RunStatus.NEW, RunEvent.START),
            body["place"],
            body["undoes"] or "",
            entry.seq,
            entry.seq,
            entry.body,
        ),
    )
    _told(connection, entry, body)


def _entered(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    number = _move(connection, body, RunEvent.ENTER)
    if body["number"] != number + 1:
        raise TransitionError(f"run {body['run']} is at {number}, so {body['number']} is not entered next")
    connection.execute(
        "INSERT INTO run_step (run, number, step, attempt, state, proposal, entered_seq, doc)"
        " VALUES (?, ?, ?, ?, ?, '', ?, '{}')",
        (body["run"], body["number"], body["step"], body["attempt"], Came.OPEN, entry.seq),
    )
    connection.execute(
        "UPDATE run SET step=?, number=?, proposal='' WHERE id=?", (body["step"], body["number"], body["run"])
    )
    _told(connection, entry, body)


def _went(event: RunEvent) -> Handler:
    """Return what moves a run by `event` within the step that it is in."""

    def handle(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
        _move_on(connection, entry, body, event)

    return handle


def _proposed(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    _move_on(connection, entry, body, RunEvent.PROPOSE if body["request"] is None else RunEvent.ASK)
    named = (body["proposal"], body["run"])
    connection.execute("UPDATE run SET proposal=? WHERE id=?", named)
    connection.execute("UPDATE run_step SET proposal=? WHERE run=? AND number=?", (*named, body["number"]))


def _granted(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    _move_on(connection, entry, {**body, "number": mapping(body["grant"])["number"]}, RunEvent.GRANT)


def _waiting(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    _move_on(connection, entry, body, RunEvent.BEGIN_WAIT)
    connection.execute("UPDATE run SET until_at=? WHERE id=?", (body["until"], body["run"]))


def _waited(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    _move_on(connection, entry, body, RunEvent.END_WAIT)
    connection.execute("UPDATE run SET until_at='' WHERE id=?", (body["run"],))
    _came(connection, entry, body, Came.PASSED)


def _judged(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    _move_on(connection, entry, body, RunEvent.JUDGE)
    _came(connection, entry, body, Came.PASSED if body["passed"] else Came.FAILED)


def _deviated(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute("UPDATE run SET deviations=deviations+1 WHERE id=?", (body["run"],))
    _told(connection, entry, body)


def _ended(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    _move(connection, body, RunEvent.END)
    connection.execute("UPDATE run SET until_at='', ending=? WHERE id=?", (entry.body, body["run"]))
    _told(connection, entry, body)


def _move_on(connection: sqlite3.Connection, entry: Entry, body: Doc, event: RunEvent) -> None:
    number = _move(connection, body, event)
    if body["number"] != number:
        raise TransitionError(f"run {body['run']} is at {number}, not at {body['number']}")
    _told(connection, entry, body)


def _move(connection: sqlite3.Connection, body: Doc, event: RunEvent) -> int:
    """Move the run that `body` names by `event`; return how often it entered a step before."""
    row = connection.execute("SELECT state, number FROM run WHERE id=?", (body["run"],)).fetchone()
    if row is None:
        raise TransitionError(f"there is no run {body['run']}")
    status = advance(RUN, RunStatus(row[0]), event)
    if status is None:
        raise TransitionError(f"run {body['run']} is {row[0]} and does not take {event}")
    connection.execute("UPDATE run SET state=? WHERE id=?", (status, body["run"]))
    return int(row[1])


def _came(connection: sqlite3.Connection, entry: Entry, body: Doc, came: Came) -> None:
    connection.execute(
        "UPDATE run_step SET state=?, doc=? WHERE run=? AND number=?",
        (came, entry.body, body["run"], body["number"]),
    )


def _told(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute("INSERT INTO run_event (run, seq) VALUES (?, ?)", (body["run"], entry.seq))
    connection.execute("UPDATE run SET seq=? WHERE id=?", (entry.seq, body["run"]))


HANDLERS: Mapping[str, Handler] = {
    Kind.RUN_STARTED: _started,
    Kind.RUN_ENTERED: _entered,
    Kind.RUN_PROPOSED: _proposed,
    Kind.RUN_GRANTED: _granted,
    Kind.RUN_CONSUMED: _went(RunEvent.CONSUME),
    Kind.RUN_TAKEN_BACK: _went(RunEvent.TAKE_BACK),
    Kind.RUN_WAITING: _waiting,
    Kind.RUN_WAITED: _waited,
    Kind.RUN_JUDGED: _judged,
    Kind.RUN_DEVIATED: _deviated,
    Kind.RUN_ENDED: _ended,
}


# ---------------------------------------------------------------- questions

_OPEN = tuple(one for one in RunStatus if one not in {RunStatus.NEW, RunStatus.ENDED})
_RUNS = "SELECT r.*, e.at AS started_at FROM run r JOIN entry e ON e.seq = r.started_seq"


class RunReader(Reader):
    """Questions about runs."""

    def run(self, run: str) -> RunView | None:
        """Return one run, open or over; None for an unknown id."""
        return next(iter(self._runs("WHERE r.id=?", run)), None)

    def runs(
        self, *, open_only: bool = False, since: datetime | None = None, limit: int = 100
    ) -> tuple[RunView, ...]:
        """Return runs, the newest first."""
        return self._runs(
            "WHERE (? = 0 OR r.state <> ?) AND e.at >= ? ORDER BY r.started_seq DESC LIMIT ?",
            *(int(open_only), RunStatus.ENDED, "" if since is None else instant(since), limit),
        )

    def open_runs(self) -> tuple[RunId, ...]:
        """Return the runs that are not over, the oldest first."""
        marks = ", ".join("?" * len(_OPEN))
        rows = self._rows(
            f"SELECT id FROM run WHERE state IN ({marks}) ORDER BY started_seq",  # noqa: S608 - question marks
            *_OPEN,
        )
        return tuple(RunId(row["id"]) for row in rows)

    def undone_by(self, run: str) -> RunView | None:
        """Return the newest run that rolls `run` back; None where there is none."""
        return next(iter(self._runs("WHERE r.undoes=? ORDER BY r.started_seq DESC", run)), None)

    def run_of(self, proposal: str) -> RunView | None:
        """Return the run whose step made `proposal`, if that is the newest one of the step; else None."""
        row = self._row("SELECT run FROM run_step WHERE proposal=? AND proposal<>''", proposal)
        return None if row is None else self.run(row["run"])

    def stopped_by(self, action: ActionId) -> PersonId | None:
        """Return who cancelled `action`, before it started or while it ran; None where nobody did."""
        found = self._one(
            "SELECT coalesce(max(json_extract(ending, '$.by')), '') FROM action WHERE id=?", action
        )
        return PersonId(found) if found else None

    def next_run_due(self) -> datetime | None:
        """Return when the wait of a run is over next; None for never."""
        found = self._one("SELECT min(until_at) FROM run WHERE state=?", RunStatus.WAITING)
        return parse_instant(found) if found else None

    def run_spec(self, run: str) -> RunbookSpec | None:
        """Return the runbook of `run` as it was when that began; None where it was pruned."""
        doc = json.loads(self._one("SELECT doc FROM run WHERE id=?", run))
        found = list(references(doc))
        word = self._words(found)
        return spec_of("".join(map(word, found)))

    def run_events(self, run: str, *, after: int = 0, upto: int | None = None) -> tuple[Event, ...]:
        """Return what happened to `run`, in order; `functools.reduce` over all of it is its state.

        Args:
            after, upto: only what the entries after the one, and not after the other, say; None: all.
        """
        rows = self._rows(
            "SELECT e.kind, e.body FROM run_event n JOIN entry e ON e.seq = n.seq"
            " WHERE n.run=? AND n.seq>? AND n.seq<=coalesce(?, n.seq) ORDER BY n.seq",
            *(run, after, upto),
        )
        bodies: list[Doc] = [json.loads(row["body"]) for row in rows]
        word = self._words(words_of(body) for body in bodies)
        events = []
        for row, body in zip(rows, bodies, strict=True):
            reference = words_of(body)
            events.append(event_of(Kind(row["kind"]), body, None if reference is None else word(reference)))
        return tuple(events)

    def runs_with_secrets(self) -> tuple[RunId, ...]:
        """Return the runs that were given secrets, or found some, the oldest first."""
        rows = self._rows("SELECT id FROM run WHERE json_extract(doc, '$.secrets') ORDER BY started_seq")
        return tuple(RunId(row["id"]) for row in rows)

    def run_steps(self, run: str) -> tuple[RunStepView, ...]:
        """Return every entry into a step of `run`, in order."""
        return self._steps("WHERE s.run=? ORDER BY s.number", run)

    def last_steps(self, run: str) -> tuple[RunStepView, ...]:
        """Return the newest entry into each step of `run` that was entered, in their order."""
        return self._steps(
            "WHERE s.run=? AND s.number IN (SELECT max(number) FROM run_step WHERE run=? GROUP BY step)"
            " ORDER BY s.number",
            *(run, run),
        )

    def _steps(self, condition: str, *values: object) -> tuple[RunStepView, ...]:
        rows = self._rows(
            "SELECT s.*, e.at AS entered_at FROM run_step s JOIN entry e"  # noqa: S608 - the constants above
            f" ON e.seq = s.entered_seq {condition}",
            *values,
        )
        docs: list[Doc] = [json.loads(row["doc"]) for row in rows]
        word = self._words(words_of(doc) for doc in docs)
        return tuple(_step(row, doc, word(words_of(doc))) for row, doc in zip(rows, docs, strict=True))

    def _runs(self, condition: str, *values: object) -> tuple[RunView, ...]:
        rows = self._rows(f"{_RUNS} {condition}", *values)
        docs: list[Doc] = [json.loads(row["doc"]) for row in rows]
        word = self._words(doc["said"] for doc in docs)
        return tuple(_run(row, doc, word(doc["said"])) for row, doc in zip(rows, docs, strict=True))


def _run(row: sqlite3.Row, doc: Doc, said: str) -> RunView:
    ending: Doc = json.loads(row["ending"])
    outcome, terminal, by = (optional(ending.get(key)) for key in ("outcome", "terminal", "by"))
    return RunView(
        id=RunId(row["id"]),
        runbook=RunbookId(row["runbook"]),
        title=str(doc["title"]),
        digest=Digest(str(doc["digest"])),
        status=RunStatus(row["state"]),
        place=PlaceId(row["place"]),
        person=PersonId(str(doc["person"])),
        said=said,
        target=str(doc["target"]),
        step=row["step"],
        number=row["number"],
        proposal=ProposalId(row["proposal"]) if row["proposal"] else None,
        until=_instant_or_none(row["until_at"]),
        undoes=RunId(row["undoes"]) if row["undoes"] else None,
        deviations=row["deviations"],
        started_at=parse_instant(row["started_at"]),
        ended_at=_instant_or_none(ending.get("at", "")),
        outcome=None if outcome is None else Outcome(outcome),
        cause=None if outcome is None else EndCause(str(ending["cause"])),
        terminal=None if terminal is None else Terminal(terminal),
        ended_by=None if by is None else PersonId(by),
        seq=row["seq"],
        source=str(doc.get("source", "")),
    )


def _step(row: sqlite3.Row, doc: Doc, words: str) -> RunStepView:
    code = doc.get("exit_code")
    try:
        why = str(json.loads(words).get("why", "")) if words else ""
    except ValueError:
        why = words  # they were pruned
    return RunStepView(
        run=RunId(row["run"]),
        number=row["number"],
        step=StepId(row["step"]),
        attempt=row["attempt"],
        came=Came(row["state"]),
        proposal=ProposalId(row["proposal"]) if row["proposal"] else None,
        entered_at=parse_instant(row["entered_at"]),
        exit_code=code if isinstance(code, int) else None,
        why=why,
    )


def _instant_or_none(text: Json) -> datetime | None:
    return parse_instant(str(text)) if text else None
