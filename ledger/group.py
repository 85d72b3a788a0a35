"""One writer for many threads: idle commits inline, busy commits in groups (D11).

The thread that finds the writer idle leads: it opens one transaction, takes its own work and all that queued
meanwhile, commits once, and only then tells anybody. When more has queued by then, the lead passes to the
first in line, so nobody works long for others. Work of a group stands in a savepoint of its own: what it
refuses undoes only itself; what SQLite refuses (full, read-only, locked, broken) undoes the group and is told
to everybody in it. Knows nothing of entries.
"""

import contextlib
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar, cast

from ledger.engine import unwritable
from ledger.kinds import DraftError, LedgerError

T = TypeVar("T")

#: The most units of work in one transaction, and in the queue.
MAX_GROUP = 512

#: Faults of one unit of work; every other sqlite3.Error is a fault of the file.
_LOCAL_FAULTS = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError)


class ClosedError(LedgerError):
    """The ledger is closed: sayso is stopping. Nothing was written."""


class _Ticket(Generic[T]):
    """One unit of work on its way: queued, then led or served, then settled."""

    __slots__ = ("error", "leads", "result", "wake", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], T]) -> None:
        self.work = work
        self.result: T | None = None
        self.error: BaseException | None = None
        self.leads = False
        self.wake = threading.Lock()
        self.wake.acquire()

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return cast("T", self.result)


class GroupWriter:
    """Commits units of work on one connection, each in whole or not at all.

    Args:
        connection: the writer's, in autocommit mode; nobody else uses it.
        begin: called at the start of every transaction; reads what the work relies on afresh.
        end: called before every commit, after all work of the group.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        begin: Callable[[sqlite3.Connection], None],
        end: Callable[[sqlite3.Connection], None],
    ) -> None:
        self._connection = connection
        self._begin = begin
        self._end = end
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
        leads = self._enter(cast("_Ticket[object]", ticket))
        if not leads:
            self._await(cast("_Ticket[object]", ticket))
            leads = ticket.leads
        if leads:
            self._lead()
        return ticket.outcome()

    def close(self) -> None:
        """Let queued work finish, then refuse more."""
        with self._mutex:
            self._closed = True
            while self._busy:
                self._moved.wait()

    def _enter(self, ticket: _Ticket[object]) -> bool:
        """Queue `ticket`; return whether its thread is to lead."""
        with self._mutex:
            while len(self._queue) >= MAX_GROUP:
                self._moved.wait()
            if self._closed:
                raise ClosedError(ClosedError.__doc__)
            self._queue.append(ticket)
            leads = not self._busy
            self._busy = True
        return leads

    def _await(self, ticket: _Ticket[object]) -> None:
        try:
            ticket.wake.acquire()
        except BaseException:  # Ctrl-C while waiting: leave the line, or pass on the lead if it just came
            with self._mutex:
                queued = ticket in self._queue
                if queued:
                    self._queue.remove(ticket)
            if ticket.leads:
                self._pass_on()
            raise

    def _lead(self) -> None:
        group: list[_Ticket[object]] = []
        try:
            self._commit(group)
        except sqlite3.Error as error:
            self._undo()
            for ticket in group:
                ticket.error = unwritable(error)
                ticket.error.__cause__ = error
        except BaseException as error:  # Ctrl-C in the middle: nobody of the group may believe it was written
            self._undo()
            for ticket in group:
                ticket.error = ticket.error or unwritable(LedgerError(f"interrupted by {error!r}"))
            raise
        finally:
            self._pass_on()
            for ticket in group:
                ticket.wake.release()

    def _commit(self, group: list[_Ticket[object]]) -> None:
        connection = self._connection
        if connection.in_transaction:  # an earlier undo failed: do not build on its remains
            connection.execute("ROLLBACK")
        arrived = self._take(MAX_GROUP)
        group += arrived
        connection.execute("BEGIN IMMEDIATE")
        self._begin(connection)
        alone = len(arrived) == 1
        while arrived:
            for ticket in arrived:
                _run(connection, ticket)
            # Whoever came meanwhile still makes this commit. A lone leader does not look: that is idle.
            arrived = [] if alone else self._take(MAX_GROUP - len(group))
            group += arrived
        if all(ticket.error is not None for ticket in group):
            connection.execute("ROLLBACK")
            return
        self._end(connection)
        connection.execute("COMMIT")

    def _take(self, most: int) -> list[_Ticket[object]]:
        with self._mutex:
            taken = [self._queue.popleft() for _ in range(min(most, len(self._queue)))]
            self._moved.notify_all()
        return taken

    def _pass_on(self) -> None:
        """Hand the lead to the first in line, or rest."""
        with self._mutex:
            if self._queue:
                heir = self._queue[0]
                heir.leads = True
                heir.wake.release()
            else:
                self._busy = False
            self._moved.notify_all()

    def _undo(self) -> None:
        # SQLite has undone it itself after some faults; where this fails too, _commit tries again.
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _run(connection: sqlite3.Connection, ticket: _Ticket[object]) -> None:
    """Run one unit of work in a savepoint; what it raises of its own stays with it."""
    connection.execute("SAVEPOINT work")
    try:
        ticket.result = ticket.work(connection)
    except _LOCAL_FAULTS as error:
        ticket.error = DraftError(f"{DraftError.__doc__} The reason: {error}.")
        ticket.error.__cause__ = error
    except sqlite3.Error:
        raise
    except Exception as error:  # noqa: BLE001  it is handed to the caller whose work it was
        ticket.error = error
    if ticket.error is not None:
        connection.execute("ROLLBACK TO work")
    connection.execute("RELEASE work")
