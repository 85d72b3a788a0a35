"""The attacks, each on the ledger where it lies and on an export: all are found, and named."""

import base64
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from ledger.audit import Auditor, Fault, Report
from ledger.chain import canonical
from ledger.checkpoint import Checkpoint
from ledger.engine import open_reader, snapshot
from ledger.export import export
from ledger.keys import load
from ledger.note import Signer, Verifier
from ledger.verify import verify_export, verify_live
from tests.ledger.support import COLUMNS, START, attacker, batch, draft, ledger_in, rehash

SIZE = 12


@dataclass(frozen=True)
class Victim:
    """A ledger of twelve entries with checkpoints after 4, 8 and 12, and the one after 8 kept elsewhere."""

    folder: Path
    verifier: Verifier
    kept: str

    @property
    def path(self) -> Path:
        return self.folder / "ledger.db"

    def verify(self, *, held: str = "") -> Report:
        return verify_live(self.path, keys=[self.verifier], held={"mine": held} if held else {})

    def lines(self, *, with_payloads: bool = True) -> list[str]:
        with closing(open_reader(self.path)) as connection, snapshot(connection):
            return list(export(connection, with_payloads=with_payloads))

    def verify_lines(self, lines: list[str], *, held: str = "") -> Report:
        file = self.folder / "export.jsonl"
        file.write_bytes("".join(lines).encode())
        return verify_export(file, keys=[self.verifier], held={"mine": held} if held else {})


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    kept = ""
    with ledger_in(tmp_path, checkpoint_every=4) as ledger:
        for number in range(SIZE):
            ledger.append(batch(draft(f"p{number + 1}", words=b"go ahead %d" % number)))
            if number == 7:
                kept = ledger.checkpoint()
    return Victim(tmp_path, ledger.verifier, kept)


def found(report: Report) -> tuple[Fault, int | None, int | None]:
    """Return what was found first, guards that the attack had to drop aside."""
    assert not report.ok
    finding = next((each for each in report.findings if each.fault is not Fault.GUARD), report.findings[0])
    return finding.fault, finding.first, finding.last


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


# --------------------------------------------------------------- payloads, checkpoints, the file itself


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


# --------------------------------------------------------------- attacks on an export


def at(lines: list[str], seq: int) -> int:
    """Return the index of the line of entry `seq`."""
    return next(i for i, line in enumerate(lines) if f'"seq":{seq},"type":"entry"' in line)


def edit(lines: list[str], seq: int, change: Callable[[dict[str, object]], object]) -> None:
    document = json.loads(lines[at(lines, seq)])
    change(document)
    lines[at(lines, seq)] = canonical(document) + "\n"


@pytest.mark.parametrize("with_payloads", [True, False])
def test_every_changed_byte_of_an_export_is_found(tmp_path: Path, with_payloads: bool) -> None:  # noqa: FBT001
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch(draft("ü1", words=b"go ahead"), draft("p2")))
    victim = Victim(tmp_path, ledger.verifier, "")
    whole = "".join(victim.lines(with_payloads=with_payloads)).encode()
    file = tmp_path / "export.jsonl"
    for index in range(len(whole)):
        for changed in (whole[index] ^ 0x01, whole[index] ^ 0x20):
            if changed != whole[index]:
                file.write_bytes(whole[:index] + bytes([changed]) + whole[index + 1 :])
                assert not verify_export(file, keys=[ledger.verifier], held={}).ok, (index, changed)
    for cut in range(len(whole)):
        file.write_bytes(whole[:cut])
        report = verify_export(file, keys=[ledger.verifier], held={})
        only_the_last_line_is_gone = cut == whole.rindex(b"\n", 0, -1) + 1
        assert report.ok == only_the_last_line_is_gone, cut


@pytest.mark.parametrize("field", COLUMNS[1:])
def test_a_changed_field_in_an_export(victim: Victim, field: str) -> None:
    lines = victim.lines()
    edit(lines, 6, lambda document: document.update({field: "x"}))
    assert found(victim.verify_lines(lines)) == (Fault.CHANGED, 6, 6)


def test_a_removed_entry_in_an_export(victim: Victim) -> None:
    lines = victim.lines(with_payloads=False)
    del lines[at(lines, 6)]
    assert found(victim.verify_lines(lines)) == (Fault.MISSING, 6, 6)


def test_swapped_entries_in_an_export(victim: Victim) -> None:
    lines = victim.lines(with_payloads=False)
    six, seven = at(lines, 6), at(lines, 7)
    lines[six], lines[seven] = lines[seven], lines[six]
    assert found(victim.verify_lines(lines)) == (Fault.MISSING, 6, 6)


def test_a_repeated_entry_in_an_export(victim: Victim) -> None:
    lines = victim.lines(with_payloads=False)
    lines.insert(at(lines, 7), lines[at(lines, 5)])
    assert found(victim.verify_lines(lines)) == (Fault.MISPLACED, 7, 7)


def rewritten(lines: list[str], start: int) -> list[str]:
    """Return `lines` with entry `start` changed and every hash after it made to fit."""
    result, prev = [], "0" * 64
    for line in lines:
        document = json.loads(line)
        if document["type"] == "entry":
            if document["seq"] == start:
                document["correlation_id"] = "forged"
            document["prev_hash"] = prev
            fields = [prev, str(document["seq"])] + [
                document[name] for name in ("kind", "at", "correlation_id", "body")
            ]
            prev = document["hash"] = sha256("\n".join(fields).encode()).hexdigest()
        result.append(canonical(document) + "\n")
    return result


@pytest.mark.parametrize(("start", "first", "last"), [(1, 1, 4), (6, 5, 8), (12, 9, 12)])
def test_a_rewritten_tail_in_an_export(victim: Victim, start: int, first: int, last: int) -> None:
    report = victim.verify_lines(rewritten(victim.lines(), start))
    assert found(report) == (Fault.REWRITTEN, first, last)


def test_a_rewritten_export_without_its_checkpoints_meets_the_kept_one(victim: Victim) -> None:
    lines = [line for line in rewritten(victim.lines(), 6) if '"type":"checkpoint"' not in line]
    assert victim.verify_lines(lines).ok
    assert found(victim.verify_lines(lines, held=victim.kept)) == (Fault.REWRITTEN, 1, 8)


def test_a_truncated_export(victim: Victim) -> None:
    lines = victim.lines(with_payloads=False)
    assert found(victim.verify_lines(lines[: at(lines, 7)])) == (Fault.TRUNCATED, 7, 12)
    header = json.loads(lines[0])
    lines[0] = canonical({**header, "size": 6}) + "\n"
    cut = lines[: at(lines, 7)]
    assert victim.verify_lines(cut).ok
    assert found(victim.verify_lines(cut, held=victim.kept)) == (Fault.TRUNCATED, 7, 8)


def test_an_export_that_holds_more_than_it_says(victim: Victim) -> None:
    lines = victim.lines()
    lines[0] = canonical({**json.loads(lines[0]), "size": 11}) + "\n"
    assert found(victim.verify_lines(lines))[0] is Fault.FILE


def test_a_changed_payload_in_an_export(victim: Victim) -> None:
    for change in (
        {"content": base64.b64encode(b"no, do not").decode()},
        {"salt": "AAAA"},
        {"salt": "!"},
        {"content": "ü"},
        {"content": 7},
        {"extra": True},
        {"pruned": True},
        {"pruned": True, "content": None, "salt": None},
    ):
        lines = victim.lines()
        document = json.loads(lines[at(lines, 6) + 1])
        lines[at(lines, 6) + 1] = canonical({**document, **change}) + "\n"
        assert found(victim.verify_lines(lines)) == (Fault.PAYLOAD, 6, 6), change


def test_a_removed_payload_in_an_export(victim: Victim) -> None:
    for seq in (6, SIZE):
        lines = victim.lines()
        del lines[at(lines, seq) + 1]
        assert found(victim.verify_lines(lines)) == (Fault.PAYLOAD, seq, seq)


def test_a_payload_that_does_not_belong(victim: Victim) -> None:
    lines = victim.lines()
    stranger = lines[at(lines, 3) + 1]
    lines.insert(at(lines, 6) + 1, stranger)
    assert found(victim.verify_lines(lines))[0] is Fault.PAYLOAD
    bare = victim.lines(with_payloads=False)
    bare.insert(at(bare, 3) + 1, stranger)
    assert found(victim.verify_lines(bare))[0] is Fault.PAYLOAD


def test_pruned_payloads_are_counted_in_an_export(victim: Victim) -> None:
    with ledger_in(victim.folder, seed=700) as ledger:
        assert ledger.prune(before=START.replace(year=2030)) == SIZE
    report = victim.verify_lines(victim.lines())
    assert (report.ok, report.pruned, report.payloads) == (True, SIZE, 0)


def test_a_checkpoint_in_the_wrong_place(victim: Victim) -> None:
    lines = victim.lines(with_payloads=False)
    index = at(lines, 4) + 1
    lines.insert(at(lines, 6), lines.pop(index))
    report = victim.verify_lines(lines)
    assert found(report)[0] is Fault.CHECKPOINT
    assert "after the entries it covers" in report.findings[0].text


BAD_LINES = [
    "\n",
    "nonsense\n",
    "[]\n",
    "{}\n",
    '{"type":"other"}\n',
    '{"type":"entry"}\n',
    '{"at":1,"body":1,"correlation_id":1,"hash":1,"kind":1,"prev_hash":1,"seq":6,"type":"entry"}\n',
    '{"at":"","body":"","correlation_id":"","hash":"","kind":"","prev_hash":"","seq":true,"type":"entry"}\n',
    '{"note":"x","type":"checkpoint", "more":1}\n',
    '{"a":1,"note":"x","type":"checkpoint"}\n',
    '{"a":"\\ud800"}\n',
    '{"a":NaN}\n',
    "[" * 100_000 + "\n",
]


@pytest.mark.parametrize("line", BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_line_that_is_nothing_of_ours(victim: Victim, line: str) -> None:
    lines = victim.lines(with_payloads=False)
    index = at(lines, 6)
    report = victim.verify_lines([*lines[:index], line, *lines[index:]])
    assert found(report)[0] is Fault.FILE
    assert f"Line {index + 1} of the export after entry 5" in report.findings[0].text
    assert report.entries == 5


@pytest.mark.parametrize("header", ["", "{}\n", '{"format":"other"}\n'])
def test_an_export_without_its_header(victim: Victim, header: str) -> None:
    lines = victim.lines()
    report = victim.verify_lines([header, *lines[1:]] if header else [])
    assert found(report)[0] is Fault.FILE
    assert "Line 1 of the export: " in report.findings[0].text


def test_a_bad_line_after_a_bad_entry_names_the_entry(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch(draft(), draft(), draft()))
    victim = Victim(tmp_path, ledger.verifier, "")
    lines = victim.lines()
    edit(lines, 2, lambda document: document.update(kind="x"))
    assert found(victim.verify_lines([*lines[:4], "nonsense\n"])) == (Fault.CHANGED, 2, 2)
    bad_before_checkpoint = lines[:4] + lines[-1:]
    assert found(victim.verify_lines(bad_before_checkpoint)) == (Fault.CHANGED, 2, 2)


def test_columns_of_no_bytes_at_all_are_named() -> None:
    null = (b"0" * 64, 1, None, b"at", b"", b"{}", b"1" * 64)
    auditor = Auditor([])
    auditor.feed([null])  # type: ignore[list-item]  # what a rewritten schema could hold
    auditor.feed([null])  # type: ignore[list-item]  # likewise: nothing more can be judged
    report = auditor.finish()
    assert [(each.fault, each.first) for each in report.findings] == [(Fault.CHANGED, 1)]


def test_an_export_whose_body_is_no_json(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("DELETE FROM checkpoint")
        thief.execute("UPDATE entry SET body = '{\"bytes\":' WHERE seq = 12")
        rehash(thief, start=12)
    assert found(victim.verify_lines(victim.lines(with_payloads=False))) == (Fault.CHANGED, 12, 12)


def test_an_export_of_a_ledger_with_a_payload_missing(victim: Victim) -> None:
    with attacker(victim.folder) as thief:
        thief.execute("DELETE FROM payload WHERE seq = 6")
    assert found(victim.verify_lines(victim.lines())) == (Fault.PAYLOAD, 6, 6)


def test_an_export_ends_with_a_fresh_checkpoint_where_the_key_is(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())
        signer = load(tmp_path / "ledger.key")
        with snapshot(ledger.reader()) as connection:
            lines = list(export(connection, with_payloads=False, signer=signer))
    assert '"type":"checkpoint"' in lines[-1]
    victim = Victim(tmp_path, ledger.verifier, "")
    assert victim.verify_lines(lines).covered == 1
    with closing(open_reader(tmp_path / "ledger.db")) as connection:
        assert list(export(connection, with_payloads=False, signer=signer)) == lines


def test_a_large_export_is_checked_in_batches(tmp_path: Path) -> None:
    with ledger_in(tmp_path, checkpoint_every=10_000) as ledger:
        for _ in range(5):
            ledger.append(batch(*(draft() for _ in range(500))))
    victim = Victim(tmp_path, ledger.verifier, "")
    assert victim.verify().entries == 2500
    lines = victim.lines()
    assert victim.verify_lines(lines).entries == 2500
    edit(lines, 2400, lambda document: document.update(kind="x"))
    assert found(victim.verify_lines(lines)) == (Fault.CHANGED, 2400, 2400)
