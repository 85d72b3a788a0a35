"""Who or what is behind a proposal is said the same way everywhere (D20)."""

from pathlib import Path

import pytest

from bot.origin import Origin, asker, is_machine, name_of, origin_of
from gate.domain import PersonId
from tests.bot.delegates.asking import asking, delegate


@pytest.mark.parametrize(
    ("requester", "source", "origin"),
    [
        ("ana", "literal", Origin.PERSON),
        ("ana", "diagnostic", Origin.PERSON),
        ("ana", "partial", Origin.PERSON),
        ("ana", "model", Origin.MODEL),
        ("ana", "schedule", Origin.SCHEDULE),
        ("ana", "runbook", Origin.RUNBOOK),
        ("agent:claude", "agent", Origin.AGENT),
        ("agent:claude", "partial", Origin.AGENT),
        ("agent:claude", "runbook", Origin.AGENT),
        ("alert:prom", "alert", Origin.ALERT),
    ],
)
def test_an_origin_is_what_asked(requester: str, source: str, origin: Origin) -> None:
    assert origin_of(requester, source) is origin


def test_who_asked_is_said_in_words() -> None:
    assert asker("ana", PersonId("kim")) == "ana"
    assert asker("agent:claude") == "agent claude"
    assert asker("agent:claude", PersonId("ana")) == "agent claude (for ana)"
    assert (name_of("agent:claude"), name_of("ana")) == ("claude", "ana")
    assert [is_machine(one) for one in ("ana", "agent:x", "alert:x")] == [False, True, True]


async def test_what_did_claude_do(tmp_path: Path) -> None:
    async with asking(tmp_path, delegate(on_behalf=PersonId("ana"))) as it:
        await it.run("uptime")
        await it.kit.say("run hostname on web1")
        for question in ("what did claude do today?", "history agents", "history by claude"):
            said = await it.kit.say(question)
            assert "uptime" in said, question
            assert "hostname" not in said, question
            assert "asked by agent claude (for ana)" in said
        people = await it.kit.say("what did ana do today?")
        assert "hostname" in people
        assert "uptime" not in people


async def test_the_digest_says_what_was_behind_it(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        await it.kit.say("run hostname on web1")
        assert "1 command ·" in await it.kit.say("digest")
        await it.run("uptime")
        assert "2 commands (1 by people, 1 by agents)" in await it.kit.say("digest")


async def test_pending_names_the_agent(tmp_path: Path) -> None:
    async with asking(tmp_path) as it:
        name = (await it.run("touch /tmp/x")).data["id"]
        assert "asked by agent claude" in await it.kit.say("pending")
        details = await it.kit.say(f"details {name}")
        assert "asked by agent claude" in details
        assert "source agent" in details
