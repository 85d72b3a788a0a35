"""Nothing that was said in a chat is lost or doubled, whatever happens to the connection and the process.

The bot is a process of its own that serves three simulated platforms over loopback, as `sayso serve` does;
the platforms and their people live here. Meanwhile messages come twice, connections are lost in every way
that the simulators have, acknowledgements get lost, and the process is killed with SIGKILL three times while
people go on talking and pressing. Afterwards the ledger is compared with what the platforms know.

A run is drawn from a seed that it prints; SAYSO_CRASH_SEED draws the same again (what interleaves is not
repeated), SAYSO_CHAT_MESSAGES makes it longer.
"""

import asyncio
import itertools
import json
import os
import random
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ledger.keys import key_file, known_keys
from ledger.verify import verify_live
from tests.crash.chatter import Account, approve, talk
from tests.simulators.crowd.people import Crowd, config, of, open_crowd
from tests.simulators.crowd.process import Bot

MESSAGES = int(os.environ.get("SAYSO_CHAT_MESSAGES", "900"))
#: How many people there are. Telegram takes a message a second in each chat, so more there say as much.
PEOPLE = {"slack": 10, "discord": 10, "telegram": 24}
KILLS = 3
#: How long the process stays away, and how often a connection is lost.
AWAY_S, LOST_EVERY_S = 1.5, 0.5
#: Where libraries complain themselves: of an answer that is no JSON, of a login that ended too early.
LIBRARIES = ("telegram/request/_baserequest.py", "in _delay_ready")
RECEIVED = ("turn:received", "turn:crashed")


@dataclass
class Campaign:
    """The platforms, the bot, and what people did."""

    crowds: list[Crowd]
    bot: Bot
    account: Account
    losses: Counter[str]
    kills: int = 0

    @property
    def ledger(self) -> Path:
        return self.bot.folder / "state" / "ledger.db"

    def read(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchall()

    def received(self) -> Counter[str]:
        """Return how often each event has a turn."""
        rows = self.read(f"SELECT json_extract(body, '$.event') FROM entry WHERE kind IN {RECEIVED}")
        return Counter(row[0] for row in rows)


@asynccontextmanager
async def campaign(folder: Path, seed: int) -> AsyncIterator[Campaign]:
    account = Account(MESSAGES, random.Random(seed), folder / "witness", itertools.count(1))
    async with AsyncExitStack() as stack:
        crowds = [await stack.enter_async_context(open_crowd(*one)) for one in PEOPLE.items()]
        config(folder, crowds)
        bot = stack.enter_context(Bot(folder, hurried=True).ended())
        yield Campaign(crowds, bot, account, Counter())


@pytest.mark.timeout(900 + MESSAGES)
async def test_no_message_is_lost_or_doubled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = int(os.environ.get("SAYSO_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
    began = time.monotonic()
    async with campaign(tmp_path, seed) as run:
        await come_up(run)
        await introduce(run)
        people = [talk(crowd, room, run.account) for crowd in run.crowds for room in crowd.rooms]
        around = [asyncio.create_task(one(run)) for one in (lose_connections, redeliver, kill)]
        await asyncio.gather(*people)
        for task in (around[0], around[2]):
            task.cancel()
        await settle(run)
        around[1].cancel()
        await asyncio.gather(*around, return_exceptions=True)
        code = await run.bot.stop()
        found = [*examined(run)]
        account = run.account
        with capsys.disabled():
            print(
                f"\nchat campaign: seed {seed} · {len(account.said)} messages to sayso,"
                f" {len(account.overheard)} not, {account.repeated} twice, {len(account.presses)} presses"
                f" ({account.pressed_again} again) · {run.kills} kills · {time.monotonic() - began:.0f} s"
                f" · {len(found)} violations"
            )
            print("  " + " · ".join(f"{name} {times}" for name, times in sorted(run.losses.items())))
        assert code == 0, run.bot.errors()[-3000:]
        assert not found, "\n".join(found[:40]) + "\n" + run.bot.errors()[-3000:]
        assert run.kills == KILLS


# ---------------------------------------------------------------- what happens meanwhile


async def come_up(run: Campaign) -> None:
    """Start the bot, and wait until every platform hears from it."""
    run.bot.start()
    async with asyncio.timeout(120):
        while not all(crowd.is_connected() for crowd in run.crowds):
            assert run.bot.runs, run.bot.errors()[-3000:]
            await asyncio.sleep(0.05)


async def introduce(run: Campaign) -> None:
    """Let everybody speak once: a history is read again only where an operator ever spoke."""
    for crowd in run.crowds:
        for room in crowd.rooms:
            run.account.said.append(await crowd.say(room, f"run true on {room.name}"))
    async with asyncio.timeout(120):
        while not all(room.posted for crowd in run.crowds for room in crowd.rooms):  # noqa: ASYNC110 - many
            await asyncio.sleep(0.05)


async def lose_connections(run: Campaign) -> None:
    luck = random.Random(run.account.luck.random())
    while True:
        await asyncio.sleep(luck.uniform(0.5, 1.5) * LOST_EVERY_S)
        crowd = luck.choice(run.crowds)
        if run.bot.runs:
            run.losses[f"{crowd.platform} {await crowd.disconnect(luck)}"] += 1


async def redeliver(run: Campaign) -> None:
    while True:
        await asyncio.sleep(0.3)
        for crowd in run.crowds:
            await crowd.redeliver()


async def kill(run: Campaign) -> None:
    """End the process three times while people talk, and start it again."""
    for number in range(1, KILLS + 1):
        while run.account.left > MESSAGES * (1 - number / (KILLS + 1)):  # noqa: ASYNC110 - a count tells nobody
            await asyncio.sleep(0.02)
        await run.bot.kill()
        run.kills += 1
        await asyncio.sleep(AWAY_S)
        await come_up(run)


async def settle(run: Campaign) -> None:
    """Press again what shows no effect yet, and wait until everything that was said has its turn."""
    await asyncio.gather(
        *(approve(crowd, room, run.account, card) for crowd, room, card in run.account.cards[:])
    )
    until = time.monotonic() + 300
    while time.monotonic() < until:
        received = run.received()
        open_ends = run.read("SELECT 1 FROM outbox WHERE state='pending' LIMIT 1")
        if not open_ends and all(received[event] for event in run.account.said):
            return
        await asyncio.sleep(0.5)


# ---------------------------------------------------------------- what must be so


def examined(run: Campaign) -> Iterator[str]:
    yield from messages(run)
    yield from presses(run)
    yield from runs(run)
    yield from boxes(run)
    yield from complaints(run)
    report = verify_live(run.ledger, keys=known_keys(key_file(run.ledger)), held={})
    yield from (f"the ledger does not verify: {finding}" for finding in report.findings)


def messages(run: Campaign) -> Iterator[str]:
    received = run.received()
    for event in run.account.said:
        if received[event] != 1:
            yield f"the message {event} has {received[event]} turns"
    yield from (
        f"{event} was not for sayso, and has a turn" for event in run.account.overheard if received[event]
    )
    yield from (
        f"a turn failed: {body}" for (body,) in run.read("SELECT body FROM entry WHERE kind='turn:crashed'")
    )


def presses(run: Campaign) -> Iterator[str]:
    received = run.received()
    for press in run.account.presses:
        if press.event and received[press.event] != 1 and press.acknowledged():
            yield f"the press {press.event} was acknowledged and has {received[press.event]} turns"
    waiting = {row[0] for row in run.read("SELECT proposal FROM approval WHERE state='pending'")}
    for crowd, room, card in run.account.cards:
        # A card that a killed process posted and did not record is posted again where nobody can find it; the
        # first then keeps its buttons, which work all the same.
        is_stale = "Approve" in crowd.labels(room, card) and crowd.nonces(room)
        if is_stale or of(crowd.text(room, card)) in waiting:
            yield f"{crowd.platform}: a press on the card {card} of {room.name} never had an effect"


def runs(run: Campaign) -> Iterator[str]:
    """No grant is consumed twice, nothing is started twice, and the world agrees with the record."""
    started: Counter[str] = Counter()
    consumed: Counter[str] = Counter()
    for (text,) in run.read("SELECT body FROM entry WHERE kind='action:started'"):
        body = json.loads(text)
        started[body["action"]] += 1
        if body["grant"] is not None:
            consumed[body["grant"]] += 1
    ran = Counter(line["action"] for line in run.bot.started())
    for what, counted in (("was started", started), ("was consumed", consumed), ("was run", ran)):
        yield from (f"{name} {what} {times} times" for name, times in counted.items() if times > 1)
    yield from (f"{action} was run without a recorded start" for action in ran if not started[action])
    witness = run.account.witness
    effects = Counter(witness.read_text().split() if witness.exists() else ())
    yield from (f"{tag} took effect {times} times" for tag, times in effects.items() if times > 1)
    commands = {line["action"]: line["command"] for line in run.bot.started()}
    for (action,) in run.read("SELECT id FROM action WHERE state='succeeded'"):
        command = commands.get(action, "")
        tag = command.partition("echo ")[2].partition(" ")[0]
        if tag and tag not in effects:
            yield f"{action} is recorded as done and had no effect: {command}"


def boxes(run: Campaign) -> Iterator[str]:
    for crowd in run.crowds:
        shown = Counter(nonce for room in crowd.rooms for nonce in crowd.nonces(room))
        yield from (f"{crowd.platform}: {nonce} is shown {n} times" for nonce, n in shown.items() if n > 1)
    yield from (
        f"{key} waits in the inbox" for (key,) in run.read("SELECT key FROM inbox WHERE done_at IS NULL")
    )
    for number, kind in run.read("SELECT id, kind FROM outbox WHERE state='pending'"):
        yield f"effect {number} ({kind}) waits in the outbox"


def complaints(run: Campaign) -> Iterator[str]:
    """Yield what failed inside the bot, by its own log."""
    for trace in run.bot.errors().split("Traceback (most recent call last):")[1:]:
        if not any(name in trace for name in LIBRARIES):
            yield f"something failed inside: {trace[:1500]}"
    yield from (line for line in run.bot.errors().splitlines() if " was refused: " in line)
