"""The attacks on what stands around the entries: words, checkpoints, the file itself."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit import Fault
from ledger.checkpoint import Checkpoint
from ledger.keys import load
from ledger.note import Signer
from ledger.verify import verify_live
from tests.ledger.support import attacker, batch, draft, ledger_in, rehash
from tests.ledger.victim import SIZE, Victim, found


@pytest.mark.parametrize(
    "change",
    [
        "content = x'00'",
        "content = CAST(content AS BLOB) || x'00'",
        "salt = zeroblob(16)",
        "salt = NULL",
        "content = NULL",
        "size = 1",
        "pruned_at = 'now'",
    ],
)
def test_a_changed_payload(victim: Victim, change: str) -> None:
    with attacker(victim.folder) as thief:
        thief.execute(f"UPDATE payload SET {change} WHERE seq = 6")
    if change == "pruned_at = 'now'":
        assert victim.verify().ok  # the words still match their hash
        return
    report = victim.verify()
    assert found(report) == (Fault.PAYLOAD, 6, 6)
    assert report.findings[0].text == "Entry 6: its words was changed."
    assert (report.entries, report.payloads) == (SIZE, SIZE - 1)


def test_a_removed_payload(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("DELETE FROM payload WHERE seq = 6")
    assert found(victim.verify()) == (Fault.PAYLOAD, 6, 6)


def test_a_payload_that_no_entry_names(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("INSERT INTO payload VALUES ('x', 1, 1, NULL, x'00', x'00')")
    report = victim.verify()
    assert found(report) == (Fault.PAYLOAD, None, None)
    assert "1 payloads belong to no entry" in report.findings[0].text


def test_more_findings_than_anybody_reads_are_counted(victim: Victim) -> None:
    with ledger_in(victim.folder, seed=700) as ledger:
        ledger.append(batch(*(draft(words=b"x") for _ in range(30))))
    with attacker(victim.folder) as thief:
        thief.execute("DELETE FROM payload")
    report = victim.verify()
    assert (len(report.findings), report.more) == (20, SIZE + 30 - 20)


def forged(signer: Signer, *, origin: str, size: int, root: bytes) -> str:
    return signer.sign(Checkpoint(origin=origin, size=size, root=root).text)


@pytest.mark.parametrize(
    "change",
    [
        "note = replace(note, 'sayso', 'other')",
        "note = ''",
        "note = x'ff'",
        "root = replace(root, substr(root, 1, 1), 'x')",
        "frontier = ''",
        "frontier = 7",
        "size = 5",
    ],
)
def test_a_changed_checkpoint(victim: Victim, change: str) -> None:
    with attacker(victim.folder) as thief:
        thief.execute(f"UPDATE checkpoint SET {change} WHERE size = 4")
    assert found(victim.verify())[0] is Fault.CHECKPOINT


def test_a_checkpoint_signed_with_another_key(victim: Victim) -> None:
    stranger = Signer(victim.verifier.name, b"x" * 32)
    with attacker(victim.folder) as thief:
        thief.execute("UPDATE entry SET correlation_id = 'forged' WHERE seq = 12")
        rehash(thief, start=12)
        note = forged(stranger, origin=victim.verifier.name, size=12, root=b"r" * 32)
        thief.execute("UPDATE checkpoint SET note = ? WHERE size = 12", (note,))
    report = victim.verify()
    assert found(report)[0] is Fault.CHECKPOINT
    assert "No known key" in report.findings[0].text


def test_a_checkpoint_of_another_ledger(victim: Victim) -> None:
    signer = load(victim.folder / "ledger.key")
    assert signer is not None
    other = forged(signer, origin="sayso/other", size=4, root=b"r" * 32)
    report = victim.verify(held=other)
    assert found(report)[0] is Fault.CHECKPOINT
    lines = victim.lines()
    report = victim.verify_lines(lines, held=other)
    assert found(report)[0] is Fault.CHECKPOINT
    assert "another ledger, sayso/other" in report.findings[0].text


def test_a_note_that_is_no_checkpoint(victim: Victim) -> None:
    signer = load(victim.folder / "ledger.key")
    assert signer is not None
    assert found(victim.verify(held=signer.sign("hello\n")))[0] is Fault.CHECKPOINT


def test_without_a_key_checkpoints_are_not_believed(victim: Victim) -> None:
    report = verify_live(victim.path, keys=[], held={})
    assert found(report)[0] is Fault.KEY
    assert report.entries == SIZE


def test_an_empty_ledger_verifies_without_a_key(tmp_path: Path) -> None:
    with ledger_in(tmp_path):
        pass
    report = verify_live(tmp_path / "ledger.db", keys=[], held={})
    assert (report.ok, report.entries, report.head) == (True, 0, "0" * 64)


def test_an_entry_whose_body_is_no_json(victim: Victim) -> None:
    for body in ('{"bytes":', '[{"bytes":1}]'):
        with attacker(victim.folder) as thief:
            thief.execute("DELETE FROM checkpoint")
            thief.execute("UPDATE entry SET body = ? WHERE seq = 12", (body,))
            rehash(thief, start=12)
        report = victim.verify()
        if body.startswith("["):
            assert found(report)[0] is Fault.PAYLOAD  # one that no entry names any more
        else:
            assert found(report) == (Fault.CHANGED, 12, 12)
            assert "no JSON" in report.findings[0].text


def test_a_damaged_file_is_told_with_the_last_good_entry(victim: Victim) -> None:
    with closing(sqlite3.connect(victim.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entry'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    raw = bytearray(victim.path.read_bytes())
    raw[(page - 1) * size : page * size] = b"\x99" * size
    victim.path.write_bytes(raw)
    report = victim.verify()
    assert found(report)[0] is Fault.FILE
    assert "damaged after entry 0" in report.findings[0].text


def test_every_flipped_byte_of_the_stored_words_is_found(victim: Victim) -> None:
    """Flip raw bytes of the file where one entry's text lies."""
    with closing(sqlite3.connect(victim.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        kind, body = connection.execute("SELECT kind, body FROM entry WHERE seq = 6").fetchone()
    raw = victim.path.read_bytes()
    start = raw.index(b"p6.1") - 20
    assert kind.encode() in raw
    for at in range(start, start + 60):
        changed = bytearray(raw)
        changed[at] ^= 0x04
        victim.path.write_bytes(changed)
        assert not victim.verify().ok, (at, body)
    victim.path.write_bytes(raw)
    assert victim.verify().ok
