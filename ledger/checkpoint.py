"""Checkpoints: signed tree heads in the C2SP tlog-checkpoint form, stored with the entries they cover.

One is due every N entries, T seconds after the last when something was added since, at stop and on export
(D10). It is written in the transaction whose commit makes it due, so that it never covers what is not
durable. A checkpoint promises nothing against someone who holds the signing key and every copy: keep copies
elsewhere.

Source: https://c2sp.org/tlog-checkpoint
"""

import base64
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ledger.chain import Head, instant
from ledger.kinds import LedgerError
from ledger.merkle import Frontier
from ledger.note import Signer, Verifier, open_note
from ledger.reading import read_hashes

_ROOT_BYTES = 32


class CheckpointError(LedgerError):
    """This is no checkpoint of a ledger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A tree head: the origin it belongs to, how many entries it covers, and their Merkle root."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The three lines that are signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def parse(text: str) -> Checkpoint:
    """Read the text of a checkpoint; extension lines are none of ours and refused.

    Raises:
        CheckpointError: it is not one.
    """
    origin, size, root, end = (*text.split("\n"), *[""] * 4)[:4]
    if not (origin and size.isascii() and size.isdigit()) or end:
        raise CheckpointError(CheckpointError.__doc__)
    try:
        checkpoint = Checkpoint(origin=origin, size=int(size), root=base64.b64decode(root))
    except ValueError as error:
        raise CheckpointError(CheckpointError.__doc__) from error
    # Whatever was left out above makes another text: one line more or less, another form of a number.
    if checkpoint.text != text or len(checkpoint.root) != _ROOT_BYTES:
        raise CheckpointError(CheckpointError.__doc__)
    return checkpoint


def open_checkpoint(note: str, keys: tuple[Verifier, ...]) -> Checkpoint:
    """Return the checkpoint in a signed note.

    Raises:
        NoteError: no key of `keys` signed it, or the signature is wrong.
        CheckpointError: the note holds something else.
    """
    return parse(open_note(note, keys))


def newest(connection: sqlite3.Connection) -> tuple[int, str] | None:
    """Return (size, note) of the newest stored checkpoint."""
    row = connection.execute("SELECT size, note FROM checkpoint ORDER BY size DESC LIMIT 1").fetchone()
    return None if row is None else (int(row[0]), str(row[1]))


def stored_origin(connection: sqlite3.Connection) -> str:
    """Return the origin of the newest stored checkpoint; "" when there is none that can be read."""
    found = newest(connection)
    return found[1].partition("\n")[0] if found else ""


def grown(connection: sqlite3.Connection, *, size: int) -> Frontier:
    """Return the frontier over the first `size` entries, built on the newest stored one if that adds up."""
    row = connection.execute(
        "SELECT size, root, frontier FROM checkpoint WHERE size <= ? ORDER BY size DESC LIMIT 1", (size,)
    ).fetchone()
    frontier = Frontier() if row is None else _restored(*row)
    try:
        frontier.extend(read_hashes(connection, after=frontier.size, upto=size))
    except ValueError as error:
        raise CheckpointError(
            "The hash of an entry is damaged. Find it with `sayso ledger verify`."
        ) from error
    if frontier.size != size:
        raise CheckpointError(f"The ledger holds {frontier.size} entries, not {size}.")
    return frontier


def _restored(size: int, root: str, peaks: str) -> Frontier:
    """Return a stored frontier; an empty one, to start over from, when it does not give the stored root."""
    try:
        frontier = Frontier(size, [bytes.fromhex(peak) for peak in peaks.split()])
    except ValueError:
        return Frontier()
    return frontier if frontier.root().hex() == root else Frontier()


class Keeper:
    """Decides when a checkpoint is due and writes it, inside the writer's transaction.

    Args:
        signer: the ledger's key; its name is the origin.
        clock: gives the time for `every_s`.
        every: entries after which one is due.
        every_s: seconds after which one is due, if anything was added.
    """

    def __init__(self, signer: Signer, *, clock: Callable[[], datetime], every: int, every_s: float) -> None:
        self._signer = signer
        self._clock = clock
        self._every = every
        self._every_s = every_s
        self._made_at = clock()
        self._made_size = 0

    def resume(self, connection: sqlite3.Connection) -> None:
        """Go on after the newest stored checkpoint."""
        found = newest(connection)
        self._made_size = found[0] if found else 0

    def seal(self, connection: sqlite3.Connection, head: Head) -> None:
        """Write a checkpoint over everything up to `head` if one is due."""
        added = head.seq - self._made_size
        if added >= self._every or (added > 0 and self._elapsed_s() >= self._every_s):
            self.make(connection, head)

    def make(self, connection: sqlite3.Connection, head: Head) -> None:
        """Write a checkpoint over everything up to `head`, unless the newest one covers it."""
        found = newest(connection)
        if head.seq > (found[0] if found else 0):
            frontier = grown(connection, size=head.seq)
            now = self._clock()
            connection.execute(
                "INSERT INTO checkpoint (size, root, at, frontier, note) VALUES (?, ?, ?, ?, ?)",
                (
                    head.seq,
                    frontier.root().hex(),
                    instant(now),
                    " ".join(peak.hex() for peak in frontier.peaks),
                    signed(frontier, self._signer),
                ),
            )
            self._made_at = now
        # NOTE: if this transaction fails, `seal` is late by one period at most; `make` asks the table.
        self._made_size = head.seq

    def _elapsed_s(self) -> float:
        return (self._clock() - self._made_at).total_seconds()


def signed(frontier: Frontier, signer: Signer) -> str:
    """Return the signed note of a checkpoint over `frontier`."""
    return signer.sign(Checkpoint(origin=signer.name, size=frontier.size, root=frontier.root()).text)
