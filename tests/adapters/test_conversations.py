"""Whole conversations, unchanged, on every platform: tests/transcripts through real adapters and a real core.

The people act on the platform itself (a simulator that the real client library talks to), and read what it
shows them. A transcript that needs what a platform does not have (a reply on the console) is not played
there.
What stands in the ledger afterwards is the same everywhere, but for ids.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.alike import alike
from tests.adapters.play import playing
from tests.adapters.stage import adapter_names, capabilities_of, lacks
from tests.transcript import TRANSCRIPTS

#: In a thread of its own the next word counts whoever says it (own_thread.toml), which makes these others.
NOT_ALIKE = {("slack", name) for name in ("others", "routed", "details_answered")}


def _is_possible(adapter: str, script: Mapping[str, Any]) -> bool:
    """Whether people can have this conversation there; "types" is a form, or a field for a reply."""
    can, needs = capabilities_of(adapter), script.get("setup", {}).get("only")
    if needs == "types" and not (can.forms or can.replies):
        return False
    if needs not in {None, "types"} and not getattr(can, needs):
        return False
    words = {key for turn in script["turn"] for key in (*turn, turn.get("kind", ""))}
    return not words & lacks(adapter)


PLAYED = [
    (adapter, name)
    for name, script in TRANSCRIPTS.items()
    for adapter in adapter_names()
    if _is_possible(adapter, script) and (adapter, name) not in NOT_ALIKE
]


def test_every_conversation_is_played_somewhere() -> None:
    assert {name for _, name in PLAYED} == set(TRANSCRIPTS)
    assert {(adapter, name) for adapter in adapter_names() for name in TRANSCRIPTS} >= NOT_ALIKE


@pytest.mark.parametrize(("adapter", "name"), PLAYED)
async def test_a_conversation_goes_the_same_way(adapter: str, name: str, tmp_path: Path) -> None:
    script = TRANSCRIPTS[name]
    async with playing(adapter, script, tmp_path) as play:
        for number, turn in enumerate(script["turn"], start=1):
            await play.take(turn, f"{name} turn {number} on {adapter}")


@pytest.mark.parametrize(
    "name", ["story", "story_buttons", "two_pending", "partial", "order", "clarify", "quorum"]
)
async def test_the_ledger_holds_the_same_everywhere(name: str, tmp_path: Path) -> None:
    """Kinds, people, verdicts, states and words, in order: identical apart from ids and places."""
    script, kept = TRANSCRIPTS[name], {}
    for adapter in adapter_names():
        folder = tmp_path / adapter
        folder.mkdir()
        async with playing(adapter, script, folder) as play:
            for number, turn in enumerate(script["turn"], start=1):
                await play.take(turn, f"{name} turn {number} on {adapter}")
            kept[adapter] = alike(play.kit.core.ledger.reader(), folder=str(folder))
    console = kept.pop("console")
    for adapter, entries in kept.items():
        assert entries == console, adapter
