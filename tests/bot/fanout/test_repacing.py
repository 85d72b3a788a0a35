"""Another pace: a new card that goes as was said replaces the old one; nothing runs before its own yes."""

from pathlib import Path

import pytest

from bot.fanout import repacing
from gate.fanout import Brake
from tests.bot.fanout.fleet import RELOAD, WEB, ByHost, ends, fleet, ran, targets_of, view_of
from tests.kit import conversation

ASK = f"on @web: {RELOAD}, canary 2, 5 at a time, stop after 2 failures"
BEFORE = Brake(canary=2, batch=5, stop_after=2)


@pytest.mark.parametrize(
    ("said", "brake"),
    [
        ("yes, but no canary", Brake(batch=5, stop_after=2)),
        ("no canary", Brake(batch=5, stop_after=2)),
        ("but no canary please", Brake(batch=5, stop_after=2)),
        ("yes, 2 at a time", Brake(canary=2, batch=2, stop_after=2)),
        ("go ahead, but one by one", Brake(canary=2, batch=1, stop_after=2)),
        ("ok, all at once", Brake(canary=2, batch=0, stop_after=2)),
        (
            "yes but canary 1, 3 at a time and stop at the first failure",
            Brake(canary=1, batch=3, stop_after=1),
        ),
        ("yes, but stop at 50% failures", Brake(canary=2, batch=5, stop_after=6)),
        ("yes, but don't stop on failures", Brake(canary=2, batch=5, stop_after=0)),
        ("ja, aber 2 at a time", Brake(canary=2, batch=2, stop_after=2)),
        ("ok, with 10s between batches", Brake(canary=2, batch=5, stop_after=2, pause_s=10)),
    ],
)
async def test_another_pace_is_a_new_card_and_nothing_runs(tmp_path: Path, said: str, brake: Brake) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(ASK)
        old = view_of(kit)
        assert old.fanout is not None
        assert old.fanout.brake == BEFORE
        shown = await kit.say(said)
        new = view_of(kit)
        assert new.fanout is not None
        assert new.fanout.brake == brake
        assert targets_of(kit) == list(WEB)
        assert set(kit.states(old.id)) == {"cancelled"}
        assert f"This card was replaced by #{new.id}" in shown
        assert new.fanout.selector == old.fanout.selector == ("@web",)
        assert ran(kit) == []
        assert "approval:granted" not in kit.kinds()
        await kit.say(f"approve {old.id}")
        assert ran(kit) == []
        if brake.pause_s:
            return
        await kit.say(f"approve {new.id}")
        await kit.at_rest()
        assert sorted(ran(kit)) == sorted(WEB)


async def test_nothing_runs_twice_however_often_it_is_named(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(ASK)
        await kit.say("yes, but web7 and WEB7 first")
        assert targets_of(kit) == ["web7", *(one for one in WEB if one != "web7")]
        await kit.say(f"approve {kit.newest_id()}")
        await kit.at_rest()
        assert sorted(ran(kit)) == sorted(WEB)


async def test_what_is_left_of_a_stopped_one_is_compared_with_its_own_brake(tmp_path: Path) -> None:
    async with conversation(
        tmp_path, inventory=fleet(), executor=ends(**dict.fromkeys(WEB, "failed"))
    ) as kit:
        await kit.say(f"on @web: {RELOAD}, no canary, 1 at a time, stop after 6 failures")
        await kit.say("go ahead")
        await kit.at_rest()
        assert len(ran(kit)) == 6
        await kit.say("yes, but stop after 3 failures")
        new = view_of(kit).fanout
        assert new is not None
        assert new.brake == Brake(batch=1, stop_after=3)
        await kit.say(f"approve {kit.newest_id()}")
        await kit.at_rest()
        assert len(ran(kit)) == 9


async def test_too_few_have_no_pace_to_change(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web1="failed")) as kit:
        await kit.say(f"on web1,web2,web3,web4: {RELOAD}")
        old = kit.newest_id()
        await kit.say("go ahead")
        await kit.at_rest()
        assert ran(kit) == ["web1"]
        shown = await kit.say("yes, 2 at a time")
        assert "3 hosts left: too few for another pace. Nothing ran" in shown
        assert kit.newest_id() == old
        assert ran(kit) == ["web1"]


@pytest.mark.parametrize(
    "said",
    [
        *("sí, de uno en uno", "sí, uno por uno", "oui, un par un", "ja, een voor een", "نعم، واحد واحد"),
        *("sim, um a um", "sì, uno alla volta", "ja, eins nach dem anderen", "ja, één voor één"),
    ],
)
async def test_one_by_one_in_any_language_is_no_plain_yes(tmp_path: Path, said: str) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(ASK)
        await kit.say(said)
        await kit.at_rest()
        assert ran(kit) == []
        assert "approval:granted" not in kit.kinds()


@pytest.mark.parametrize("said", ["yes", "ja", "sí", "oui, vas-y", "ok ok", "yes yes", "go go go", "ja ja"])
def test_plain_yeses_stay_so(said: str) -> None:
    assert not repacing.is_spoken_of(said)


async def test_another_may_go_first(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(ASK)
        shown = await kit.say("yes, but web7 first")
        assert targets_of(kit) == ["web7", *(one for one in WEB if one != "web7")]
        assert "Web7 first, right? Nothing ran." in shown
        assert ran(kit) == []


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("yes, 5 at a time", "That is how it goes already."),
        ("yes, but canary 2 and 5 at a time", "That is how it goes already."),
        ("yes, canary first", "That is how it goes already."),
        ("yes, 2 at a time, 3 at a time", "That says two things about the pace"),
        ("ok, 0 at a time", "A batch of 0 is none"),
    ],
)
async def test_what_cannot_be_followed_leaves_the_card_as_it_is(tmp_path: Path, said: str, why: str) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(ASK)
        old = kit.newest_id()
        shown = await kit.say(said)
        assert why in shown
        assert shown.count("Nothing ran") == 1
        assert f"#{old} still waits as it was" in shown
        assert kit.newest_id() == old
        assert set(kit.states(old)) == {"waiting"}


@pytest.mark.parametrize(
    "said",
    [
        *("wait 5 minutes", "ok, wait 10 minutes", "keep going", "go on", "yes", "go ahead", "me first"),
        *("maybe 2 at a time", "why 2 at a time?", "is it 2 at a time", "not sure, 2 at a time", "db1 first"),
        *("no canary?", "yes, all at once?", "don't stop", "never stop", "2 at a time ؟"),
        *("yes, restart db1 2 at a time", "x" * 400, "", "yes, and then reboot, one by one"),
    ],
)
def test_other_words_are_none_of_its_business(said: str) -> None:
    assert repacing.read(said, WEB, canaries=2, agrees=lambda words: words in ("yes", "ok")) is None


async def test_whoever_may_not_drop_it_changes_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(ASK)
        old = kit.newest_id()
        await kit.say("yes, but no canary", by="stranger", reply_to=kit.card)
        assert kit.newest_id() == old
        assert set(kit.states(old)) == {"waiting"}
