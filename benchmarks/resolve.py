"""How much remembering costs a reminder: 10 remembered events, 10,000, and their ratio (aim: at most 3).

Reads and resolves "remind me …" as a turn does: events from the ledger's own table, through what is kept of
them between turns, to the gate. Rounds alternate between the two memories, so that a busy machine disturbs
both alike; the median of each counts. Printed beside it, not counted: what the first reminder of a process
waits for all events to be read and indexed; what the first one after a new event waits; and what a bare name
costs that a fifth of all events go by, each of which is a possible answer.

    python -m benchmarks.resolve [--rounds N]
"""

import argparse
import asyncio
import contextlib
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, timedelta
from pathlib import Path

from bot import memory
from bot.acts.reminders import HANDLER
from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from gate.domain import PlaceId, TurnId
from ledger.beliefs import Fact, packed
from ledger.kinds import Batch, Draft, Kind
from tests.kit import START, Kit, conversation, person

COUNTS = (10, 10_000)
AIM = 3.0
ASKED = (
    "remind me an hour before project 5 sync to print the list",
    "remind me two days before the project 6 review",
    "remind me to call Kim tomorrow at 9:30",
    "remind me in 20 minutes to check the backup",
    "remind me about the project 8 audit",
    "ذكرني بعد يومين",
)
SHARED = "remind me about the sync an hour before"
_NOUNS = ("sync", "review", "release", "audit", "deadline")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=300)
    return asyncio.run(measure(parser.parse_args().rounds))


async def measure(rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        async with contextlib.AsyncExitStack() as stack:
            kits = [await stack.enter_async_context(_remembering(Path(folder), count)) for count in COUNTS]
            first = [_timed(kit.core, ASKED[0]) for kit in kits]
            changed = [_after_a_change(kit.core) for kit in kits]
            times: dict[int, list[float]] = {count: [] for count in COUNTS}
            for _ in range(rounds):
                for text in ASKED:
                    for count, kit in zip(COUNTS, kits, strict=True):
                        times[count].append(_timed(kit.core, text))
            shared = [statistics.median(_timed(kit.core, SHARED) for _ in range(9)) for kit in kits]
            return report(times, first, changed, shared)


def report(times: dict[int, list[float]], *once: Sequence[float]) -> int:
    for count, *beside in zip(COUNTS, *once, strict=True):
        cold, changed, shared = (each * 1e3 for each in beside)
        found = sorted(times[count])
        median, p95 = statistics.median(found) * 1e3, found[int(len(found) * 0.95)] * 1e3
        told = f"{count:>6} events   {median:6.2f} ms   p95 {p95:6.2f} ms"
        print(f"{told}   cold {cold:7.1f} ms   changed {changed:6.1f} ms   shared name {shared:5.1f} ms")
    few, many = (statistics.median(times[count]) for count in COUNTS)
    print(f"ratio {many / few:.2f} (aim: at most {AIM:.0f})")
    return int(many / few > AIM)


@contextlib.asynccontextmanager
async def _remembering(folder: Path, count: int) -> AsyncIterator[Kit]:
    """Give a core that remembers `count` events, in a folder of its own."""
    async with conversation(folder / str(count), operators=(person("ana"),)) as kit:
        for begin in range(0, count, 1000):
            numbers = range(begin, min(count, begin + 1000))
            drafts = tuple(_event(kit.core, number) for number in numbers)
            kit.core.ledger.append(Batch(at=kit.core.now(), drafts=drafts))
        yield kit


def _after_a_change(core: Core) -> float:
    core.ledger.append(Batch(at=core.now(), drafts=(_event(core, 10 * COUNTS[-1]),)))
    return _timed(core, ASKED[0])


def _event(core: Core, number: int) -> Draft:
    about = f"project {number} {_NOUNS[number % len(_NOUNS)]}"
    at = START + timedelta(days=30, hours=number)
    fact = Fact(about=about, object=at.isoformat(), kind="", said=f"the {about} is on {at}")
    body = {
        "belief": f"b{number}",
        "subject": memory.subject_key(core, about, owner=None),
        "predicate": "at",
        "source": "user_explicit",
        "functional": True,
        "person": "ana",
        "place": "here",
        "private": False,
        "supersedes": "",
    }
    return Draft(kind=Kind.BELIEF_STORED, body=body, words={"fact": packed(fact).encode()})


def _timed(core: Core, text: str) -> float:
    speaker = Speaker(operator=person("ana"), said=text, event="e", zone=UTC)
    outcome = Outcome(at=core.now(), place=PlaceId("here"), turn=TurnId("t"), new_nonce=core.ids.token)
    before = time.perf_counter()
    request = HANDLER.read(core, speaker, START)
    if request is None:
        raise AssertionError(f"no reminder: {text}")
    HANDLER.resolve(core, outcome, speaker, request)
    return time.perf_counter() - before


if __name__ == "__main__":
    raise SystemExit(main())
