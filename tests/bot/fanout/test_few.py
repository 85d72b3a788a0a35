"""Two or three targets: what reads goes to all of them at once, anything else is a list to pick from."""

from pathlib import Path

import pytest

from gate.policy import Policy, Posture
from tests.bot.fanout.fleet import RELOAD, ends, fleet, ran, view_of
from tests.bot.sending import until
from tests.kit import conversation


@pytest.mark.parametrize("hosts", ["web1, web2", "web1, web2, web3"])
async def test_reading_goes_to_all_of_them_at_once(tmp_path: Path, hosts: str) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends()) as kit:
        shown = await kit.say(f"run uptime on {hosts}")
        assert view_of(kit).fanout is not None
        assert f"all {len(hosts.split(','))} ok" in shown
        assert sorted(ran(kit)) == hosts.split(", ")


async def test_one_that_hangs_does_not_hold_the_other(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web1="hangs")) as kit:
        await kit.hand_over(kit.inbound("run uptime on web1, web2"))
        await until(lambda: "action:succeeded" in kit.kinds())
        assert kit.states() == ["started", "succeeded"]
        await kit.say(f"cancel {kit.newest_id()}")
        assert kit.states() == ["cancelled", "succeeded"]


async def test_of_two_only_the_one_where_it_failed_is_read_again(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web1="failed")) as kit:
        await kit.say("run uptime on web1, web2")
        await kit.say("retry the failed")
        assert sorted(ran(kit)) == ["web1", "web1", "web2"]


async def test_a_change_on_three_is_a_list_to_pick_from(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends()) as kit:
        await kit.say(f"run {RELOAD} on web1, web2, web3")
        assert view_of(kit).fanout is None
        assert "Only this part, right?" in await kit.say("one and three")
        await kit.say("go ahead")
        assert ran(kit) == ["web1", "web3"]


async def test_reading_that_is_asked_about_is_a_list_to_pick_from(tmp_path: Path) -> None:
    asks = Policy(revision="r" * 64, posture=Posture.APPROVE_ALL)
    async with conversation(tmp_path, inventory=fleet(), executor=ends(), policy=asks) as kit:
        await kit.say("run uptime on web1, web2")
        assert view_of(kit).fanout is None


async def test_a_single_target_is_no_fanout(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends()) as kit:
        await kit.say("run uptime on web1")
        assert view_of(kit).fanout is None
