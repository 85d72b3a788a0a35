import fcntl
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from ledger import checkpoint, engine, keys
from ledger.checkpoint import CheckpointError
from ledger.engine import (
    LedgerMissingError,
    LedgerUnreadableError,
    WriterLock,
    lock_file,
    open_reader,
    reading,
    snapshot,
    writer_pid,
)
from ledger.group import ClosedError
from ledger.keys import KeyMissingError
from ledger.kinds import LedgerBusyError, LedgerUnwritableError
from ledger.note import KeyFormatError
from ledger.verify import verify_live
from tests.ledger.support import CountedBytes, HandClock, attacker, batch, draft, ledger_in, open_ledger


def sizes(folder: Path) -> list[int]:
    with closing(sqlite3.connect(folder / "ledger.db")) as connection:
        return [row[0] for row in connection.execute("SELECT size FROM checkpoint ORDER BY size")]


def test_a_new_ledger_makes_its_folder_and_shows_its_files_to_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "state"
    with ledger_in(folder) as ledger:
        ledger.append(batch())
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert modes.pop("ledger.pub") == 0o644
    assert modes.keys() >= {"ledger.db", "ledger.db-wal", "ledger.key", "lock"}
    assert set(modes.values()) == {0o600}


def test_it_commits_durably(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        pragmas = {
            name: ledger._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "recursive_triggers", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "recursive_triggers": 1, "busy_timeout": 200}


def test_a_second_writer_is_refused_and_told_who_writes(tmp_path: Path) -> None:
    with ledger_in(tmp_path):
        with pytest.raises(LedgerBusyError, match=f"process id: {os.getpid()}"):
            open_ledger(tmp_path)
        assert writer_pid(tmp_path / "ledger.db") == os.getpid()
        lock_file(tmp_path / "ledger.db").write_text("")
        assert writer_pid(tmp_path / "ledger.db") == 0
        with pytest.raises(LedgerBusyError, match="process id: unknown"):
            open_ledger(tmp_path)
    assert writer_pid(tmp_path / "ledger.db") is None
    assert writer_pid(tmp_path / "elsewhere" / "ledger.db") is None
    with ledger_in(tmp_path):
        pass


def test_another_process_that_writes_is_noticed(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom ledger.engine import WriterLock\n"
        "WriterLock(Path(sys.argv[1])).acquire()\nprint('locked', flush=True)\nsys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "ledger.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "locked\n"
        with pytest.raises(LedgerBusyError, match=str(child.pid)):
            open_ledger(tmp_path)
        child.stdin.close()
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())


def test_readers_see_what_is_committed_and_write_nothing(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        reader = ledger.reader()
        assert ledger.reader() is reader
        ledger.append(batch())
        assert reader.execute("SELECT count(*) FROM entry").fetchone() == (1,)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("DELETE FROM inbox")
        with snapshot(reader):
            reader.execute("SELECT count(*) FROM entry").fetchone()
            ledger.append(batch())
            assert reader.execute("SELECT count(*) FROM entry").fetchone() == (1,)
        assert ledger.head().seq == 2


def test_every_thread_reads_with_a_connection_of_its_own(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        found: list[sqlite3.Connection] = []
        thread = threading.Thread(target=lambda: found.append(ledger.reader()))
        thread.start()
        thread.join()
        assert found[0] is not ledger.reader()
    with pytest.raises(ClosedError):
        ledger.reader()


def test_a_closed_ledger_takes_nothing(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path)
    ledger.close()
    ledger.close()
    with pytest.raises(ClosedError):
        ledger.append(batch())
    with pytest.raises(ClosedError):
        ledger.inbox.pending()


def test_checkpoints_come_every_so_many_entries_and_at_stop(tmp_path: Path) -> None:
    with ledger_in(tmp_path, checkpoint_every=5) as ledger:
        for _ in range(12):
            ledger.append(batch())
        assert sizes(tmp_path) == [5, 10]
    assert sizes(tmp_path) == [5, 10, 12]
    assert verify_live(tmp_path / "ledger.db", keys=[ledger.verifier], held={}).checkpoints == 3


def test_checkpoints_come_by_time_when_something_was_added(tmp_path: Path) -> None:
    clock = HandClock()
    with ledger_in(tmp_path, clock=clock, checkpoint_s=60) as ledger:
        ledger.append(batch())
        clock.advance(59)
        ledger.tick()
        assert sizes(tmp_path) == []
        clock.advance(1)
        ledger.tick()
        assert sizes(tmp_path) == [1]
        clock.advance(600)
        ledger.tick()
        assert sizes(tmp_path) == [1]
        ledger.append(batch())
        assert sizes(tmp_path) == [1, 2]


def test_an_empty_ledger_has_no_checkpoint(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        assert ledger.checkpoint() == ""
    assert sizes(tmp_path) == []


def test_a_checkpoint_can_be_asked_for_and_is_made_once(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())
        note = ledger.checkpoint()
        assert ledger.checkpoint() == note
        head = checkpoint.open_checkpoint(note, (ledger.verifier,))
        assert (head.size, head.origin) == (1, ledger.verifier.name)


def test_the_key_is_made_once_and_kept(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as first:
        first.append(batch())
    with ledger_in(tmp_path, seed=99) as second:
        assert second.verifier == first.verifier
    assert keys.known_keys(tmp_path / "ledger.key") == (first.verifier,)


def test_a_lost_public_file_is_written_again(tmp_path: Path) -> None:
    with ledger_in(tmp_path):
        pass
    (tmp_path / "ledger.pub").unlink()
    with ledger_in(tmp_path) as ledger:
        assert keys.known_keys(tmp_path / "ledger.key") == (ledger.verifier,)


def test_a_lost_key_is_not_replaced_unasked(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())
    (tmp_path / "ledger.key").unlink()
    with pytest.raises(KeyMissingError, match="key --new"):
        open_ledger(tmp_path)
    new = keys.make(tmp_path / "ledger.key", origin=ledger.verifier.name, random_bytes=CountedBytes(500))
    with ledger_in(tmp_path, seed=900) as again:
        again.append(batch())
        assert again.verifier == new.verifier != ledger.verifier
    known = keys.known_keys(tmp_path / "ledger.key")
    assert known == (ledger.verifier, new.verifier)
    report = verify_live(tmp_path / "ledger.db", keys=known, held={})
    assert (report.ok, report.checkpoints) == (True, 2)


def test_the_key_of_another_ledger_is_refused(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())
    keys.make(tmp_path / "ledger.key", origin="sayso/another", random_bytes=CountedBytes())
    with pytest.raises(KeyMissingError, match="sayso/another"):
        open_ledger(tmp_path)
    assert writer_pid(tmp_path / "ledger.db") is None


def test_the_signing_key_may_lie_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "secrets"
    elsewhere.mkdir()
    with ledger_in(tmp_path / "state", signing_key=elsewhere / "sign.key"):
        pass
    assert {path.name for path in elsewhere.iterdir()} == {"sign.key", "sign.pub"}


@pytest.mark.parametrize("content", [b"nonsense", b"\xff\xfe", b"PRIVATE+KEY+x"])
def test_a_key_file_that_holds_no_key(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.key").write_bytes(content)
    with pytest.raises(KeyFormatError):
        open_ledger(tmp_path)


@pytest.mark.parametrize("content", [b"nonsense", b"\xff\xfe"])
def test_a_public_file_that_holds_no_key(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.pub").write_bytes(content)
    with pytest.raises(KeyFormatError):
        open_ledger(tmp_path)


@pytest.mark.parametrize("name", ["ledger.key", "ledger.pub", "ledger.db", "lock", "ledger.pub.new"])
def test_a_folder_where_a_file_should_be(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(LedgerUnwritableError):
        open_ledger(tmp_path)


def test_a_key_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "ledger.key.new").mkdir()
    with pytest.raises(LedgerUnwritableError):
        open_ledger(tmp_path)
    (tmp_path / "ledger.key.new").rmdir()
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())


def test_a_file_that_is_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"not a database, only text" * 100)
    with pytest.raises(LedgerUnwritableError, match="not a database"):
        open_ledger(tmp_path)
    with pytest.raises(LedgerUnreadableError):
        open_reader(tmp_path / "ledger.db")
    with pytest.raises(LedgerUnreadableError):
        verify_live(tmp_path / "ledger.db", keys=[], held={})


def test_a_ledger_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(LedgerMissingError, match="Looked for"):
        open_reader(tmp_path / "ledger.db")
    assert list(tmp_path.iterdir()) == []


def test_a_state_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(LedgerUnwritableError):
        open_ledger(tmp_path / "state")


def test_damage_found_while_reading_is_told_in_words(tmp_path: Path) -> None:
    with ledger_in(tmp_path):
        pass
    with (
        pytest.raises(LedgerUnreadableError, match="no such table"),
        reading(tmp_path / "ledger.db") as connection,
    ):
        connection.execute("SELECT * FROM gone")


def test_a_tampered_frontier_is_not_built_on(tmp_path: Path) -> None:
    for stored in ("zz", "00" * 32, "00"):
        folder = tmp_path / stored
        with ledger_in(folder) as ledger:
            ledger.append(batch(draft("a"), draft("b"), draft("c"), draft("d")))
        with attacker(folder) as thief:
            thief.execute("UPDATE checkpoint SET frontier = ?", (stored,))
        with ledger_in(folder) as ledger:
            ledger.append(batch())
            note = ledger.checkpoint()
        with attacker(folder) as thief:
            thief.execute("DELETE FROM checkpoint WHERE size = 4")
        assert verify_live(folder / "ledger.db", keys=[ledger.verifier], held={"mine": note}).ok


def test_no_checkpoint_is_made_over_a_damaged_chain(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch(draft("a"), draft("b")))
        with attacker(tmp_path) as thief:
            thief.execute("UPDATE entry SET hash = 'nothing' WHERE seq = 1")
        with pytest.raises(CheckpointError, match="damaged"):
            ledger.checkpoint()
        with attacker(tmp_path) as thief:
            thief.execute("DELETE FROM entry WHERE seq = 1")
        with pytest.raises(CheckpointError, match="holds 1 entries, not 2"):
            ledger.checkpoint()
        with pytest.raises(CheckpointError):
            ledger.close()
    with attacker(tmp_path) as thief:
        assert thief.execute("SELECT count(*) FROM checkpoint").fetchone() == (0,)


@pytest.mark.parametrize(
    "text", ["", "o\n1\n", "o\n01\nAAAA\n", "o\nx\nAAAA\n", "o\n1\nAAAA\n", "o\n1\nA\n", "\n1\nAAAA\n"]
)
def test_what_is_no_checkpoint(text: str) -> None:
    with pytest.raises(CheckpointError):
        checkpoint.parse(text)


def test_a_lock_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to("/dev/full")
    with pytest.raises(LedgerUnwritableError, match=r"No space left|Invalid argument"):
        open_ledger(tmp_path)


def test_a_lock_let_go_twice(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "ledger.db")
    lock.acquire()
    lock.release()
    lock.release()
    assert writer_pid(tmp_path / "ledger.db") is None


def test_a_copy_of_a_dead_holders_lock_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "DEAD_HOLDER_S", 60.0)  # however late the copy is closed
    holder = subprocess.Popen(["true"])
    holder.wait()
    with (tmp_path / "lock").open("w") as copy:
        fcntl.flock(copy, fcntl.LOCK_EX)
        copy.write(f"{holder.pid}\n")
        copy.flush()
        threading.Timer(0.1, copy.close).start()
        with ledger_in(tmp_path) as ledger:
            assert ledger.append(batch()).first_seq == 1
    monkeypatch.setattr(engine, "DEAD_HOLDER_S", 0.1)
    with (tmp_path / "lock").open("w") as copy:
        fcntl.flock(copy, fcntl.LOCK_EX)
        copy.write(f"{holder.pid}\n")
        copy.flush()
        with pytest.raises(LedgerBusyError, match=str(holder.pid)):
            open_ledger(tmp_path)


def test_a_file_that_cannot_be_asked_for_its_origin(tmp_path: Path) -> None:
    with ledger_in(tmp_path):
        pass
    with attacker(tmp_path) as thief:
        thief.execute("ALTER TABLE checkpoint RENAME COLUMN note TO gone")
    with pytest.raises(LedgerUnwritableError, match="no such column"):
        open_ledger(tmp_path)
