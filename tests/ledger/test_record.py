import json
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from gate.domain import PlaceId, ProposalId
from ledger import payloads
from ledger.chain import GENESIS
from ledger.kinds import Batch, Draft, DraftError, Entry, Kind, LastTurnIs, LostRaceError, ProposalIsNew
from ledger.reading import read_entries
from ledger.record import MAX_BODY_CHARS
from ledger.verify import verify_live
from tests.ledger.support import START, TestProjections, attacker, batch, card, draft, ledger_in, open_ledger


def entries(folder: Path) -> list[Entry]:
    with closing(sqlite3.connect(folder / "ledger.db")) as connection:
        return list(read_entries(connection))


def test_a_batch_becomes_linked_entries_with_one_time(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        first = ledger.append(batch(draft("a"), draft("b")))
        second = ledger.append(batch(draft("c")))
        assert (first.first_seq, first.last_seq, second.first_seq, second.last_seq) == (1, 2, 3, 3)
        assert ledger.head().seq == 3
    found = entries(tmp_path)
    assert [entry.correlation_id for entry in found] == ["a", "b", "c"]
    assert [entry.prev_hash for entry in found] == [GENESIS, found[0].hash, found[1].hash]
    assert {entry.at for entry in found} == {"2026-03-01T12:00:00.000000Z"}
    assert found[0].body == '{"action":"a.1","by":"ana"}'


def test_words_are_kept_apart_under_salted_hashes(tmp_path: Path) -> None:
    projections = TestProjections()
    with ledger_in(tmp_path, projections=projections) as ledger:
        ledger.append(batch(draft("a", words=b"go ahead"), draft("b", words=b"go ahead")))
        bodies = [json.loads(entry.body) for entry in read_entries(ledger.reader())]
        one, other = (body["words"] for body in bodies)
        assert one["bytes"] == 8
        assert one["payload"] != other["payload"]
        assert projections.bodies == bodies
        assert payloads.read(ledger.reader(), one["payload"]) == b"go ahead"
        assert payloads.read(ledger.reader(), "0" * 64) is None


def test_an_expectation_that_no_longer_holds_writes_nothing(tmp_path: Path) -> None:
    stale = LastTurnIs(place=PlaceId("here"), turn=None)
    projections = TestProjections(void={stale})
    with ledger_in(tmp_path, projections=projections) as ledger:
        with pytest.raises(LostRaceError, match="decide again") as caught:
            ledger.append(Batch(at=START, drafts=(draft(),), expects=(ProposalIsNew(ProposalId("x")), stale)))
        assert caught.value.expectation == stale
        assert ledger.append(batch()).first_seq == 1


def test_a_projection_that_fails_takes_its_batch_with_it_and_no_other(tmp_path: Path) -> None:
    def fail(connection: sqlite3.Connection, entry: Entry) -> None:
        connection.execute(
            "INSERT INTO inbox (key, place_key, document, at) VALUES (?, '', '', '')", (entry.hash,)
        )
        if entry.correlation_id == "bad":
            raise RuntimeError("a bug")

    projections = TestProjections(before=fail)
    with ledger_in(tmp_path, projections=projections) as ledger:
        ledger.append(batch(draft("a")))
        with pytest.raises(RuntimeError, match="a bug"):
            ledger.append(Batch(at=START, drafts=(draft("b"), draft("bad", x=b"1")), effects=(card(),)))
        ledger.append(batch(draft("c")))
        assert len(ledger.inbox.pending()) == 2
        assert ledger.outbox.pending() == []
    assert [entry.correlation_id for entry in entries(tmp_path)] == ["a", "c"]
    assert verify_live(tmp_path / "ledger.db", keys=[ledger.verifier], held={}).ok


def test_a_constraint_that_a_projection_breaks_is_its_own_fault(tmp_path: Path) -> None:
    def twice(connection: sqlite3.Connection, _entry: Entry) -> None:
        connection.execute("INSERT INTO inbox (key, place_key, document, at) VALUES ('same', '', '', '')")

    projections = TestProjections(before=twice)
    with ledger_in(tmp_path, projections=projections) as ledger:
        ledger.append(batch(draft("a")))
        with pytest.raises(DraftError, match="UNIQUE"):
            ledger.append(batch(draft("b")))
        projections.before = lambda _connection, _entry: None
        assert ledger.append(batch(draft("c"))).first_seq == 2


@pytest.mark.parametrize(
    "bad",
    [
        Draft(kind=Kind.BOT_STARTED, body={"x": float("nan")}),
        Draft(kind=Kind.BOT_STARTED, correlation_id="a\nb"),
        Draft(kind=Kind.BOT_STARTED, body={"x": "y" * MAX_BODY_CHARS}),
        Draft(kind=Kind.BOT_STARTED, body={"words": "y"}, words={"words": b"z"}),
        Draft(kind=Kind.BOT_STARTED, words={"output": b"x" * (payloads.MAX_BYTES + 1)}),
    ],
    ids=["nan", "newline", "large", "twice", "payload"],
)
def test_what_cannot_be_stored_is_refused_whole(tmp_path: Path, bad: Draft) -> None:
    with ledger_in(tmp_path) as ledger:
        with pytest.raises(DraftError):
            ledger.append(batch(draft(), bad))
        assert ledger.head().seq == 0


def test_the_largest_payload_is_stored(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch(draft(output=b"x" * payloads.MAX_BYTES)))
    assert verify_live(tmp_path / "ledger.db", keys=[ledger.verifier], held={}).payloads == 1


def test_a_batch_without_entries_may_carry_effects(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())
        done = ledger.append(Batch(at=START, drafts=(), effects=(card(),)))
        assert (done.first_seq, done.last_seq, len(done.outbox)) == (2, 1, 1)


def test_many_threads_make_one_chain(tmp_path: Path) -> None:
    with ledger_in(tmp_path, checkpoint_every=50) as ledger:
        done: list[int] = []

        def work(name: str) -> None:
            done.extend(
                ledger.append(batch(draft(name, words=b"%d" % number))).first_seq for number in range(25)
            )

        threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(done) == list(range(1, 301))
    report = verify_live(tmp_path / "ledger.db", keys=[ledger.verifier], held={})
    assert report.ok
    assert (report.entries, report.covered, report.payloads) == (300, 300, 300)


def test_losers_of_a_race_in_a_group_take_nobody_with_them(tmp_path: Path) -> None:
    stale = ProposalIsNew(ProposalId("old"))

    def touch(connection: sqlite3.Connection, entry: Entry) -> None:
        connection.execute(
            "INSERT INTO inbox (key, place_key, document, at) VALUES (?, '', '', '')", (entry.hash,)
        )
        if entry.correlation_id == "bad":
            raise RuntimeError("a bug")

    projections = TestProjections(void={stale}, before=touch)
    kept: list[int] = []
    lost: list[Exception] = []

    with ledger_in(tmp_path, projections=projections, checkpoint_every=7) as ledger:

        def work(number: int) -> None:
            for turn in range(12):
                kind = (number + turn) % 3
                expects = (stale,) if kind == 1 else ()
                name = "bad" if kind == 2 else "good"
                try:
                    kept.append(
                        ledger.append(
                            Batch(at=START, drafts=(draft(name, words=b"x"),), expects=expects)
                        ).first_seq
                    )
                except (LostRaceError, RuntimeError) as error:
                    lost.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(ledger.inbox.pending()) == len(kept)
    assert (len(kept), len(lost)) == (36, 72)
    assert sorted(kept) == list(range(1, 37))
    report = verify_live(tmp_path / "ledger.db", keys=[ledger.verifier], held={})
    assert report.ok
    assert (report.entries, report.payloads) == (36, 36)


def test_rebuild_hands_every_entry_to_the_projections_again(tmp_path: Path) -> None:
    projections = TestProjections()
    with ledger_in(tmp_path, projections=projections) as ledger:
        ledger.append(batch(draft("a", words=b"x"), draft("b")))
        seen, bodies = list(projections.seen), list(projections.bodies)
        projections.seen.clear()
        projections.bodies.clear()
        emptied: list[bool] = []
        assert ledger.rebuild(lambda _: emptied.append(True)) == 2
        assert (projections.seen, projections.bodies, emptied) == (seen, bodies, [True])


def test_pruning_forgets_words_and_keeps_their_proof(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch(draft("old", words=b"secret")))
        ledger.append(batch(draft("new", words=b"fresh"), at=START + timedelta(days=2)))
        assert ledger.prune(before=START + timedelta(days=1)) == 1
        assert ledger.prune(before=START + timedelta(days=1)) == 0
        assert ledger.prune(before=START) == 0
        rows = ledger.reader().execute("SELECT seq, size, salt, content, pruned_at FROM payload ORDER BY seq")
        old, new = rows.fetchall()
        assert old == (1, 6, None, None, "2026-03-01T12:00:00.000000Z")
        assert new[3] == b"fresh"
    report = verify_live(tmp_path / "ledger.db", keys=[ledger.verifier], held={})
    assert (report.ok, report.payloads, report.pruned) == (True, 1, 1)
    assert b"secret" not in (tmp_path / "ledger.db").read_bytes().replace(b"\x00", b"")


def test_the_head_comes_from_the_file_not_from_memory(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch())
        with attacker(tmp_path) as thief:
            thief.execute("DELETE FROM entry")
        assert ledger.append(batch()).first_seq == 1


def test_a_ledger_opened_again_goes_on_where_it_stopped(tmp_path: Path) -> None:
    for number in range(3):
        with closing(open_ledger(tmp_path, seed=100 * number)) as ledger:
            assert ledger.append(batch(draft(words=b"x"))).first_seq == number + 1
    report = verify_live(tmp_path / "ledger.db", keys=[ledger.verifier], held={})
    assert (report.ok, report.entries, report.checkpoints) == (True, 3, 3)
