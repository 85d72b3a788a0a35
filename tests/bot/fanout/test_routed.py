"""Fan-outs whose targets are routed to different places: each sees the card, and nobody gains a right."""

from collections import Counter
from pathlib import Path

import pytest

from gate.domain import Risk
from gate.policy import Permission, Policy
from tests.bot.fanout.fleet import RELOAD, ends, fleet, ran
from tests.kit import Kit, Shown, conversation, person

pytestmark = pytest.mark.timeout(120)

OPERATORS = (
    person("ana"),
    person("kim"),
    person("lena", Permission(risk=Risk.DESTRUCTIVE, targets=("@db",))),
)
ROUTED = Policy(revision="r" * 64, routes=(("@db", "script::dba"), ("@web", "script::web")))


def card_in(kit: Kit, place: str) -> Shown:
    """Return the newest card in a place."""
    found = [
        one for one in kit.port.screen.values() if one.ref.place.channel == place and one.message.buttons
    ]
    assert found, f"no card in {place}"
    return found[-1]


def lines_in(kit: Kit, place: str) -> list[str]:
    return [one.text for one in kit.port.screen.values() if one.ref.place.channel == place]


@pytest.mark.parametrize("named", ["@web,@db", "@db,@web"])
async def test_it_is_asked_about_wherever_some_of_it_is_routed(tmp_path: Path, named: str) -> None:
    async with conversation(
        tmp_path, inventory=fleet(5), executor=ends(), operators=OPERATORS, policy=ROUTED
    ) as kit:
        await kit.say(f"on {named}: {RELOAD}")
        assert lines_in(kit, "ops") == [f"#{kit.newest_id()} waits in dba on script, web on script."]
        for place in ("dba", "web"):
            text = card_in(kit, place).text
            assert "6 hosts" in text
            assert "db1" in text
            assert f'Say "approve {kit.newest_id()}" or press a button.' in text


@pytest.mark.parametrize("place", ["dba", "web"])
async def test_who_may_decide_about_all_of_it_may_do_so_in_any_of_the_places(
    tmp_path: Path, place: str
) -> None:
    async with conversation(
        tmp_path, inventory=fleet(5), executor=ends(), operators=OPERATORS, policy=ROUTED
    ) as kit:
        await kit.say(f"on @web,@db: {RELOAD}")
        await kit.say("go ahead", by="kim", place=place)
        assert ran(kit) == [], "no words without saying what they answer"
        await kit.say("go ahead", by="lena", place=place, reply_to=card_in(kit, place))
        assert ran(kit) == [], "lena may decide about db1 only, and the yes is to all of it"
        await kit.say("go ahead", by="kim", place=place, reply_to=card_in(kit, place))
        await kit.at_rest()
        await kit.look()
        assert kit.states() == ["succeeded"] * 6
        for other in ("dba", "web"):
            assert "6 ok" in "\n".join(lines_in(kit, other)), "each card says what became of it"
        assert [one for one in lines_in(kit, "ops") if "6 ok" in one], "told where it was asked"


async def test_a_no_in_one_place_ends_it_in_the_other(tmp_path: Path) -> None:
    async with conversation(
        tmp_path, inventory=fleet(5), executor=ends(), operators=OPERATORS, policy=ROUTED
    ) as kit:
        await kit.say(f"on @web,@db: {RELOAD}")
        await kit.say("no", by="kim", place="web", reply_to=card_in(kit, "web"))
        assert kit.states() == ["cancelled"] * 6
        await kit.say(f"approve {kit.newest_id()}", by="kim", place="dba")
        assert ran(kit) == []


async def test_what_the_brake_stopped_is_asked_about_in_each_place(tmp_path: Path) -> None:
    async with conversation(
        tmp_path, inventory=fleet(5), executor=ends(web1="failed"), operators=OPERATORS, policy=ROUTED
    ) as kit:
        await kit.say(f"on @web,@db: {RELOAD}")
        await kit.say(f"approve {kit.newest_id()}", by="kim", place="web")
        await kit.at_rest()
        await kit.look()
        assert Counter(kit.states()) == {"failed": 1, "waiting": 5}
        for place in ("dba", "web"):
            assert "Stopped: web1 failed" in card_in(kit, place).text
        await kit.say("go ahead", by="kim", place="web", reply_to=card_in(kit, "web"))
        await kit.at_rest()
        assert Counter(kit.states()) == {"failed": 1, "succeeded": 5}


async def test_a_part_of_it_is_asked_about_where_that_part_is_routed(tmp_path: Path) -> None:
    async with conversation(
        tmp_path, inventory=fleet(5), executor=ends(), operators=OPERATORS, policy=ROUTED
    ) as kit:
        await kit.say(f"on @web,@db: {RELOAD}")
        await kit.say("only web1 to web4", by="kim", place="web", reply_to=card_in(kit, "web"))
        await kit.say("go ahead", by="kim", place="web")
        assert ran(kit) == [], "a routed card takes a reply, a button or its id"
        assert "4 hosts" in card_in(kit, "web").text
        await kit.say("go ahead", by="kim", place="web", reply_to=card_in(kit, "web"))
        await kit.at_rest()
        assert sorted(ran(kit)) == ["web1", "web2", "web3", "web4"]


async def test_asked_in_one_of_the_places_it_says_where_else_it_waits(tmp_path: Path) -> None:
    async with conversation(
        tmp_path, inventory=fleet(5), executor=ends(), operators=OPERATORS, policy=ROUTED
    ) as kit:
        await kit.say(f"on @web,@db: {RELOAD}", place="dba")
        assert f"#{kit.newest_id()} waits in web on script too." in lines_in(kit, "dba")
        assert "6 hosts" in card_in(kit, "web").text
