"""Every conversation in tests/transcripts, played through the real core on a port that only remembers.

What needs something that the port here lacks says so with `only`, and is played on the platforms that have it
(tests/adapters/test_conversations.py). What a transcript may say is told in tests/transcript.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.ports import InboundKind
from tests.kit import Kit, Shown, conversation
from tests.transcript import (
    TRANSCRIPTS,
    Player,
    inventory_of,
    known,
    library_for,
    operators_of,
    places_of,
    policy_of,
)

HERE = [name for name, script in TRANSCRIPTS.items() if "only" not in script.get("setup", {})]


@dataclass
class Scripted(Player):
    """Plays on the scripted port, whose screen is exactly what the core asked for."""

    kit: Kit
    scratch: Path
    ids: dict[str, str] = field(default_factory=dict)
    cards: dict[str, Shown] = field(default_factory=dict)

    async def turn(self, turn: Mapping[str, Any]) -> str:
        by, place = turn.get("by", "ana"), turn.get("place", "ops")
        if "press" in turn:
            card = self.cards[turn["card"]] if "card" in turn else self.kit.card
            return await self.kit.press(card, self.filled(turn["press"]), by=by, place=place)
        changes: dict[str, Any] = {flag: turn[flag] for flag in ("forwarded", "addressed") if flag in turn}
        if "kind" in turn:
            changes["kind"] = InboundKind(turn["kind"])
        return await self.kit.say(
            self.filled(turn["say"]),
            by=by,
            place=place,
            is_bot=turn.get("bot", False),
            reply_to=self.kit.card if turn.get("reply") else None,
            **changes,
        )

    def remember_card(self, turn: Mapping[str, Any]) -> None:
        if any(one.message.buttons for one in self.kit.port.screen.values()):
            self.cards[turn["name"]] = replace(self.kit.card)


@pytest.mark.parametrize("name", HERE)
async def test_transcript(name: str, tmp_path: Path) -> None:
    script = TRANSCRIPTS[name]
    setup = script.get("setup", {})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    async with conversation(
        tmp_path / "state",
        operators=operators_of(setup, lambda who: [f"script::{who}"]),
        policy=policy_of(setup, lambda place: f"script::{place}"),
        places=places_of(setup, lambda place: f"script::{place}"),
        library=library_for(setup, scratch),
        inventory=inventory_of(setup),
        rehearsal=False,
    ) as kit:
        player = Scripted(kit, scratch)
        for number, turn in enumerate(script["turn"], start=1):
            await player.take(turn, f"{name} turn {number}")


def test_a_key_that_nobody_looks_at_is_an_error() -> None:
    with pytest.raises(AssertionError, match="show"):
        known({"say": "uptime", "show": ["ok"]}, "turn 1")
    with pytest.raises(AssertionError, match="several acts"):
        known({"say": "go ahead", "press": "Approve"}, "turn 1")


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_transcript_says_only_what_is_known(name: str) -> None:
    script = TRANSCRIPTS[name]
    assert set(script) <= {"setup", "turn"}
    for number, turn in enumerate(script["turn"], start=1):
        known(turn, f"{name} turn {number}")
