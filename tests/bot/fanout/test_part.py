"""Part of a fan-out: a new card of the rest that replaces the old one, and nothing that ever runs from it."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.ports import InboundKind
from gate.domain import Risk
from gate.policy import Permission, Policy, Posture
from ledger.views import ProposalView
from tests.bot.fanout.fleet import RELOAD, WEB, ByHost, fleet, ran, targets_of, view_of
from tests.kit import conversation, person

ASK = f"on @web: {RELOAD}, canary 2, 5 at a time, pause 1s between batches"
MAIL = Permission(risk=Risk.DESTRUCTIVE, targets=("mail",))


def shown_digest(view: ProposalView) -> str:
    """Return the digest of the list that a yes to `view` is for."""
    approval = view.actions[0].approval
    assert approval is not None
    return str(approval.list_digest)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("yes, but not web3", [one for one in WEB if one != "web3"]),
        ("all but web3 and web4", [one for one in WEB if one not in ("web3", "web4")]),
        ("ja, aber nicht web3", [one for one in WEB if one != "web3"]),
        ("ok, not web3", [one for one in WEB if one != "web3"]),
        ("only web1 to web4", ["web1", "web2", "web3", "web4"]),
        ("only web1 and web2", ["web1", "web2"]),
        ("just the canary", ["web1", "web2"]),
        ("only web7", ["web7"]),
    ],
)
async def test_part_is_a_new_card_and_nothing_runs(tmp_path: Path, said: str, kept: list[str]) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(ASK)
        old = view_of(kit)
        shown = await kit.say(said)
        new = view_of(kit)
        assert new.id != old.id
        assert targets_of(kit) == kept
        assert set(kit.states(old.id)) == {"cancelled"}
        assert set(kit.states()) <= {"waiting", "proposed"}
        assert f"This card was replaced by #{new.id}" in shown
        assert shown_digest(new) != shown_digest(old)
        assert ran(kit) == []
        assert "approval:granted" not in kit.kinds()


async def test_pace_and_who_asked_stay(tmp_path: Path) -> None:
    people = (person("ana"), person("ben"))
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost, operators=people) as kit:
        await kit.say(ASK)
        old = view_of(kit).fanout
        await kit.say("not web3", by="ben", reply_to=kit.card)
        new = view_of(kit)
        assert old is not None
        assert new.fanout is not None
        assert new.fanout.brake == old.brake
        assert (new.requester, new.purpose) == ("ana", ASK)


async def test_yes_counts_for_the_new_card_alone(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(f"on @web: {RELOAD}")
        old, approve = kit.newest_id(), kit.card.token("Approve")
        await kit.say("only web1 and web2")
        await kit.send(replace(kit.inbound(""), kind=InboundKind.CLICK, token=approve))
        await kit.say(f"approve {old}")
        assert ran(kit) == []
        await kit.say(f"approve {kit.newest_id()}")
        assert ran(kit) == ["web1", "web2"]


async def test_part_waits_although_so_few_would_run_by_themselves(tmp_path: Path) -> None:
    policy = Policy(revision="r" * 64, posture=Posture.APPROVE_CONFIG)
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost, policy=policy) as kit:
        await kit.say(f"run {RELOAD} on web1")
        assert ran(kit) == ["web1"]  # one alone runs at once here
        await kit.say(f"on @web: {RELOAD}")
        await kit.say("only web2")
        assert ran(kit) == ["web1"]
        assert kit.states() == ["waiting"]
        await kit.say("go ahead")
        assert ran(kit) == ["web1", "web2"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("not web99", "web99 is not among the 12 that wait."),
        ("not mail", "mail is not among the 12 that wait."),
        ("only @db", "Nothing of @db is among the 12 that wait."),
        ("only 1", "they have no numbers here"),
        ("all but @web", "That leaves nothing to run."),
        ("only web1 to web12", "That is all 12 of them"),
    ],
)
async def test_what_cannot_be_told_leaves_the_card(tmp_path: Path, said: str, why: str) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(f"on @web: {RELOAD}")
        old = kit.newest_id()
        shown = await kit.say(said)
        assert why in shown
        assert f"#{old} still waits as it was." in shown
        assert kit.newest_id() == old
        assert set(kit.states()) == {"waiting"}
        await kit.say("go ahead")
        assert sorted(ran(kit)) == sorted(WEB)


async def test_who_may_not_drop_it_changes_nothing(tmp_path: Path) -> None:
    people = (person("ana"), person("ben", MAIL))
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost, operators=people) as kit:
        await kit.say(f"on @web: {RELOAD}")
        old = kit.newest_id()
        shown = await kit.say("not web3", by="ben", reply_to=kit.card)
        assert "Only ana, who asked, or who may approve it can change" in shown
        assert kit.newest_id() == old
        assert set(kit.states()) == {"waiting"}


async def test_what_is_no_answer_to_a_card_is_left_alone(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(f"on @web: {RELOAD}")
        await kit.say("no")
        await kit.say("it is too early")
        before = kit.newest_id()
        await kit.say("not web3")
        assert kit.newest_id() == before
        assert set(kit.states()) == {"cancelled"}


# ---------------------------------------------------------------- other changes


async def test_another_place_is_one_command_there(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(f"on @web: {RELOAD}")
        await kit.say("yes, but on mail")
        assert targets_of(kit) == ["mail"]


async def test_another_number_keeps_targets_and_pace(tmp_path: Path) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say("on @web: nginx -p 8080, canary 3")
        old = view_of(kit).fanout
        await kit.say("yes, but with port 8081")
        new = view_of(kit)
        assert targets_of(kit) == list(WEB)
        assert {one.action.command for one in new.actions} == {"nginx -p 8081"}
        assert old is not None
        assert new.fanout is not None
        assert new.fanout.brake == old.brake


# ---------------------------------------------------------------- a yes that may be to a part


@pytest.mark.parametrize(
    "said",
    ["yes 1", "yes web1", "yes, reload nginx on web1", "reload nginx on web1", "go ahead on web1", "yes, 3"],
)
async def test_yes_that_names_single_ones_is_a_yes_to_nothing(tmp_path: Path, said: str) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(f"on @web: {RELOAD}")
        old = kit.newest_id()
        await kit.say(said)
        assert ran(kit) == []
        assert set(kit.states(old)) == {"waiting"}


@pytest.mark.parametrize("said", ["yes", "go ahead", "reload nginx", "yes please, reload it"])
async def test_yes_to_all_of_it_runs_all_of_it(tmp_path: Path, said: str) -> None:
    async with conversation(tmp_path, inventory=fleet(), executor=ByHost) as kit:
        await kit.say(f"on @web: {RELOAD}, no canary")
        await kit.say(said)
        assert sorted(ran(kit)) == sorted(WEB)
