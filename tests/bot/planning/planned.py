"""Models and their plans, for tests of what a model composes: what one asks for, and how each plan ended."""

import asyncio

from bot.planning.model.thinking import Answered, Call, Reply, Thought
from bot.ports import PlaceRef
from bot.settings.layers import Candidate, Layer
from tests.kit import Kit
from tests.simulators.model.double import call

UNREAD = "why is web1 slow"


def run(command: str, *, on: str = "local", purpose: str = "as asked", **more: str) -> Call:
    return call("run", target=on, command=command, purpose=purpose, **more)


def layers(**values: object) -> dict[Layer, dict[str, Candidate]]:
    """Return a file layer of settings; "__" stands for the dot."""
    said = {
        key.replace("__", "."): Candidate(layer=Layer.FILE, where="file", value=value)  # type: ignore[arg-type]
        for key, value in values.items()
    }
    return {Layer.FILE: said}


def ends(kit: Kit) -> list[str]:
    """Return how every plan ended, in order."""
    rows = kit.core.ledger.reader().execute(
        "SELECT json_extract(ending, '$.how') FROM plan ORDER BY asked_seq"
    )
    return [row[0] for row in rows]


async def settled(kit: Kit) -> None:
    """Wait until no plan is thought about."""
    place = kit.core.place_of(PlaceRef(platform="script", channel="ops"))
    await kit.app.conversation._planner.quiet(place)


class Failing:
    """A model that raises."""

    name = "compatible:failing"

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.calls = 0

    async def think(self, thought: Thought) -> Reply:
        self.calls += 1
        raise self.error

    async def close(self) -> None:
        return None


class Held:
    """A model that answers once it is let."""

    name = "compatible:held"

    def __init__(self, answer: Answered) -> None:
        self.answer = answer
        self.asked = asyncio.Event()
        self.let = asyncio.Event()

    async def think(self, thought: Thought) -> Reply:
        self.asked.set()
        await self.let.wait()
        return Reply(answered=self.answer)

    async def close(self) -> None:
        return None
