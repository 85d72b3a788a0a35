"""Whole conversations, unchanged, on every platform: tests/transcripts through real adapters and a real core.

The people act on the platform itself (a simulator that the real client library talks to), and read what it
shows them. A transcript that needs what a platform does not have (a reply on the console) is not played
there.
What stands in the ledger afterwards is the same everywhere, but for ids.
"""

import asyncio
import tomllib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.places import place_name
from bot.ports import Capabilities, Inbound, PlaceRef, Receipt
from gate.domain import PersonId, Risk
from gate.policy import Operator, Permission, Policy, Posture
from ledger.reading import read_entries
from tests.adapters.stage import NotOnThisSurfaceError, OnScreen, Surface, adapter_names, surface_opener
from tests.kit import EVERYTHING, Kit, conversation

FOLDER = Path(__file__).parent.parent / "transcripts"
TRANSCRIPTS = {file.stem: tomllib.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.toml"))}
#: Where a platform's own ways make a conversation another one.
_THREADS = "in a thread of its own the next word counts whoever says it (own_thread.toml)"
NOT_ALIKE = {("slack", name): _THREADS for name in ("others", "routed", "details_answered")}
#: What reaches the core is waited for this long; what an adapter rightly drops never does.
DROPPED_S = 0.3


@dataclass
class Play:
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

    async def turn(self, turn: dict[str, Any]) -> str:
        """Do what a turn says; return everything that is new on the screen of who did it."""
        by, place = turn.get("by", "ana"), turn.get("place", "ops")
        self.places.add(place)
        before = self._screens(by)
        count = len(self.receipts)
        await self._act(turn, by=by, place=place)
        await self._heard(count, surely=not (turn.get("bot") or turn.get("kind") or turn.get("forwarded")))
        for receipt in self.receipts[count:]:
            await asyncio.wait_for(receipt.settled, 60)
        conversation = self.kit.app.conversation
        await conversation._flush()
        await conversation._delivery.settled()
        for one in self.onlookers:
            self._screens(one)  # so that each could press later what they saw now
        return "\n\n".join(
            one.text for key, one in self._screens(by).items() if before.get(key) != one and one.text
        )

    async def _heard(self, count: int, *, surely: bool) -> None:
        try:
            async with asyncio.timeout(20 if surely else DROPPED_S):
                while len(self.receipts) == count:
                    self.arrived.clear()
                    await self.arrived.wait()
        except TimeoutError:
            assert not surely, "nothing reached the core"

    async def _act(self, turn: dict[str, Any], *, by: str, place: str) -> None:
        if "press" in turn:
            newest, wanted = self._newest(by, place, buttons=True), self.filled(turn["press"])
            if "card" in turn:
                await self.surface.press(self.cards[turn["card"]], wanted, by=by, place=place)
            else:  # how blanks in a label are shown is a platform's own
                label = next((one for one in newest.labels if _flat(one) == _flat(wanted)), wanted)
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

    def remember(self, turn: dict[str, Any]) -> None:
        """Give the newest proposal, and its card, the name that a turn gives it."""
        by, place = turn.get("by", "ana"), turn.get("place", "ops")
        self.ids[turn["name"]] = self.kit.newest_id()
        self.cards[turn["name"]] = self._newest(by, place, buttons=True).id

    def _screens(self, by: str) -> dict[tuple[str, str], OnScreen]:
        places = sorted({"ops", "security", "web", "elsewhere", *self.places})
        return {
            (place, f"{one.id}{one.private}"): one
            for place in places
            for one in self.surface.screen(by=by, place=place)
        }

    def filled(self, text: str) -> str:
        filled = text.replace("{dir}", str(self.scratch))
        for name in ("security", "web"):
            filled = filled.replace(
                f"{name} on script",
                place_name(self.kit.core, self.kit.core.place_of(self.surface.place(name))),
            )
        if "{phrase}" in filled:
            phrases = [one.phrase for one in self.kit.core.queries.pending() if one.phrase is not None]
            filled = filled.replace("{phrase}", phrases[-1])
        if "{id}" in filled:
            filled = filled.replace("{id}", self.kit.newest_id())
        for name, value in self.ids.items():
            filled = filled.replace("{" + name + "}", value)
        return filled


@asynccontextmanager
async def playing(adapter: str, script: dict[str, Any], folder: Path) -> AsyncIterator[Play]:
    """Open a platform and a core that listens to it."""
    setup = script.get("setup", {})
    scratch = folder / "scratch"
    scratch.mkdir()
    async with (
        surface_opener(adapter)(folder) as surface,
        conversation(
            folder / "state",
            operators=_operators(setup, surface),
            policy=_policy(setup, surface),
            ports=[surface.port],
        ) as kit,
    ):
        onlookers = sorted({turn.get("by", "ana") for turn in script["turn"]})
        play = Play(surface=surface, kit=kit, scratch=scratch, onlookers=onlookers)
        listening = asyncio.create_task(surface.port.listen(play.sink))
        try:
            async with asyncio.timeout(20):
                while not (await surface.port.health()).ok:  # noqa: ASYNC110 - health is all that a port tells
                    await asyncio.sleep(0.005)
            yield play
        finally:
            await surface.port.close()
            await asyncio.wait_for(listening, 20)


@pytest.mark.parametrize("name", TRANSCRIPTS)
@pytest.mark.parametrize("adapter", adapter_names())
async def test_a_conversation_goes_the_same_way(adapter: str, name: str, tmp_path: Path) -> None:
    script = TRANSCRIPTS[name]
    async with playing(adapter, script, tmp_path) as play:
        needs = script.get("setup", {}).get("only")
        if needs and not _has(play.surface.port.capabilities, needs):
            pytest.skip(f"{adapter} has no {needs}")
        for number, turn in enumerate(script["turn"], start=1):
            where = f"{name} turn {number} on {adapter}"
            play.kit.clock.advance(turn.get("advance_s", 1))
            if (adapter, name) in NOT_ALIKE:
                pytest.skip(NOT_ALIKE[adapter, name])
            try:
                shown = await play.turn(turn) if _ACTS & set(turn) else ""
            except NotOnThisSurfaceError:
                pytest.skip(f"{where}: people cannot do that there")
            _check(play, turn, shown, where)


_ACTS = {"say", "press", "fill"}


def _has(capabilities: Capabilities, needs: str) -> bool:
    """Whether a platform has what a transcript needs; "types" is a form, or a field for a reply."""
    if needs == "types":
        return capabilities.forms or capabilities.replies
    return bool(getattr(capabilities, needs))


def _check(play: Play, turn: dict[str, Any], shown: str, where: str) -> None:
    if turn.get("nothing"):
        assert shown == "", f"{where}: showed\n{shown}"
    flat = _flat(shown)
    for wanted in turn.get("shows", []):
        assert _flat(play.filled(wanted)) in flat, f"{where}: no {wanted!r} in\n{shown}"
    for unwanted in turn.get("hides", []):
        assert _flat(play.filled(unwanted)) not in flat, f"{where}: {unwanted!r} in\n{shown}"
    if "name" in turn:
        play.remember(turn)
    if "states" in turn:
        assert play.kit.states(play.ids.get(turn.get("name", ""))) == turn["states"], where
    for name in turn.get("exists", []):
        assert (play.scratch / name).exists(), f"{where}: {name} does not exist"
    for name in turn.get("missing", []):
        assert not (play.scratch / name).exists(), f"{where}: {name} exists"


def _flat(text: str) -> str:
    """Return `text` without line breaks and runs of blanks: how lines wrap is a platform's own."""
    return " ".join(text.split())


def _operators(setup: dict[str, Any], surface: Surface) -> tuple[Operator, ...]:
    return tuple(
        Operator(
            id=PersonId(name),
            accounts=(surface.account(name).key, *_aliases(setup, name, surface)),
            may=tuple(Permission(risk=Risk(line["risk"]), targets=tuple(line["targets"])) for line in may)
            or EVERYTHING,
        )
        for name, may in setup.get("operators", {"ana": []}).items()
    )


def _aliases(setup: dict[str, Any], name: str, surface: Surface) -> Sequence[str]:
    """Return the further accounts of a person: "script::ana-phone" is who goes by that name here."""
    further = setup.get("accounts", {}).get(name, ())
    return [surface.account(one.rpartition(":")[2]).key for one in further]


def _policy(setup: dict[str, Any], surface: Surface) -> Policy:
    policy = setup.get("policy", {})
    routes = {
        key: _place(surface.place(to.rpartition(":")[2])) for key, to in setup.get("routing", {}).items()
    }
    return Policy(
        revision="r" * 64,
        posture=Posture(policy.get("posture", "approve_most")),
        approval_s=policy.get("approval_s", 900),
        routes=tuple(routes.items()),
        quorum=tuple(policy.get("quorum", {}).items()),
    )


def _place(ref: PlaceRef) -> str:
    place = f"{ref.platform}:{ref.tenant}:{ref.channel}"
    return f"{place}:{ref.thread}" if ref.thread else place


@pytest.mark.parametrize("name", ["story", "two_pending", "partial"])
async def test_the_ledger_holds_the_same_everywhere(name: str, tmp_path: Path) -> None:
    """Kinds, people, verdicts, digests' presence and words: identical apart from ids and places."""
    kept = {}
    for adapter in adapter_names():
        folder = tmp_path / adapter
        folder.mkdir()
        async with playing(adapter, TRANSCRIPTS[name], folder) as play:
            for turn in TRANSCRIPTS[name]["turn"]:
                play.kit.clock.advance(turn.get("advance_s", 1))
                if "name" in turn or "say" in turn or "press" in turn:
                    await play.turn(turn)
                if "name" in turn:
                    play.ids[turn["name"]] = play.kit.newest_id()
            connection = play.kit.core.ledger.reader()
            kept[adapter] = [entry.kind for entry in read_entries(connection)]
    console = kept.pop("console")
    for adapter, kinds in kept.items():
        assert kinds == console, adapter
