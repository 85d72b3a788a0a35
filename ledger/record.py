"""The append: the only code that writes entries.

A batch is one decision. Everything that can be refused about its form is refused before it queues; then, in
one transaction, what the decision read is checked again (D11), and its entries, payloads, projections,
effects and the inbox mark are written, all or nothing. The head of the chain is read inside the transaction,
never remembered from one that may not have been committed.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from ledger import inbox, outbox, payloads
from ledger.chain import GENESIS, Head, canonical, check_line, entry_hash, instant
from ledger.group import GroupWriter
from ledger.kinds import Appended, Batch, Draft, DraftError, Entry, Expectation, Json, LostRaceError

#: The most bytes of one entry's body. Bodies are metadata; words and output are payloads.
MAX_BODY_BYTES = 256 << 10

_INSERT = (
    "INSERT INTO entry (seq, kind, at, correlation_id, body, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"
)


class Project(Protocol):
    """Applies one new entry to the projections, inside the append's transaction."""

    def __call__(self, connection: sqlite3.Connection, entry: Entry, words: Mapping[str, str], /) -> None:
        """Apply `entry`; `words` maps each key of the draft's words to the payload hash that names them."""


class Holds(Protocol):
    """Tells whether what a decision read still stands, inside the append's transaction."""

    def __call__(self, connection: sqlite3.Connection, expectation: Expectation, /) -> bool:
        """Return whether `expectation` holds."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    kind: str
    correlation_id: str
    body: str
    words: Mapping[str, str]
    sealed: tuple[payloads.Sealed, ...]


def read_head(connection: sqlite3.Connection) -> Head:
    """Return the newest entry's number and hash."""
    row = connection.execute("SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
    return Head(*row) if row else Head(0, GENESIS)


def read_entries(connection: sqlite3.Connection, *, after: int = 0) -> Iterator[Entry]:
    """Give the entries whose number is greater than `after`, in order."""
    rows = connection.execute(
        "SELECT seq, kind, at, correlation_id, body, prev_hash, hash FROM entry WHERE seq > ? ORDER BY seq",
        (after,),
    )
    for seq, kind, at, correlation_id, body, prev_hash, digest in rows:
        yield Entry(
            seq=seq,
            kind=kind,
            at=at,
            correlation_id=correlation_id,
            body=body,
            prev_hash=prev_hash,
            hash=digest,
        )


class Record:
    """Appends batches on the writer's connection, which nobody else uses.

    Args:
        project: applies each entry to the projections.
        holds: checks an expectation.
        random_bytes: source of salts.
        seal: called before every commit with the head that it will leave; writes a checkpoint when due.

    Attributes:
        writer: commits anything else that belongs on this connection.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        project: Project,
        holds: Holds,
        random_bytes: Callable[[int], bytes],
        seal: Callable[[sqlite3.Connection, Head], None],
    ) -> None:
        self._project = project
        self._holds = holds
        self._random_bytes = random_bytes
        self._seal = seal
        self._head = Head()
        self.writer = GroupWriter(connection, begin=self._begin, end=self._end)

    @property
    def head(self) -> Head:
        """The head inside the running transaction; stale outside one."""
        return self._head

    def append(self, batch: Batch) -> Appended:
        """Write `batch`; once this returns, it is durable.

        Raises:
            LostRaceError: an expectation no longer holds; decide again on fresh facts.
            DraftError: it cannot be stored as it is.
            LedgerUnwritableError: the file refused. Nothing may be executed.
        """
        at = instant(batch.at)
        prepared = [self._prepare(draft) for draft in batch.drafts]
        packed = [outbox.pack(effect) for effect in batch.effects]

        def work(connection: sqlite3.Connection) -> Appended:
            for expectation in batch.expects:
                if not self._holds(connection, expectation):
                    raise LostRaceError(expectation)
            first = self._head.seq + 1
            head = self._head
            for each in prepared:
                head = self._write(connection, each, head=head, at=at)
            rows = tuple(outbox.write(connection, each, seq=head.seq, at=at) for each in packed)
            if batch.inbox:
                inbox.mark_done(connection, batch.inbox, at=at)
            self._head = head  # last: what is undone before here leaves the head as it was
            return Appended(first_seq=first, last_seq=head.seq, outbox=rows)

        return self.writer.submit(work)

    def rebuild(self, reset: Callable[[sqlite3.Connection], None]) -> int:
        """Empty the projections with `reset` and apply every entry again, in one transaction (D9).

        Returns:
            How many entries there are.
        """

        def work(connection: sqlite3.Connection) -> int:
            reset(connection)
            count = 0
            for entry in read_entries(connection):
                words = payloads.references(json.loads(entry.body))
                self._project(connection, entry, {key: name for key, (name, _) in words.items()})
                count += 1
            return count

        return self.writer.submit(work)

    def _begin(self, connection: sqlite3.Connection) -> None:
        self._head = read_head(connection)

    def _end(self, connection: sqlite3.Connection) -> None:
        self._seal(connection, self._head)

    def _prepare(self, draft: Draft) -> _Prepared:
        sealed = {
            key: payloads.seal(content, random_bytes=self._random_bytes)
            for key, content in draft.words.items()
        }
        if twice := sorted(set(sealed) & set(draft.body)):
            raise DraftError(f"{DraftError.__doc__} Both in body and words: {', '.join(twice)}.")
        body: dict[str, Json] = dict(draft.body)
        body.update((key, each.reference) for key, each in sealed.items())
        text = canonical(body)
        if len(text.encode()) > MAX_BODY_BYTES:
            raise DraftError(f"{DraftError.__doc__} A body over {MAX_BODY_BYTES} bytes: {draft.kind}.")
        return _Prepared(
            draft.kind.value,
            check_line("correlation_id", draft.correlation_id),
            text,
            {key: each.hash for key, each in sealed.items()},
            tuple(sealed.values()),
        )

    def _write(self, connection: sqlite3.Connection, each: _Prepared, *, head: Head, at: str) -> Head:
        seq = head.seq + 1
        digest = entry_hash(
            prev_hash=head.hash,
            seq=seq,
            kind=each.kind,
            at=at,
            correlation_id=each.correlation_id,
            body=each.body,
        )
        connection.execute(_INSERT, (seq, each.kind, at, each.correlation_id, each.body, head.hash, digest))
        for sealed in each.sealed:
            payloads.write(connection, sealed, seq=seq)
        entry = Entry(
            seq=seq,
            kind=each.kind,
            at=at,
            correlation_id=each.correlation_id,
            body=each.body,
            prev_hash=head.hash,
            hash=digest,
        )
        self._project(connection, entry, each.words)
        return Head(seq, digest)
