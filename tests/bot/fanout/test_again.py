"""The failed ones again: exactly those, never a change with an unknown end, and never twice."""

from pathlib import Path

import pytest

from bot import control_words
from bot.commands import Again, Ref, RetryFailed
from gate.domain import ProposalId
from gate.policy import Policy, Posture
from tests.bot.fanout.fleet import RELOAD, ByHost, ends, fleet, targets_of, view_of
from tests.kit import Kit, conversation

K = ProposalId("k7f3a2")
EVERYWHERE = f"on @web: {RELOAD}, no canary, all at once, keep going"


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("retry the failed ones", RetryFailed()),
        ("retry failed", RetryFailed()),
        ("Retry only the failed hosts, please.", RetryFailed()),
        ("again on the failed ones", RetryFailed()),
        ("try again on those that failed", RetryFailed()),
        ("retry #k7f3a2 failed", RetryFailed(ref=Ref(proposal=K))),
        ("retry k7f3a2 failed", RetryFailed(ref=Ref(proposal=K))),
        ("retry the failed ones of #k7f3a2", RetryFailed(ref=Ref(proposal=K))),
        ("again #k7f3a2 on the failed ones", RetryFailed(ref=Ref(proposal=K))),
        ("retry #k7f3a2", Again(ref=Ref(proposal=K))),
        ("it failed", None),
        ("why has it failed", None),
        ("retry the failed ones and restart nginx", None),
        ("retry backup failed", None),
    ],
)
def test_words(said: str, wanted: RetryFailed | Again | None) -> None:
    assert control_words.parse(said) == wanted


async def run(kit: Kit, request: str = EVERYWHERE) -> str:
    """Let a fan-out run to its end; return its id."""
    await kit.say(request)
    name = kit.newest_id()
    await kit.say(f"approve {name}")
    return name


async def test_nothing_failed_is_said(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        old = await run(kit)
        assert f"Nothing of #{old} failed." in await kit.say("retry the failed ones")
        assert kit.newest_id() == old


async def test_nothing_went_to_many_here(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say("run uptime on web1")
        assert "Nothing went to several targets here." in await kit.say("retry the failed ones")


async def test_what_waits_after_a_stop_is_not_asked_for_twice(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web1="failed")) as kit:
        old = await run(kit, f"on @web: {RELOAD}, canary first")
        assert kit.states(old)[0] == "failed"
        shown = await kit.say("retry the failed ones")
        assert targets_of(kit) == ["web1"]
        assert f"11 hosts of #{old} still wait on its own card." in shown
        assert set(kit.states(old)[1:]) == {"waiting"}


async def test_what_a_person_refused_is_not_among_them(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web1="failed")) as kit:
        old = await run(kit, f"on @web: {RELOAD}, canary first")
        await kit.say(f"deny {old} not today")
        await kit.say(f"retry {old} failed")
        assert targets_of(kit) == ["web1"]


async def test_what_nobody_answered_after_a_stop_is_among_them(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web1="failed")) as kit:
        old = await run(kit, f"on @web: {RELOAD}, canary first")
        kit.clock.advance(3600)
        await kit.say("pending")
        assert set(kit.states(old)[1:]) == {"cancelled"}
        await kit.say(f"retry {old} failed")
        assert targets_of(kit) == [f"web{number}" for number in range(1, 13)]


@pytest.mark.parametrize("said", ["retry the failed ones", "retry {old} failed"])
async def test_asking_twice_makes_one_card(tmp_path: Path, said: str) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web3="failed", web4="failed")) as kit:
        old = await run(kit)
        await kit.say("retry the failed ones")
        first = kit.newest_id()
        await kit.say(said.format(old=old))
        assert kit.newest_id() == first


async def test_card_that_is_replied_to_is_meant(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ends(web3="failed")) as kit:
        await kit.say(EVERYWHERE)
        card = kit.card
        await kit.say(f"approve {kit.newest_id()}")
        await kit.say("uptime on @web")
        await kit.say("retry the failed ones", reply_to=card)
        assert targets_of(kit) == ["web3"]
        assert view_of(kit).actions[0].action.command == RELOAD


async def test_again_of_one_action_is_that_one(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        old = await run(kit)
        await kit.say(f"again {old}.3")
        assert targets_of(kit) == ["web3"]
        assert f"#{old} has no 40." in await kit.say(f"again {old}.40")


async def test_again_of_a_fan_out_is_one_with_the_same_pace(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        old = await run(kit, f"on @web: {RELOAD}, canary 2, 3 at a time")
        await kit.say(f"again {old}")
        assert (view_of(kit).id, view_of(kit).fanout is not None) != (old, False)
        before, after = view_of(kit, old).fanout, view_of(kit).fanout
        assert before is not None
        assert after is not None
        assert after.brake == before.brake


async def test_what_failed_before_a_part_was_picked_is_found_by_its_own_id(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(8), executor=ends(web2="failed")) as kit:
        await kit.say(f"on @web: `{RELOAD}`, one at a time")
        whole = kit.newest_id()
        await kit.say("go ahead")
        await kit.at_rest()
        await kit.look()
        await kit.say("yes, but not web5")
        assert "Nothing of #" in await kit.say("retry the failed ones")
        await kit.say(f"approve {kit.newest_id()}")
        said = await kit.say("retry the failed ones")
        assert f"Of what it took the place of:  retry the failed of #{whole}" in said
        await kit.say(f"retry the failed of #{whole}")
        assert targets_of(kit) == ["web2"]


async def test_what_read_in_vain_before_a_part_was_picked_is_found_so_too(tmp_path: Path) -> None:
    asks = Policy(revision="r" * 64, posture=Posture.APPROVE_ALL)
    async with conversation(tmp_path, inventory=fleet(8), executor=ends(web2="lost"), policy=asks) as kit:
        await kit.say("on @web: `uptime`, no canary, one at a time, stop after 1 failure")
        whole = kit.newest_id()
        await kit.say("go ahead")
        await kit.at_rest()
        await kit.look()
        await kit.say("yes, but not web5")
        await kit.say(f"approve {kit.newest_id()}")
        said = await kit.say("retry the failed ones")
        assert f"Of what it took the place of:  retry the failed of #{whole}" in said
