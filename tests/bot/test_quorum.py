"""Quorum in a conversation: races, restarts, and what the ledger holds of each yes."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from bot.ports import InboundKind
from gate.domain import ActionId, ProposalId, Risk
from gate.policy import Permission, Policy
from ledger.projections import TABLES, reset
from tests.kit import Kit, conversation, person

ANA, KIM, BO = person("ana"), person("kim"), person("bo", Permission(risk=Risk.READ_ONLY))
TWO = Policy(revision="r" * 64, quorum=(("config_mutation", 2),))


def bodies(kit: Kit, kind: str) -> list[dict[str, object]]:
    rows = kit.core.ledger.reader().execute("SELECT body FROM entry WHERE kind=? ORDER BY seq", (kind,))
    return [json.loads(row[0]) for row in rows]


async def test_two_at_the_same_moment_are_two(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(ANA, KIM), policy=TWO) as kit:
        await kit.say(f"run touch {tmp_path}/x on web1")
        token = kit.card.token("Approve")
        clicks = [
            replace(kit.inbound("", by=name), kind=InboundKind.CLICK, token=token) for name in ("ana", "kim")
        ]
        receipts = await asyncio.gather(*(kit.hand_over(one) for one in clicks))
        await asyncio.gather(*(one.settled for one in receipts))
        assert kit.states() == ["succeeded"]
        assert len(bodies(kit, "approval:voted")) == len(bodies(kit, "approval:granted")) == 1


async def test_each_yes_is_an_entry_with_its_words_and_what_it_was_said_to(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(ANA, KIM), policy=TWO) as kit:
        await kit.say(f"run touch {tmp_path}/x on web1")
        await kit.say("go ahead")
        await kit.say(f"approve {kit.newest_id()}", by="kim")
        (opened,), (vote,), (grant,) = (
            bodies(kit, f"approval:{what}") for what in ("opened", "voted", "granted")
        )
        assert (opened["quorum"], opened["deciders"]) == (2, ["ana", "kim"])
        assert (vote["decider"], vote["manner"], vote["needed"]) == ("ana", "words", 2)
        assert (grant["decider"], grant["manner"], grant["voters"]) == ("kim", "command", ["ana"])
        assert vote["list_digest"] == grant["list_digest"] == opened["list_digest"]
        assert vote["event"] != grant["event"]
        assert grant["alone"] is False
        view = kit.core.queries.proposal(ProposalId(kit.newest_id()))
        assert view is not None
        approval = view.actions[0].approval
        assert approval is not None
        assert [vote.said for vote in approval.votes] == ["go ahead"]


async def test_a_vote_outlives_a_restart_and_a_rebuild(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(ANA, KIM), policy=TWO) as kit:
        await kit.say(f"run touch {tmp_path}/x on web1")
        await kit.say("go ahead")
        proposal, reader = kit.newest_id(), kit.core.ledger.reader()
        before = {name: reader.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES}
        kit.core.ledger.rebuild(reset)
        assert {name: reader.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES} == before
    async with conversation(tmp_path, operators=(ANA, KIM), policy=TWO, clock=kit.clock) as kit:
        await kit.say(f"approve {proposal}", by="kim")
        assert kit.states(proposal) == ["succeeded"]


async def test_a_vote_of_somebody_who_may_not_any_more_is_none(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(ANA, KIM), policy=TWO) as kit:
        await kit.say(f"run touch {tmp_path}/x on web1", by="kim")
        await kit.say("go ahead", by="kim")
        proposal = kit.newest_id()
    weaker = replace(KIM, may=BO.may)
    people = (ANA, weaker, person("eve"))
    async with conversation(tmp_path, operators=people, policy=TWO, clock=kit.clock) as kit:
        assert "Yes, 1 of 2" in await kit.say(f"approve {proposal}")
        assert kit.states(proposal) == ["waiting"]


async def test_policy_that_takes_more_people_since_voids_a_grant(tmp_path: Path) -> None:
    one = Policy(revision="r" * 64)
    async with conversation(tmp_path, operators=(ANA, KIM), policy=one) as kit:
        await kit.say(f"run touch {tmp_path}/x on web1")
        await kit.say("stop")
        await kit.say(f"approve {kit.newest_id()}")
        proposal = kit.newest_id()
        assert kit.states() == ["queued"]
    async with conversation(tmp_path, operators=(ANA, KIM), policy=TWO, clock=kit.clock) as kit:
        await kit.say("resume", by="kim")
        (loosening,) = kit.core.queries.loosenings()
        await kit.say(loosening.phrase)
        shown = await kit.say(f"details {proposal}")
        assert kit.states(proposal) == ["cancelled"], shown
        ending = kit.core.queries.action(ActionId(f"{proposal}.1")).ending
        assert ending is not None
        assert ending.note == "it takes 2 people now and 1 said yes that may; nothing ran"
    assert not (tmp_path / "x").exists()


async def test_a_card_says_that_too_few_may_say_yes(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(ANA, BO), policy=TWO) as kit:
        shown = await kit.say(f"run touch {tmp_path}/x on web1")
        assert "takes 2 people · too few may say yes (ana), so it can only expire" in shown
        assert "Nobody else may say the next one." in await kit.say("go ahead")
