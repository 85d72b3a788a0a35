"""Verification of a ledger where it lies, and of an export of it, with nothing but the public key.

Reads, and says what `ledger.audit` finds. It trusts no trigger, no projection and no cached tree: only stored
bytes, and checkpoints signed by a known key. Held checkpoints are signed notes that were copied elsewhere;
without one, nobody can tell a ledger that was cut off and signed again with its own key.
"""

import base64
import binascii
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ledger import guards, payloads
from ledger.audit import Auditor, Fault, Report, Row
from ledger.chain import canonical
from ledger.engine import open_reader, snapshot
from ledger.export import FORMAT
from ledger.kinds import DraftError, Json
from ledger.note import Verifier

#: Rows audited at a time.
_BATCH = 2048
_ENTRY_FIELDS = ("kind", "at", "correlation_id", "body", "prev_hash", "hash")


def verify_live(path: Path, *, keys: Sequence[Verifier], held: Mapping[str, str]) -> Report:
    """Verify the ledger at `path`, also while a process writes it.

    Args:
        path: the SQLite file.
        keys: public keys that its checkpoints may be signed with.
        held: signed notes kept elsewhere, by where they come from.

    Raises:
        LedgerMissingError: there is none.
        LedgerUnreadableError: the file is no ledger.
    """
    connection, words = open_reader(path), open_reader(path)
    try:
        connection.text_factory = bytes  # what is stored, whether or not it is text
        words.text_factory = bytes
        with snapshot(connection), snapshot(words):
            return _audit_live(connection, words, keys, held)
    finally:
        connection.close()
        words.close()


def verify_export(path: Path, *, keys: Sequence[Verifier], held: Mapping[str, str]) -> Report:
    """Verify an export by itself.

    Args:
        path: the JSON Lines file.
        keys: public keys of the ledger.
        held: signed notes kept elsewhere, by where they come from.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return _ExportAudit(keys).run(file, held)


def _audit_live(
    connection: sqlite3.Connection,
    words: sqlite3.Connection,
    keys: Sequence[Verifier],
    held: Mapping[str, str],
) -> Report:
    auditor = Auditor(keys, on_words=lambda seq, names: _match(words, auditor, seq, names))
    try:
        for name in guards.missing(connection):
            auditor.find(Fault.GUARD, f"The guard {name} was removed or altered: entries can be overwritten.")
        _hold_all(connection, auditor, keys, held)
        rows = connection.execute(
            "SELECT prev_hash, seq, kind, at, correlation_id, body, hash FROM entry ORDER BY seq"
        )
        while not auditor.broken and (batch := rows.fetchmany(_BATCH)):
            auditor.feed(batch)
        if auditor.whole:
            _count_strays(words, auditor)
    except sqlite3.Error as error:
        auditor.find(Fault.FILE, f"The file is damaged after entry {auditor.size}: {error}.")
    return auditor.finish()


def _hold_all(
    connection: sqlite3.Connection, auditor: Auditor, keys: Sequence[Verifier], held: Mapping[str, str]
) -> None:
    rows = connection.execute("SELECT size, root, frontier, note FROM checkpoint ORDER BY size").fetchall()
    if not keys and (rows or held):
        auditor.find(Fault.KEY, "There is no public key to check checkpoints with; give one with --key.")
        return
    for source, note in held.items():
        auditor.hold(note, source=source)
    for size, root, frontier, note in rows:
        source = f"stored checkpoint {_shown(size)}"
        peaks = frontier if isinstance(frontier, bytes) else b""
        signed = auditor.hold(_shown(note), source=source, frontier=peaks)
        if signed is not None and (size, root) != (signed.size, signed.root.hex().encode()):
            auditor.find(Fault.CHECKPOINT, f"{source}: its columns are not what its note says.")


def _match(
    words: sqlite3.Connection, auditor: Auditor, seq: int, names: Mapping[str, tuple[str, int]]
) -> None:
    """Compare the payloads that entry `seq` names with those that are stored."""
    for key, (name, size) in names.items():
        row = words.execute(
            "SELECT salt, content, size, pruned_at FROM payload WHERE hash = ?", (name,)
        ).fetchone()
        if row is None:
            auditor.find(Fault.PAYLOAD, f"Entry {seq}: its {key} is missing.", first=seq, last=seq)
            continue
        salt, content, stored_size, pruned_at = row
        if pruned_at is not None and content is None and salt is None:
            auditor.pruned += 1
        elif stored_size == size and _is(name, size, salt, content):
            auditor.payloads += 1
        else:
            auditor.find(Fault.PAYLOAD, f"Entry {seq}: its {key} was changed.", first=seq, last=seq)


def _is(name: str, size: int, salt: object, content: object) -> bool:
    return (
        isinstance(salt, bytes)
        and isinstance(content, bytes)
        and len(content) == size
        and payloads.payload_hash(salt, content) == name
    )


def _count_strays(words: sqlite3.Connection, auditor: Auditor) -> None:
    stored = words.execute("SELECT count(*) FROM payload").fetchone()[0]
    named = auditor.payloads + auditor.pruned
    if stored > named and not auditor.found(Fault.PAYLOAD):
        auditor.find(Fault.PAYLOAD, f"{stored - named} payloads belong to no entry.")


def _shown(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


class _LineError(Exception):
    """A line of an export is not what it should be; says why."""


class _ExportAudit:
    """One pass over an export."""

    def __init__(self, keys: Sequence[Verifier]) -> None:
        self._auditor = Auditor(keys)
        self._rows: list[Row] = []
        self._open: dict[str, tuple[int, str, int]] = {}  # payload hash -> entry, key, size
        self._with_payloads = False
        self._size = 0

    def run(self, file: Iterator[bytes], held: Mapping[str, str]) -> Report:
        auditor = self._auditor
        number = 0
        try:
            self._header(_parse(next(file, b"")))
            for source, note in held.items():
                auditor.hold(note, source=source)
            for number, line in enumerate(file, start=2):  # noqa: B007  used when a line is refused
                self._take(_parse(line))
                if auditor.broken:
                    return auditor.finish()
            self._flush()
            self._close_words()
        except _LineError as error:
            self._flush()
            if not auditor.broken:
                after = f" after entry {auditor.size}" if auditor.size else ""
                auditor.stop(Fault.FILE, f"Line {max(number, 1)} of the export{after}: {error}")
        self._check_end()
        return auditor.finish()

    def _header(self, document: Mapping[str, Json]) -> None:
        match document:
            case {
                "format": str(form),
                "origin": str(origin),
                "payloads": bool(with_payloads),
                "size": int(size),
                "type": "header",
                **rest,
            } if form == FORMAT and not rest:
                self._auditor.origin = origin
                self._with_payloads = with_payloads
                self._size = size
            case _:
                raise _LineError(f"it is no header of a {FORMAT} file.")

    def _take(self, document: Mapping[str, Json]) -> None:
        match document:
            case {"type": "entry", **fields}:
                self._entry(fields)
            case {"type": "payload", "hash": str(name), "seq": int(seq), **fields}:
                self._payload(name, seq, fields)
            case {"type": "checkpoint", "note": str(note), **rest} if not rest:
                self._close_words()
                self._flush()
                if not self._auditor.broken:
                    self._auditor.hold(note, source=f"the checkpoint after entry {self._auditor.size}")
            case _:
                raise _LineError("it is neither entry nor payload nor checkpoint.")

    def _entry(self, fields: Mapping[str, Json]) -> None:
        self._close_words()
        values = [fields.get(name) for name in _ENTRY_FIELDS]
        seq = fields.get("seq")
        if len(fields) != 1 + len(_ENTRY_FIELDS) or not isinstance(seq, int) or isinstance(seq, bool):
            raise _LineError("it is no entry.")
        texts = [value.encode() for value in values if isinstance(value, str)]
        if len(texts) != len(_ENTRY_FIELDS):
            raise _LineError("it is no entry.")
        kind, at, correlation_id, body, before, digest = texts
        self._rows.append((before, seq, kind, at, correlation_id, body, digest))
        if b'{"bytes":' in body:
            self._flush()  # so that nothing is asked of words before their entry is known to be intact
            if not self._auditor.broken:
                named = self._auditor.words_of(seq, body)
                self._open = {name: (seq, key, size) for key, (name, size) in named.items()}
        elif len(self._rows) >= _BATCH:
            self._flush()

    def _payload(self, name: str, seq: int, fields: Mapping[str, Json]) -> None:
        self._flush()
        if self._auditor.broken:
            return
        owner, key, size = self._open.pop(name, (0, "", 0))
        if not self._with_payloads or owner != seq or owner == 0:
            self._auditor.find(
                Fault.PAYLOAD, f"A payload follows entry {self._auditor.size} that it does not name."
            )
            return
        match fields:
            case {"pruned": True, **rest} if not rest:
                self._auditor.pruned += 1
            case {"content": str(content), "salt": str(salt), **rest} if not rest and _is(
                name, size, _decode(salt), _decode(content)
            ):
                self._auditor.payloads += 1
            case _:
                self._auditor.find(Fault.PAYLOAD, f"Entry {seq}: its {key} was changed.", first=seq, last=seq)

    def _close_words(self) -> None:
        for seq, key, _ in self._open.values():
            if self._with_payloads:
                self._auditor.find(Fault.PAYLOAD, f"Entry {seq}: its {key} is missing.", first=seq, last=seq)
            else:
                self._auditor.absent += 1
        self._open = {}

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        self._auditor.feed(rows)

    def _check_end(self) -> None:
        auditor = self._auditor
        if auditor.broken or auditor.size == self._size:
            return
        if auditor.size < self._size:
            auditor.stop(
                Fault.TRUNCATED,
                f"Entries {auditor.size + 1} to {self._size} are gone: the export begins by saying that it"
                f" holds {self._size}.",
                first=auditor.size + 1,
                last=self._size,
            )
        else:
            auditor.find(
                Fault.FILE, f"The export holds {auditor.size} entries, and begins by saying {self._size}."
            )


def _parse(line: bytes) -> dict[str, Json]:
    """Return the document of one line.

    Raises:
        _LineError: it is not the canonical JSON of an object, with a newline.
    """
    try:
        text = line.decode()
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _LineError("it is no JSON.") from error
    if not isinstance(document, dict) or _canonical(document) != text:
        raise _LineError("it is not in the form in which sayso writes it.")
    return document


def _canonical(document: dict[str, Json]) -> str:
    try:
        return canonical(document) + "\n"
    except DraftError:
        return ""


def _decode(text: str) -> bytes | None:
    try:
        return base64.b64decode(text.encode(), validate=True)
    except (ValueError, binascii.Error):
        return None
