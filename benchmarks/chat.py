"""How long people wait in a chat: message to card, press to started, and how soon a press is acknowledged.

The real core with a real adapter (and the platform's own client library) runs in a process of its own, as
`sayso serve` starts it; a simulator of the platform and the people run here, over loopback. Each person asks
for a command that needs a yes, gets the card, presses Approve and waits for the end, thinking in between.

Two times count from when a person sent something until: the simulator has the card; the command was handed to
the executor, after its start was recorded. The third is the platform's own: from when it sent a press until
it had the acknowledgement, the longest of all. Commands are `sh -c :` and really run on this machine. Beside
them a tenth as many conversations run commands that stream twenty lines a second, so that their cards are
edited all the time; those come from the executor in tests/simulators/crowd/process.py and run nowhere, since
the processor time of so many shells is not what is measured. THINK_S is how long a person thinks, for each
number of conversations, so that about as much happens with 200 as with 50.

Absolute figures are those of this machine and minute: simulator and bot share it with whatever else runs.
The exit code is 1 when an acknowledgement took more than 2 s.

    python -m benchmarks.chat [--quick] [--platform slack|discord|telegram] [--seed N]
"""

import argparse
import asyncio
import contextlib
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.simulators.crowd.people import Crowd, Room, config, of, open_crowd
from tests.simulators.crowd.process import Bot

PLATFORMS = ("slack", "discord", "telegram")
#: Conversations: seconds that a person thinks before each act, on average.
THINK_S = {1: 0.5, 50: 5.0, 200: 20.0}
#: The longest that an acknowledgement may take.
ACKNOWLEDGED_S = 2.0
STREAMED_S = 5
#: Nobody waits longer for anything; counted as unanswered.
PATIENCE_S = 30.0


@dataclass
class Seen:
    """What people saw. `pressed` is when, by the proposal."""

    cards: list[float] = field(default_factory=list)
    pressed: dict[str, float] = field(default_factory=dict)
    unanswered: int = 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="10 s for each row instead of 60")
    parser.add_argument("--platform", choices=PLATFORMS, help="only this one")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(f"seed {args.seed} · load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, times in ms")
    print(f"{'':9} {'':>6} {'message → card':>20} {'press → started':>20} {'acknowledged':>18}")
    print(
        f"{'':9} {'active':>6} {'median':>9} {'p99':>6} {'n':>4} {'median':>8} {'p99':>6} {'n':>4} {'max':>7}"
    )
    worst = 0.0
    for platform in (args.platform,) if args.platform else PLATFORMS:
        for active in THINK_S:
            worst = max(worst, asyncio.run(row(platform, active, 10 if args.quick else 60, args.seed)))
    if worst > ACKNOWLEDGED_S:
        print(f"an acknowledgement took {worst:.1f} s, longer than {ACKNOWLEDGED_S:.0f} s")
    return int(worst > ACKNOWLEDGED_S)


async def row(platform: str, active: int, seconds: float, seed: int) -> float:
    """Measure and print one row; return the longest acknowledgement."""
    luck, seen = random.Random(seed), Seen()
    async with talking(platform, active + max(1, active // 10)) as (crowd, bot):
        rooms = crowd.rooms[:active]
        until = time.monotonic() + seconds
        async with asyncio.TaskGroup() as everybody:
            for room in crowd.rooms[active:]:
                everybody.create_task(stream(crowd, room, until))
            for room in rooms:
                everybody.create_task(converse(crowd, room, seen, luck, until=until, think_s=THINK_S[active]))
        began = {one["action"].partition(".")[0]: one["at"] for one in bot.started()}
    starts = [began[proposal] - at for proposal, at in seen.pressed.items() if proposal in began]
    acknowledged = max(crowd.acknowledgements(), default=0.0)
    waited = f" · {seen.unanswered} unanswered" if seen.unanswered else ""
    print(
        f"{platform:9} {active:6} {middle(seen.cards):9.0f} {late(seen.cards):6.0f} {len(seen.cards):4}"
        f" {middle(starts):8.0f} {late(starts):6.0f} {len(starts):4} {1000 * acknowledged:7.0f}{waited}",
        flush=True,
    )
    return acknowledged


@contextlib.asynccontextmanager
async def talking(platform: str, people: int) -> AsyncIterator[tuple[Crowd, Bot]]:
    """Open a platform with people on it and a bot that listens to them."""
    with tempfile.TemporaryDirectory(prefix="sayso-chat-") as name:
        folder = Path(name)
        async with open_crowd(platform, people) as crowd:
            config(folder, [crowd])
            with Bot(folder).ended() as bot:
                bot.start()
                async with asyncio.timeout(60):
                    while not crowd.is_connected():  # noqa: ASYNC110 - simulators differ in what they tell
                        await asyncio.sleep(0.05)
                yield crowd, bot
                await bot.stop()


async def converse(
    crowd: Crowd, room: Room, seen: Seen, luck: random.Random, *, until: float, think_s: float
) -> None:
    """Ask, approve, wait for the end, again and again."""
    await asyncio.sleep(luck.uniform(0, think_s))
    while time.monotonic() < until:
        said_at = time.monotonic()
        card = await ask(crowd, room, f"run sh -c : on {room.name}")
        if not card:
            seen.unanswered += 1
            continue
        seen.cards.append(room.posted[card] - said_at)
        await asyncio.sleep(luck.uniform(0.5, 1.5) * think_s)
        seen.pressed[of(crowd.text(room, card))] = time.monotonic()
        await crowd.press(room, card, "Approve")
        if not await room.until(lambda card=card: not crowd.labels(room, card), seconds=PATIENCE_S):
            seen.unanswered += 1
        await asyncio.sleep(luck.uniform(0.5, 1.5) * think_s)


async def stream(crowd: Crowd, room: Room, until: float) -> None:
    """Let one command after the other produce output."""
    while time.monotonic() < until:
        card = await ask(crowd, room, f"run sh -c 'streams {STREAMED_S}' on {room.name}")
        if card:
            await crowd.press(room, card, "Approve")
            await room.until(lambda card=card: "✓" in crowd.text(room, card), seconds=PATIENCE_S)


async def ask(crowd: Crowd, room: Room, text: str) -> str:
    """Say something that needs a yes; return the card, "" when none came."""
    before = len(room.posted)

    def card() -> str:
        new = list(room.posted)[before:]
        return next((one for one in new if "Approve" in crowd.labels(room, one)), "")

    await crowd.say(room, text)
    await room.until(card, seconds=PATIENCE_S)
    return card()


def middle(values: list[float]) -> float:
    return 1000 * statistics.median(values) if values else float("nan")


def late(values: list[float]) -> float:
    """Return the 99th percentile; the longest of fewer than a hundred."""
    return 1000 * sorted(values)[min(len(values) - 1, int(0.99 * len(values)))] if values else float("nan")


if __name__ == "__main__":
    sys.exit(main())
