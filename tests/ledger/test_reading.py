"""Reading entries back: one by number, the newest, bodies; what is damaged is told with its number."""

from pathlib import Path

import pytest

from ledger.chain import GENESIS, Head
from ledger.engine import LedgerUnreadableError
from ledger.kinds import Entry
from ledger.reading import body_of, read_entries, read_entry, read_head
from tests.ledger.support import attacker, batch, draft, ledger_in


def entry(body: str) -> Entry:
    return Entry(
        seq=2,
        kind="bot:started",
        at="2026-03-01T12:00:00.000000Z",
        correlation_id="",
        body=body,
        prev_hash="",
        hash="",
    )


def test_an_entry_is_read_by_its_number_and_the_newest_is_the_head(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        assert read_head(ledger.reader()) == Head(0, GENESIS)
        ledger.append(batch(draft("a"), draft("b")))
        second = read_entry(ledger.reader(), 2)
        assert second is not None
        assert (second.seq, second.correlation_id) == (2, "b")
        assert read_entry(ledger.reader(), 3) is None
        assert read_head(ledger.reader()) == Head(2, second.hash) == ledger.head()


def test_a_column_that_is_no_text_is_told_with_its_entry(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        ledger.append(batch(draft("a"), draft("b")))
    with attacker(tmp_path) as thief:
        thief.execute("UPDATE entry SET kind = x'ff' WHERE seq = 2")
        with pytest.raises(LedgerUnreadableError, match="Entry 2 is damaged"):
            list(read_entries(thief))


def test_a_body_is_an_object() -> None:
    assert body_of(entry('{"by":"ana"}')) == {"by": "ana"}


@pytest.mark.parametrize("body", ["", "{", "[1]", "7", "[" * 100_000])
def test_a_body_that_is_no_object_is_told_with_its_entry(body: str) -> None:
    with pytest.raises(LedgerUnreadableError, match="Entry 2 is damaged"):
        body_of(entry(body))
