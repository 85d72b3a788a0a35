"""What each kind of entry does to the present state.

One function a kind, in `HANDLERS`; the state machines of gate.lifecycle decide every change of state, so an
entry that does not fit raises and its batch is rolled back. Runs inside the transaction of the append and,
for `sayso db rebuild`, over every stored entry; it therefore reads nothing but the entry and the tables.
"""

import json
import sqlite3
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from gate.domain import RouteKind
from gate.errors import TransitionError
from gate.ladder import Rung
from gate.lifecycle import (
    ACTION,
    APPROVAL,
    CLARIFICATION,
    ActionEvent,
    ActionState,
    ApprovalEvent,
    ApprovalState,
    ClarificationEvent,
    ClarificationState,
    advance,
)
from ledger import (
    accounts,
    approvals,
    beliefs,
    commitments,
    delegates,
    dials,
    guidance,
    jobs,
    learning,
    places,
    plans,
    runs,
    signals,
    switches,
    trusting,
    turns,
)
from ledger.chain import canonical
from ledger.codec import Doc, items, mapping, texts
from ledger.expecting import holds
from ledger.kinds import Entry, Kind
from ledger.reader import Handler
from ledger.readout import request_words

__all__ = ["HANDLERS", "TABLES", "holds", "project", "reset"]

S = TypeVar("S", bound=StrEnum)
E = TypeVar("E", bound=StrEnum)

#: What is projected elsewhere, a subject each.
_MORE = (
    switches,
    commitments,
    jobs,
    beliefs,
    dials,
    guidance,
    trusting,
    runs,
    plans,
    delegates,
    learning,
    signals,
)

#: In an order that lets them be emptied.
TABLES = (
    "place",
    "heard",
    "proposal",
    "untold",
    "action",
    "approval",
    "vote",
    "rung",
    "clarification",
    "window",
    "owed",
    *accounts.TABLES,
    *(table for one in _MORE for table in one.TABLES),
)


def project(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    """Apply `entry` to the projections; raises TransitionError where it does not fit the present state.

    The hashes of its words stand in its `body`, so that a rebuild needs nothing but entries.
    """
    handler = HANDLERS.get(entry.kind)
    if handler is not None:
        handler(connection, entry, body)


def reset(connection: sqlite3.Connection) -> None:
    """Empty every projection, before entries are applied anew."""
    for table in TABLES:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names are the constants above


def _value(connection: sqlite3.Connection, query: str, key: str) -> object:
    row = connection.execute(query, (key,)).fetchone()
    return None if row is None else row[0]


# ---------------------------------------------------------------- proposals and approvals


def _proposal_made(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO proposal (id, correlation_id, requester, asked_in, shown_in, made_at, made_seq,"
        " replaced_by, doc) VALUES (?, ?, ?, ?, ?, ?, ?, '', ?)",
        (
            body["proposal"],
            entry.correlation_id,
            body["requester"],
            body["asked_in"],
            body["shown_in"],
            entry.at,
            entry.seq,
            entry.body,
        ),
    )
    if body["replaces"]:
        names = (body["proposal"], body["replaces"])
        connection.execute("UPDATE proposal SET replaced_by=? WHERE id=?", names)
        # What takes its place is told instead.
        connection.execute("DELETE FROM untold WHERE proposal=?", (body["replaces"],))
    if body["asked_in"] != body["shown_in"]:
        connection.execute(
            "INSERT INTO untold (proposal, place) VALUES (?, ?)", (body["proposal"], body["asked_in"])
        )
    for action in map(mapping, items(body["actions"])):
        _insert_action(connection, body, action)


def _proposal_listed(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    """Add actions to a fan-out, which has more of them than one entry holds."""
    parent = json.loads(str(_value(connection, "SELECT doc FROM proposal WHERE id=?", _id(body, "proposal"))))
    for action in map(mapping, items(body["actions"])):
        _insert_action(connection, parent, action)


def _insert_action(connection: sqlite3.Connection, body: Doc, action: Doc) -> None:
    slots = mapping(action["slots"])
    command, *_ = request_words(body, int(str(slots["index"])))
    connection.execute(
        "INSERT INTO action (id, proposal, position, target, risk, state, route, digest, command,"
        " grant_approval, queued_at, started_at, ended_at, doc, ending)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', '', '', ?, '{}')",
        (
            slots["id"],
            body["proposal"],
            slots["index"],
            mapping(slots["target"])["id"],
            mapping(action["verdict"])["risk"],
            ActionState.PROPOSED,
            action["route"],
            action["digest"],
            mapping(command)["payload"],
            canonical(action),
        ),
    )


def _approval_opened(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO approval (id, proposal, action, state, deadline_at, phrase, list_digest, opened_seq,"
        " decided_by, decided_at, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', '', '{}')",
        (
            body["approval"],
            body["proposal"],
            body["action"],
            ApprovalState.PENDING,
            body["deadline_at"],
            body["phrase"] or "",
            body["list_digest"],
            entry.seq,
        ),
    )
    _move_action(connection, body, ActionEvent.ASK)


def _approval_ended(event: ApprovalEvent) -> Handler:
    def handle(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
        state = ApprovalState(
            str(_value(connection, "SELECT state FROM approval WHERE id=?", _id(body, "approval")))
        )
        connection.execute(
            "UPDATE approval SET state=?, decided_by=?, decided_at=?, doc=? WHERE id=?",
            (
                _next(APPROVAL, state, event),
                body.get("decider") or "",
                entry.at,
                entry.body,
                body["approval"],
            ),
        )
        if event is ApprovalEvent.GRANT:
            connection.execute(
                "UPDATE action SET grant_approval=:id WHERE id=(SELECT action FROM approval WHERE id=:id)",
                {"id": body["approval"]},
            )
        if body.get("reason_state") == "owed":
            connection.execute(
                "INSERT OR REPLACE INTO owed (place, person, proposal, until_at) VALUES (?, ?, ?, ?)",
                (body["place"], body["decider"], body["proposal"], body["owed_until"]),
            )

    return handle


def _reason_given(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    connection.execute("DELETE FROM owed WHERE proposal=?", (body["proposal"],))
    if "reason" not in body:
        return
    refused = connection.execute(
        "SELECT id, doc FROM approval WHERE proposal=? AND state=?", (body["proposal"], ApprovalState.REFUSED)
    ).fetchall()
    for approval, doc in refused:
        told = canonical({**json.loads(doc), "reason": body["reason"]})
        connection.execute("UPDATE approval SET doc=? WHERE id=?", (told, approval))


# ---------------------------------------------------------------- actions


def _action_queued(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    state, held, route = _action(connection, body)
    _check_grant(body, held=held)
    # Without a grant: routed to run at once, and nobody was asked about it since.
    if not body["grant"] and (route, state) != (RouteKind.AUTO, ActionState.PROPOSED):
        raise TransitionError(f"{body['action']} needs a grant to be queued")
    connection.execute(
        "UPDATE action SET state=?, queued_at=? WHERE id=?",
        (_next(ACTION, state, ActionEvent.QUEUE), entry.at, body["action"]),
    )
    trusting.used(connection, body)


def _proposal_queued(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    """Queue what needs nobody's yes of a fan-out, all of it at once."""
    names = texts(body["actions"])
    asked = json.dumps(names)
    free = connection.execute(
        "SELECT count(*) FROM action WHERE id IN (SELECT value FROM json_each(?))"
        " AND proposal=? AND state=? AND route=?",
        (asked, body["proposal"], ActionState.PROPOSED, RouteKind.AUTO),
    ).fetchone()[0]
    if free != len(names):
        raise TransitionError(f"something of {body['proposal']} needs a grant to be queued")
    connection.execute(
        "UPDATE action SET state=?, queued_at=? WHERE id IN (SELECT value FROM json_each(?))",
        (_next(ACTION, ActionState.PROPOSED, ActionEvent.QUEUE), entry.at, asked),
    )
    trusting.used(connection, body, times=len(names))


def _action_unqueued(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    state, *_ = _action(connection, body)
    connection.execute(
        "UPDATE action SET state=?, queued_at='', grant_approval='', route=? WHERE id=?",
        (_next(ACTION, state, ActionEvent.UNQUEUE), body["route"], body["action"]),
    )


def _action_started(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    state, held, _ = _action(connection, body)
    _check_grant(body, held=held)
    connection.execute(
        "UPDATE action SET state=?, started_at=? WHERE id=?",
        (_next(ACTION, state, ActionEvent.START), entry.at, body["action"]),
    )


def _action_ended(event: ActionEvent) -> Handler:
    def handle(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
        state, *_ = _action(connection, body)
        connection.execute(
            "UPDATE action SET state=?, ended_at=?, ending=? WHERE id=?",
            (_next(ACTION, state, event), entry.at, entry.body, body["action"]),
        )

    return handle


def _action_verified(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    _add_to_ending(connection, body, "verify")


def _action_settled(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
    event = ActionEvent.SETTLE_RAN if body["ran"] else ActionEvent.SETTLE_DID_NOT_RUN
    _move_action(connection, body, event)
    _add_to_ending(connection, body, "settled")


def _add_to_ending(connection: sqlite3.Connection, body: Doc, key: str) -> None:
    row = connection.execute("SELECT ending FROM action WHERE id=?", (body["action"],)).fetchone()
    connection.execute(
        "UPDATE action SET ending=? WHERE id=?",
        (canonical({**json.loads(row[0]), key: body}), body["action"]),
    )


def _action(connection: sqlite3.Connection, body: Doc) -> tuple[ActionState, str, str]:
    """Return state, held grant ("" for none) and route of the action that `body` names."""
    row = connection.execute(
        "SELECT state, grant_approval, route FROM action WHERE id=?", (body["action"],)
    ).fetchone()
    if row is None:
        raise TransitionError(f"there is no action {body['action']}")
    return ActionState(row[0]), row[1], row[2]


def _check_grant(body: Doc, *, held: str) -> None:
    """Raise unless the grant that the entry names is the one that the action holds, or both are none."""
    if held != (body["grant"] or ""):
        raise TransitionError(f"{body['action']} does not hold the grant {body['grant']}")


def _move_action(connection: sqlite3.Connection, body: Doc, event: ActionEvent) -> None:
    state, *_ = _action(connection, body)
    connection.execute("UPDATE action SET state=? WHERE id=?", (_next(ACTION, state, event), body["action"]))


# ---------------------------------------------------------------- clarifications


def _clarification_asked(connection: sqlite3.Connection, entry: Entry, body: Doc) -> None:
    connection.execute(
        "INSERT INTO clarification (id, place, person, state, deadline_at, doc) VALUES (?, ?, ?, ?, ?, ?)",
        (
            body["clarification"],
            body["place"],
            body["person"],
            ClarificationState.PENDING,
            body["deadline_at"],
            entry.body,
        ),
    )


def _clarification_ended(event: ClarificationEvent) -> Handler:
    def handle(connection: sqlite3.Connection, _entry: Entry, body: Doc) -> None:
        key = _id(body, "clarification")
        state = ClarificationState(str(_value(connection, "SELECT state FROM clarification WHERE id=?", key)))
        after = _next(CLARIFICATION, state, event)
        connection.execute("UPDATE clarification SET state=? WHERE id=?", (after, key))

    return handle


def _next(table: Mapping[tuple[S, E], S], state: S, event: E) -> S:
    after = advance(table, state, event)
    if after is None:
        raise TransitionError(f"{state} does not take {event}")
    return after


def _id(body: Doc, key: str) -> str:
    return str(body[key])


HANDLERS: Mapping[str, Handler] = {
    Kind.TURN_RECEIVED: turns.received,
    Kind.TURN_CRASHED: turns.received,
    Kind.TURN_ANSWERED: turns.answered,
    Kind.PLACE_MOVED: places.moved,
    Kind.PROPOSAL_MADE: _proposal_made,
    Kind.PROPOSAL_LISTED: _proposal_listed,
    Kind.PROPOSAL_QUEUED: _proposal_queued,
    Kind.PROPOSAL_TOLD: approvals.told,
    Kind.APPROVAL_OPENED: _approval_opened,
    Kind.APPROVAL_NUDGED: approvals.climbed(ApprovalEvent.NUDGE, Rung.NUDGE),
    Kind.APPROVAL_ESCALATED: approvals.climbed(ApprovalEvent.ESCALATE, Rung.ESCALATE),
    Kind.APPROVAL_VOTED: approvals.voted,
    Kind.APPROVAL_GRANTED: _approval_ended(ApprovalEvent.GRANT),
    Kind.APPROVAL_REFUSED: _approval_ended(ApprovalEvent.REFUSE),
    Kind.APPROVAL_EXPIRED: _approval_ended(ApprovalEvent.EXPIRE),
    Kind.APPROVAL_SUPERSEDED: _approval_ended(ApprovalEvent.SUPERSEDE),
    Kind.APPROVAL_WITHDRAWN: _approval_ended(ApprovalEvent.WITHDRAW),
    Kind.REASON_GIVEN: _reason_given,
    Kind.ACTION_QUEUED: _action_queued,
    Kind.ACTION_UNQUEUED: _action_unqueued,
    Kind.ACTION_STARTED: _action_started,
    Kind.ACTION_SUCCEEDED: _action_ended(ActionEvent.SUCCEED),
    Kind.ACTION_FAILED: _action_ended(ActionEvent.FAIL),
    Kind.ACTION_CANCELLED: _action_ended(ActionEvent.CANCEL),
    Kind.ACTION_LOST: _action_ended(ActionEvent.LOSE),
    Kind.ACTION_VERIFIED: _action_verified,
    Kind.ACTION_SETTLED: _action_settled,
    Kind.CLARIFICATION_ASKED: _clarification_asked,
    Kind.CLARIFICATION_ANSWERED: _clarification_ended(ClarificationEvent.ANSWER),
    Kind.CLARIFICATION_CANCELLED: _clarification_ended(ClarificationEvent.CANCEL),
    Kind.CLARIFICATION_EXPIRED: _clarification_ended(ClarificationEvent.EXPIRE),
    Kind.CLARIFICATION_SUPERSEDED: _clarification_ended(ClarificationEvent.SUPERSEDE),
    Kind.PAIRING_OFFERED: accounts.offered,
    Kind.PAIRING_MISSED: accounts.missed,
    Kind.PAIRING_ENDED: accounts.ended,
    Kind.ACCOUNT_PAIRED: accounts.paired,
    Kind.ACCOUNT_UNPAIRED: accounts.unpaired,
    **{kind: handler for one in _MORE for kind, handler in one.HANDLERS.items()},
}
