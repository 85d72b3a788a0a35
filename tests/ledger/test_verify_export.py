"""The attacks on an export: all are found, and named."""

import base64
import json
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from ledger.audit import Auditor, Fault
from ledger.chain import canonical
from ledger.engine import open_reader, snapshot
from ledger.export import export
from ledger.keys import load
from ledger.verify import verify_export
from tests.ledger.support import COLUMNS, START, attacker, batch, draft, ledger_in, rehash
from tests.ledger.victim import SIZE, Victim, found


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
