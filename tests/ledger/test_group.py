import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledger.group import MAX_GROUP, ClosedError, GroupWriter, _Ticket
from ledger.kinds import DraftError, LedgerUnwritableError


class Bench:
    """A writer over one table of numbers, and work that a test can hold in the middle."""

    def __init__(self, path: Path, *, most: int = MAX_GROUP) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.connection.execute("CREATE TABLE number (value INTEGER UNIQUE)")
        self.commits = 0
        self.end: Callable[[sqlite3.Connection], None] = lambda _: None
        self.writer = GroupWriter(
            self.connection, begin=lambda _: None, flush=lambda _: None, end=self._count, most=most
        )
        self.held = threading.Event()
        self.go = threading.Event()
        self.threads: list[threading.Thread] = []
        self.errors: list[BaseException] = []

    def _count(self, connection: sqlite3.Connection) -> None:
        self.commits += 1
        self.end(connection)

    def add(self, value: int) -> int:
        return self.writer.submit(lambda connection: self._insert(connection, value))

    @staticmethod
    def _insert(connection: sqlite3.Connection, value: int) -> int:
        connection.execute("INSERT INTO number VALUES (?)", (value,))
        return value

    def wait_here(self, connection: sqlite3.Connection) -> None:
        self.held.set()
        assert self.go.wait(60)

    def start(self, work: Callable[[], object]) -> None:
        def run() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001  the test looks at it
                self.errors.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        self.threads.append(thread)

    def hold(self) -> None:
        self.start(lambda: self.writer.submit(self.wait_here))
        assert self.held.wait(60)

    def queued(self, count: int) -> None:
        while len(self.writer._queue) < count:
            threading.Event().wait(0.001)

    def release(self) -> None:
        self.go.set()
        for thread in self.threads:
            thread.join(60)

    def values(self) -> list[int]:
        return [row[0] for row in self.connection.execute("SELECT value FROM number ORDER BY value")]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "numbers.db")
    yield made
    made.release()
    made.connection.close()


def test_idle_work_commits_at_once(bench: Bench) -> None:
    assert bench.add(1) == 1
    assert bench.values() == [1]
    assert bench.commits == 1


def test_work_that_queues_shares_a_commit(bench: Bench) -> None:
    bench.hold()
    for number in range(20):
        bench.start(lambda number=number: bench.add(number))
    bench.queued(20)
    bench.release()
    assert bench.values() == list(range(20))
    assert bench.commits == 2
    assert bench.errors == []


def test_what_fails_in_a_group_undoes_only_itself(bench: Bench) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO number VALUES (1000)")
        raise RuntimeError("half done")

    bench.hold()
    for number in range(5):
        bench.start(lambda number=number: bench.add(number))
    bench.start(lambda: bench.writer.submit(half))
    bench.start(lambda: bench.writer.submit(lambda c: c.execute("INSERT INTO number VALUES (?)", (1, 2))))
    bench.queued(7)
    bench.start(lambda: bench.add(3))
    bench.queued(8)
    bench.release()
    assert bench.values() == list(range(5))
    assert sorted(type(error).__name__ for error in bench.errors) == [
        "DraftError",
        "DraftError",
        "RuntimeError",
    ]


def test_a_constraint_is_told_to_whoever_broke_it(bench: Bench) -> None:
    bench.add(1)
    bench.hold()
    bench.start(lambda: bench.add(1))
    bench.start(lambda: bench.add(2))
    bench.queued(2)
    bench.release()
    assert [type(error) for error in bench.errors] == [DraftError]
    assert bench.values() == [1, 2]


def test_a_fault_of_the_file_is_told_to_everybody_in_the_group(bench: Bench) -> None:
    bench.hold()
    bench.start(lambda: bench.add(1))
    bench.start(lambda: bench.writer.submit(lambda connection: connection.execute("SELECT * FROM gone")))
    bench.start(lambda: bench.add(2))
    bench.queued(3)
    bench.release()
    assert [type(error) for error in bench.errors] == [LedgerUnwritableError] * 3
    assert bench.values() == []
    assert bench.add(3) == 3


def test_a_fault_at_the_end_of_a_transaction_undoes_it(bench: Bench) -> None:
    def broken(_: sqlite3.Connection) -> None:
        raise RuntimeError("no checkpoint")

    bench.end = broken
    with pytest.raises(RuntimeError, match="no checkpoint"):
        bench.add(1)
    bench.end = lambda _: None
    assert bench.values() == []
    assert bench.add(1) == 1


def test_others_in_a_group_whose_end_fails_are_told_that_nothing_was_written(bench: Bench) -> None:
    def broken(_: sqlite3.Connection) -> None:
        if bench.commits == 2:
            raise RuntimeError("no checkpoint")

    bench.end = broken
    bench.hold()
    for number in range(4):
        bench.start(lambda number=number: bench.add(number))
    bench.queued(4)
    bench.release()
    assert sorted(type(error).__name__ for error in bench.errors) == ["LedgerUnwritableError"] * 3 + [
        "RuntimeError"
    ]
    assert bench.values() == []
    assert bench.add(9) == 9


def test_a_transaction_left_open_is_not_built_on(bench: Bench) -> None:
    bench.connection.execute("BEGIN")
    bench.connection.execute("INSERT INTO number VALUES (7)")
    bench.add(1)
    assert bench.values() == [1]


def test_a_failed_undo_is_made_up_for_by_the_next_one(bench: Bench) -> None:
    class Stubborn(sqlite3.Connection):
        refuse = True

        def execute(self, sql: str, *rest: object) -> sqlite3.Cursor:  # type: ignore[override]  # same call
            if sql == "ROLLBACK" and self.refuse:
                self.refuse = False
                raise sqlite3.OperationalError("disk I/O error")
            if sql == "COMMIT" and self.refuse:
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(sql, *rest)

    stubborn = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=Stubborn)
    stubborn.execute("CREATE TABLE number (value INTEGER UNIQUE)")
    writer = GroupWriter(stubborn, begin=lambda _: None, flush=lambda _: None, end=lambda _: None)
    with pytest.raises(LedgerUnwritableError, match="disk I/O error"):
        writer.submit(lambda connection: Bench._insert(connection, 1))
    assert stubborn.in_transaction
    assert writer.submit(lambda connection: Bench._insert(connection, 2)) == 2
    assert [row[0] for row in stubborn.execute("SELECT value FROM number")] == [2]
    stubborn.close()


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_full_queue_makes_others_wait_and_nobody_is_lost(tmp_path: Path, most: int) -> None:
    bench = Bench(tmp_path / "numbers.db", most=most)
    bench.hold()
    for number in range(8):
        bench.start(lambda number=number: bench.add(number))
    bench.queued(most)
    threading.Event().wait(0.05)
    assert len(bench.writer._queue) == most
    bench.release()
    assert bench.values() == list(range(8))
    assert bench.commits >= 1 + 8 / (most + 1)
    bench.connection.close()


def test_a_closed_writer_takes_nothing_and_lets_the_queue_finish(bench: Bench) -> None:
    bench.hold()
    bench.start(lambda: bench.add(1))
    bench.queued(1)
    bench.start(bench.writer.close)
    while not bench.writer._closed:
        threading.Event().wait(0.001)
    with pytest.raises(ClosedError):
        bench.add(2)
    bench.release()
    assert bench.values() == [1]


def _interrupt_while(
    waits: Callable[[], object], *, when: Callable[[], None], then: Callable[[], None] = lambda: None
) -> None:
    """Run `waits` in the main thread and send it Ctrl-C once `when` returns; `then` comes after that."""
    main = threading.main_thread().ident
    assert main is not None
    # Whoever started the tests in the background had it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def strike() -> None:
        when()
        signal.pthread_kill(main, signal.SIGINT)
        then()

    threading.Thread(target=strike).start()
    with pytest.raises(KeyboardInterrupt):
        waits()


def test_ctrl_c_in_the_queue_leaves_it(bench: Bench) -> None:
    bench.hold()
    _interrupt_while(lambda: bench.add(1), when=lambda: bench.queued(1))
    bench.start(lambda: bench.add(2))
    bench.queued(1)
    bench.release()
    assert bench.values() == [2]


def test_ctrl_c_of_a_leader_tells_its_group_that_nothing_was_written(bench: Bench) -> None:
    def lead(connection: sqlite3.Connection) -> None:
        Bench._insert(connection, 1)
        bench.wait_here(connection)

    def when() -> None:
        assert bench.held.wait(60)
        bench.start(lambda: bench.add(2))
        bench.queued(1)

    _interrupt_while(lambda: bench.writer.submit(lead), when=when)
    bench.release()
    assert bench.values() == [2]
    assert bench.add(3) == 3


def test_ctrl_c_after_being_taken_into_a_group_still_wakes_the_next(bench: Bench) -> None:
    inside = threading.Event()
    proceed = threading.Event()

    def slow(connection: sqlite3.Connection) -> None:
        inside.set()
        assert proceed.wait(60)

    bench.hold()
    bench.start(lambda: bench.writer.submit(slow))  # leads the second group
    bench.queued(1)

    def when() -> None:
        bench.queued(2)  # the main thread stands second
        bench.start(lambda: bench.add(2))
        bench.queued(3)
        bench.go.set()
        assert inside.wait(60)

    def then() -> None:  # not before: its group would be over, and Ctrl-C would meet whatever comes next
        threading.Event().wait(0.1)
        proceed.set()

    _interrupt_while(lambda: bench.add(1), when=when, then=then)
    bench.release()
    assert bench.errors == []
    assert bench.values() == [1, 2]


def test_ctrl_c_that_meets_the_lead_passes_it_on(bench: Bench) -> None:
    ticket: _Ticket[object] = _Ticket(lambda _connection: None)
    ticket.line_up()
    ticket.leads = True
    bench.writer._busy = True
    bench.start(lambda: bench.add(5))
    bench.queued(1)
    bench.writer._leave(ticket)
    bench.release()
    assert bench.values() == [5]
