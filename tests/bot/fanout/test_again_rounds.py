"""The failed ones again, where a fan-out goes on after a failure: they need the engine."""

from pathlib import Path

from tests.bot.fanout.fleet import RELOAD, ends, fleet, ran, targets_of, view_of
from tests.kit import Kit, conversation

EVERYWHERE = f"on @web: {RELOAD}, no canary, all at once, keep going"


async def run(kit: Kit, request: str = EVERYWHERE) -> str:
    """Let a fan-out run to its end; return its id."""
    await kit.say(request)
    name = kit.newest_id()
    await kit.say(f"approve {name}")
    return name


async def test_failed_ones_are_asked_for_anew_with_the_same_pace(tmp_path: Path) -> None:
    broken = ends(web2="failed", web5="failed", web7="failed", web9="failed", web11="failed")
    async with conversation(tmp_path, inventory=fleet(), executor=broken) as kit:
        old = await run(kit, f"on @web: {RELOAD}, no canary, 3 at a time, keep going")
        shown = await kit.say("retry the failed ones")
        assert targets_of(kit) == ["web2", "web5", "web7", "web9", "web11"]
        new = view_of(kit)
        assert new.fanout is not None
        assert (new.fanout.brake.batch, new.fanout.brake.stop_after) == (3, 0)
        assert f"is for 5 hosts of #{old}: where it failed" in shown
        assert set(kit.states()) == {"waiting"}
        assert len(ran(kit)) == 12
        await kit.say("go ahead")
        assert sorted(ran(kit)[12:]) == ["web11", "web2", "web5", "web7", "web9"]


async def test_lost_ones_are_never_among_them(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web3="failed", web4="lost")) as kit:
        old = await run(kit)
        shown = await kit.say("retry failed")
        assert targets_of(kit) == ["web3"]
        assert "Not web4: unknown end" in shown
        assert f"settle {old}.4 ran" in shown


async def test_lost_reading_is_among_them_as_it_can_have_changed_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web3="failed", web4="lost")) as kit:
        shown = await kit.say("on @web: uptime")
        assert "settle" not in shown
        shown = await kit.say("retry the failed")
        assert targets_of(kit) == ["web3", "web4"]
        assert "where it failed, has an unknown end or did not run." in shown
        assert len(ran(kit)) == 14


async def test_only_lost_ones_is_nothing_to_retry(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web4="lost")) as kit:
        old = await run(kit)
        shown = await kit.say("retry failed")
        assert f"Nothing of #{old} failed." in shown
        assert "Not web4: unknown end" in shown
        assert kit.newest_id() == old
