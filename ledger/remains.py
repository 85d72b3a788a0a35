"""What a process left behind that ended in the middle: questions that only recovery asks.

Reads only, on the connection it is given. What was started and never ended is asked of `ledger.queries`,
since cards show that too; here is what nobody sees and a new process still has to know.
"""

import json
import sqlite3

from gate.domain import ActionId
from gate.lifecycle import ActionState
from ledger.codec import optional
from ledger.kinds import Kind

_START = "SELECT body FROM entry WHERE kind = ? AND correlation_id = ? ORDER BY seq DESC"

#: A settled action succeeded by somebody's word, so no check was ever due for it.
_UNCHECKED = (
    "SELECT a.id FROM action a JOIN proposal p ON p.id = a.proposal WHERE a.state = ?"
    " AND json_extract(a.ending, '$.verify') IS NULL AND json_extract(a.ending, '$.settled') IS NULL"
    " AND coalesce(json_extract(p.doc, '$.verify_' || a.position), json_extract(p.doc, '$.verify'))"
    " IS NOT NULL"
    " ORDER BY p.made_seq, a.position"
)


def boot_id(connection: sqlite3.Connection, action: ActionId) -> str | None:
    """Return the boot id that the start of `action` recorded; None where it recorded none."""
    for (text,) in connection.execute(_START, (Kind.ACTION_STARTED, action.rpartition(".")[0])):
        body = json.loads(text)
        if body["action"] == action:
            return optional(body["boot_id"])
    return None


def unchecked(connection: sqlite3.Connection) -> tuple[ActionId, ...]:
    """Return the actions that succeeded and whose verify command has no recorded result, oldest first."""
    rows = connection.execute(_UNCHECKED, (ActionState.SUCCEEDED,))
    return tuple(ActionId(name) for (name,) in rows)
