"""Unknown ends: a change freezes its target until a person settles it, reading is just asked for again."""

from pathlib import Path

from bot.metrics import Metrics
from tests.bot.test_digest import Ends
from tests.bot.test_metrics import read
from tests.kit import Kit, conversation

CHANGE, READING = "run systemctl restart lost on web1", "run cat lost on web1"


def lost_now(kit: Kit, folder: Path) -> float:
    return read(Metrics(kit.core.ledger, clock=kit.clock, file=folder / "none"))["sayso_actions_now", "lost"]


async def test_a_change_is_pending_until_somebody_settles_it(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(CHANGE)
        assert "frozen until someone looks" in await kit.say("go ahead")
        name = kit.newest_id()
        assert "unknown end, settle it" in await kit.say("pending")
        assert lost_now(kit, tmp_path) == 1
        said = await kit.say(f"settle {name} ran, because the log says so")
        assert "Settled: it ran. Changes on web1 are possible again." in said
        assert "Nothing waits" in await kit.say("pending")
        assert lost_now(kit, tmp_path) == 0


async def test_reading_asks_nobody_to_look_and_is_tried_again_by_its_id(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        shown = await kit.say(READING)
        name = kit.newest_id()
        assert kit.states() == ["lost"]
        assert f"It only reads: nothing can have changed. Say  again #{name}  to run it once more." in shown
        assert "Nothing waits and nothing runs." in await kit.say("pending")
        assert lost_now(kit, tmp_path) == 0
        await kit.say(f"again #{name}")
        assert kit.newest_id() != name
        assert kit.states() == ["lost"]


async def test_who_settles_reading_all_the_same_is_told_of_no_freeze(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(READING)
        said = await kit.say(f"settle {kit.newest_id()} did-not-run, because the host was off")
        assert "Settled: it did not run." in said
        assert "possible again" not in said
        assert kit.states() == ["failed"]
