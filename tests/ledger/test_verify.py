"""The attacks on the entries where they lie: all are found, and named; the guards refuse most of them."""

import sqlite3
from contextlib import closing
from hashlib import sha256

import pytest

from ledger.audit import Fault
from tests.ledger.support import COLUMNS, attacker, batch, ledger_in, rehash
from tests.ledger.victim import SIZE, Victim, found


def test_an_untouched_ledger_verifies_live_and_exported(victim: Victim) -> None:
    live = victim.verify(held=victim.kept)
    assert live.ok
    assert (live.entries, live.covered, live.checkpoints, live.payloads) == (SIZE, SIZE, 4, SIZE)
    whole = victim.verify_lines(victim.lines(), held=victim.kept)
    assert whole == live
    bare = victim.verify_lines(victim.lines(with_payloads=False))
    assert (bare.ok, bare.absent, bare.payloads) == (True, SIZE, 0)
    with closing(sqlite3.connect(victim.path)) as connection:
        assert live.head == connection.execute("SELECT hash FROM entry WHERE seq = 12").fetchone()[0]


def test_an_export_is_the_same_each_time(victim: Victim) -> None:
    assert victim.lines() == victim.lines()


# --------------------------------------------------------------- attacks on the file


@pytest.mark.parametrize("column", COLUMNS[1:])
@pytest.mark.parametrize("seq", [1, 6, SIZE])
def test_a_changed_byte_in_any_column(victim: Victim, column: str, seq: int) -> None:
    with attacker(victim.folder) as thief:
        (value,) = thief.execute(f"SELECT {column} FROM entry WHERE seq = ?", (seq,)).fetchone()
        for at in (0, len(value) // 2, len(value) - 1):
            changed = value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :]
            thief.execute(f"UPDATE entry SET {column} = ? WHERE seq = ?", (changed, seq))
            assert found(victim.verify()) == (Fault.CHANGED, seq, seq)
        thief.execute(f"UPDATE entry SET {column} = ? WHERE seq = ?", (value, seq))
    assert victim.verify().ok


@pytest.mark.parametrize("value", [b"\xff\xfe", 7, 1.5, b""])
@pytest.mark.parametrize("column", ["kind", "body", "hash", "prev_hash"])
def test_a_column_of_another_type(victim: Victim, column: str, value: object) -> None:
    with attacker(victim.folder) as thief:
        thief.execute(f"UPDATE entry SET {column} = ? WHERE seq = 6", (value,))
    assert found(victim.verify()) == (Fault.CHANGED, 6, 6)


def test_a_number_that_was_changed(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("UPDATE entry SET seq = 99 WHERE seq = 12")
    assert found(victim.verify()) == (Fault.CHANGED, 12, 12)


def test_a_removed_entry(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("DELETE FROM entry WHERE seq = 6")
    assert found(victim.verify()) == (Fault.MISSING, 6, 6)


def test_several_removed_entries(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("DELETE FROM entry WHERE seq BETWEEN 2 AND 5")
    assert found(victim.verify()) == (Fault.MISSING, 2, 5)


def test_removed_entries_whose_numbers_were_closed_up(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("DELETE FROM entry WHERE seq = 6")
        thief.execute("UPDATE entry SET seq = seq - 1 WHERE seq > 6")
    assert found(victim.verify()) == (Fault.CHANGED, 6, 6)


def test_an_entry_of_number_zero(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("UPDATE entry SET seq = 0 WHERE seq = 1")
        thief.execute(
            "UPDATE entry SET prev_hash = ?, hash = ? WHERE seq = 0",
            ("0" * 64, _hash(thief, 0, "0" * 64)),
        )
    assert found(victim.verify()) == (Fault.MISPLACED, 1, 1)


def _hash(connection: sqlite3.Connection, seq: int, prev: str) -> str:
    fields = connection.execute(
        "SELECT kind, at, correlation_id, body FROM entry WHERE seq = ?", (seq,)
    ).fetchone()
    return sha256("\n".join([prev, str(seq), *fields]).encode()).hexdigest()


def test_swapped_entries(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("UPDATE entry SET seq = 100 WHERE seq = 3")
        thief.execute("UPDATE entry SET seq = 3 WHERE seq = 7")
        thief.execute("UPDATE entry SET seq = 7 WHERE seq = 100")
    assert found(victim.verify()) == (Fault.CHANGED, 3, 3)


def test_one_entry_rewritten_with_its_own_hash(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("UPDATE entry SET body = '{}' WHERE seq = 6")
        (prev,) = thief.execute("SELECT hash FROM entry WHERE seq = 5").fetchone()
        thief.execute("UPDATE entry SET hash = ? WHERE seq = 6", (_hash(thief, 6, prev),))
    assert found(victim.verify()) == (Fault.UNLINKED, 6, 7)


def test_a_rewritten_first_entry(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("UPDATE entry SET prev_hash = ? WHERE seq = 1", ("1" * 64,))
        thief.execute("UPDATE entry SET hash = ? WHERE seq = 1", (_hash(thief, 1, "1" * 64),))
    assert found(victim.verify()) == (Fault.UNLINKED, 1, 1)


@pytest.mark.parametrize(("start", "first", "last"), [(1, 1, 4), (6, 5, 8), (9, 9, 12)])
def test_a_rewritten_tail_with_recomputed_hashes(victim: Victim, start: int, first: int, last: int) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("UPDATE entry SET correlation_id = 'forged' WHERE seq = ?", (start,))
        rehash(thief, start=start)
    report = victim.verify()
    assert found(report) == (Fault.REWRITTEN, first, last)
    assert (report.entries, report.head) == (first - 1, "")


def test_an_inserted_entry_with_recomputed_hashes(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("UPDATE entry SET seq = seq + 1000 WHERE seq > 6")
        thief.execute("UPDATE entry SET seq = seq - 999 WHERE seq > 1000")
        thief.execute("INSERT INTO entry SELECT 7, kind, at, 'forged', '{}', '', '' FROM entry WHERE seq = 1")
        rehash(thief, start=7)
    assert found(victim.verify()) == (Fault.REWRITTEN, 5, 8)


def test_a_tail_rewritten_together_with_the_stored_checkpoints_meets_the_kept_one(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("UPDATE entry SET correlation_id = 'forged' WHERE seq = 6")
        rehash(thief, start=6)
        thief.execute("DELETE FROM checkpoint WHERE size > 4")
    assert victim.verify().ok  # D10: without a checkpoint held elsewhere nobody could tell
    assert found(victim.verify(held=victim.kept)) == (Fault.REWRITTEN, 5, 8)


def test_a_ledger_signed_anew_with_its_own_key_meets_the_kept_checkpoint(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("DELETE FROM checkpoint")
        thief.execute("UPDATE entry SET correlation_id = 'forged' WHERE seq = 2")
        rehash(thief, start=2)
    with ledger_in(victim.folder, seed=700) as ledger:
        ledger.append(batch())
    assert victim.verify().ok
    assert found(victim.verify(held=victim.kept)) == (Fault.REWRITTEN, 1, 8)


def test_a_truncated_ledger(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("DELETE FROM entry WHERE seq > 6")
    assert found(victim.verify()) == (Fault.TRUNCATED, 7, 8)


def test_a_ledger_truncated_with_its_checkpoints_meets_the_kept_one(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("DELETE FROM entry WHERE seq > 6")
        thief.execute("DELETE FROM payload WHERE seq > 6")
        thief.execute("DELETE FROM checkpoint WHERE size > 6")
    assert victim.verify().ok
    report = victim.verify(held=victim.kept)
    assert found(report) == (Fault.TRUNCATED, 7, 8)
    assert "Entries 7 to 8 are gone" in report.findings[0].text


def test_an_emptied_ledger(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        for table in ("entry", "payload", "checkpoint"):
            thief.execute(f"DELETE FROM {table}")
    assert found(victim.verify(held=victim.kept)) == (Fault.TRUNCATED, 1, 8)


# --------------------------------------------------------------- attacks that the guards refuse

REFUSED = [
    "UPDATE entry SET body = '{}' WHERE seq = 3",
    "UPDATE OR REPLACE entry SET seq = 4 WHERE seq = 3",
    "DELETE FROM entry WHERE seq = 12",
    "DELETE FROM entry",
    "INSERT OR REPLACE INTO entry VALUES (3, 'a', 'b', 'c', '{}', '', '')",
    "REPLACE INTO entry SELECT seq, kind, at, 'forged', body, prev_hash, hash FROM entry WHERE seq = 12",
    "INSERT INTO entry VALUES (99, 'a', 'b', 'c', '{}', '', '')",
    "INSERT INTO entry VALUES (0, 'a', 'b', 'c', '{}', '', '')",
    "INSERT INTO entry VALUES (NULL, 'a', 'b', 'c', '{}', '', '')",
    "INSERT INTO entry VALUES (3, 'a', 'b', 'c', '{}', '', '') ON CONFLICT DO UPDATE SET body = '{}'",
    "UPDATE checkpoint SET note = ''",
    "DELETE FROM checkpoint",
    "INSERT OR REPLACE INTO checkpoint VALUES (12, '', '', '', '')",
    "INSERT INTO checkpoint VALUES (13, '', '', '', '')",
    "UPDATE payload SET content = x'00'",
    "UPDATE payload SET content = NULL, salt = NULL",
    "UPDATE payload SET content = NULL, pruned_at = 'now'",
    "UPDATE payload SET content = NULL, salt = NULL, pruned_at = 'now', seq = 1 WHERE seq = 2",
    "DELETE FROM payload",
    "INSERT OR REPLACE INTO payload SELECT hash, seq, size, NULL, salt, x'00' FROM payload",
]


@pytest.mark.parametrize("recursive", ["OFF", "ON"])
@pytest.mark.parametrize("attack", REFUSED)
def test_sql_that_rewrites_is_refused(victim: Victim, attack: str, recursive: str) -> None:
    with attacker(victim.folder, disarm=False) as thief:
        thief.execute(f"PRAGMA recursive_triggers = {recursive}")
        with pytest.raises(sqlite3.IntegrityError):
            thief.execute(attack)
    assert victim.verify().ok


def test_a_guard_that_was_dropped_is_named(victim: Victim) -> None:
    with attacker(victim.folder, disarm=False) as thief:
        thief.execute("DROP TRIGGER entry_stays")
        thief.execute("UPDATE entry SET body = '{}' WHERE seq = 3")
    report = victim.verify()
    assert [finding.fault for finding in report.findings] == [Fault.GUARD, Fault.CHANGED]
    assert "entry_stays" in report.findings[0].text


def test_a_guard_that_was_made_toothless_is_named(victim: Victim) -> None:
    with attacker(victim.folder, disarm=False) as thief:
        thief.execute("DROP TRIGGER entry_stays")
        thief.execute("CREATE TRIGGER entry_stays BEFORE UPDATE ON entry BEGIN SELECT 1; END")
    assert found(victim.verify())[0] is Fault.GUARD
