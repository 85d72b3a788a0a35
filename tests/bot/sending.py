"""A surface that fails as told, and what became of what was sent to it, for tests of delivery."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from bot import delivery as delivering
from bot.ports import Message, MessageRef, PlaceRef
from tests.kit import Kit, ScriptedPort

RESTART = "run systemctl restart caddy on web1"


@dataclass
class Fault:
    """What happens to a send before, or after, it arrives."""

    error: Exception
    arrives: bool = False


@dataclass
class Tries:
    """What was tried, in order: (what, place or message, nonce)."""

    made: list[tuple[str, str, str]] = field(default_factory=list)

    def of(self, what: str) -> list[str]:
        return [nonce for name, _, nonce in self.made if name == what]


class UnsurePort(ScriptedPort):
    """A surface that fails as told: `faults` for posts of matching text, `blind` where it cannot tell."""

    def __init__(self, **can: bool) -> None:
        super().__init__(**can)
        self.tries = Tries()
        self.faults: list[tuple[str, Fault]] = []
        self.edit_faults: list[Exception] = []
        self.blind: list[Exception] = []
        self.held: dict[str, asyncio.Event] = {}

    def fail(self, text: str, *faults: Fault) -> None:
        self.faults += [(text, one) for one in faults]

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        self.tries.made.append(("post", place.channel, nonce))
        if place.channel in self.held:
            await self.held[place.channel].wait()
        words = message.body.plain()
        found = next((one for one in self.faults if one[0] in words), None)
        if found is not None:
            self.faults.remove(found)
            if found[1].arrives:
                await super().post(place, message, nonce=nonce)
            raise found[1].error
        return await super().post(place, message, nonce=nonce)

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        self.tries.made.append(("find", place.channel, nonce))
        if self.blind:
            raise self.blind.pop(0)
        return await super().find(place, nonce=nonce)

    async def edit(self, ref: MessageRef, message: Message) -> None:
        self.tries.made.append(("edit", ref.place.channel, ref.message))
        if self.edit_faults:
            raise self.edit_faults.pop(0)
        await super().edit(ref, message)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivering, "LOOK_AGAIN_S", 0.0)


def cards(port: ScriptedPort, channel: str = "ops") -> list[str]:
    return [
        one.text for one in port.screen.values() if one.ref.place.channel == channel and one.message.buttons
    ]


def states(kit: Kit, kind: str = "card") -> list[tuple[str, bool]]:
    """Return (state, whether its message is known) of every effect of a kind, in order."""
    rows = kit.core.ledger.reader().execute(
        "SELECT state, ref != '' FROM outbox WHERE kind=? ORDER BY id", (kind,)
    )
    return [(row[0], bool(row[1])) for row in rows]


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so, without a say in how long that takes."""
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.005)
