"""What gate and ledger add to a plan: from one answer of the model to its next call (aim: 5 % of 1 s).

A model that answers at once looks something up or runs a command that reads, again and again; a real ledger,
the real gate, a real shell. What passes between its answer and its next call is what sayso adds: the answer
is recorded, judged, proposed and run, and the next call is counted. The median counts, as a share of a model
that takes 1 s, and of one that takes 5 s, for each call.

    python -m benchmarks.planner [--calls N]
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from bot.planning.model.thinking import Answered, Call, Reply, Thought
from bot.settings.layers import Candidate, Layer
from tests.kit import conversation
from tests.simulators.model.double import Scripted, call, calls, says

#: Seconds that one call of a model takes: a quick one, and one that thinks.
QUICK_S, SLOW_S = 1.0, 5.0
AIM = 0.05
ASK = "why is web1 slow"


class Timed(Scripted):
    """A scripted model that answers at once and keeps when it was asked and when it answered."""

    def __init__(self, script: list[Answered]) -> None:
        super().__init__(script)
        self.asked: list[float] = []
        self.answered: list[float] = []

    async def think(self, thought: Thought) -> Reply:
        """Answer at once; see `Thinker`."""
        self.asked.append(time.perf_counter())
        reply = await super().think(thought)
        self.answered.append(time.perf_counter())
        return reply

    def gaps(self) -> list[float]:
        """Return the seconds from each answer to the next call."""
        return [after - before for before, after in zip(self.answered, self.asked[1:], strict=False)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=30)
    return asyncio.run(measure(parser.parse_args().calls))


async def measure(count: int) -> int:
    look = call("targets", words="web1")
    run = call("run", target="local", command="uptime", purpose="look at the load")
    looking = await _plan("looks something up", look, count)
    await _plan("runs uptime on a card", run, count)
    share = looking / QUICK_S
    print(f"gate and ledger add {share:.1%} to a model that takes {QUICK_S:.0f} s, aim {AIM:.0%} at most")
    if share > AIM:
        print("MISSED")
    return int(share > AIM)


async def _plan(what: str, wanted: Call, count: int) -> float:
    """Return the median of the seconds between an answer and the next call."""
    model = Timed([calls(wanted)] * count + [says("It is well.")])
    said = {"model.calls": 100, "model.tokens": 10_000_000, "model.seconds": 3600}
    file = {key: Candidate(layer=Layer.FILE, where="benchmark", value=value) for key, value in said.items()}
    with tempfile.TemporaryDirectory() as folder:
        async with conversation(Path(folder), thinker=model, settings={Layer.FILE: file}) as kit:
            began = time.perf_counter()
            await kit.say(ASK)
            first = model.asked[0] - began
    gaps = model.gaps()
    middle, last = statistics.median(gaps), statistics.median(gaps[-5:])
    print(
        f"{what:<22} {len(gaps):>3} calls  first after {first * 1e3:6.1f} ms;  to the next"
        f" {middle * 1e3:6.1f} ms, of the last five {last * 1e3:6.1f} ms;"
        f"  {middle / QUICK_S:5.1%} of {QUICK_S:.0f} s, {middle / SLOW_S:5.1%} of {SLOW_S:.0f} s"
    )
    return middle


if __name__ == "__main__":
    raise SystemExit(main())
