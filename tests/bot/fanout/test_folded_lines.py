"""A fan-out where its card is not in sight: cancel, pending, history, digest and others say it in a line."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot import past
from bot.controls import _ways_to_cancel
from bot.digest import _lost, _places
from bot.fanout.naming import several
from gate.domain import ProposalId
from gate.lifecycle import ActionState
from tests.bot.fanout.fleet import RELOAD, ByHost, ends, fleet, ran
from tests.bot.fanout.scenes import fanout, hosts, view
from tests.kit import conversation


def lines(shown: str) -> int:
    return len(shown.splitlines())


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "reload nginx on web1"),
        (3, "reload nginx on web1, web2, web3"),
        (4, "reload nginx on 4 hosts"),
        (500, "reload nginx on 500 hosts"),
    ],
)
def test_many_are_named_together(count: int, words: str) -> None:
    actions = [view(name, index) for index, name in enumerate(hosts(count), start=1)]
    named = several(actions, secrets=()).replace("systemctl reload nginx", "reload nginx")
    assert named == words


def test_different_things_are_named_apart() -> None:
    actions = [view(name, index) for index, name in enumerate(hosts(5), start=1)]
    actions += [view(f"db{index}", index, command="reboot") for index in range(6, 8)]
    assert several(actions, secrets=()).endswith("on 5 hosts, reboot on db6, db7")


def test_what_was_changed_is_folded_where_it_is_many() -> None:
    assert _places(["web2", "db1"]) == "web2, db1"
    assert _places(hosts(500)) == "web1 to web500"


async def test_cancel_of_many_is_one_line(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(60), executor=ByHost) as kit:
        await kit.say(f"on @web: {RELOAD}")
        shown = await kit.say(f"cancel {kit.newest_id()}")
        assert "Dropped reload nginx on 60 hosts, nothing ran." in shown
        assert ran(kit) == []
        assert set(kit.states()) == {"cancelled"}


async def test_no_to_many_is_one_line(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(60), executor=ByHost) as kit:
        await kit.say(f"on @web: {RELOAD}")
        old = kit.newest_id()
        shown = await kit.say("no, too early")
        assert f"Dropped #{old}: reload nginx on 60 hosts. Nothing ran from it." in shown


async def test_what_waits_is_one_line(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(60), executor=ByHost) as kit:
        await kit.say(f"on @web: {RELOAD}")
        shown = await kit.say("pending")
        assert lines(shown) == 1
        assert "60 hosts" in shown
        assert "#k00004, reload nginx on 60 hosts, still waits" in await kit.say("hmm, not sure")
        assert lines(await kit.say("history")) == 1
        assert "waiting" in await kit.say("history")


async def test_question_about_many_is_answered_for_all_of_them(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(60), executor=ByHost) as kit:
        await kit.say(f"on @web: {RELOAD}")
        shown = await kit.say("what depends on it?")
        about = shown.partition("\n\n")[0]
        assert about.startswith("reload nginx on 60 hosts: ")
        assert lines(about) <= 3


async def test_history_tells_ends_apart(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web1="failed")) as kit:
        await kit.say(f"on @web: {RELOAD}, canary first")
        await kit.say("go ahead")
        shown = await kit.say("history")
        assert lines(shown) == 2
        assert "web1 · reload nginx · failed" in shown
        assert "11 hosts · reload nginx · waiting" in shown


def test_what_is_no_fan_out_is_told_one_by_one() -> None:
    actions = [view(name, index, state=ActionState.LOST) for index, name in enumerate(hosts(5), start=1)]
    many = fanout(*actions)
    plain = replace(many, fanout=None)
    assert [len(group) for _, group in past.alike(plain, plain.actions)] == [1] * 5
    assert [len(group) for _, group in past.alike(many, many.actions)] == [5]
    assert _lost([plain]) == [f"#{one.action.id}" for one in actions]
    assert _lost([many]) == [f"5 of #{many.id}"]


def test_ways_to_cancel_are_few() -> None:
    many = [view(name, index, state=ActionState.STARTED) for index, name in enumerate(hosts(50), start=1)]
    assert _ways_to_cancel(many[:2]) == [f"  cancel #{one.action.id}" for one in many[:2]]
    (line,) = _ways_to_cancel(many)
    assert "all 50 of it" in line
    apart = [
        view(f"db{index}", state=ActionState.STARTED, proposal=ProposalId(f"k{index:05d}"))
        for index in range(30)
    ]
    assert len(_ways_to_cancel(apart)) == 13
