"""Whatever is broken, nothing is done and the person is told: every failure against every act, and a command.

The acts are those of the registry; one that has no row here fails. Where a failure does not concern an act,
the table says so, and the act has to work: a part that is down takes no other part with it.
"""

import contextlib
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot import judging
from bot.acts.registry import HANDLERS
from bot.core import Probe, no_probe
from bot.ports import NotCommittedError
from gate.policy import Policy, Posture
from gate.resolve import engine
from gate.resolve.decision import Act
from tests.bot.signals.alerting import at_rest
from tests.bot.test_digest import Ends
from tests.crash.test_full_disk import Limited
from tests.kit import START, Kit, conversation

COMMAND = "command"


@dataclass(frozen=True, kw_only=True)
class Row:
    """An act as asked for: what is said before anything is broken, and then."""

    said: str
    before: str = ""
    phrase: bool = False  # what it asks for is typed as well
    runs: bool = False  # it runs something by itself, at once


ROWS: Mapping[Act | str, Row] = {
    COMMAND: Row(said="run systemctl restart caddy on local"),  # runs at once under approve_config
    Act.REMIND: Row(said="remind me in 20 minutes to call Bo"),
    Act.SCHEDULE: Row(said="every weekday at 9: run uptime on local"),
    Act.WATCH: Row(said="watch local every 10 minutes", runs=True),
    Act.CANCEL_JOB: Row(before="remind me in 30 minutes to call Kim", said="cancel my reminder to call Kim"),
    Act.SEND_OUTBOUND: Row(said='send "hello" to #security'),
    Act.POST_ARTIFACT: Row(said="post the digest to #security"),
    Act.CONFIG_CHANGE: Row(said="set autonomy.max to propose"),
    Act.STORE_FACT: Row(said="remember that the project sync is on Friday at 14:00"),
    Act.REVISE_FACT: Row(
        before="remember that the release party is on Friday at 18:00",
        said="remember that the release party is on Friday at 19:00",
    ),
    Act.FORGET_FACT: Row(
        before="remember that the office party is on Friday at 18:00", said="forget the office party"
    ),
    Act.PROMOTE_RUNBOOK: Row(
        before="run systemctl restart nginx on local", said="save that as a runbook called nginx", phrase=True
    ),
    Act.SET_GUIDANCE: Row(said="from now on answer in short sentences"),
    Act.SET_TRUST: Row(said="trust `systemctl restart caddy` on local for 30 days", phrase=True),
}

#: Entries that say that something was done, or will be.
DONE = frozenset(
    [
        "commitment:committed",
        "commitment:confirmed",
        "job:made",
        "job:cancelled",
        "job:ended",
        "occurrence:claimed",
        "belief:stored",
        "belief:forgotten",
        "setting:changed",
        "setting:cleared",
        "guidance:held",
        "guidance:confirmed",
        "trust_rule:made",
        "approval:granted",
        "action:queued",
        "action:started",
        "action:succeeded",
    ]
)
NOTHING_WAS_DONE = re.compile(r"\bnothing (?:was|is|ran|runs)\b|it was not acted on", re.IGNORECASE)
TABLES = ("job", "occurrence", "belief", "setting", "guidance", "trust_rule")


def world(kit: Kit) -> dict[str, object]:
    """Return everything that an act can change."""
    found: dict[str, object] = {
        "ran": list(kit.core.executor.ran),  # type: ignore[attr-defined] # Ends
        "sent": [one.text for one in kit.port.screen.values() if one.ref.place.channel == "security"],
        "done": [kind for kind in kit.kinds() if kind in DONE],
    }
    reader = kit.core.ledger.reader()
    for table in TABLES:
        with contextlib.suppress(sqlite3.OperationalError):  # the table is what is broken
            rows = reader.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            found[table] = rows
    return found


@contextlib.asynccontextmanager
async def ready(folder: Path, *, probe: Probe = no_probe) -> AsyncIterator[Kit]:
    """Run a conversation in which everything was said that comes before."""
    policy = Policy(revision="r" * 64, posture=Posture.APPROVE_CONFIG)
    places = {"security": "script::security"}
    async with conversation(folder, policy=policy, executor=Ends, places=places, probe=probe) as kit:
        for row in ROWS.values():
            if row.before:
                await kit.say(row.before)
        yield kit


async def ask(kit: Kit, row: Row, **changes: object) -> str:
    """Ask for an act, and type the phrase that it asks for; return what the person is told."""
    try:
        told = await kit.say(row.said, **changes)  # type: ignore[arg-type] # fields by name
    except NotCommittedError as error:
        return str(error)  # what an adapter says, since nothing else can
    for view in kit.core.queries.open_commitments() if row.phrase else ():
        told += await kit.say(view.phrase, **changes)  # type: ignore[arg-type] # fields by name
    return told


async def is_done(kit: Kit, row: Row, **changes: object) -> bool:
    """Ask for an act; whether anything was done. What was not done has to be told."""
    before = world(kit)
    told = await ask(kit, row, **changes)
    if world(kit) != before:
        if row.runs:
            await at_rest(kit)  # else its end is taken for what the next act did
        return True
    assert NOTHING_WAS_DONE.search(told), f"{row.said}: told only {told!r}"
    assert "✓" not in told, f"{row.said}: told {told!r}"
    return False


def test_every_act_has_a_row() -> None:
    assert set(ROWS) - {COMMAND} == {act for one in HANDLERS for act in one.acts}


async def test_with_nothing_broken_every_act_is_done(tmp_path: Path) -> None:
    async with ready(tmp_path) as kit:
        for act, row in ROWS.items():
            assert await is_done(kit, row), act


# ---------------------------------------------------------------- the engine

Break = Callable[[Kit, pytest.MonkeyPatch], None]


def missing(_kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """What decides is not there at all."""
    monkeypatch.delattr(engine, "authorize")
    monkeypatch.delattr(judging, "classify")


def raising(_kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """What decides fails."""

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("no way")

    monkeypatch.setattr(engine, "authorize", fails)
    monkeypatch.setattr(judging, "classify", fails)


def slow(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """What decides takes a minute, after which its facts are old."""
    authorize = engine.authorize

    def late(request: engine.Request, *, resolve: engine.Resolver | None) -> engine.Authorized:
        kit.clock.advance(60)
        return authorize(request, resolve=resolve)

    monkeypatch.setattr(engine, "authorize", late)


# ---------------------------------------------------------------- stores


def memory_down(kit: Kit, _monkeypatch: pytest.MonkeyPatch) -> None:
    """What people told cannot be read."""
    kit.core.ledger._connection.execute("DROP TABLE belief")


def jobs_down(kit: Kit, _monkeypatch: pytest.MonkeyPatch) -> None:
    """Reminders and schedules cannot be read or kept."""
    kit.core.ledger._connection.execute("DROP TABLE job")


#: What a failure does not concern, and has to go on.
UNTOUCHED: Mapping[str, frozenset[Act | str]] = {
    # A verdict reads nothing that gets old, and is made again right before the start.
    "slow": frozenset({COMMAND}),
    # A time that is said in full needs no memory (K4); one that is counted from an event does, see below.
    # The digest that is posted names what was learned, facts too, and is not sent without.
    "memory_down": frozenset(ROWS) - {Act.STORE_FACT, Act.REVISE_FACT, Act.FORGET_FACT, Act.POST_ARTIFACT},
    "jobs_down": frozenset(ROWS) - {Act.REMIND, Act.SCHEDULE, Act.WATCH, Act.CANCEL_JOB},
}


@pytest.mark.parametrize("broken", [missing, raising, slow, memory_down, jobs_down])
async def test_with_a_part_broken_nothing_is_done(
    broken: Break, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    untouched = UNTOUCHED.get(broken.__name__, frozenset())
    async with ready(tmp_path) as kit:
        broken(kit, monkeypatch)
        for act, row in ROWS.items():
            assert await is_done(kit, row) is (act in untouched), act


async def test_with_memory_down_no_time_is_counted_from_what_people_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    party = Row(said="remind me an hour before the office party to buy ice")
    async with ready(tmp_path) as kit:
        memory_down(kit, monkeypatch)
        before = world(kit)
        assert "When should it be?" in await ask(kit, party)
        assert world(kit) == before


# ---------------------------------------------------------------- the clock


@pytest.mark.parametrize("days", [-3650, -1, 1, 3650])
async def test_with_a_clock_that_is_wrong_nothing_is_done(days: int, tmp_path: Path) -> None:
    """The platform says when a message was sent, and this machine has another time."""
    async with ready(tmp_path) as kit:
        now = kit.clock.now()
        kit.clock.instant = now + timedelta(days=days)
        await kit.look()  # what is due by then is done, and told as late
        for act, row in ROWS.items():
            assert not await is_done(kit, row, sent_at=now), act


async def test_what_tightens_counts_by_any_clock(tmp_path: Path) -> None:
    async with ready(tmp_path) as kit:
        kit.clock.instant = START - timedelta(days=3650)
        assert "Stopped." in await kit.say("stop", sent_at=START)
        assert kit.core.switches().stopped


# ---------------------------------------------------------------- the ledger


@contextlib.contextmanager
def read_only(kit: Kit) -> Iterator[None]:
    kit.core.ledger._connection.execute("PRAGMA query_only = ON")
    yield
    kit.core.ledger._connection.execute("PRAGMA query_only = OFF")


@contextlib.contextmanager
def locked(kit: Kit) -> Iterator[None]:
    """Another process holds the file, for longer than is waited for."""
    kit.core.ledger._connection.execute("PRAGMA busy_timeout = 0")
    with contextlib.closing(sqlite3.connect(kit.core.ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextlib.contextmanager
def full(kit: Kit) -> Iterator[None]:
    """No file may grow."""
    disk = Limited(kit.core.ledger.path.parent)
    disk.fill(kit.core.ledger)
    try:
        yield
    finally:
        disk.free()


@pytest.mark.parametrize("broken", [read_only, locked, full])
async def test_with_a_ledger_that_cannot_be_written_nothing_is_done(
    broken: Callable[[Kit], contextlib.AbstractContextManager[None]], tmp_path: Path
) -> None:
    async with ready(tmp_path) as kit:
        before = world(kit)
        with broken(kit):
            for act, row in ROWS.items():
                assert not await is_done(kit, row), act
        await kit.say("pending")
        await kit.look()
        assert world(kit) == before, "nothing of it is done later either"


async def test_what_was_stored_and_then_not_recorded_is_not_done(tmp_path: Path) -> None:
    """The message is in the inbox, and nothing can be written any more."""
    armed: list[Kit] = []

    def probe(moment: str) -> None:
        if moment == "inbox.committed" and armed:
            armed[0].core.ledger._connection.execute("PRAGMA query_only = ON")

    async with ready(tmp_path, probe=probe) as kit:
        before = world(kit)
        for act, row in ROWS.items():
            armed.append(kit)
            assert not await is_done(kit, row), act
            armed.clear()
            kit.core.ledger._connection.execute("PRAGMA query_only = OFF")
        await kit.say("pending")
        await kit.look()
        assert world(kit) == before, "nothing of it is done later either"
