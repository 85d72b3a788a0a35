"""What `sayso ledger tail` and `show` do: entries, for people and for scripts.

Everything that a person reads here was written by somebody else, so control characters are made visible.
JSON rows carry the entry's fields, its body parsed, and with `show` its words.
"""

import argparse
import base64
import json
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping

from bot.cli.options import ledger_path
from bot.text import visible
from ledger import payloads
from ledger.engine import reading
from ledger.kinds import Entry, Json
from ledger.reading import body_of, read_entries, read_entry, read_head

_POLL_S = 0.5
_WRONG = 1

Words = dict[str, bytes | None]


def tail(args: argparse.Namespace) -> int:
    """Print the newest entries, and with --follow what is added."""
    with reading(ledger_path(args)) as connection:
        last = max(0, read_head(connection).seq - max(0, args.n))
        while True:
            for entry in read_entries(connection, after=last):
                print(_row(entry) if args.json else _line(entry))
                last = entry.seq
            if not args.follow:
                return 0
            sys.stdout.flush()
            time.sleep(_POLL_S)


def show(args: argparse.Namespace) -> int:
    """Print one entry, or all of one proposal, with words and output."""
    with reading(ledger_path(args)) as connection:
        found = 0
        for entry in _wanted(connection, args.what):
            words = _words(connection, entry)
            print(_row(entry, words) if args.json else "\n".join(_page(entry, words)))
            found += 1
    if not found:
        print(f"No entry {args.what}. sayso ledger tail shows the newest.", file=sys.stderr)
        return _WRONG
    return 0


def _wanted(connection: sqlite3.Connection, what: str) -> Iterator[Entry]:
    if what.isascii() and what.isdigit():
        numbers = [int(what)]
    else:
        rows = connection.execute(
            "SELECT seq FROM entry WHERE correlation_id = ? ORDER BY seq", (what.removeprefix("#"),)
        )
        numbers = [seq for (seq,) in rows]
    for number in numbers:
        if (entry := read_entry(connection, number)) is not None:
            yield entry


def _words(connection: sqlite3.Connection, entry: Entry) -> Words:
    named = payloads.references(body_of(entry))
    return {key: payloads.read(connection, name) for key, (name, _) in named.items()}


def _row(entry: Entry, words: Words | None = None) -> str:
    row: dict[str, Json] = {
        "seq": entry.seq,
        "kind": entry.kind,
        "at": entry.at,
        "correlation_id": entry.correlation_id,
        "body": body_of(entry),
        "prev_hash": entry.prev_hash,
        "hash": entry.hash,
    }
    if words is not None:
        row["words"] = {key: _value(content) for key, content in words.items()}
    return json.dumps(row, ensure_ascii=False)


def _value(content: bytes | None) -> Json:
    if content is None:
        return {"pruned": True}
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _line(entry: Entry) -> str:
    body: Mapping[str, Json] = body_of(entry)
    named = payloads.references(body)
    facts = [
        f"{key}=({named[key][1]} bytes)" if key in named else f"{key}={_short(value)}"
        for key, value in body.items()
    ]
    name = f"#{entry.correlation_id}" if entry.correlation_id else "-"
    return visible(f"{entry.seq:>6}  {entry.at[:19]}Z  {entry.kind:<22} {name:<8} {' '.join(facts)}").rstrip()


_MOST_CHARS = 60


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}…"


def _page(entry: Entry, words: Words) -> Iterator[str]:
    yield visible(f"entry {entry.seq}  {entry.kind}  {entry.at}")
    if entry.correlation_id:
        yield visible(f"  of #{entry.correlation_id}")
    for key, value in body_of(entry).items():
        if key not in words:
            yield visible(
                f"  {key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
            )
    for key, content in words.items():
        if content is None:
            yield f"  {key}: pruned"
        else:
            yield f"  {key}:"
            yield from (f"    {visible(line)}" for line in content.decode("utf-8", "replace").splitlines())
    yield f"  hash {entry.hash}"
