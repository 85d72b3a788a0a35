"""What a turn looks up costs the same however long the ledger is: no query reads a table that only grows."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Kit, conversation

#: What keeps rows only of what is open now, or a handful.
SMALL = (
    "switch",
    "untold",
    "owed",
    "pairing",
    "clarification",
    "loosening",
    "window",
    "json_each",
    "sqlite_master",
    "CONSTANT",
)
RESTART = "run systemctl restart caddy on local"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Every query that is made, with its values."""
    asked: dict[str, str] = {}

    class Traced(sqlite3.Connection):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            self.set_trace_callback(lambda query: asked.setdefault(query, ""))

    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **more: connect(*args, **{"factory": Traced, **more})
    )
    return asked


async def talk(kit: Kit) -> None:
    for words in ("run uptime on local", RESTART, "what?", "no", "the backup runs", RESTART, "details"):
        await kit.say(words)
    await kit.press(kit.card, "Approve")
    await kit.say("run rm -r /srv/nothing on local")
    await kit.say("yes", reply_to=kit.card)
    await kit.say("pending")
    await kit.say("anybody here?", addressed=False, place="elsewhere")
    await kit.look()


def scans(connection: sqlite3.Connection, query: str) -> Iterator[str]:
    """Yield the steps in which `query` reads a growing table from one end to the other."""
    if "LIMIT" in query and " WHERE " not in query:
        return  # it stops after the first rows, whatever they are
    for row in connection.execute(f"EXPLAIN QUERY PLAN {query}"):
        words = row[3].split(" ")
        if words[0] == "SCAN" and "INDEX" not in words and words[1] not in SMALL:
            yield f"{row[3]}: {query}"


async def test_no_turn_reads_a_whole_table(tmp_path: Path, asked: dict[str, str]) -> None:
    async with conversation(tmp_path) as kit:
        asked.clear()  # what a start reads is another matter
        await talk(kit)
        queries = [query for query in asked if query.startswith(("SELECT", "UPDATE", "DELETE", "INSERT"))]
        plain = sqlite3.connect(tmp_path / "ledger.db")
        try:
            found = [scan for query in queries for scan in scans(plain, query)]
        finally:
            plain.close()
    assert len(queries) > 100
    assert not found, "\n".join(found)
