"""Rules that let an exact command run unasked for a while, and how often they did (X15).

The projection and its reader. A rule is used by the entry that queues an action under its name; one that was
revoked never counts again. Whether a rule covers an action is the gate's.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gate.domain import PersonId, Risk, TargetId
from gate.errors import TransitionError
from gate.shell.certain import argv_of
from gate.trust_rules import TrustRule
from ledger.chain import canonical
from ledger.codec import Doc, mapping, optional, parse_instant, texts
from ledger.kinds import Entry, Kind
from ledger.reader import Handler, Reader

TABLES = ("trust_rule",)

#: States of a rule; that it is over is no state: time tells.
ACTIVE, REVOKED = "active", "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustRuleView:
    """A rule as recorded.

    Attributes:
        command: as it was typed; PRUNED once its words are gone, and then the rule covers nothing.
        used: how many actions were queued under it.
        revoked_by: None while nobody revoked it.
    """

    rule: TrustRule
    command: str
    made_at: datetime
    used: int
    revoked_by: PersonId | None


def _made(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO trust_rule (id, state, expires_at, used, seq, words, doc) VALUES (?, ?, ?, 0, ?, ?, ?)",
        (
            body["rule"],
            ACTIVE,
            body["expires_at"],
            entry.seq,
            mapping(body["command"])["payload"],
            canonical({**body, "made_at": entry.at}),
        ),
    )


def _revoked(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    row = connection.execute(
        "SELECT doc FROM trust_rule WHERE id=? AND state=?", (body["rule"], ACTIVE)
    ).fetchone()
    if row is None:
        raise TransitionError(f"there is no rule {body['rule']} to revoke")
    doc = canonical({**json.loads(row[0]), "revoked_by": body["by"]})
    connection.execute("UPDATE trust_rule SET state=?, doc=? WHERE id=?", (REVOKED, doc, body["rule"]))


def used(connection: sqlite3.Connection, body: Doc, *, times: int = 1) -> None:
    """Count the uses where the entry that queued actions, `times` of them, names a rule."""
    if body.get("rule"):
        connection.execute("UPDATE trust_rule SET used=used+? WHERE id=?", (times, body["rule"]))


HANDLERS: Mapping[str, Handler] = {Kind.TRUST_RULE_MADE: _made, Kind.TRUST_RULE_REVOKED: _revoked}


class TrustReader(Reader):
    """Questions about trust rules."""

    def trust_rule(self, rule: str) -> TrustRuleView | None:
        """Return one rule, whatever became of it."""
        row = self._row("SELECT * FROM trust_rule WHERE id=?", rule)
        return None if row is None else self._rule(row)

    def trust_rules(self) -> tuple[TrustRuleView, ...]:
        """Return every rule that was not revoked, over or not, oldest first."""
        rows = self._rows("SELECT * FROM trust_rule WHERE state=? ORDER BY seq", ACTIVE)
        return tuple(map(self._rule, rows))

    def _rule(self, row: sqlite3.Row) -> TrustRuleView:
        doc = json.loads(row["doc"])
        command = self._word(doc["command"])
        with_whom = optional(doc["with_whom"])
        revoked_by = optional(doc.get("revoked_by"))
        return TrustRuleView(
            rule=TrustRule(
                id=row["id"],
                argv=argv_of(command),
                targets=tuple(TargetId(name) for name in texts(doc["targets"])),
                ceiling=Risk(doc["ceiling"]),
                expires_at=parse_instant(row["expires_at"]),
                until=doc["until"],
                made_by=PersonId(doc["by"]),
                with_whom=None if with_whom is None else PersonId(with_whom),
            ),
            command=command,
            made_at=parse_instant(doc["made_at"]),
            used=row["used"],
            revoked_by=None if revoked_by is None else PersonId(revoked_by),
        )
