"""Fan-outs of a schedule, an agent and a planner: the same card, brake and record as of a person (D20)."""

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from gate.domain import TargetId
from tests.bot.delegates.asking import asking, delegate
from tests.bot.fanout.fleet import RELOAD, ends, fleet, ran
from tests.bot.planning.planned import UNREAD, run, settled
from tests.bot.planning.planned import ends as planned_ends
from tests.bot.scheduling.making import make
from tests.kit import START, conversation
from tests.simulators.model.double import Scripted, calls, read, says

pytestmark = pytest.mark.timeout(120)

FAIL = "failed"
WEB = frozenset(TargetId(f"web{number}") for number in range(1, 7))


async def test_a_schedule_asks_once_for_all_of_them(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=ends(web2=FAIL)) as kit:
        await kit.say("help")
        request = f"on @web: `{RELOAD}`, one at a time"
        make(kit.core, request, at=START + timedelta(hours=1), act="schedule")
        kit.clock.advance(3600)
        await kit.look()
        assert kit.states() == ["waiting"] * 6
        assert "@web · 6 hosts" in kit.card.text
        await kit.say("go ahead")
        assert ran(kit) == [], "nobody had just asked"
        await kit.say(f"approve {kit.newest_id()}")
        await kit.at_rest()
        assert ran(kit) == ["web1", "web2"]
        assert Counter(kit.states()) == {"succeeded": 1, "failed": 1, "waiting": 4}


async def test_an_agent_sees_one_request_and_how_each_of_them_ended(tmp_path: Path) -> None:
    agent = delegate(targets=WEB)
    async with asking(tmp_path, agent, inventory=fleet(6), executor=ends(web3=FAIL)) as it:
        asked = await it.run(RELOAD, target="@web", purpose="new certificates")
        again = await it.run(RELOAD, target="@web", purpose="new certificates")
        assert asked.data["state"] == "pending"
        assert again.data["id"] == asked.data["id"], "said twice, as after a lost connection: asked once"
        assert "6 hosts" in await it.seen()
        await it.kit.say(f"approve {asked.data['id']}")
        await it.kit.at_rest()
        told = await it.result(asked.data["id"])
        assert len(told.data["actions"]) == 6
        assert {one["state"] for one in told.data["actions"]} == {"succeeded", "failed"}
        assert Counter(ran(it.kit)) == Counter(sorted(map(str, WEB)))


async def test_an_agent_gets_none_of_it_where_one_target_is_not_its_own(tmp_path: Path) -> None:
    agent = delegate(targets=WEB - {TargetId("web6")})
    async with asking(tmp_path, agent, inventory=fleet(6), executor=ends()) as it:
        answer = await it.run(RELOAD, target="@web")
        assert answer.is_refusal
        assert "proposal:made" not in it.kit.kinds()


async def test_a_plan_goes_on_with_what_a_fan_out_came_to(tmp_path: Path) -> None:
    model = Scripted([calls(run(RELOAD, on="@web")), says("web3 failed, the others are reloaded.")])
    async with conversation(tmp_path, inventory=fleet(6), executor=ends(web3=FAIL), thinker=model) as kit:
        await kit.say(UNREAD)
        assert kit.states() == ["waiting"] * 6
        assert "6 hosts" in kit.card.text
        await kit.say("go ahead")
        await kit.at_rest()
        await settled(kit)
        assert len(ran(kit)) == 6
        assert len(model.thoughts) == 2
        assert "web3" in read(model.thoughts[1])
        assert planned_ends(kit) == ["answered"]
