"""When the file cannot be written: nothing is half-written, the truth is told, and it goes on afterwards."""

import os
import resource
import signal
import sqlite3
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ledger.kinds import LedgerUnwritableError
from ledger.store import Ledger
from ledger.verify import verify_live
from tests.ledger.support import START, batch, draft, ledger_in, open_ledger


def check(folder: Path, ledger: Ledger, *, entries: int) -> None:
    report = verify_live(folder / "ledger.db", keys=[ledger.verifier], held={})
    assert report.ok, report.findings
    assert report.entries == entries


def in_child(work: Callable[[], None]) -> None:
    """Run `work` in a forked process, whose limits and user may change without harm."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001  shown by the parent's failure
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def fill(ledger: Ledger) -> int:
    """Append until the ledger refuses; return how many entries it took."""
    for taken in range(10_000):
        try:
            ledger.append(batch(draft(output=b"x" * 4000)))
        except LedgerUnwritableError:
            return taken
    raise AssertionError("it never refused")


def test_a_full_database_refuses_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        pages = ledger._connection.execute("PRAGMA page_count").fetchone()[0]
        ledger._connection.execute(f"PRAGMA max_page_count = {pages + 20}")
        taken = fill(ledger)
        assert ledger.head().seq == taken > 0
        with pytest.raises(LedgerUnwritableError, match="full"):
            ledger.inbox.commit("e1", "here", "x" * 9000, START)
        assert ledger.inbox.pending() == []
        ledger._connection.execute("PRAGMA max_page_count = 1000000")
        assert ledger.append(batch()).first_seq == taken + 1
    check(tmp_path, ledger, entries=taken + 1)


def test_a_full_disk_refuses_everybody_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        ledger = open_ledger(tmp_path)
        ledger.append(batch())
        size = max(path.stat().st_size for path in tmp_path.iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 60_000, resource.RLIM_INFINITY))
        kept: list[int] = []
        refused: list[LedgerUnwritableError] = []

        def append() -> None:
            for _ in range(20):
                try:
                    kept.append(ledger.append(batch(draft(output=b"x" * 4000))).first_seq)
                except LedgerUnwritableError as error:
                    refused.append(error)

        threads = [threading.Thread(target=append) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert kept
        assert refused
        assert sorted(kept) == list(range(2, len(kept) + 2))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert ledger.append(batch()).first_seq == len(kept) + 2
        ledger.close()
        check(tmp_path, ledger, entries=len(kept) + 2)

    in_child(work)


def test_a_locked_file_is_waited_for_and_then_refused(tmp_path: Path) -> None:
    with ledger_in(tmp_path, busy_timeout_s=0.05) as ledger:
        ledger.append(batch())
        with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerUnwritableError, match="locked"):
                ledger.append(batch())
            with pytest.raises(LedgerUnwritableError, match="locked"):
                ledger.tick()
            other.execute("ROLLBACK")
        assert ledger.append(batch()).first_seq == 2
    check(tmp_path, ledger, entries=2)


def test_a_file_that_turns_read_only_refuses_and_goes_on(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())
        ledger._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(LedgerUnwritableError, match="readonly"):
            ledger.append(batch())
        ledger._connection.execute("PRAGMA query_only = OFF")
        assert ledger.append(batch()).first_seq == 2
    check(tmp_path, ledger, entries=2)


def as_nobody(work: Callable[[Path], None], prepare: Callable[[Path], None]) -> None:
    """Run `work` in a folder that `prepare` made, as somebody whom permissions bind."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)

        def child() -> None:
            prepare(folder)
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            work(folder)

        in_child(child)
        folder.chmod(0o755)


def stopped_ledger(folder: Path) -> None:
    with ledger_in(folder) as ledger:
        ledger.append(batch(draft(words=b"x")))
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


def test_a_read_only_folder_refuses_to_be_written_and_can_be_read() -> None:
    def work(folder: Path) -> None:
        with pytest.raises(LedgerUnwritableError, match="Permission denied"):
            open_ledger(folder)
        report = verify_live(folder / "ledger.db", keys=[], held={})
        assert report.entries == 1

    as_nobody(work, stopped_ledger)


def test_a_read_only_file_refuses_to_be_written() -> None:
    def prepare(folder: Path) -> None:
        stopped_ledger(folder)
        folder.chmod(0o777)
        (folder / "lock").chmod(0o666)

    def work(folder: Path) -> None:
        with pytest.raises(LedgerUnwritableError, match="Permission denied"):
            open_ledger(folder)

    as_nobody(work, prepare)


def test_a_key_that_may_not_be_read() -> None:
    def prepare(folder: Path) -> None:
        stopped_ledger(folder)
        folder.chmod(0o777)
        for name in ("lock", "ledger.db"):
            (folder / name).chmod(0o666)
        (folder / "ledger.key").chmod(0o000)

    def work(folder: Path) -> None:
        with pytest.raises(LedgerUnwritableError, match="Permission denied"):
            open_ledger(folder)

    as_nobody(work, prepare)


def test_a_file_locked_at_the_start(tmp_path: Path) -> None:
    with ledger_in(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerUnwritableError, match="locked"):
            open_ledger(tmp_path, busy_timeout_s=0.05)
    with ledger_in(tmp_path) as ledger:
        assert ledger.append(batch()).first_seq == 1


def test_a_last_checkpoint_that_cannot_be_written_does_not_keep_it_open(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path)
    ledger.append(batch())
    ledger._connection.execute("PRAGMA query_only = ON")
    with pytest.raises(LedgerUnwritableError):
        ledger.close()
    with ledger_in(tmp_path) as again:
        assert again.append(batch()).first_seq == 2
    check(tmp_path, again, entries=2)
