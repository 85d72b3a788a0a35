"""One writer for many threads: idle commits inline, busy commits in groups (D11).

The thread that finds the writer idle leads: it opens one transaction, takes its own work and all that queued
meanwhile, commits once, and only then tells anybody. It wakes the next of its group, that one the next; the
last to wake passes the lead to the first in line. So nobody works long for others, threads take turns instead
of fighting for the interpreter lock, and whoever of the group has more to write by then is in the next
commit: the sync is paid once for all. What work refuses undoes only itself; what SQLite refuses (full,
read-only, locked, broken) undoes the group and is told to everybody in it. Knows nothing of entries.
"""

import contextlib
import itertools
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar, cast

from ledger.engine import unwritable
from ledger.kinds import DraftError, LedgerError

T = TypeVar("T")

#: Units of work in one transaction at most, and in the queue.
MAX_GROUP = 512

#: Faults of one unit of work; every other sqlite3.Error is a fault of the file.
_LOCAL_FAULTS = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError)


class ClosedError(LedgerError):
    """The ledger is closed: sayso is stopping. Nothing was written."""


class _Ticket(Generic[T]):
    """One unit of work on its way: queued, then led or served, then settled."""

    __slots__ = ("error", "follower", "leads", "queued", "result", "settled", "wake", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], T]) -> None:
        self.work = work
        self.result: T | None = None
        self.error: BaseException | None = None
        self.leads = False
        self.settled = False
        self.follower: _Ticket[object] | None = None  # whom to wake when woken; the last passes the lead on
        self.queued = False

    def line_up(self) -> None:
        self.queued = True
        self.wake = threading.Lock()  # held while its thread waits
        self.wake.acquire()

    def rouse(self) -> None:
        self.wake.release()

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return cast("T", self.result)


class GroupWriter:
    """Commits units of work on one connection, each in whole or not at all.

    Args:
        connection: the writer's, in autocommit mode; nobody else uses it.
        begin: called at the start of every transaction; reads what the work relies on afresh.
        flush: writes what work left to be written later; called before savepoints and before `end`.
        end: called before every commit, after all work of the group.
        most: units of work in one transaction, and in the queue.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        begin: Callable[[sqlite3.Connection], None],
        flush: Callable[[sqlite3.Connection], None],
        end: Callable[[sqlite3.Connection], None],
        most: int = MAX_GROUP,
    ) -> None:
        self._connection = connection
        self._begin = begin
        self._flush = flush
        self._end = end
        self._most = most
        self._queue: deque[_Ticket[object]] = deque()
        self._mutex = threading.Lock()
        self._moved = threading.Condition(self._mutex)
        self._busy = False
        self._closed = False

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` inside a transaction and return its result once that is durable.

        Raises:
            LedgerUnwritableError: the file refused; nothing of the group was written.
            ClosedError: the writer was closed.
            Exception: whatever `work` raised; nothing of it was written.
        """
        ticket = _Ticket(work)
        anyones = cast("_Ticket[object]", ticket)
        self._enter(anyones)
        if ticket.queued:
            self._await(anyones)
        if ticket.leads:
            self._lead(anyones)
        return ticket.outcome()

    def close(self) -> None:
        """Let queued work finish, then refuse more."""
        with self._mutex:
            self._closed = True
            while self._busy:
                self._moved.wait()

    def _enter(self, ticket: _Ticket[object]) -> None:
        """Let `ticket` lead, or put it in line."""
        with self._mutex:
            while len(self._queue) >= self._most:
                self._moved.wait()
            if self._closed:
                raise ClosedError(ClosedError.__doc__)
            if self._busy:
                ticket.line_up()
                self._queue.append(ticket)
            else:
                self._busy = ticket.leads = True

    def _await(self, ticket: _Ticket[object]) -> None:
        try:
            ticket.wake.acquire()
        except BaseException:  # Ctrl-C while waiting
            self._leave(ticket)
            raise
        finally:
            if ticket.settled:
                self._wake_next(ticket)

    def _leave(self, ticket: _Ticket[object]) -> None:
        """Step out of the line; once taken into a group, see it through, since others are woken from here."""
        with self._mutex:
            waiting = ticket in self._queue
            if waiting:
                self._queue.remove(ticket)
        while not (waiting or ticket.leads or ticket.settled):
            with contextlib.suppress(KeyboardInterrupt):  # the first is raised already
                ticket.wake.acquire(timeout=0.05)
        if ticket.leads:
            self._pass_on()

    def _lead(self, ticket: _Ticket[object]) -> None:
        group = [ticket]
        try:
            self._commit(group)
        except sqlite3.Error as error:
            self._undo()
            for each in group:
                each.error = unwritable(error)
                each.error.__cause__ = error
        except BaseException as error:  # Ctrl-C in the middle: nobody of the group may believe it was written
            self._undo()
            for each in group:
                each.error = each.error or unwritable(LedgerError(f"interrupted by {error!r}"))
            raise
        finally:
            for each, follower in itertools.pairwise(group):
                each.follower = follower
            for each in group:  # after all of them know whom to wake
                each.settled = True
            self._wake_next(ticket)

    def _commit(self, group: list[_Ticket[object]]) -> None:
        """Write `group`, to which everybody is added who is in line by then, in one transaction."""
        connection = self._connection
        if self._queue:
            group += self._take(self._most - 1)
        self._open()
        done, clean = 0, True
        while clean and done < len(group):
            clean = _run(connection, group[done])
            done += 1
            if done == len(group) > 1 and self._queue:  # whoever came meanwhile still makes this commit
                group += self._take(self._most - done)
        if not clean:
            self._open()
            for ticket in group:
                self._flush(connection)
                _run_apart(connection, ticket)
        self._flush(connection)
        self._end(connection)
        connection.execute("COMMIT")

    def _open(self) -> None:
        """Begin a transaction, over again if one is open: after unclean work, or where an undo failed."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.execute("BEGIN IMMEDIATE")
        self._begin(self._connection)

    def _take(self, most: int) -> list[_Ticket[object]]:
        with self._mutex:
            taken = [self._queue.popleft() for _ in range(min(most, len(self._queue)))]
            self._moved.notify_all()
        return taken

    def _pass_on(self) -> None:
        """Hand the lead to the first in line, or rest."""
        with self._mutex:
            if self._queue:
                heir = self._queue.popleft()
                heir.leads = True
                heir.rouse()
            else:
                self._busy = False
            self._moved.notify_all()

    def _wake_next(self, ticket: _Ticket[object]) -> None:
        """Wake one of the group only: all at once would only queue up for the interpreter lock."""
        if ticket.follower is not None:
            ticket.follower.rouse()
        else:
            self._pass_on()

    def _undo(self) -> None:
        # SQLite has undone it itself after some faults; where this fails too, _commit tries again.
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _run(connection: sqlite3.Connection, ticket: _Ticket[object]) -> bool:
    """Run one unit of work; return False if it failed and left something behind.

    Failing is rare and mostly comes before the first write, so a savepoint for each, a third of the cost of
    an append, is kept for groups in which it is needed (`_run_apart`).
    """
    before = connection.total_changes
    return _attempt(connection, ticket) or connection.total_changes == before


def _run_apart(connection: sqlite3.Connection, ticket: _Ticket[object]) -> None:
    """Run one unit of work in a savepoint, so that what it refuses undoes only itself."""
    connection.execute("SAVEPOINT work")
    if not _attempt(connection, ticket):
        connection.execute("ROLLBACK TO work")
    connection.execute("RELEASE work")


def _attempt(connection: sqlite3.Connection, ticket: _Ticket[object]) -> bool:
    ticket.error = None
    try:
        ticket.result = ticket.work(connection)
    except _LOCAL_FAULTS as error:
        ticket.error = DraftError(f"{DraftError.__doc__} The reason: {error}.")
        ticket.error.__cause__ = error
    except sqlite3.Error:
        raise
    except Exception as error:  # noqa: BLE001  it is handed to the caller whose work it was
        ticket.error = error
    return ticket.error is None
