"""What must be true after every kill, once the bot has come back.

Looks at the entries themselves rather than at projections wherever it can. Each violation is one line in the
cycle's journal, in words; none is silently repaired.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.domain import ActionId
from gate.lifecycle import ActionState
from ledger.kinds import Kind
from ledger.projections import TABLES, reset
from ledger.verify import verify_live

if TYPE_CHECKING:
    from tests.crash.life import Life

ENDS = (Kind.ACTION_SUCCEEDED, Kind.ACTION_FAILED, Kind.ACTION_CANCELLED, Kind.ACTION_LOST)
TURNS = (Kind.TURN_RECEIVED, Kind.TURN_CRASHED)


async def examine(life: "Life") -> None:
    """Check everything, before and after the bot is put to use again."""
    _report(life, _at_rest(life))
    await _resume(life)
    await _frozen_until_settled(life)
    await _still_works(life)
    _report(life, _at_rest(life))
    _report(life, _record_is_whole(life))
    _tell_effects(life)


def _report(life: "Life", found: Iterator[str]) -> None:
    for text in found:
        life.journal.write("violation", text=text)


# ---------------------------------------------------------------- what the entries say


class _Entry:
    def __init__(self, row: tuple[int, str, str]) -> None:
        self.seq, self.kind = row[0], row[1]
        self.body: dict[str, object] = json.loads(row[2])


def _entries(life: "Life") -> list[_Entry]:
    rows = life.app.core.ledger.reader().execute("SELECT seq, kind, body FROM entry ORDER BY seq")
    return [_Entry(row) for row in rows]


def _at_rest(life: "Life") -> Iterator[str]:
    entries = _entries(life)
    yield from _grants(entries)
    yield from _runs(life, entries)
    yield from _switches(entries)
    yield from _messages(life, entries)
    yield from _effects(life)


def _grants(entries: list[_Entry]) -> Iterator[str]:
    granted: Counter[object] = Counter()
    consumed: Counter[object] = Counter()
    for one in entries:
        if one.kind == Kind.APPROVAL_GRANTED:
            granted[one.body["approval"]] += 1
        if one.kind == Kind.ACTION_STARTED and one.body["grant"] is not None:
            consumed[one.body["grant"]] += 1
            if not granted[one.body["grant"]]:
                yield f"{one.body['action']} started on a grant that nobody gave"
    for approval, times in granted.items():
        if times > 1:
            yield f"{approval} was granted {times} times"
    for approval, times in consumed.items():
        if times > 1:
            yield f"the grant {approval} was consumed {times} times"


def _runs(life: "Life", entries: list[_Entry]) -> Iterator[str]:
    starts: Counter[object] = Counter()
    ends: defaultdict[object, list[str]] = defaultdict(list)
    for one in entries:
        if one.kind == Kind.ACTION_STARTED:
            starts[one.body["action"]] += 1
        elif one.kind in ENDS:
            ends[one.body["action"]].append(one.kind)
    for action, times in starts.items():
        if times > 1:
            yield f"{action} was started {times} times"
        if len(ends[action]) != 1:
            yield f"{action} was started and ended as {ends[action]}"
    queries = life.app.core.queries
    yield from (f"{one.action.id} is forgotten: started" for one in queries.in_state(ActionState.STARTED))
    if not queries.switches().stopped:
        yield from (f"{one.action.id} never moved: queued" for one in queries.in_state(ActionState.QUEUED))


def _switches(entries: list[_Entry]) -> Iterator[str]:
    stopped = False
    for one in entries:
        if one.kind == Kind.SWITCH_CHANGED and one.body["switch"] == "stopped":
            stopped = one.body["value"] is True
        if one.kind == Kind.ACTION_STARTED and stopped:
            yield f"{one.body['action']} started while everything was stopped"


def _messages(life: "Life", entries: list[_Entry]) -> Iterator[str]:
    handled = Counter(one.body["event"] for one in entries if one.kind in TURNS)
    for event, times in handled.items():
        if times > 1:
            yield f"the message {event} was handled {times} times"
    for line in life.journal.read("acknowledged"):
        if not handled[line["event"]]:
            yield f"the message {line['event']} was acknowledged and forgotten"
    yield from (f"{item.key} waits in the inbox" for item in life.app.core.ledger.inbox.pending())


def _effects(life: "Life") -> Iterator[str]:
    yield from (f"effect {item.id} waits in the outbox" for item in life.app.core.ledger.outbox.pending())
    shown = {line["nonce"] for line in life.journal.read("shown")}
    rows = life.app.core.ledger.reader().execute(
        "SELECT id, nonce, state FROM outbox WHERE kind IN ('say', 'card')"
    )
    for number, nonce, state in rows:
        if nonce not in shown:
            yield f"effect {number} is {state} and was never shown"


def _record_is_whole(life: "Life") -> Iterator[str]:
    ledger = life.app.core.ledger
    held = {file.name: file.read_text() for file in life.order.path.glob("*.note")}
    report = verify_live(ledger.path, keys=[ledger.verifier], held=held)
    yield from (f"the ledger does not verify: {finding}" for finding in report.findings)
    before = _projections(ledger.reader())
    ledger.rebuild(reset)
    if _projections(ledger.reader()) != before:
        yield "rebuilding changes the projections"


def _projections(connection: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    return {
        table: sorted(map(tuple, connection.execute(f"SELECT * FROM {table}").fetchall())) for table in TABLES
    }


# ---------------------------------------------------------------- in use


async def _frozen_until_settled(life: "Life") -> None:
    """A target with an unknown end takes no change until somebody has looked; afterwards it does."""
    queries = life.app.core.queries
    lost = [one for one in queries.in_state(ActionState.LOST) if one.verdict.risk.rank > 0]
    if frozenset(queries.frozen()) != {one.action.target.id for one in lost}:
        life.journal.write("violation", text=f"frozen are {queries.frozen()}, lost {lost}")
    life.journal.write("lost", number=len(lost))
    for target in queries.frozen():
        denials = _denials(life)
        await life.say(f"run sh -c 'echo frozen >> {life.order.witness}' on {target}")
        if _denials(life) != [*denials, "frozen_target"]:
            life.journal.write("violation", text=f"a change on the frozen {target} was not denied")
    for proposal in dict.fromkeys(one.action.id.rpartition(".")[0] for one in lost):
        await life.say(f"settle {proposal} did-not-run, because the witness was read")
    if queries.frozen():
        life.journal.write("violation", text=f"settled, and still frozen: {queries.frozen()}")


def _denials(life: "Life") -> list[object]:
    return [one.body["code"] for one in _entries(life) if one.kind == Kind.REQUEST_DENIED]


async def _resume(life: "Life") -> None:
    if life.app.core.queries.switches().stopped:
        await life.say("resume")
        await life.say("resume sayso")
        await life.rest()


async def _still_works(life: "Life") -> None:
    """What waited is dropped; then reading runs at once, and a change runs after its yes."""
    for proposal in dict.fromkeys(one.proposal for one in life.app.core.queries.pending()):
        await life.say(f"deny {proposal}, the test is over")
    await life.say("run echo fine on local")
    await life.say(f"run sh -c 'echo after >> {life.order.witness}' on local")
    await life.say(f"approve {life.newest()[0].id}")
    await life.rest()
    for view in life.newest(2):
        one = view.actions[0]
        if one.state is not ActionState.SUCCEEDED:
            life.journal.write("violation", text=f"afterwards {one.action.command}: {one.state}")


def _tell_effects(life: "Life") -> None:
    """Leave word of which commands started and which succeeded, to be compared with the witness."""
    queries = life.app.core.queries
    started = [
        queries.action(ActionId(str(one.body["action"])))
        for one in _entries(life)
        if one.kind == Kind.ACTION_STARTED
    ]
    life.journal.write("started", commands=[one.action.command for one in started])
    # A settled one succeeded only by somebody's word.
    ran = [one for one in started if one.ending is not None and one.ending.exit_code == 0]
    life.journal.write("succeeded", commands=[one.action.command for one in ran])
