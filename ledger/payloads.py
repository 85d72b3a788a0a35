"""Exact words, commands and output, kept apart from entries under salted hashes, so that they can go (D8).

A payload's name is SHA-256(salt || content) with 16 random bytes of salt: once both are gone, nobody can test
a guess against the hash that stays in the chain. Callers redact and cap what they hand over; what is larger
than the limit is refused, never shortened here.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from ledger.chain import instant
from ledger.kinds import DraftError, Json

SALT_BYTES = 16
#: The most that one payload holds. Output is capped far below it (N38); this is the last fence.
MAX_BYTES = 1 << 20

INSERT = "INSERT INTO payload (hash, seq, size, salt, content) VALUES (?, ?, ?, ?, ?)"


class Sealed(NamedTuple):
    """A payload ready to be written."""

    hash: str
    salt: bytes
    content: bytes

    @property
    def reference(self) -> dict[str, Json]:
        """What stands for it in the body of its entry."""
        return {"payload": self.hash, "bytes": len(self.content)}


def payload_hash(salt: bytes, content: bytes) -> str:
    """Return the name of `content` under `salt`, 64 hex digits."""
    return sha256(salt + content).hexdigest()


def seal(content: bytes, *, random_bytes: Callable[[int], bytes]) -> Sealed:
    """Salt and name `content`.

    Raises:
        DraftError: it is larger than MAX_BYTES.
    """
    if len(content) > MAX_BYTES:
        raise DraftError(f"{DraftError.__doc__} A payload of {len(content)} bytes; the most is {MAX_BYTES}.")
    salt = random_bytes(SALT_BYTES)
    return Sealed(payload_hash(salt, content), salt, content)


def row(sealed: Sealed, *, seq: int) -> tuple[str, int, int, bytes, bytes]:
    """Return what INSERT takes to write a payload of entry `seq`."""
    return sealed.hash, seq, len(sealed.content), sealed.salt, sealed.content


def read(connection: sqlite3.Connection, name: str) -> bytes | None:
    """Return the content named `name`; None when it was pruned or never was here."""
    found = connection.execute("SELECT content FROM payload WHERE hash = ?", (name,)).fetchone()
    return None if found is None else found[0]


def read_all(connection: sqlite3.Connection, names: Iterable[str]) -> dict[str, bytes]:
    """Return the contents of those of `names` that are here, in one reading."""
    rows = connection.execute(
        "SELECT hash, content FROM payload WHERE hash IN (SELECT value FROM json_each(?))",
        (json.dumps(list(names)),),
    )
    return dict(rows.fetchall())


def references(body: Mapping[str, Json]) -> dict[str, tuple[str, int]]:
    """Return the payloads that an entry's body names: key -> (hash, size in bytes)."""
    found: dict[str, tuple[str, int]] = {}
    for key, value in body.items():
        match value:
            case {"payload": str(name), "bytes": int(size), **rest} if not rest:
                found[key] = (name, size)
            case _:
                pass
    return found


def prune(connection: sqlite3.Connection, *, before: datetime, now: datetime) -> int:
    """Forget the payloads of entries older than `before`; return how many. Hashes and sizes stay.

    What sayso was asked to remember stays until it is told to forget it, a job keeps what it is to say, and a
    run or a plan what it goes on with; what fires keeps its labels.
    Runs inside the caller's transaction.
    """
    last = connection.execute("SELECT max(seq) FROM entry WHERE at < ?", (instant(before),)).fetchone()[0]
    return connection.execute(
        "UPDATE payload SET salt = NULL, content = NULL, pruned_at = ? WHERE seq <= ? AND pruned_at IS NULL"
        " AND hash NOT IN (SELECT words FROM belief WHERE state = 'live')"
        " AND hash NOT IN (SELECT words FROM job WHERE next_at != '')"
        " AND hash NOT IN (SELECT words FROM signal WHERE state = 'firing')"
        " AND seq NOT IN (SELECT n.seq FROM run_event n JOIN run r ON r.id = n.run WHERE r.state <> 'ended')"
        " AND seq NOT IN"
        " (SELECT n.seq FROM plan_event n JOIN plan p ON p.id = n.plan WHERE p.state <> 'ended')",
        (instant(now), last or 0),
    ).rowcount


def forget(connection: sqlite3.Connection, names: Iterable[str], *, at: str) -> None:
    """Forget the payloads of these names, inside the caller's transaction. Hashes and sizes stay.

    Args:
        at: the instant of the entry that asks for it, as stored.
    """
    connection.execute(
        "UPDATE payload SET salt = NULL, content = NULL, pruned_at = ? WHERE pruned_at IS NULL"
        " AND hash IN (SELECT value FROM json_each(?))",
        (at, json.dumps(list(names))),
    )
