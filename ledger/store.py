"""The ledger, opened for writing: everything of this folder wired together.

The one process that may write opens it and keeps it open (D1). All methods may be called from any thread.
Opening recovers by itself: SQLite rolls back what was not committed, the head is read from the file, and the
checkpoints go on where they stopped.
"""

import contextlib
import sqlite3
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from ledger import checkpoint, engine, keys, payloads
from ledger.chain import Head
from ledger.engine import WriterLock, open_reader, open_writer
from ledger.group import ClosedError
from ledger.inbox import Inbox
from ledger.kinds import Appended, Batch
from ledger.note import Signer, Verifier
from ledger.outbox import Outbox
from ledger.reading import read_head
from ledger.record import Holds, Project, Record

CHECKPOINT_EVERY = 1000
CHECKPOINT_S = 300.0


class Ledger:
    """One ledger, held by this process.

    Attributes:
        path: its file.
        inbox: inbound events, committed before they are acknowledged.
        outbox: effects to perform.
        verifier: the public key that its checkpoints are checked with.
        timed: called as an append begins; what it returns is called once that is durable.
    """

    def __init__(
        self,
        path: Path,
        *,
        connection: sqlite3.Connection,
        lock: WriterLock,
        record: Record,
        keeper: checkpoint.Keeper,
        verifier: Verifier,
        clock: Callable[[], datetime],
    ) -> None:
        self.path = path
        self.verifier = verifier
        self._connection = connection
        self._lock = lock
        self._record = record
        self._keeper = keeper
        self._clock = clock
        self._closed = False
        self.timed: Callable[[], Callable[[], None]] = _untimed
        self._readers = _Readers(path)
        self.inbox = Inbox(record.writer, reader=self.reader)
        self.outbox = Outbox(record.writer, reader=self.reader, clock=clock)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        project: Project,
        holds: Holds,
        random_bytes: Callable[[int], bytes],
        clock: Callable[[], datetime],
        signing_key: Path | None = None,
        checkpoint_every: int = CHECKPOINT_EVERY,
        checkpoint_s: float = CHECKPOINT_S,
        busy_timeout_s: float = engine.BUSY_TIMEOUT_S,
    ) -> "Ledger":
        """Open the ledger at `path` for writing; make it, its folder and its key if they are not there.

        Args:
            path: the SQLite file, such as state/ledger.db.
            project: applies an entry to the projections.
            holds: checks an expectation.
            random_bytes: cryptographic randomness, such as secrets.token_bytes.
            clock: the present instant, aware.
            signing_key: file of the signing key; beside the ledger by default.
            checkpoint_every: entries between two checkpoints at most.
            checkpoint_s: seconds between two checkpoints at most, while entries are added.
            busy_timeout_s: seconds to wait for a foreign lock on the file.

        Raises:
            LedgerBusyError: another process writes it.
            LedgerUnwritableError: it cannot be written.
            SchemaError: a newer sayso wrote it.
            KeyMissingError: it has checkpoints, but their key is gone.
        """
        path = path.absolute()
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise engine.unwritable(error) from error
        with contextlib.ExitStack() as undo:
            lock = WriterLock(path)
            lock.acquire()
            undo.callback(lock.release)
            connection = open_writer(path, busy_timeout_s=busy_timeout_s)
            undo.callback(connection.close)
            try:
                signer = _signer(connection, signing_key or keys.key_file(path), random_bytes)
                keeper = checkpoint.Keeper(signer, clock=clock, every=checkpoint_every, every_s=checkpoint_s)
                keeper.resume(connection)
            except sqlite3.Error as error:
                raise engine.unwritable(error) from error
            record = Record(
                connection, project=project, holds=holds, random_bytes=random_bytes, seal=keeper.seal
            )
            undo.pop_all()
        return cls(
            path,
            connection=connection,
            lock=lock,
            record=record,
            keeper=keeper,
            verifier=signer.verifier,
            clock=clock,
        )

    def append(self, batch: Batch) -> Appended:
        """Write one decision; once this returns, it is durable.

        Raises:
            LostRaceError: what the decision read has changed.
            DraftError: it cannot be stored as it is.
            LedgerUnwritableError: it is not written, so nothing may run.
        """
        done = self.timed()
        appended = self._record.append(batch)
        done()
        return appended

    def reader(self) -> sqlite3.Connection:
        """Return this thread's read-only connection. It sees what is committed; never close it."""
        return self._readers.get()

    def head(self) -> Head:
        """Return the newest committed entry's number and hash."""
        return read_head(self.reader())

    def tick(self) -> None:
        """Write a checkpoint if one is due by time; the daemon calls this now and then."""
        self._record.writer.submit(lambda _: None)

    def checkpoint(self) -> str:
        """Write a checkpoint over everything unless there is one; return the newest, "" for none."""
        self._record.writer.submit(self._seal_now)
        found = checkpoint.newest(self.reader())
        return found[1] if found else ""

    def prune(self, *, before: datetime) -> int:
        """Forget payloads of entries older than `before`; return how many."""
        now = self._clock()

        def work(connection: sqlite3.Connection) -> int:
            self._record.flush(connection)
            return payloads.prune(connection, before=before, now=now)

        return self._record.writer.submit(work)

    def rebuild(self, reset: Callable[[sqlite3.Connection], None]) -> int:
        """Rebuild the projections from the entries, in one transaction; return how many entries."""
        return self._record.rebuild(reset)

    def close(self) -> None:
        """Finish what is queued, write a checkpoint, let go of the file. Once more does nothing.

        Raises:
            LedgerUnwritableError: the last checkpoint could not be written; it is closed all the same.
        """
        if self._closed:
            return
        self._closed = True
        try:
            self.checkpoint()
        finally:
            self._record.writer.close()
            self._readers.close()
            self._connection.close()
            self._lock.release()

    def _seal_now(self, connection: sqlite3.Connection) -> None:
        self._record.flush(connection)
        self._keeper.make(connection, self._record.head)


def _untimed() -> Callable[[], None]:
    return _nothing


def _nothing() -> None:
    return


class _Readers:
    """One read-only connection a thread, closed together."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mine = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._mutex = threading.Lock()
        self._closed = False

    def get(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._mine, "connection", None)
        if connection is None or self._closed:
            with self._mutex:
                if self._closed:
                    raise ClosedError(ClosedError.__doc__)
                connection = open_reader(self._path)
                self._all.append(connection)
            self._mine.connection = connection
        return connection

    def close(self) -> None:
        with self._mutex:
            self._closed = True
            for connection in self._all:
                connection.close()


def _signer(connection: sqlite3.Connection, key: Path, random_bytes: Callable[[int], bytes]) -> Signer:
    """Return the key that this ledger signs with, made on the first start."""
    origin = checkpoint.stored_origin(connection)
    signer = keys.load(key)
    if signer is None:
        if origin:
            raise keys.KeyMissingError(f"{keys.KeyMissingError.__doc__} Looked for: {key}.")
        signer = keys.make(key, origin="", random_bytes=random_bytes)
    if origin and signer.name != origin:
        raise keys.KeyMissingError(
            f"{keys.KeyMissingError.__doc__} The key in {key} is {signer.name}'s, the ledger is {origin}."
        )
    keys.publish(key, signer.verifier)
    return signer
