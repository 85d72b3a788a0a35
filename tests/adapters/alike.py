"""Entries of a ledger as they are on every platform: without ids, places, accounts, digests and durations."""

import json
import re
import sqlite3
from typing import Any

from ledger.reading import body_of, read_entries

#: What a platform, chance or the machine decides. Output is the machine's; that it is there is compared.
#: Whose next word counts differs where answers get threads of their own (D2).
_OWN = frozenset({
    "account", "action_digest", "asked_in", "boot_id", "connect_s", "consumes_window", "digest", "direct",
    "event", "list_digest", "output", "place", "place_ref", "run_s", "rules_revision", "sha256", "shown_in",
    "total_bytes",
})  # fmt: skip
_ID = re.compile(r"\b(?:k\d{5}|token-\d+)\b")


def alike(connection: sqlite3.Connection, *, folder: str) -> list[str]:
    """Return each entry as one line: when, its kind, its body and words; ids by the order they came up in.

    Args:
        folder: where the conversation was played, which stands in commands.
    """
    payloads = {
        key: bytes(content).decode("utf-8", "replace")
        for key, content in connection.execute("SELECT hash, content FROM payload")
    }
    lines = []
    for entry in read_entries(connection):
        body = _without(body_of(entry), payloads)
        lines.append(f"{entry.at} {entry.kind} {json.dumps(body, ensure_ascii=False, sort_keys=True)}")
    seen: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        return seen.setdefault(found[0], f"<{len(seen) + 1}>")

    return [_ID.sub(numbered, line.replace(folder, "<folder>")) for line in lines]


def _without(value: Any, payloads: dict[str, str]) -> Any:
    match value:
        case {"payload": str(key), **_rest}:
            return payloads[key]
        case dict():
            return {key: _field(key, inner, payloads) for key, inner in value.items()}
        case list():
            return [_without(one, payloads) for one in value]
        case _:
            return value


def _field(key: str, value: Any, payloads: dict[str, str]) -> Any:
    if key in ("consumes_window", "direct"):
        return "<own>"
    if key in _OWN:
        return "<own>" if value else value
    return _without(value, payloads)
