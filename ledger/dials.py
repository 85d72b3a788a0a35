"""Settings as they were set at run time.

The projection and its reader. Which settings there are, and whether a value counts, the ledger does not
know. A setting that was unset keeps its row, so that whoever read it before loses the race (D11).
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gate.domain import PersonId
from ledger.codec import Doc, parse_instant
from ledger.kinds import Entry, Json, Kind
from ledger.reader import Handler, Reader

TABLES = ("setting",)

_UNSET = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingView:
    """A setting that is set at run time: to what, by whom, when, by which entry."""

    key: str
    value: Json
    person: PersonId
    at: datetime
    seq: int


class DialReader(Reader):
    """Questions about settings that were set at run time."""

    def settings(self) -> Mapping[str, SettingView]:
        """Return every setting that is set at run time, by key."""
        return {
            row["key"]: SettingView(
                key=row["key"],
                value=json.loads(row["value"]),
                person=PersonId(row["person"]),
                at=parse_instant(row["at"]),
                seq=row["seq"],
            )
            for row in self._rows("SELECT * FROM setting WHERE value<>? ORDER BY key", _UNSET)
        }

    def setting_seq(self) -> int:
        """Return the entry that last changed a setting, 0 for none."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM setting"))


def _changed(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    _put(connection, entry, body, value=json.dumps(body["value"], sort_keys=True))


def _cleared(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    _put(connection, entry, body, value=_UNSET)


def _put(connection: sqlite3.Connection, entry: Entry, body: Doc, *, value: str) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO setting (key, value, person, at, seq) VALUES (?, ?, ?, ?, ?)",
        (body["key"], value, body["by"], entry.at, entry.seq),
    )


HANDLERS: Mapping[str, Handler] = {Kind.SETTING_CHANGED: _changed, Kind.SETTING_CLEARED: _cleared}
