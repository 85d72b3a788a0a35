"""The audit: entries in, findings out, wherever the entries come from.

Checks that every entry's hash is that of its bytes, that each follows the one before, and that every
checkpoint met on the way is signed by a known key and has the root that these entries give. Stops at the
first break of the chain, since nothing after it can be judged. What it can promise is everything up to the
newest checkpoint that the person who asks holds themselves (D10).
"""

import json
from binascii import hexlify
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from ledger import payloads
from ledger.chain import GENESIS
from ledger.checkpoint import Checkpoint, CheckpointError, open_checkpoint
from ledger.merkle import Frontier
from ledger.note import NoteError, Verifier

#: prev_hash, seq, kind, at, correlation_id, body, hash: in the order in which they are hashed; the number as
#: it is, the rest as stored bytes.
Row = tuple[bytes, int, bytes, bytes, bytes, bytes, bytes]
#: Called for an entry that names payloads: (seq, key -> (hash, bytes)).
OnWords = Callable[[int, dict[str, tuple[str, int]]], None]

_PREIMAGE = b"%b\n%d\n%b\n%b\n%b\n%b"

#: What the body of an entry with payloads holds, since canonical JSON sorts keys.
_NAMES_WORDS = b'{"bytes":'

#: Findings that are told one by one; the rest are counted.
_MOST_FINDINGS = 20


class Fault(StrEnum):
    """What is wrong."""

    CHANGED = "changed"
    MISSING = "missing"
    MISPLACED = "misplaced"
    UNLINKED = "unlinked"
    TRUNCATED = "truncated"
    REWRITTEN = "rewritten"
    CHECKPOINT = "checkpoint"
    PAYLOAD = "payload"
    GUARD = "guard"
    KEY = "key"
    FILE = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong: which entries it concerns (None: none in particular), and words for people."""

    fault: Fault
    first: int | None = None
    last: int | None = None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an audit found.

    Attributes:
        entries: how many entries are intact, from the first on.
        head: hash of the last of them; "" when it is not known which those are.
        covered: entries covered by the newest checkpoint that holds.
        checkpoints: checkpoints that hold.
        payloads, pruned, absent: payloads that match; that were pruned; that an export left out.
        findings: what is wrong, in order; () when all is well.
        more: further findings that are not listed.
    """

    entries: int
    head: str
    covered: int
    checkpoints: int
    payloads: int
    pruned: int
    absent: int
    findings: tuple[Finding, ...] = ()
    more: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


@dataclass(frozen=True, slots=True)
class Held:
    """A checkpoint to be met on the way.

    Attributes:
        source: where it comes from, for people.
        frontier: the peaks stored with it, hex digits separated by spaces; None where none are.
    """

    checkpoint: Checkpoint
    source: str
    frontier: bytes | None = None


class Auditor:
    """Audits one ledger from its first entry on.

    Args:
        keys: public keys that checkpoints may be signed with.
        on_words: told of the payloads that intact entries name; None when the caller finds them itself.
    """

    def __init__(self, keys: Sequence[Verifier], *, on_words: OnWords | None = None) -> None:
        self._keys = tuple(keys)
        self._on_words = on_words
        self._frontier = Frontier()
        self._seq = 0
        self._prev = GENESIS.encode()
        self._due: list[Held] = []
        self._covered = 0
        self._held = 0
        self._findings: list[Finding] = []
        self._more = 0
        self._rewritten = False
        self.broken = False
        self.origin = ""
        self.payloads = 0
        self.pruned = 0
        self.absent = 0

    @property
    def size(self) -> int:
        """How many entries were intact so far."""
        return self._seq

    @property
    def whole(self) -> bool:
        """Whether the chain held so far, as far as every checkpoint goes."""
        return not self.broken and not self._due

    def find(self, fault: Fault, text: str, *, first: int | None = None, last: int | None = None) -> None:
        """Add a finding."""
        if len(self._findings) < _MOST_FINDINGS:
            self._findings.append(Finding(fault=fault, first=first, last=last, text=text))
        else:
            self._more += 1

    def found(self, fault: Fault) -> bool:
        """Return whether there is such a finding."""
        return any(finding.fault is fault for finding in self._findings)

    def stop(self, fault: Fault, text: str, *, first: int | None = None, last: int | None = None) -> None:
        """Add a finding after which nothing more can be judged."""
        self.broken = True
        self.find(fault, text, first=first, last=last)

    def hold(self, note: str, *, source: str, frontier: bytes | None = None) -> Checkpoint | None:
        """Take a checkpoint that these entries must meet; None, and a finding, when it is none of theirs."""
        try:
            checkpoint = open_checkpoint(note, self._keys)
        except (NoteError, CheckpointError) as error:
            self.find(Fault.CHECKPOINT, f"{source}: {error}")
            return None
        if self.origin and checkpoint.origin != self.origin:
            self.find(
                Fault.CHECKPOINT,
                f"{source}: it is of another ledger, {checkpoint.origin}; this one is {self.origin}.",
            )
            return None
        self.origin = checkpoint.origin
        if checkpoint.size < self._frontier.size:
            self.find(Fault.CHECKPOINT, f"{source}: it stands after the entries it covers.")
            return None
        self._due.append(Held(checkpoint, source, frontier))
        self._due.sort(key=lambda each: each.checkpoint.size)
        self._meet([])
        return checkpoint

    def feed(self, rows: Sequence[Row]) -> None:
        """Audit the next entries; does nothing once the chain is broken."""
        if not self.broken:
            self._follow(rows)

    def finish(self) -> Report:
        """Return what was found."""
        if not self.broken:
            for held in self._due:
                size = held.checkpoint.size
                self.find(
                    Fault.TRUNCATED,
                    f"Entries {self._seq + 1} to {size} are gone: the ledger ends at entry {self._seq}, but"
                    f" {held.source} covers {size}.",
                    first=self._seq + 1,
                    last=size,
                )
        return Report(
            entries=self._covered if self._rewritten else self._seq,
            head="" if self._rewritten else self._prev.decode("ascii", "replace"),
            covered=self._covered,
            checkpoints=self._held,
            payloads=self.payloads,
            pruned=self.pruned,
            absent=self.absent,
            findings=tuple(self._findings),
            more=self._more,
        )

    def words_of(self, seq: int, body: bytes) -> dict[str, tuple[str, int]]:
        """Return the payloads that an entry names; a finding when its body cannot be read."""
        try:
            document = json.loads(body)
            return payloads.references(document) if isinstance(document, dict) else {}
        except (ValueError, RecursionError):
            self._break(Fault.CHANGED, f"Entry {seq} has a body that is no JSON.", first=seq)
            return {}

    def _follow(self, rows: Sequence[Row]) -> None:
        """Follow the chain along `rows` as far as it holds, meeting checkpoints on the way."""
        leaves = _sound(rows, self._seq, self._prev) or _sound_part(rows, self._seq, self._prev)
        if leaves:
            _, self._seq, *_, self._prev = rows[len(leaves) - 1]
        if self._on_words is not None:
            for row in rows[: len(leaves)]:
                if _NAMES_WORDS in row[5]:
                    self._on_words(row[1], self.words_of(row[1], row[5]))
        self._meet(leaves)
        if len(leaves) < len(rows) and not self.broken:
            self._diagnose(rows[len(leaves)])

    def _diagnose(self, row: Row) -> None:
        """Say what is wrong with `row`, the first that does not follow."""
        number: object = row[1]
        expected = self._seq + 1
        if not isinstance(number, int) or not _whole(row):
            self._break(
                Fault.CHANGED,
                f"Entry {expected} was changed: its bytes do not give its hash.",
                first=expected,
            )
        elif number > expected:
            self._break(
                Fault.MISSING,
                f"Entries {expected} to {number - 1} are missing."
                if number - 1 > expected
                else f"Entry {expected} is missing.",
                first=expected,
                last=number - 1,
            )
        elif number < expected:
            self._break(
                Fault.MISPLACED, f"Entry {number} stands where entry {expected} should be.", first=expected
            )
        else:
            self._break(
                Fault.UNLINKED,
                f"Entry {number} does not follow entry {number - 1}: one of the two was rewritten.",
                first=max(1, number - 1),
                last=number,
            )

    def _break(self, fault: Fault, text: str, *, first: int, last: int | None = None) -> None:
        self.stop(fault, text, first=first, last=first if last is None else last)

    def _meet(self, leaves: list[bytes]) -> None:
        """Grow the tree by `leaves`, and compare it with every checkpoint on the way."""
        done = 0
        while self._reaches(len(leaves) - done):
            held = self._due.pop(0)
            upto = done + held.checkpoint.size - self._frontier.size
            self._frontier.extend(leaves[done:upto])
            done = upto
            self._compare(held)
        self._frontier.extend(leaves[done:])

    def _reaches(self, more: int) -> bool:
        """Return whether the next checkpoint lies within the next `more` entries."""
        return (
            not self.broken and bool(self._due) and self._due[0].checkpoint.size <= self._frontier.size + more
        )

    def _compare(self, held: Held) -> None:
        size = held.checkpoint.size
        if self._frontier.root() == held.checkpoint.root:
            self._held += 1
            self._covered = size
            peaks = " ".join(peak.hex() for peak in self._frontier.peaks).encode()
            if held.frontier not in (None, peaks):
                self.find(Fault.CHECKPOINT, f"{held.source}: its frontier is not that of its root.")
            return
        first = self._covered + 1
        self._rewritten = True
        self._break(
            Fault.REWRITTEN,
            f"Entries {first} to {size} were rewritten, at least one of them: their hashes do not give the"
            f" root in {held.source}.",
            first=first,
            last=size,
        )


def _leaf(row: Row) -> bytes:
    """Return the hash of a row's bytes; TypeError where a column holds something else, or NULL."""
    return sha256(_PREIMAGE % row[:6]).digest()


def _sound(rows: Sequence[Row], seq: int, prev: bytes) -> list[bytes]:
    """Return the hashes of `rows` if all of them follow entry `seq`; [] otherwise.

    The same checks as in `_sound_part`, over all rows at a time: it is what verification spends its time on.
    """
    try:
        leaves = [sha256(_PREIMAGE % row[:6]).digest() for row in rows]  # `_leaf`, without the call
    except TypeError:
        return []
    digests = [row[6] for row in rows]
    if (
        list(map(hexlify, leaves)) == digests
        and [row[0] for row in rows] == [prev, *digests][:-1]
        and [row[1] for row in rows] == list(range(seq + 1, seq + 1 + len(rows)))
    ):
        return leaves
    return []


def _sound_part(rows: Sequence[Row], seq: int, prev: bytes) -> list[bytes]:
    """Return the hashes of those first `rows` that follow entry `seq`."""
    leaves: list[bytes] = []
    for row in rows:
        if not _whole(row) or row[0] != prev or row[1] != seq + 1:
            break
        leaves.append(_leaf(row))
        seq, prev = row[1], row[6]
    return leaves


def _whole(row: Row) -> bool:
    """Return whether the bytes of `row` give its hash."""
    try:
        return hexlify(_leaf(row)) == row[6]
    except TypeError:
        return False
