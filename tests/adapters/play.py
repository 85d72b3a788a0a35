"""A conversation as data, played on a platform: people, what they do there, and what they should see.

What a transcript may say is told in tests/transcript.py. Plays; asserts only what a turn asks for.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adapters.console import ConsolePort
from bot.places import place_name
from bot.ports import ChatPort, Inbound, PlaceRef, Receipt, Sink
from tests.adapters.stage import OnScreen, Surface, surface_opener
from tests.kit import Kit, ScriptedClock, conversation
from tests.transcript import Player, inventory_of, library_for, operators_of, places_of, policy_of


@dataclass
class Play(Player):
    """One transcript on one platform."""

    surface: Surface
    kit: Kit
    scratch: Path
    receipts: list[Receipt] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    ids: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)
    cards: dict[str, str] = field(default_factory=dict)
    onlookers: Sequence[str] = ()

    async def sink(self, inbound: Inbound) -> Receipt:
        # Simulators live in the present, the core where its clock was set.
        inbound = replace(inbound, sent_at=self.kit.clock.now())
        receipt = await self.kit.app.conversation.sink(inbound)
        self.receipts.append(receipt)
        self.arrived.set()
        return receipt

    async def turn(self, turn: Mapping[str, Any]) -> str:
        """Do what a turn says; return everything that is new on the screen of who did it."""
        by, place = turn.get("by", "ana"), turn.get("place", "ops")
        self.places.add(place)
        before = self._screens(by)
        count = len(self.receipts)
        await self.act(turn, by=by, place=place)
        await self._heard(count)
        for receipt in self.receipts[count:]:
            await asyncio.wait_for(receipt.settled, 60)
        conversation = self.kit.app.conversation
        await conversation._delivery.flush()
        await conversation._delivery.settled()
        for one in self.onlookers:
            self._screens(one)  # so that each could press later what they saw now
        return "\n\n".join(
            one.text for key, one in self._screens(by).items() if before.get(key) != one and one.text
        )

    async def _heard(self, count: int) -> None:
        """Wait for what was done to reach the core: also what the core leaves alone does."""
        async with asyncio.timeout(30):
            while len(self.receipts) == count:
                self.arrived.clear()
                await self.arrived.wait()

    async def act(self, turn: Mapping[str, Any], *, by: str, place: str) -> None:
        """Do what a turn says, on the platform."""
        if "press" in turn:
            newest, wanted = self._newest(by, place, buttons=True), self.filled(turn["press"])
            if "card" in turn:
                await self.surface.press(self.cards[turn["card"]], wanted, by=by, place=place)
            else:  # how blanks in a label are shown is a platform's own
                label = next((one for one in newest.labels if flat(one) == flat(wanted)), wanted)
                await self.surface.press(newest.id, label, by=by, place=place)
        elif "fill" in turn:
            await self.surface.fill(self.filled(turn["fill"]), by=by, place=place)
        elif turn.get("kind") == "edit":
            await self.surface.edit(self.said[by], self.filled(turn["say"]), by=by, place=place)
        else:
            said = await self.surface.say(
                self.filled(turn["say"]).strip(),
                by=by,
                place=place,
                reply_to=self._newest(by, place, buttons=True).id if turn.get("reply") else "",
                forwarded=turn.get("forwarded", False),
                is_bot=turn.get("bot", False),
                addressed=turn.get("addressed", True),
            )
            if not turn.get("bot"):
                self.said[by] = said

    def _newest(self, by: str, place: str, *, buttons: bool) -> OnScreen:
        cards = [one for one in self.surface.screen(by=by, place=place) if one.labels or not buttons]
        return cards[-1] if cards else self.surface.screen(by=by, place=place)[-1]

    def remember_card(self, turn: Mapping[str, Any]) -> None:
        by, place = turn.get("by", "ana"), turn.get("place", "ops")
        self.cards[turn["name"]] = self._newest(by, place, buttons=True).id

    def place_called(self, name: str) -> str:
        return place_name(self.kit.core, self.kit.core.place_of(self.surface.place(name)))

    def read(self, text: str) -> str:
        return flat(text)

    def _screens(self, by: str) -> dict[tuple[str, str], OnScreen]:
        places = sorted({"ops", "security", "web", "elsewhere", *self.places})
        return {
            (place, f"{one.id}{one.private}"): one
            for place in places
            for one in self.surface.screen(by=by, place=place)
        }


@asynccontextmanager
async def playing(adapter: str, script: Mapping[str, Any], folder: Path) -> AsyncIterator[Play]:
    """Open a platform and a core that listens to it."""
    async with surface_opener(adapter)(folder) as surface, at(surface, script, folder) as play:
        yield play


@asynccontextmanager
async def playing_with(
    adapter: str, script: Mapping[str, Any], folder: Path, *, more: Mapping[str, Any]
) -> AsyncIterator[Play]:
    """Open a platform and a core that listens to it; `more` goes to the core."""
    async with (
        surface_opener(adapter)(folder) as surface,
        at(surface, script, folder, more=more) as play,
    ):
        yield play


@asynccontextmanager
async def at(
    surface: Surface,
    script: Mapping[str, Any],
    folder: Path,
    *,
    clock: ScriptedClock | None = None,
    more: Mapping[str, Any] | None = None,
) -> AsyncIterator[Play]:
    """Open a core on the ledger in `folder` that listens to a platform; it stops as the daemon does.

    `more` goes to the core.
    """
    setup = script.get("setup", {})
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    async with conversation(
        folder / "state",
        operators=operators_of(setup, lambda name: [surface.account(name).key]),
        policy=policy_of(setup, lambda name: place_words(surface.place(name))),
        places=places_of(setup, lambda name: place_words(surface.place(name))),
        ports=[surface.port],
        clock=clock,
        **{
            "library": library_for(setup, scratch),
            "inventory": inventory_of(setup),
            **(more or {}),
        },
    ) as kit:
        onlookers = sorted({turn.get("by", "ana") for turn in script["turn"]})
        play = Play(surface=surface, kit=kit, scratch=scratch, onlookers=onlookers)
        introduce(surface.port, kit)
        async with heard(surface.port, play.sink):
            yield play


def introduce(port: ChatPort, kit: Kit) -> None:
    """Let a core greet who joins, where people join."""
    if isinstance(port, ConsolePort):
        port.greet = kit.app.conversation.greet


@asynccontextmanager
async def heard(port: ChatPort, sink: Sink) -> AsyncIterator[None]:
    """Let the port of a platform listen."""
    listening = asyncio.create_task(port.listen(sink))
    try:
        async with asyncio.timeout(30):
            while not (await port.health()).ok:  # noqa: ASYNC110 - health is all that a port tells
                await asyncio.sleep(0.005)
        yield
    finally:
        await port.close()
        await asyncio.wait_for(listening, 30)


def flat(text: str) -> str:
    """Return `text` without line breaks and runs of blanks: how lines wrap is a platform's own."""
    return " ".join(text.split())


def place_words(ref: PlaceRef) -> str:
    """Return a place as the config writes it."""
    place = f"{ref.platform}:{ref.tenant}:{ref.channel}"
    return f"{place}:{ref.thread}" if ref.thread else place
