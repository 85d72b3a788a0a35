"""Signals on record: what fired and ended, which of them share a card, what was done about them, storms.

The projection and its reader. A signal stands under a hash of its source and fingerprint, so that no word of
a sender is in a column that stays when words are pruned. It judges nothing: what is news, and how far it may
go, is gate.signals'.
"""

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gate.domain import PlaceId
from gate.errors import TransitionError
from gate.signals import News, Signal, SignalStatus
from ledger.codec import Doc, instant, mapping, parse_instant, texts
from ledger.expecting import SIGNALS_SEQ
from ledger.kinds import Entry, Kind
from ledger.reader import Handler, Reader
from ledger.signal_views import (
    GroupView,
    Held,
    How,
    SignalActView,
    SignalView,
    StormView,
    WatchState,
    WatchView,
)
from ledger.views import PRUNED

#: The newest signals of a storm whose names are counted; its card is drawn often while it lasts.
NAMED = 500

TABLES = ("signal", "signal_change", "signal_group", "signal_act", "storm", "watch")


def signal_id(source: str, fingerprint: str) -> str:
    """Return what a fingerprint of a source is called here: 32 hex digits."""
    return hashlib.sha256(f"{source}\0{fingerprint}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def group_key(source: str, group: str) -> str:
    """Return what a group of a source is found by, without a word of it."""
    return signal_id(source, f"group\0{group}")


# ---------------------------------------------------------------- entries


def _received(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    if body["news"] not in (News.FIRED, News.RESOLVED):
        return
    name = body["signal"]
    row = connection.execute("SELECT held FROM signal WHERE id=?", (name,)).fetchone()
    connection.execute(
        "INSERT OR REPLACE INTO signal (id, source, state, grp, held, starts_at, seq, words, doc)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(name, body["source"], body["status"], body["group"], "" if row is None else row[0]),
            *(body["starts_at"], entry.seq, mapping(body["what"])["payload"]),
            json.dumps({**body, "at": entry.at}, sort_keys=True),
        ),
    )
    connection.execute(
        "INSERT INTO signal_change (signal, seq, at) VALUES (?, ?, ?)", (name, entry.seq, entry.at)
    )


def _grouped(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO signal_group"
        " (id, key, source, place, state, held, until_at, storm, opened_at, closed_at, seq)"
        " VALUES (?, ?, ?, ?, 'open', '', '', ?, ?, '', ?)",
        (
            *(body["group"], body["key"], body["source"], body["place"]),
            *(body["storm"], entry.at, entry.seq),
        ),
    )


def _handled(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO signal_act (seq, grp, how, ref, at, doc) VALUES (?, ?, ?, ?, ?, ?)",
        (entry.seq, body["group"], body["how"], body["ref"], entry.at, entry.body),
    )


def _held(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    if body.get("signal"):
        connection.execute("UPDATE signal SET held=? WHERE id=?", (body["why"], body["signal"]))
    else:
        connection.execute(
            "UPDATE signal_group SET held=?, until_at=? WHERE id=?",
            (body["why"], body["until_at"], body["group"]),
        )


def _released(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    if body.get("signal"):
        connection.execute(
            "UPDATE signal SET held='', grp=? WHERE id=?", (body.get("group", ""), body["signal"])
        )
    else:
        connection.execute("UPDATE signal_group SET held='', until_at='' WHERE id=?", (body["group"],))


def _resolved(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    done = connection.execute(
        "UPDATE signal_group SET state='over', held='', until_at='', closed_at=? WHERE id=? AND state='open'",
        (entry.at, body["group"]),
    )
    if not done.rowcount:
        raise TransitionError(f"there is no open group {body['group']}")


def _storm_began(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO storm (id, place, state, began_at, ended_at, seq) VALUES (?, ?, 'on', ?, '', ?)",
        (body["storm"], body["place"], entry.at, entry.seq),
    )


def _storm_ended(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute("UPDATE storm SET state='over', ended_at=? WHERE id=?", (entry.at, body["storm"]))


def _watch_changed(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO watch (job, target, state, at, seq, doc) VALUES (?, ?, ?, ?, ?, ?)",
        (body["job"], body["target"], body["state"], entry.at, entry.seq, entry.body),
    )


HANDLERS: Mapping[str, Handler] = {
    Kind.SIGNAL_RECEIVED: _received,
    Kind.SIGNAL_GROUPED: _grouped,
    Kind.SIGNAL_HANDLED: _handled,
    Kind.SIGNAL_HELD: _held,
    Kind.SIGNAL_RELEASED: _released,
    Kind.SIGNAL_RESOLVED: _resolved,
    Kind.STORM_BEGAN: _storm_began,
    Kind.STORM_ENDED: _storm_ended,
    Kind.WATCH_CHANGED: _watch_changed,
}


# ---------------------------------------------------------------- questions


class SignalReader(Reader):
    """Questions about what machines reported."""

    def signals_seq(self) -> int:
        """Return the newest entry that changed anything about signals, 0 for none."""
        return int(self._one(SIGNALS_SEQ))

    def signal(self, name: str) -> SignalView | None:
        """Return one fingerprint, by `signal_id`; None where it never fired."""
        return next(iter(self._signals("WHERE id=?", name)), None)

    def changes(self, name: str, *, since: datetime) -> int:
        """Return how often a fingerprint began or ended since an instant."""
        return int(
            self._one("SELECT count(*) FROM signal_change WHERE signal=? AND at>=?", name, instant(since))
        )

    def last_change(self, name: str) -> datetime | None:
        """Return when a fingerprint began or ended last; None for never."""
        found = self._one("SELECT max(at) FROM signal_change WHERE signal=?", name)
        return parse_instant(found) if found else None

    def flapping(self) -> tuple[SignalView, ...]:
        """Return every fingerprint whose changes are held."""
        return self._signals("WHERE held<>'' ORDER BY seq")

    def open_group(self, key: str) -> str | None:
        """Return the open group of `group_key`."""
        row = self._row("SELECT id FROM signal_group WHERE key=? AND state='open' ORDER BY seq DESC", key)
        return None if row is None else str(row["id"])

    def groups_since(self, since: datetime) -> int:
        """Return how many groups began since an instant."""
        return int(self._one("SELECT count(*) FROM signal_group WHERE opened_at>=?", instant(since)))

    def newest_group_at(self) -> datetime | None:
        """Return when the newest group began; None where none ever did."""
        found = self._one("SELECT max(opened_at) FROM signal_group")
        return parse_instant(found) if found else None

    def group(self, name: str) -> GroupView | None:
        """Return one group with its signals and what was done about them."""
        row = self._row("SELECT * FROM signal_group WHERE id=?", name)
        return None if row is None else self._group(row)

    def open_groups(self, *, limit: int = 50) -> tuple[GroupView, ...]:
        """Return the groups that are not over, newest first."""
        rows = self._rows("SELECT * FROM signal_group WHERE state='open' ORDER BY seq DESC LIMIT ?", limit)
        return tuple(map(self._group, rows))

    def count_open_groups(self) -> int:
        """Return how many groups are not over."""
        return int(self._one("SELECT count(*) FROM signal_group WHERE state='open'"))

    def held_groups(self, why: Held) -> tuple[str, ...]:
        """Return the open groups that are held for this reason, oldest first."""
        rows = self._rows("SELECT id FROM signal_group WHERE state='open' AND held=? ORDER BY seq", why)
        return tuple(row["id"] for row in rows)

    def group_of_ref(self, ref: str) -> str | None:
        """Return the group about which a proposal, run or choice was made; None where none was."""
        row = self._row("SELECT grp FROM signal_act WHERE ref=? AND ref<>''", ref)
        return None if row is None else str(row["grp"])

    def acts_since(self, since: datetime) -> int:
        """Return how often something was proposed or run because of a signal since an instant."""
        return int(
            self._one(
                "SELECT count(*) FROM signal_act WHERE at>=? AND how IN (?, ?)",
                *(instant(since), How.PROPOSED, How.RUN),
            )
        )

    def storm(self, name: str | None = None) -> StormView | None:
        """Return one storm; without a name, the one that is on."""
        row = self._row(
            "SELECT * FROM storm WHERE id=? OR (? IS NULL AND state='on') ORDER BY seq DESC", name, name
        )
        if row is None:
            return None
        within = "WHERE grp IN (SELECT id FROM signal_group WHERE storm=?)"
        states = self._rows(f"SELECT state, count(*) AS n FROM signal {within} GROUP BY state", row["id"])  # noqa: S608 - constants
        counts = {one["state"]: int(one["n"]) for one in states}
        newest = self._signals(f"{within} ORDER BY seq DESC LIMIT ?", row["id"], NAMED)
        return StormView(
            id=row["id"],
            place=PlaceId(row["place"]),
            is_over=row["state"] == "over",
            began_at=parse_instant(row["began_at"]),
            ended_at=parse_instant(row["ended_at"]) if row["ended_at"] else None,
            groups=int(self._one("SELECT count(*) FROM signal_group WHERE storm=?", row["id"])),
            firing=counts.get(SignalStatus.FIRING, 0),
            signals=sum(counts.values()),
            names=_counted([one.signal.name for one in newest]),
            sources=_counted([one.signal.source for one in newest]),
        )

    def watch(self, job: str, target: str) -> WatchView | None:
        """Return what a watch saw last on a target; None before it looked."""
        return next((one for one in self.watched(job) if one.target == target), None)

    def watched(self, job: str) -> tuple[WatchView, ...]:
        """Return what a watch saw last on each of its targets."""
        return tuple(
            WatchView(
                job=row["job"],
                target=row["target"],
                state=WatchState(row["state"]),
                value=self._word(json.loads(row["doc"]).get("value")),
                at=parse_instant(row["at"]),
            )
            for row in self._rows("SELECT * FROM watch WHERE job=? ORDER BY target", job)
        )

    def _group(self, row: sqlite3.Row) -> GroupView:
        acts = self._rows("SELECT * FROM signal_act WHERE grp=? ORDER BY seq", row["id"])
        return GroupView(
            id=row["id"],
            source=row["source"],
            place=PlaceId(row["place"]),
            is_open=row["state"] == "open",
            held=row["held"],
            until=parse_instant(row["until_at"]) if row["until_at"] else None,
            storm=row["storm"],
            opened_at=parse_instant(row["opened_at"]),
            closed_at=parse_instant(row["closed_at"]) if row["closed_at"] else None,
            signals=self._signals("WHERE grp=? ORDER BY seq", row["id"]),
            acts=tuple(self._act(one) for one in acts),
        )

    def _act(self, row: sqlite3.Row) -> SignalActView:
        doc = json.loads(row["doc"])
        return SignalActView(
            how=How(row["how"]),
            ref=row["ref"],
            key=doc["key"],
            level=doc["level"],
            signals=texts(doc["signals"]),
            matched=self._word(doc.get("matched")),
            note=self._word(doc.get("note")),
            at=parse_instant(row["at"]),
        )

    def _signals(self, condition: str, *values: object) -> tuple[SignalView, ...]:
        rows = self._rows(f"SELECT * FROM signal {condition}", *values)  # noqa: S608 - conditions are constants
        docs = [json.loads(row["doc"]) for row in rows]
        word = self._words(doc["what"] for doc in docs)
        return tuple(_view(row, doc, word(doc["what"])) for row, doc in zip(rows, docs, strict=True))


def _view(row: sqlite3.Row, doc: Doc, what: str) -> SignalView:
    words: dict[str, Any] = {"fingerprint": PRUNED} if what == PRUNED else json.loads(what)
    return SignalView(
        id=row["id"],
        signal=Signal(
            source=row["source"],
            fingerprint=words["fingerprint"],
            status=SignalStatus(row["state"]),
            starts_at=parse_instant(row["starts_at"]),
            labels=words.get("labels", {}),
            annotations=words.get("annotations", {}),
            severity=words.get("severity", ""),
        ),
        group=row["grp"],
        held=row["held"],
        at=parse_instant(str(doc["at"])),
    )


def _counted(names: Sequence[str]) -> dict[str, int]:
    """Return how often each name stands there, the most frequent first."""
    counts = dict.fromkeys(names, 0)
    for name in names:
        counts[name] += 1
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
