"""Ledgers for tests: a clock that is moved by hand, projections that do as they are told, and attackers."""

import contextlib
import functools
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from gate.domain import PlaceId
from ledger.engine import open_writer
from ledger.kinds import Batch, Draft, Effect, EffectKind, Entry, Expectation, Json, Kind
from ledger.store import Ledger

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass
class HandClock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class CountedBytes:
    """Randomness that repeats from run to run and never within one."""

    count: int = 0

    def __call__(self, size: int) -> bytes:
        self.count += 1
        return sha256(self.count.to_bytes(8)).digest()[:size]


@dataclass
class TestProjections:
    """Projections that remember entries; tests say what fails and what no longer holds."""

    __test__ = False
    seen: list[Entry] = field(default_factory=list)
    bodies: list[dict[str, Json]] = field(default_factory=list)
    void: set[Expectation] = field(default_factory=set)
    before: Callable[[sqlite3.Connection, Entry], None] = lambda _connection, _entry: None

    def project(self, connection: sqlite3.Connection, entry: Entry, body: dict[str, Json]) -> None:
        self.before(connection, entry)
        self.seen.append(entry)
        self.bodies.append(body)

    def holds(self, connection: sqlite3.Connection, expectation: Expectation) -> bool:
        return expectation not in self.void


@functools.cache
def _empty_ledger() -> bytes:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "ledger.db"
        open_writer(path).close()
        return path.read_bytes()


def lay_empty(folder: Path) -> None:
    """Lay an empty ledger in `folder` unless one is there: migrations take long and are tested elsewhere."""
    path = folder / "ledger.db"
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(_empty_ledger())


def open_ledger(
    folder: Path,
    *,
    projections: TestProjections | None = None,
    clock: HandClock | None = None,
    checkpoint_every: int = 1000,
    checkpoint_s: float = 300.0,
    busy_timeout_s: float = 0.2,
    signing_key: Path | None = None,
    seed: int = 0,
) -> Ledger:
    used = projections or TestProjections()
    if folder.is_dir() and not any(folder.iterdir()):
        lay_empty(folder)
    return Ledger.open(
        folder / "ledger.db",
        project=used.project,
        holds=used.holds,
        random_bytes=CountedBytes(seed),
        clock=clock or HandClock(),
        checkpoint_every=checkpoint_every,
        checkpoint_s=checkpoint_s,
        busy_timeout_s=busy_timeout_s,
        signing_key=signing_key,
    )


@contextlib.contextmanager
def ledger_in(folder: Path, **options: object) -> Iterator[Ledger]:
    with contextlib.closing(open_ledger(folder, **options)) as ledger:  # type: ignore[arg-type]  # passed through
        yield ledger


def draft(name: str = "k7f3a2", **words: bytes) -> Draft:
    return Draft(
        kind=Kind.ACTION_QUEUED,
        correlation_id=name,
        body={"action": f"{name}.1", "by": "ana"},
        words=words,
    )


def batch(*drafts: Draft, at: datetime = START) -> Batch:
    return Batch(at=at, drafts=drafts or (draft(),))


def card(subject: str = "k7f3a2", nonce: str = "n1") -> Effect:
    return Effect(kind=EffectKind.CARD, place=PlaceId("here"), body={"subject": subject}, nonce=nonce)


@contextlib.contextmanager
def attacker(folder: Path, *, disarm: bool = True) -> Iterator[sqlite3.Connection]:
    """A connection of somebody who may write the file, and with `disarm` drops the guards first."""
    connection = sqlite3.connect(folder / "ledger.db", isolation_level=None)
    try:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers if disarm else ():
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, sql in triggers if disarm else ():
            connection.execute(sql)
    finally:
        connection.close()


COLUMNS = ("seq", "kind", "at", "correlation_id", "body", "prev_hash", "hash")


def rehash(connection: sqlite3.Connection, *, start: int) -> None:
    """Recompute the chain from entry `start` on, as somebody would who knows the format."""
    row = connection.execute(
        "SELECT hash FROM entry WHERE seq < ? ORDER BY seq DESC LIMIT 1", (start,)
    ).fetchone()
    prev = row[0] if row else "0" * 64
    for seq, *fields in connection.execute(
        "SELECT seq, kind, at, correlation_id, body FROM entry WHERE seq >= ? ORDER BY seq", (start,)
    ).fetchall():
        digest = sha256("\n".join([prev, str(seq), *fields]).encode()).hexdigest()
        connection.execute("UPDATE entry SET prev_hash = ?, hash = ? WHERE seq = ?", (prev, digest, seq))
        prev = digest
