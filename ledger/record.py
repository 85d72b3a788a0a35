"""The append: the only code that writes entries.

A batch is one decision. Everything that can be refused about its form is refused before it queues; then, in
one transaction, what the decision read is checked again (D11), and its entries, payloads, projections,
effects and the inbox mark are written, all or nothing. The head of the chain is read inside the transaction,
never remembered from one that may not have been committed.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ledger import inbox, outbox, payloads
from ledger.chain import Head, canonical, check_line, entry_hash, instant
from ledger.group import GroupWriter
from ledger.kinds import Appended, Batch, Draft, DraftError, Entry, Expectation, Json, LostRaceError
from ledger.reading import body_of, read_entries, read_head

#: The most characters of one entry's body. Bodies are metadata; words and output are payloads.
MAX_BODY_CHARS = 256 << 10

_INSERT = (
    "INSERT INTO entry (seq, kind, at, correlation_id, body, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"
)


class Project(Protocol):
    """Applies one new entry to the projections, inside the append's transaction.

    It reads and writes projections only: the entry's own row is written after it.
    """

    def __call__(self, connection: sqlite3.Connection, entry: Entry, body: dict[str, Json], /) -> None:
        """Apply `entry`; `body` is the document in it: look, and keep nothing of it."""


class Holds(Protocol):
    """Tells whether what a decision read still stands, inside the append's transaction."""

    def __call__(self, connection: sqlite3.Connection, expectation: Expectation, /) -> bool:
        """Return whether `expectation` holds."""


class _Prepared(NamedTuple):
    kind: str
    correlation_id: str
    text: str
    body: dict[str, Json]
    sealed: Sequence[payloads.Sealed]


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
        # Rows of the running transaction, written together by `flush`: a third less work than one by one.
        self._entries: list[Entry] = []
        self._payloads: list[tuple[str, int, int, bytes, bytes]] = []
        self.writer = GroupWriter(connection, begin=self._begin, flush=self.flush, end=self._end)

    @property
    def head(self) -> Head:
        """The head inside the running transaction; stale outside one."""
        return self._head

    def flush(self, connection: sqlite3.Connection) -> None:
        """Write the entries of the running transaction that still wait; call it before reading entries."""
        connection.executemany(_INSERT, self._entries)
        if self._payloads:
            connection.executemany(payloads.INSERT, self._payloads)
        self._entries.clear()
        self._payloads.clear()

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
            entries, sealed = len(self._entries), len(self._payloads)
            try:
                return self._write(connection, batch, prepared, packed, at)
            except BaseException:
                del self._entries[entries:]
                del self._payloads[sealed:]
                raise

        return self.writer.submit(work)

    def rebuild(self, reset: Callable[[sqlite3.Connection], None]) -> int:
        """Empty the projections with `reset` and apply every entry again, in one transaction (D9).

        Returns:
            How many entries there are.
        """

        def work(connection: sqlite3.Connection) -> int:
            self.flush(connection)
            reset(connection)
            count = 0
            for entry in read_entries(connection):
                self._project(connection, entry, body_of(entry))
                count += 1
            return count

        return self.writer.submit(work)

    def _begin(self, connection: sqlite3.Connection) -> None:
        self._head = read_head(connection)
        self._entries.clear()
        self._payloads.clear()

    def _end(self, connection: sqlite3.Connection) -> None:
        self._seal(connection, self._head)

    def _prepare(self, draft: Draft) -> _Prepared:
        body = dict(draft.body)
        sealed: list[payloads.Sealed] = []
        for key, content in draft.words.items():
            if key in body:
                raise DraftError(f"{DraftError.__doc__} In body and words: {key!r}.")
            each = payloads.seal(content, random_bytes=self._random_bytes)
            sealed.append(each)
            body[key] = each.reference
        text = canonical(body)
        if len(text) > MAX_BODY_CHARS:
            raise DraftError(f"{DraftError.__doc__} A body over {MAX_BODY_CHARS} characters: {draft.kind}.")
        return _Prepared(
            draft.kind.value, check_line("correlation_id", draft.correlation_id), text, body, sealed
        )

    def _write(
        self,
        connection: sqlite3.Connection,
        batch: Batch,
        prepared: Sequence[_Prepared],
        packed: Sequence[outbox.Packed],
        at: str,
    ) -> Appended:
        """Write one batch, except for the rows that `_end` writes."""
        for expectation in batch.expects:
            if not self._holds(connection, expectation):
                raise LostRaceError(expectation)
        first, head = self._head.seq + 1, self._head
        for each in prepared:
            head = self._chain(connection, each, head=head, at=at)
        rows = tuple(outbox.write(connection, each, seq=head.seq, at=at) for each in packed)
        if batch.inbox:
            inbox.mark_done(connection, batch.inbox, at=at)
        self._head = head  # last: what is undone before here leaves the head as it was
        return Appended(first_seq=first, last_seq=head.seq, outbox=rows)

    def _chain(self, connection: sqlite3.Connection, each: _Prepared, *, head: Head, at: str) -> Head:
        """Put one entry after `head` and return the head that it makes."""
        kind, correlation_id, text, body, sealed = each
        seq, prev = head.seq + 1, head.hash
        digest = entry_hash(
            prev_hash=prev, seq=seq, kind=kind, at=at, correlation_id=correlation_id, body=text
        )
        entry = Entry(seq, kind, at, correlation_id, text, prev, digest)
        self._entries.append(entry)
        for payload in sealed:
            self._payloads.append(payloads.row(payload, seq=seq))
        self._project(connection, entry, body)
        return Head(seq, digest)
