"""Whole conversations, unchanged, on every platform: tests/transcripts through real adapters and a real core.

The people act on the platform itself (a simulator that the real client library talks to), and read what it
shows them. A transcript that needs what a platform does not have (a reply on the console) is not played
there.
What stands in the ledger afterwards is the same everywhere, but for ids.
"""

from pathlib import Path

import pytest

from bot.ports import Capabilities
from tests.adapters.alike import alike
from tests.adapters.play import playing
from tests.adapters.stage import NotOnThisSurfaceError, adapter_names
from tests.transcript import TRANSCRIPTS

#: Where a platform's own ways make a conversation another one.
_THREADS = "in a thread of its own the next word counts whoever says it (own_thread.toml)"
NOT_ALIKE = {("slack", name): _THREADS for name in ("others", "routed", "details_answered")}


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
            if (adapter, name) in NOT_ALIKE:
                pytest.skip(NOT_ALIKE[adapter, name])
            try:
                await play.take(turn, where)
            except NotOnThisSurfaceError:
                pytest.skip(f"{where}: people cannot do that there")


def _has(capabilities: Capabilities, needs: str) -> bool:
    """Whether a platform has what a transcript needs; "types" is a form, or a field for a reply."""
    if needs == "types":
        return capabilities.forms or capabilities.replies
    return bool(getattr(capabilities, needs))


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
