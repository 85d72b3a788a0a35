"""The export: the whole record as JSON Lines, in one pass, the same bytes for the same ledger.

One header, then entries in order, each followed by its payloads where they are asked for, and each checkpoint
after the last entry that it covers. Every line is canonical JSON, so no byte of it can change unseen.
docs/ledger-format.md describes each line.
"""

import base64
import sqlite3
from collections.abc import Iterator

from ledger import checkpoint, payloads
from ledger.chain import canonical
from ledger.kinds import Entry, Json
from ledger.note import Signer
from ledger.reading import body_of, read_entries, read_head

FORMAT = "sayso-ledger-export/1"


def export(
    connection: sqlite3.Connection, *, with_payloads: bool, signer: Signer | None = None
) -> Iterator[str]:
    """Give the lines of an export, each with its newline.

    Args:
        connection: a reader inside `ledger.engine.snapshot`, so that all lines are of one state.
        with_payloads: include exact words, commands and output.
        signer: signs a checkpoint over everything, unless the newest stored one covers it.
    """
    size = read_head(connection).seq
    origin = checkpoint.stored_origin(connection) or (signer.name if signer else "")
    yield _line(
        {"format": FORMAT, "origin": origin, "payloads": with_payloads, "size": size, "type": "header"}
    )
    notes = iter(connection.execute("SELECT size, note FROM checkpoint ORDER BY size").fetchall())
    due = next(notes, None)
    for entry in read_entries(connection):
        yield _line({**entry._asdict(), "type": "entry"})
        if with_payloads:
            yield from _payloads(connection, entry)
        while due is not None and due[0] <= entry.seq:
            yield _line({"note": due[1], "type": "checkpoint"})
            due = next(notes, None)
    if signer is not None and size > (newest[0] if (newest := checkpoint.newest(connection)) else 0):
        note = checkpoint.signed(checkpoint.grown(connection, size=size), signer)
        yield _line({"note": note, "type": "checkpoint"})


def _payloads(connection: sqlite3.Connection, entry: Entry) -> Iterator[str]:
    for name, _ in payloads.references(body_of(entry)).values():
        row = connection.execute("SELECT salt, content FROM payload WHERE hash = ?", (name,)).fetchone()
        if row is None:
            continue  # verify says so: the entry names it
        document: dict[str, Json] = {"hash": name, "seq": entry.seq, "type": "payload"}
        salt, content = row
        if salt is None or content is None:
            document["pruned"] = True
        else:
            document["content"] = base64.b64encode(content).decode()
            document["salt"] = base64.b64encode(salt).decode()
        yield _line(document)


def _line(document: dict[str, Json]) -> str:
    return canonical(document) + "\n"
