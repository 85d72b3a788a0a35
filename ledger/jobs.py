"""Reminders and schedules, and every time that one was due.

The projection and its reader. An occurrence is named by its job and the instant at which it was due, and is
entered once: claimed, or missed. Only the occurrence that a job waits for can be entered, so that neither a
second process, nor a clock that jumped, nor a crash makes one twice or skips one.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gate.domain import PersonId, PlaceId
from gate.errors import TransitionError
from gate.lifecycle import JOB, JobEvent, JobState, advance
from gate.resolve.decision import Act
from ledger.codec import Doc, instant, mapping, parse_instant
from ledger.kinds import Entry, Kind
from ledger.reader import Handler, Reader

TABLES = ("job", "occurrence")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A reminder, or a command or post that is scheduled.

    Attributes:
        place: where it was made, which is where it is said (F10).
        zone: the IANA name of the zone that its rule counts in; "" for the bot's own.
        first_at: its first occurrence; with `rrule` (RFC 5545, without DTSTART) it makes all others.
        missed: what becomes of an occurrence that sayso was not there for: "late", "skip" or "ask".
        next_at: what it waits for; None once it is over.
        text: what is said, or the literal request; `said` is the whole message that made it.
    """

    id: str
    act: Act
    state: JobState
    place: PlaceId
    person: PersonId
    zone: str
    first_at: datetime
    rrule: str
    missed: str
    next_at: datetime | None
    commitment: str
    text: str
    said: str
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OccurrenceView:
    """One time that a job was due: `state` is "claimed", or "missed" with `why`. `seq` is its entry."""

    job: str
    fire_at: datetime
    state: str
    seq: int
    why: str


def _made(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO job (id, act, state, place, person, next_at, made_seq, words, doc)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            body["job"],
            body["act"],
            JobState.PENDING,
            body["place"],
            body["person"],
            body["next_at"],
            entry.seq,
            mapping(body["text"])["payload"],
            entry.body,
        ),
    )


def _over(event: JobEvent) -> Handler:
    def handle(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
        state, _ = _after(connection, body, event)
        connection.execute("UPDATE job SET state=?, next_at='' WHERE id=?", (state, body["job"]))

    return handle


def _due(state: str, event: JobEvent, *, first: str) -> Handler:
    """Return what enters an occurrence as `state`; the key `first` holds the instant it was due at."""

    def handle(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
        after, waited_for = _after(connection, body, event)
        if body[first] != waited_for:
            raise TransitionError(f"job {body['job']} waits for {waited_for}, not for {body[first]}")
        connection.execute(
            "INSERT INTO occurrence (job, fire_at, state, seq, doc) VALUES (?, ?, ?, ?, ?)",
            (body["job"], waited_for, state, entry.seq, entry.body),
        )
        connection.execute(
            "UPDATE job SET state=?, next_at=? WHERE id=?", (after, body["next_at"], body["job"])
        )

    return handle


def _after(connection: sqlite3.Connection, body: Doc, event: JobEvent) -> tuple[JobState, str]:
    """Return the state after `event` of the job that `body` names, and what it waited for before."""
    row = connection.execute("SELECT state, next_at FROM job WHERE id=?", (body["job"],)).fetchone()
    if row is None:
        raise TransitionError(f"there is no job {body['job']}")
    state = advance(JOB, JobState(row[0]), event)
    if state is None:
        raise TransitionError(f"{row[0]} does not take {event}")
    return state, str(row[1])


HANDLERS: Mapping[str, Handler] = {
    Kind.JOB_MADE: _made,
    Kind.JOB_CANCELLED: _over(JobEvent.CANCEL),
    Kind.JOB_ENDED: _over(JobEvent.END),
    Kind.OCCURRENCE_CLAIMED: _due("claimed", JobEvent.CLAIM, first="fire_at"),
    Kind.OCCURRENCE_MISSED: _due("missed", JobEvent.MISS, first="from"),
}

_JOBS = "SELECT j.*, e.at AS made_at FROM job j JOIN entry e ON e.seq = j.made_seq"


class JobReader(Reader):
    """Questions about reminders and schedules."""

    def due(self, now: datetime) -> tuple[JobView, ...]:
        """Return the pending jobs that have been due since `now` or longer, the longest first."""
        return self._jobs("WHERE j.next_at<>'' AND j.next_at<=? ORDER BY j.next_at, j.made_seq", instant(now))

    def next_due(self, *, after: datetime | None = None) -> datetime | None:
        """Return when a job is due next, later than `after` where that is given; None for never."""
        found = self._one(
            "SELECT min(next_at) FROM job WHERE next_at>?", "" if after is None else instant(after)
        )
        return parse_instant(found) if found else None

    def job(self, job: str) -> JobView | None:
        """Return one job, pending or over; None for an unknown id."""
        return next(iter(self._jobs("WHERE j.id=?", job)), None)

    def jobs(self, *, place: PlaceId | None = None, person: PersonId | None = None) -> tuple[JobView, ...]:
        """Return the pending jobs, the next one due first: all of them, of a place, of a person."""
        return self._jobs(
            "WHERE j.state=? AND (? IS NULL OR j.place=?) AND (? IS NULL OR j.person=?)"
            " ORDER BY j.next_at, j.made_seq",
            *(JobState.PENDING, place, place, person, person),
        )

    def occurrences(self, job: str) -> tuple[OccurrenceView, ...]:
        """Return every time that `job` was due and entered, the newest first."""
        rows = self._rows("SELECT * FROM occurrence WHERE job=? ORDER BY seq DESC", job)
        return tuple(
            OccurrenceView(
                job=row["job"],
                fire_at=parse_instant(row["fire_at"]),
                state=row["state"],
                seq=row["seq"],
                why=str(json.loads(row["doc"]).get("policy", "")),
            )
            for row in rows
        )

    def _jobs(self, condition: str, *values: object) -> tuple[JobView, ...]:
        rows = self._rows(f"{_JOBS} {condition}", *values)
        docs = [json.loads(row["doc"]) for row in rows]
        word = self._words(doc[key] for doc in docs for key in ("text", "said"))
        return tuple(
            JobView(
                id=row["id"],
                act=Act(row["act"]),
                state=JobState(row["state"]),
                place=PlaceId(row["place"]),
                person=PersonId(row["person"]),
                zone=doc["zone"],
                first_at=parse_instant(doc["first_at"]),
                rrule=doc["rrule"],
                missed=doc["missed"],
                next_at=parse_instant(row["next_at"]) if row["next_at"] else None,
                commitment=doc["commitment"],
                text=word(doc["text"]),
                said=word(doc["said"]),
                made_at=parse_instant(row["made_at"]),
            )
            for row, doc in zip(rows, docs, strict=True)
        )
