"""Who lets a fan-out run: several people, a second one, a trust rule; all of it or none."""

from collections import Counter
from pathlib import Path

import pytest

from gate.domain import Risk
from gate.policy import Permission, Policy
from tests.bot.fanout.fleet import RELOAD, ends, fleet, ran, view_of
from tests.bot.fanout.gated import Gated, begins, gates, until
from tests.kit import Kit, conversation, person

pytestmark = pytest.mark.timeout(120)

FAIL = "failed"
OPERATORS = (person("ana"), person("kim"))


async def test_two_people_agree_to_all_of_it(tmp_path: Path) -> None:
    policy = Policy(revision="r" * 64, quorum=(("@web", 2),))
    failing = ends(web1=FAIL)
    async with conversation(
        tmp_path, inventory=fleet(), executor=failing, operators=OPERATORS, policy=policy
    ) as kit:
        await kit.say(f"on @web: {RELOAD}")
        assert "1 of 2" in await kit.say("go ahead")
        assert "counts already" in await kit.say(f"approve {kit.newest_id()}")
        assert ran(kit) == []
        await kit.say(f"approve {kit.newest_id()}", by="kim")
        assert ran(kit) == ["web1"]
        # The yes of either was to the round that stopped.
        await kit.say(f"approve {kit.newest_id()}", by="kim")
        assert Counter(kit.states()) == {"failed": 1, "waiting": 11}
        await kit.say(f"approve {kit.newest_id()}")
        assert Counter(kit.states()) == {"failed": 1, "succeeded": 11}


async def test_who_asked_for_what_destroys_does_not_let_it_run(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(), operators=OPERATORS) as kit:
        await kit.say("on @web: rm -rf /srv/old")
        await kit.say("delete /srv/old on 12 hosts")
        assert ran(kit) == []
        await kit.say("delete /srv/old on 12 hosts", by="kim")
        assert kit.states() == ["succeeded"] * 12


async def test_who_may_decide_about_some_of_it_lets_none_of_it_run(tmp_path: Path) -> None:
    lena = person("lena", Permission(risk=Risk.DESTRUCTIVE, targets=("web1", "web2")))
    async with conversation(
        tmp_path, inventory=fleet(), executor=ends(), operators=(*OPERATORS, lena)
    ) as kit:
        await kit.say(f"on @web: {RELOAD}")
        await kit.say(f"approve {kit.newest_id()}", by="lena")
        await kit.say("go ahead", by="lena", reply_to=kit.card)
        assert ran(kit) == []
        assert kit.states() == ["waiting"] * 12


async def test_a_decider_who_lost_a_target_meanwhile_stops_it_there(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=Gated, operators=OPERATORS) as kit:
        await kit.say(f"on @web: `{RELOAD}`, one at a time")
        proposal = kit.newest_id()
        await kit.say(f"approve {proposal}", by="kim", settle=False)
        await until(lambda: ran(kit) == ["web1"])
        less = Permission(risk=Risk.DESTRUCTIVE, targets=("web1", "web2", "web4", "web5", "web6"))
        policy = kit.core.policy
        object.__setattr__(policy, "operators", (person("ana"), person("kim", less)))
        for number in range(1, 7):
            gates(kit).gate(f"web{number}").set()
        await until(lambda: kit.states(proposal).count("waiting") == 3)
        assert kit.states(proposal) == ["succeeded", "succeeded", "cancelled", *["waiting"] * 3]


async def trusts(kit: Kit, names: str) -> None:
    said = await kit.say(f"trust {RELOAD} on {names} for 30 days")
    await kit.say(said.rpartition("kim types:  ")[2].strip(), by="kim")
    assert kit.core.trust_rules()


ALL = ", ".join(f"web{number}" for number in range(1, 7))


async def test_what_a_rule_lets_run_everywhere_runs_unasked_and_brakes_all_the_same(tmp_path: Path) -> None:
    async with conversation(
        tmp_path, inventory=fleet(6), executor=ends(web3=FAIL), operators=OPERATORS
    ) as kit:
        await trusts(kit, ALL)
        await kit.say(f"on @web: `{RELOAD}`, one at a time")
        await kit.at_rest()
        assert ran(kit) == ["web1", "web2", "web3"]
        assert kit.states() == ["succeeded", "succeeded", "failed", *["waiting"] * 3]
        await kit.look()
        await kit.say(f"approve {kit.newest_id()}")
        assert Counter(kit.states()) == {"succeeded": 5, "failed": 1}


async def test_where_a_rule_covers_only_some_of_it_all_of_it_waits(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=ends(), operators=OPERATORS) as kit:
        await trusts(kit, ALL.removesuffix(", web6"))
        await kit.say(f"on @web: {RELOAD}")
        assert kit.states() == ["waiting"] * 6
        assert ran(kit) == []
        assert {one.rule for one in view_of(kit).actions} == {""}


async def test_a_rule_that_is_revoked_meanwhile_lets_nothing_more_run(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=Gated, operators=OPERATORS) as kit:
        await trusts(kit, ALL)
        rule = kit.core.trust_rules()[0].id
        await kit.say(f"on @web: `{RELOAD}`, one at a time", settle=False)
        await until(lambda: ran(kit) == ["web1"])
        proposal = kit.newest_id()
        await kit.say(f"revoke trust {rule}", settle=False)
        await until(lambda: not kit.core.trust_rules())
        gates(kit).gate("web1").set()
        await until(lambda: kit.states(proposal).count("waiting") == 4)
        assert ran(kit) == ["web1"]


async def test_auto_off_lets_nothing_more_of_it_run(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=Gated, operators=OPERATORS) as kit:
        await kit.say("on @web: `uptime`, one at a time", settle=False)
        await until(lambda: ran(kit) == ["web1"])
        await kit.say("auto off", settle=False)
        await until(lambda: kit.core.switches().auto_off)
        gates(kit).gate("web1").set()
        await until(lambda: kit.states().count("cancelled") == 5)
        assert ran(kit) == ["web1"]


async def test_what_one_yes_lets_run_on_one_target_never_overlaps_with_what_another_does(
    tmp_path: Path,
) -> None:
    async with conversation(tmp_path, inventory=fleet(6), executor=Gated) as kit:
        await begins(kit, "run systemctl restart nginx on web2")
        await until(lambda: ran(kit) == ["web2"])
        proposal = await begins(kit, f"on @web: `{RELOAD}`, no canary, all at once")
        await until(lambda: len(ran(kit)) == 6)
        assert ran(kit).count("web2") == 1
        assert kit.states(proposal)[1] == "queued"
        for number in range(1, 7):
            gates(kit).gate(f"web{number}").set()
        await until(lambda: kit.states(proposal) == ["succeeded"] * 6)
        assert ran(kit).count("web2") == 2
