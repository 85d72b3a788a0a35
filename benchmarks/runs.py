"""How restoring a run grows with its steps: 100, 1,000 and 10,000 of them (aim: in proportion).

Writes runs into a real ledger, one of them after the other, each of a runbook of so many checks that all have
passed, and reads each back as a new process does: its runbook, its events, its state. The median of each
counts. Printed beside it: what one more step costs a process that has read the run before.

    python -m benchmarks.runs [--rounds N]
"""

import argparse
import asyncio
import dataclasses
import statistics
import tempfile
import time
from pathlib import Path

from bot.core import Core
from bot.runbooks.kept import Kept
from bot.runbooks.restoring import restore
from gate.domain import AGENT, Digest
from gate.policy import Posture
from gate.supervise import course, run
from gate.supervise.domain import RUN_TOOL, RunbookId, RunbookSpec, RunId, StepId, StepKind, StepSpec
from gate.supervise.envelope import derive
from gate.supervise.expect import Evidence
from gate.supervise.invocation import Invocation, invocation
from gate.supervise.proposal import Offer, Permit, propose
from gate.supervise.state import Moved
from ledger.kinds import Batch, Draft, Json
from ledger.run_documents import texts_of
from ledger.run_events import draft_of
from tests.kit import START, conversation

COUNTS = (100, 1_000, 10_000)
#: The most that a step of the longest run may cost, times one of the shortest.
AIM = 2.0
_A_BATCH = 500


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=7)
    return asyncio.run(measure(parser.parse_args().rounds))


async def measure(rounds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        async with conversation(Path(folder)) as kit:
            costs = [_measured(kit.core, count, rounds) for count in COUNTS]
    ratio = costs[-1] / costs[0]
    print(f"a step of {COUNTS[-1]:,} costs {ratio:.2f} times one of {COUNTS[0]:,}, aim {AIM:.0f} at most")
    if ratio > AIM:
        print("MISSED")
    return int(ratio > AIM)


def _measured(core: Core, count: int, rounds: int) -> float:
    """Return the seconds that a step costs of a run of `count` that is restored from nothing."""
    name = RunId(f"n{count:05}")
    last = _write(core, name, count)
    whole, more = [], []
    for _ in range(rounds):
        fresh = dataclasses.replace(core, runs=Kept())
        began = time.perf_counter()
        restored = restore(fresh, name)
        whole.append(time.perf_counter() - began)
        if restored is None or restored.state != last.state:
            raise SystemExit(f"a run of {count} steps comes back as another one")
        known, new = fresh.runs.known[name], len(last.events)
        began = time.perf_counter()
        core.queries.run_events(name, after=known.seq - new, upto=known.seq)
        more.append(time.perf_counter() - began)
    took, again = statistics.median(whole), statistics.median(more)
    print(
        f"{count:>6,} steps  restored in {took * 1e3:8.1f} ms, {took / count * 1e6:6.1f} µs a step;"
        f"  one more step {again * 1e3:5.2f} ms"
    )
    return took / count


def _write(core: Core, name: RunId, count: int) -> Moved:
    """Write a run in which all steps but the last have passed; return its last move."""
    spec = RunbookSpec(
        id=RunbookId(f"of-{count}"),
        title=f"{count} checks",
        digest=Digest("d" * 64),
        steps=tuple(
            StepSpec(id=StepId(f"s{n}"), kind=StepKind.CHECK, title=f"Look at {n}", command=f"ls /srv/{n}")
            for n in range(count)
        ),
    )
    envelope = derive(spec, posture=Posture.APPROVE_MOST)
    moved = run.start(envelope, run=name, agent=AGENT, inputs={}, target="web1", now=START)
    if isinstance(moved, run.NotStarted):
        raise SystemExit(str(moved))
    started, *rest = moved.events
    drafts = [draft_of(started, run=name, more=_MORE, words={"said": "look", **texts_of(spec)})]
    drafts += [draft_of(one, run=name) for one in rest]
    for _ in range(count - 1):
        moved = _stepped(moved)
        drafts += [draft_of(one, run=name) for one in moved.events]
    for at in range(0, len(drafts), _A_BATCH):
        core.ledger.append(Batch(at=START, drafts=tuple[Draft, ...](drafts[at : at + _A_BATCH])))
    return moved


_MORE: dict[str, Json] = {"title": "checks", "place": "here", "person": "ana", "secrets": False}


def _stepped(moved: Moved) -> Moved:
    """Return a run after its step was let go, ran, and passed."""
    state, step = moved.state, moved.state.step
    bound = None if step is None else invocation(state, step)
    if step is None or not isinstance(bound, Invocation):
        raise SystemExit("the run ended early")
    offer = Offer(tool=RUN_TOOL, target="web1", command=bound.command, digest=state.envelope.digest, by=AGENT)
    ruling = propose(state, offer, now=START)
    if not isinstance(ruling, Permit):
        raise SystemExit(str(ruling))
    evidence = Evidence(step=step.spec.id, number=state.number, exit_code=0)
    after = course.advance(ruling.state, evidence, now=START)
    return Moved(state=after.state, events=(*ruling.events, *after.events))


if __name__ == "__main__":
    raise SystemExit(main())
