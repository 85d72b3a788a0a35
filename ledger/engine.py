"""Opening the ledger's SQLite file: the one writer, and any number of readers.

The writer holds an exclusive lock file for as long as it lives (D1) and commits with synchronous=FULL in WAL
mode, so that what was acknowledged survives a power cut. Readers change nothing. This module knows no table;
every fault of the file becomes a LedgerError with words.
"""

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from ledger import migrations
from ledger.kinds import LedgerBusyError, LedgerError, LedgerUnwritableError

#: Seconds that one statement waits for another connection's lock before the ledger counts as unwritable.
BUSY_TIMEOUT_S = 5.0

#: Pages in the write-ahead log (16 MB) after which SQLite moves them into the file, which takes two syncs and
#: writes each changed page once; at its default of 1000 that came every few groups.
CHECKPOINT_PAGES = 4000

#: Statements that a connection keeps prepared: more than the ledger has.
PREPARED = 256

#: Seconds to wait for the lock of a process that is dead already.
DEAD_HOLDER_S = 2.0


class LedgerMissingError(LedgerError):
    """There is no ledger here yet. It is made when sayso starts for the first time."""


class LedgerUnreadableError(LedgerError):
    """The ledger file cannot be read. Check it with `sayso doctor`, or restore the newest backup."""


def unwritable(error: Exception) -> LedgerUnwritableError:
    """Return `error` in the words that callers and people see."""
    return LedgerUnwritableError(f"{LedgerUnwritableError.__doc__} The reason: {error}.")


def lock_file(path: Path) -> Path:
    """Return the lock file of the ledger at `path`: "lock" in the same folder."""
    return path.with_name("lock")


class WriterLock:
    """The exclusive lock of the writing process; it names its process id and dies with the process."""

    def __init__(self, path: Path) -> None:
        self._path = lock_file(path)
        self._fd = -1

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            LedgerBusyError: another process, or another opening in this one, holds it.
            LedgerUnwritableError: the lock file cannot be made.
        """
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise unwritable(error) from error
        try:
            _lock(fd)
            os.truncate(fd, 0)
            os.write(fd, f"{os.getpid()}\n".encode())
        except BlockingIOError as error:
            holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(fd)
            raise LedgerBusyError(f"{LedgerBusyError.__doc__} Its process id: {holder}.") from error
        except OSError as error:
            os.close(fd)
            raise unwritable(error) from error
        self._fd = fd

    def release(self) -> None:
        """Let go. The file stays: removing it would let two processes lock two files of one name."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _lock(fd: int) -> None:
    """Lock `fd`, with some patience for a holder that is dead.

    A command that was being started when its sayso was killed holds a copy of the lock until it has replaced
    itself by the command, which takes milliseconds.

    Raises:
        BlockingIOError: a process that lives holds it.
    """
    deadline = time.monotonic() + DEAD_HOLDER_S
    while True:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).strip()
            if not holder.isdigit() or _lives(int(holder)) or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def writer_pid(path: Path) -> int | None:
    """Return the id of the process that writes the ledger at `path`; None when none does."""
    try:
        fd = os.open(lock_file(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(fd, 32, 0).strip()
        return int(holder) if holder.isdigit() else 0
    finally:
        os.close(fd)
    return None


def open_writer(path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """Open the file for writing, making it (mode 0600) or bringing its schema up as needed.

    The caller holds the `WriterLock`. The connection may be used from any thread, by one at a time, and is
    in autocommit mode: transactions are begun by hand.

    Raises:
        LedgerUnwritableError: it cannot be made, opened or written.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = _connect(path.as_uri() + "?mode=rw", busy_timeout_s)
    except (OSError, sqlite3.Error) as error:
        raise unwritable(error) from error
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        # REPLACE fires DELETE triggers only with this on; the guards do not rely on it.
        connection.execute("PRAGMA recursive_triggers = ON")
        connection.execute("PRAGMA journal_size_limit = 16777216")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        migrations.bring_up(path, connection)
    except sqlite3.Error as error:
        connection.close()
        raise unwritable(error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """Open the file for reading only, also while another process writes it.

    Raises:
        LedgerMissingError: there is no file.
        LedgerUnreadableError: it is no ledger, or may not be read.
    """
    if not path.exists():
        raise LedgerMissingError(f"{LedgerMissingError.__doc__} Looked for: {path}.")
    try:
        connection = _connect(_reader_uri(path), busy_timeout_s)
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise _unreadable(error) from error
    return connection


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file for reading, for the length of a block.

    Raises:
        LedgerMissingError: there is no file.
        LedgerUnreadableError: it is no ledger, may not be read, or turns out to be damaged inside the block.
    """
    connection = open_reader(path)
    try:
        yield connection
    except sqlite3.Error as error:
        raise _unreadable(error) from error
    finally:
        connection.close()


@contextlib.contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Hold one read transaction: every query inside sees the same committed state."""
    connection.execute("BEGIN")
    try:
        yield connection
    finally:
        connection.execute("ROLLBACK")


def _unreadable(error: sqlite3.Error) -> LedgerUnreadableError:
    return LedgerUnreadableError(f"{LedgerUnreadableError.__doc__} The reason: {error}.")


def _reader_uri(path: Path) -> str:
    # A WAL database without -wal in a folder we may not write: nobody can be writing it, and SQLite could
    # not make its shared-memory file.
    frozen = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    return path.absolute().as_uri() + ("?immutable=1" if frozen else "?mode=ro")


def _connect(uri: str, busy_timeout_s: float) -> sqlite3.Connection:
    # check_same_thread: callers make sure that one thread at a time uses it, whichever that is.
    return sqlite3.connect(
        uri,
        uri=True,
        timeout=busy_timeout_s,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=PREPARED,
    )
