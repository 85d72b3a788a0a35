"""Trust rules in a conversation: made by phrase, used by their exact command, over when they are over."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.acts import trust
from bot.answering import Speaker
from bot.brake import Brake
from bot.execution import door
from bot.execution.running import proposal_of
from bot.ports import NotCommittedError
from gate.domain import ActionId, Risk
from gate.policy import Permission, Policy
from ledger.kinds import Draft, Kind, LostRaceError
from tests.bot.test_brake import full
from tests.bot.test_conversation_cancel import UntilCancelled
from tests.bot.test_digest import Ends
from tests.kit import Kit, conversation, person

RESTART = "systemctl restart caddy"
TWO = (person("ana"), person("bo"))


async def made(kit: Kit, command: str = RESTART, *, on: str = "web1", lasts: str = "30 days") -> str:
    """Make a rule as one operator does, and return its id."""
    asked = await kit.say(f"trust {command} on {on} for {lasts}")
    assert "Type:" in asked, asked
    shown = await kit.say(asked.rpartition("Type:  ")[2])
    assert "Trust rule #" in shown, shown
    return kit.core.queries.trust_rules()[-1].rule.id


def ran(kit: Kit) -> list[str]:
    return list(kit.core.executor.ran)  # type: ignore[attr-defined] # Ends


def bodies(kit: Kit, kind: Kind) -> list[dict[str, object]]:
    rows = kit.core.ledger.reader().execute("SELECT body FROM entry WHERE kind=? ORDER BY seq", (kind,))
    return [json.loads(row[0]) for row in rows]


# ---------------------------------------------------------------- made


async def test_the_entry_has_no_words_in_the_clear(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        rule = await made(kit, on="web1 and web2")
        (body,) = bodies(kit, Kind.TRUST_RULE_MADE)
        assert (body["rule"], body["targets"], body["by"], body["with_whom"]) == (
            rule,
            ["web1", "web2"],
            "ana",
            None,
        )
        assert "systemctl" not in json.dumps(body)
        (made_by,) = bodies(kit, Kind.COMMITMENT_MADE)
        assert made_by["act"] == "set_trust"
        assert bodies(kit, Kind.COMMITMENT_COMMITTED)


async def test_the_second_person_stands_on_the_rule(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, operators=TWO) as kit:
        asked = await kit.say(f"trust {RESTART} on web1 for 30 days")
        phrase = asked.rpartition("types:  ")[2]
        assert "Another person has to type it" in await kit.say(phrase)
        assert not kit.core.queries.trust_rules()
        await kit.say(phrase, by="bo")
        assert kit.core.queries.trust_rules()[0].rule.people == ("ana", "bo")
        shown = await kit.say(f"run {RESTART} on web1")
        assert "ran by rule #" in shown
        assert "of ana and bo, until 1 Apr 2026" in shown


async def test_without_anybody_who_may_loosen_there_is_no_rule(tmp_path: Path) -> None:
    small = Permission(risk=Risk.REVERSIBLE_LOW, targets=("web1",))
    async with conversation(tmp_path, executor=Ends, operators=(person("ana", small),)) as kit:
        asked = await kit.say(f"trust {RESTART} on web1 for 30 days")
        await kit.say(asked.rpartition("  ")[2])
        assert not kit.core.queries.trust_rules()


async def test_buttons_and_a_plain_yes_make_no_rule(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(f"run {RESTART} on web1")
        labels = [one.label for shown in kit.port.screen.values() for one in shown.message.buttons]
        assert not any("rust" in label for label in labels)
        await kit.say("no")
        await kit.say(f"trust {RESTART} on web1")
        await kit.press(kit.card, "7 days")
        for words in ("yes", "go ahead", "ok", "trust it"):
            await kit.say(words)
        assert not kit.core.queries.trust_rules()


@pytest.mark.parametrize(
    ("said", "slots"),
    [
        (
            f"trust `{RESTART}` on web1 for 30 days",
            {"command": RESTART, "targets": "web1", "lasts": "30 days"},
        ),
        (f"@sayso please trust {RESTART} on web1, web2", {"command": RESTART, "targets": "web1, web2"}),
        (f"trust {RESTART} on web1 and @web.", {"command": RESTART, "targets": "web1,@web"}),
        (f"trust {RESTART} on nowhere", {"command": RESTART, "targets": "nowhere"}),
        ("trust frobnicate on web1", {"command": "frobnicate", "targets": "web1"}),
        ("trust me on this", None),
        ("trust me", None),
        (f"trust {RESTART} on web1?", None),
        (f"do not trust {RESTART} on web1", None),
        (f"trust {'x' * 1000} on web1", None),
    ],
)
async def test_how_it_is_asked_for(tmp_path: Path, said: str, slots: dict[str, str] | None) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        speaker = Speaker(operator=person("ana"), said=said, event="e1", zone=kit.core.zone)
        request = trust.HANDLER.read(kit.core, speaker, kit.core.now())
        assert (None if request is None else request.slots) == slots


# ---------------------------------------------------------------- used


async def test_a_use_is_named_in_the_entries_and_counted(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        rule = await made(kit)
        shown = await kit.say(f"run {RESTART} on web1")
        assert f"reversible, ran by rule #{rule} of ana, until 1 Apr 2026" in shown
        (proposed,) = bodies(kit, Kind.PROPOSAL_MADE)
        (queued,) = bodies(kit, Kind.ACTION_QUEUED)
        assert proposed["actions"][0]["rule"] == queued["rule"] == rule  # type: ignore[index] # JSON
        assert queued["because"] == f"rule #{rule} of ana, until 1 Apr 2026"
        await kit.say(f"run {RESTART} on web1")
        assert "2 uses" in await kit.say("trust rules")
        assert ran(kit) == [RESTART, RESTART]


async def test_a_yes_is_no_use(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await made(kit)
        await kit.say("auto off")
        await kit.say(f"run {RESTART} on web1")
        assert "approved by ana" in await kit.say("go ahead")
        assert kit.core.queries.trust_rules()[0].used == 0


async def test_a_list_with_something_else_in_it_waits_for_that(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await made(kit)
        await kit.say(f"run {RESTART} on web1\nrun systemctl restart nginx on web1")
        assert ran(kit) in ([], [RESTART])
        await kit.say("go ahead")
        assert ran(kit) == [RESTART, "systemctl restart nginx"]


async def test_a_failure_stops_what_follows_by_a_rule_too(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await made(kit, "systemctl restart broken")
        await made(kit)
        shown = await kit.say(f"run systemctl restart broken on web1\nrun {RESTART} on web1")
        assert kit.states() == ["failed", "waiting"]
        assert "waits because of" not in shown
        await kit.say("go ahead")
        assert kit.states() == ["failed", "succeeded"]


SWITCHES: dict[str, Callable[[Kit], object]] = {
    "auto off": lambda kit: kit.say("auto off"),
    "never auto": lambda kit: kit.say("never auto web1"),
    "posture": lambda kit: kit.say("posture approve_all"),
    "stop": lambda kit: kit.say("stop"),
}


@pytest.mark.parametrize("switch", SWITCHES)
async def test_every_switch_wins(tmp_path: Path, switch: str) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await made(kit)
        await SWITCHES[switch](kit)  # type: ignore[misc] # a coroutine
        await kit.say(f"run {RESTART} on web1")
        assert ran(kit) == []


async def test_a_frozen_target_wins(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await made(kit)
        await made(kit, "systemctl restart lost")
        await kit.say("run systemctl restart lost on web1")
        assert "frozen" in await kit.say(f"run {RESTART} on web1")
        assert ran(kit) == ["systemctl restart lost"]


async def test_a_rule_survives_a_restart_and_ends_with_its_maker(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await made(kit)
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(f"run {RESTART} on web1")
        assert ran(kit) == [RESTART]
    async with conversation(tmp_path, executor=Ends, operators=(person("bo"),)) as kit:
        await kit.say(f"run {RESTART} on web1", by="bo")
        assert ran(kit) == []


async def test_a_quorum_that_it_does_not_meet_asks(tmp_path: Path) -> None:
    two = Policy(revision="r" * 64, quorum=(("reversible_low", 2),))
    async with conversation(tmp_path, executor=Ends) as kit:
        await made(kit)
    async with conversation(tmp_path, executor=Ends, policy=two, operators=TWO) as kit:
        await kit.say(f"run {RESTART} on web1")
        assert ran(kit) == []


# ---------------------------------------------------------------- over


async def behind(kit: Kit) -> tuple[str, str]:
    """Let a rule's command wait behind another change on web1; return that change's id and its own."""
    await kit.say("run systemctl restart nginx on web1")
    first = kit.newest_id()
    await kit.hand_over(kit.inbound("go ahead"))
    await kit.core.executor.runs.wait()  # type: ignore[attr-defined] # UntilCancelled
    await kit.say(f"run {RESTART} on web1", settle=False)
    while kit.states() != ["queued"]:  # noqa: ASYNC110 - nothing says so
        await asyncio.sleep(0)
    return first, kit.newest_id()


@pytest.mark.parametrize("how", ["revoked", "over", "full disk"])
async def test_a_rule_that_ends_before_the_start_voids_what_waits(tmp_path: Path, how: str) -> None:
    async with conversation(tmp_path, executor=UntilCancelled) as kit:
        rule = await made(kit, lasts="1 hour")
        first, mine = await behind(kit)
        match how:
            case "revoked":
                shown = await kit.say(f"revoke trust {rule}")
                assert f"Trust rule #{rule} counts no more" in shown
            case "over":
                kit.clock.advance(3600)
            case _:
                full(kit)
                assert "holds in memory" in await kit.say(f"revoke trust {rule}")
                assert not kit.core.trust_rules()
                full(kit, is_full=False)
        await kit.say(f"cancel {first}")
        await kit.app.conversation._work.quiet([kit.newest_id()])  # type: ignore[list-item] # a name
        assert kit.states(mine) == ["cancelled"]
        assert ran(kit) == ["systemctl restart nginx"]
        note = bodies(kit, Kind.ACTION_CANCELLED)[-1]["note"]
        assert note == f"rule #{rule} was revoked or is over; nothing ran"
        assert kit.core.trust_rules() == ()
        # What has to be recorded was, once it could be.
        assert len(bodies(kit, Kind.TRUST_RULE_REVOKED)) == (how != "over")
        assert kit.core.brake == Brake()


@pytest.mark.parametrize("how", ["over", "revoked in memory"])
async def test_what_no_entry_tells_is_looked_at_once_more_at_the_start(tmp_path: Path, how: str) -> None:
    async with conversation(tmp_path, executor=UntilCancelled) as kit:
        rule = await made(kit, lasts="1 hour")
        first, mine = await behind(kit)
        view = kit.core.queries.action(ActionId(f"{mine}.1"))
        cleared = door.inspect(kit.core, view, door.look(kit.core, proposal_of(view.action.id)))
        assert isinstance(cleared, door.Cleared)
        if how == "over":
            kit.clock.advance(3600)
        else:
            kit.core.brake.revoke("e1", [rule])
        with pytest.raises(LostRaceError):
            door.start(kit.core, door.Start(cleared=cleared))
        await kit.say(f"cancel {first}")


async def test_a_rule_that_ends_between_the_last_look_and_the_start_starts_nothing(tmp_path: Path) -> None:
    holds: list[Kit] = []

    async with conversation(tmp_path, executor=Ends) as kit:
        rule = await made(kit)
        append = kit.core.ledger.append

        def late(batch):  # noqa: ANN001, ANN202 # as append
            if holds and batch.drafts[0].kind is Kind.ACTION_STARTED:
                holds.pop()
                body = {"rule": rule, "by": "ana"}
                append(replace(batch, drafts=(Draft(kind=Kind.TRUST_RULE_REVOKED, body=body),), expects=()))
            return append(batch)

        kit.core.ledger.append = late  # type: ignore[method-assign] # the moment between
        holds.append(kit)
        await kit.say(f"run {RESTART} on web1")
        assert kit.states() == ["cancelled"]
        assert ran(kit) == []


async def test_revoking_takes_one_word_of_any_operator(tmp_path: Path) -> None:
    nobody = replace(person("bo"), may=())
    async with conversation(tmp_path, executor=Ends, operators=(person("ana"), person("kim"), nobody)) as kit:
        asked = await kit.say(f"trust {RESTART} on web1 for 30 days")
        await kit.say(asked.rpartition("types:  ")[2], by="kim")
        rule = kit.core.queries.trust_rules()[0].rule.id
        assert "counts no more" in await kit.say(f"untrust #{rule}", by="bo")
        assert f"No trust rule #{rule} counts" in await kit.say(f"revoke trust {rule}")
        assert "There is no trust rule" in await kit.say("revoke all trust")
        assert bodies(kit, Kind.TRUST_RULE_REVOKED)[0]["by"] == "bo"
        assert kit.core.queries.trust_rule(rule).revoked_by == "bo"  # type: ignore[union-attr] # it is there


async def test_revoking_says_what_runs_by_it(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=UntilCancelled) as kit:
        rule = await made(kit)
        await made(kit, "systemctl restart nginx")
        await kit.say(f"run {RESTART} on web1", settle=False)
        await kit.core.executor.runs.wait()  # type: ignore[attr-defined] # UntilCancelled
        mine = kit.newest_id()
        shown = await kit.say("revoke trust all")
        assert f"Still running by it: #{mine}.1." in shown
        assert "count no more" in shown
        await kit.say(f"cancel {mine}")
        assert kit.core.queries.trust_rule(rule) is not None


async def test_an_id_that_is_none_is_not_braked(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        full(kit)
        with pytest.raises(NotCommittedError):
            await kit.say("revoke trust k7f3a2")
        full(kit, is_full=False)


async def test_the_list_leaves_out_what_is_over(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await made(kit, lasts="1 hour")
        assert "until 15:00 · never used · by ana" in await kit.say("trust rules")
        kit.clock.advance(3600)
        assert "No trust rule counts." in await kit.say("trust rules")
