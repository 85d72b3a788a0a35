"""Remembering by words, through the core: whose word counts, and what is gone when it is forgotten."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from bot import memory
from bot.acts import dispatch, facts
from bot.acts.handler import ActRequest, Bound
from bot.answering import Speaker
from bot.outcome import Outcome
from gate.domain import PersonId, PlaceId, TurnId
from gate.resolve.decision import Act, Slots
from gate.trust import Source
from ledger.beliefs import BeliefView
from ledger.kinds import Kind
from ledger.projections import reset
from tests.kit import START, Kit, conversation, person

ANA = PersonId("ana")


@pytest.fixture
async def kit(tmp_path: Path) -> AsyncIterator[Kit]:
    async with conversation(tmp_path, operators=(person("ana"), person("bo"))) as begun:
        yield begun


def live(kit: Kit) -> dict[str, str]:
    """What counts: name and object."""
    return {
        one.fact.about: one.fact.object for one in kit.core.queries.live_beliefs() if one.fact is not None
    }


def only(kit: Kit) -> BeliefView:
    (one,) = kit.core.queries.live_beliefs()
    return one


def outcome_of(kit: Kit) -> Outcome:
    core = kit.core
    return Outcome(at=core.now(), place=PlaceId("script::ops"), turn=TurnId("t"), new_nonce=core.ids.token)


def proposed(
    kit: Kit, slots: Slots, *, said: str = "when is the reset?", act: Act = Act.STORE_FACT
) -> Outcome:
    """Let a tool, and no person, ask for an act; return what was written."""
    outcome = outcome_of(kit)
    speaker = Speaker(operator=person("ana"), said=said, event="e", zone=UTC)
    tool = "memory_delete" if act is Act.FORGET_FACT else "memory_store"
    request = ActRequest(act=act, slots=slots, said=said, request_at=kit.core.now(), tool=tool)
    dispatch.begin(kit.core, outcome, speaker, facts.HANDLER, request)
    kit.core.ledger.append(outcome.batch())
    return outcome


def bodies(kit: Kit, kind: Kind) -> list[Mapping[str, object]]:
    rows = kit.core.ledger.reader().execute("SELECT body FROM entry WHERE kind=? ORDER BY seq", (kind,))
    return [json.loads(body) for (body,) in rows]


def kept(kit: Kit) -> str:
    """Every word that the ledger's file still holds, wherever."""
    reader = kit.core.ledger.reader()
    found = []
    for table, column in (
        ("entry", "body"),
        ("payload", "content"),
        ("outbox", "body"),
        ("inbox", "document"),
    ):
        for (value,) in reader.execute(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL"):
            found.append(value.decode() if isinstance(value, bytes) else str(value))
    for table in ("belief", "commitment", "clarification"):
        found += [str(tuple(row)) for row in reader.execute(f"SELECT * FROM {table}")]
    return "\n".join(found)


# ---------------------------------------------------------------- whose word


async def test_a_persons_word_is_recorded_as_theirs(kit: Kit) -> None:
    await kit.say("remember that the project sync is on 2026-12-01 at 14:00")
    one = only(kit)
    assert (one.source, one.person, one.private, one.functional) == (Source.USER_EXPLICIT, ANA, False, True)
    assert live(kit) == {"project sync": "2026-12-01T14:00:00+00:00"}
    await kit.say("remember that the project sync is on 2026-12-02 at 14:00")
    acts = [(body["act"], body["tool"]) for body in bodies(kit, Kind.COMMITMENT_MADE)]
    assert acts == [("store_fact", "remember"), ("revise_fact", "revise")]
    assert only(kit).supersedes == one.id


@pytest.mark.parametrize(
    "slots",
    [
        {"subject": "copilot reset", "predicate": "at", "object": "2026-03-04T14:00:00+00:00"},
        # Whatever else it says of itself, and however it names the thing.
        {
            "subject": "the Copilot  reset",
            "object": "2026-03-04",
            "source": "user_explicit",
            "how": "replace",
            "text": "the copilot reset is on 2026-03-04",
            "dated": "2026-03-04",
            "sure": "yes",
        },
    ],
)
async def test_the_copilot_incident(kit: Kit, slots: Slots) -> None:
    """ "Before the reset in 2 days" is counted from the remembered reset, which nothing overwrites (F1)."""
    await kit.say("remember that the copilot reset is on 2026-03-20")
    shown = await kit.say("remind me before the copilot reset in 2 days")
    assert "Wed 4 Mar" not in shown.partition("\n")[0]
    outcome = proposed(kit, slots)
    assert "Not stored: copilot reset, Fri 20 Mar stands" in str(outcome.effects[-1].body)
    assert live(kit) == {"copilot reset": "2026-03-20"}
    (blocked,) = bodies(kit, Kind.BELIEF_BLOCKED)
    assert (blocked["blocked"], blocked["audit"], blocked["belief"], blocked["source"]) == (
        "lower_trust_source",
        "blocked_supersede",
        only(kit).id,
        "llm_inferred",
    )


async def test_what_a_tool_claims_first_gives_way_to_a_person(kit: Kit) -> None:
    proposed(kit, {"subject": "copilot reset", "predicate": "at", "object": "2026-03-04"})
    assert only(kit).source is Source.LLM_INFERRED
    assert "inferred, nobody said so" in await kit.say("what do you know about the copilot reset?")
    shown = await kit.say("remember that the copilot reset is on 2026-03-20", by="bo")
    assert "Before that it was: copilot reset, Wed 4 Mar" in shown
    assert only(kit).source is Source.USER_EXPLICIT


async def test_a_tool_has_nothing_forgotten(kit: Kit) -> None:
    await kit.say("remember that the project sync is on 2026-12-01 at 14:00")
    proposed(kit, {"subject": "project sync", "belief": only(kit).id, "sure": "yes"}, act=Act.FORGET_FACT)
    assert set(live(kit)) == {"project sync"}
    assert bodies(kit, Kind.BELIEF_BLOCKED) == []


async def test_a_tool_without_slots_is_asked(kit: Kit) -> None:
    outcome = proposed(kit, {})
    assert "What is to be remembered?" in str(outcome.effects[-1].body)


async def test_trust_is_looked_at_again_where_it_is_written(kit: Kit) -> None:
    """A decision that let a weaker source displace would still write nothing (D22)."""
    await kit.say("remember that the project sync is on 2026-12-01 at 14:00")
    slots = {
        "subject": "project sync",
        "kind": "",
        "predicate": "at",
        "object": "2026-12-09",
        "said": "x",
        "source": "llm_inferred",
        "functional": "yes",
        "supersedes": only(kit).id,
    }
    outcome = outcome_of(kit)
    speaker = Speaker(operator=person("ana"), said="x", event="e", zone=UTC)
    request = ActRequest(act=Act.STORE_FACT, slots={}, said="x", request_at=START, tool="memory_store")
    facts.HANDLER.perform(kit.core, outcome, speaker, request, Bound(commitment="c1", slots=slots))
    assert [draft.kind for draft in outcome.drafts] == [Kind.BELIEF_BLOCKED]


# ---------------------------------------------------------------- forgetting


async def test_no_word_of_what_was_forgotten_stays(kit: Kit) -> None:
    await kit.say("remember that the Zebra sync is on 2026-12-01 at 14:00")
    await kit.say("remember that the Zebra sync is on 2026-12-03 or 2026-12-04")
    await kit.say("2026-12-03 at 9:00")
    await kit.say("what do you know about the Zebra sync?")
    await kit.say("uptime on web1")
    assert "Zebra" in kept(kit)
    await kit.say("forget that meeting")
    found = kept(kit)
    assert live(kit) == {}
    # What was asked about it, and what asked to forget it, is no part of what told it.
    left = [line for line in found.splitlines() if "Zebra" in line]
    assert left == ["what do you know about the Zebra sync?"]
    assert "uptime on web1" in found
    kit.core.ledger.rebuild(reset)
    assert live(kit) == {}


async def test_beside_a_card_words_about_it_forget_nothing(kit: Kit) -> None:
    await kit.say("remember that the deploy window is on 2026-12-01 at 22:00")
    await kit.say("run touch /tmp/sayso-no on web1")
    await kit.say("forget the restart")
    assert Kind.BELIEF_FORGOTTEN not in kit.kinds()
    assert [body["act"] for body in bodies(kit, Kind.COMMITMENT_MADE)] == ["store_fact"]
    assert "Forgotten: deploy window." in await kit.say("forget the deploy window")


# ---------------------------------------------------------------- private


async def test_what_is_told_in_private_is_shown_in_private(kit: Kit) -> None:
    told = await kit.say("remember that the meeting with HR is on 2026-03-10 at 9:00", place="ana-dm")
    assert "it is only for you" in told
    assert only(kit).private
    for who, where in (("ana", "ops"), ("bo", "ops"), ("bo", "bo-dm")):
        for words in ("what do you remember?", "what do you know about HR?", "forget the meeting with HR"):
            assert "with HR," not in await kit.say(words, by=who, place=where)
    assert "1 more fact told in private" in await kit.say("what do you remember?")
    assert "Reminder" not in await kit.say("remind me an hour before the meeting with HR")
    await kit.say("cancel")
    assert "meeting with HR, Tue 10 Mar" in await kit.say("what do you remember?", place="ana-dm")
    shown = await kit.say("remind me an hour before the meeting with HR", place="ana-dm")
    assert "Reminder Tue 10 Mar 08:00" in shown


async def test_what_is_for_everybody_is_shared_wherever_it_is_told(kit: Kit) -> None:
    await kit.say("remember for everyone that the audit is on 2026-03-10", place="ana-dm")
    assert not only(kit).private
    assert "audit, Tue 10 Mar" in await kit.say("what do you remember?", by="bo")


# ---------------------------------------------------------------- anchors


async def test_reminders_count_from_what_comes_again(kit: Kit) -> None:
    await kit.say("remember that standup is every weekday at 9:30")
    assert "Reminder Tue 3 Mar 09:00 UTC" in await kit.say("remind me half an hour before standup")
    kit.clock.advance(86_400)
    assert "Reminder Wed 4 Mar 09:00 UTC" in await kit.say("remind me half an hour before standup")


async def test_a_memory_that_cannot_be_read_is_said_where_it_matters(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kit.say("remember that the audit is on 2026-03-10 at 9:00")

    def broken() -> int:
        raise OSError("the disk is gone")

    monkeypatch.setattr(kit.core.queries, "belief_revision", broken)
    assert memory.recall(kit.core, ANA, alone=False).failed
    assert "cannot be read right now" in await kit.say("what do you remember?")
    assert "cannot be read right now" in await kit.say("remind me an hour before the audit")
    await kit.say("cancel")
    assert "Reminder Mon 2 Mar 14:20" in await kit.say("remind me in 20 minutes to check the oven")


async def test_a_fact_told_twice_at_once_is_one(kit: Kit) -> None:
    """The second of two that did not see each other is decided again on what the first wrote."""
    await kit.say("remember that the db host is pve2")
    assert "That is remembered already: the db host is pve2." in await kit.say(
        "remember that the db host is pve2"
    )
    assert len(kit.core.queries.all_beliefs()) == 1


async def test_many_facts_are_cut_and_said_so(kit: Kit) -> None:
    for number in range(23):
        await kit.say(f"note that host{number} is rack {number}")
    shown = await kit.say("what do you remember?")
    assert "host22 is rack 22" in shown
    assert "host2 is rack 2 " not in shown
    assert "and 3 more" in shown


def test_a_day_that_passed_is_remembered_and_said_so() -> None:
    fact = facts._fact({"subject": "audit", "object": "2026-02-01", "kind": "", "said": "x"})
    speaker = Speaker(operator=person("ana"), said="", event="", zone=UTC, alone=False)
    notes = facts._notes(fact, {"predicate": "at"}, speaker, now=START)
    assert notes == 'That has passed, so no time can be counted from it. "forget audit" drops it.'
    assert "for everyone" in facts._notes(fact, {"predicate": "at"}, replace(speaker, alone=True), now=START)
