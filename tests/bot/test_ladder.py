"""The ladder in a conversation: nudged, shown to somebody else, then expired; each once (X7)."""

import json
from dataclasses import replace
from pathlib import Path

from bot import deadlines, ladder
from bot.places import parse
from gate.domain import ProposalId, Risk
from gate.policy import Permission, Policy
from tests.bot.test_digest import Ends
from tests.kit import Kit, conversation, person

PEOPLE = (person("ana"), person("kim"), person("lee"))
SMALL = person("bo", Permission(risk=Risk.READ_ONLY))
RESTART = "run systemctl restart caddy on web1"
PLAIN = Policy(revision="r" * 64)


def texts(kit: Kit, place: str) -> list[str]:
    return [one.text for one in kit.port.screen.values() if one.ref.place.channel == place]


def bodies(kit: Kit, kind: str) -> list[dict[str, object]]:
    rows = kit.core.ledger.reader().execute("SELECT body FROM entry WHERE kind=? ORDER BY seq", (kind,))
    return [json.loads(row[0]) for row in rows]


async def look(kit: Kit, *, after_s: float) -> None:
    """Let time pass, and do what the timer does."""
    kit.clock.advance(after_s)
    deadlines.close_due(kit.core)
    await kit.app.conversation._delivery.flush()
    await kit.app.conversation._delivery.settled()


async def heard(kit: Kit) -> None:
    for name in ("ana", "kim", "lee"):
        await kit.say("pending", by=name, place="ops" if name == "ana" else f"{name}-dm")


async def test_it_nudges_then_shows_it_to_the_next_then_expires(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(SMALL, *PEOPLE), policy=PLAIN, executor=Ends) as kit:
        await heard(kit)
        await kit.say(RESTART)
        name = kit.newest_id()
        await look(kit, after_s=299)
        assert "approval:nudged" not in kit.kinds()
        await look(kit, after_s=1)
        assert texts(kit, "ops")[-1] == f"#{name}, restart caddy on web1, still waits until 14:15."
        assert "nudged 14:05" in kit.card.text
        await look(kit, after_s=299)
        assert not any("caddy" in one for one in texts(kit, "kim-dm"))
        await look(kit, after_s=1)
        assert "restart caddy" in texts(kit, "kim-dm")[-1]
        assert "nudged 14:05 · also shown to kim 14:10" in texts(kit, "kim-dm")[-1]
        assert not any("caddy" in one for one in texts(kit, "lee-dm"))
        await look(kit, after_s=60)
        assert [kit.kinds().count(f"approval:{what}") for what in ("nudged", "escalated", "expired")] == [
            1,
            1,
            0,
        ]
        await look(kit, after_s=300)
        assert kit.states(name) == ["cancelled"]
        assert ladder.next_due(kit.core) is None


async def test_who_is_shown_it_decides_it_there(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, policy=PLAIN, executor=Ends) as kit:
        await heard(kit)
        await kit.say(RESTART)
        await look(kit, after_s=600)
        await kit.press(kit.card, "Approve", by="kim", place="kim-dm")
        assert kit.states() == ["succeeded"]


async def test_a_card_that_comes_up_takes_nobodys_words(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, policy=PLAIN, executor=Ends) as kit:
        await heard(kit)
        await kit.say(RESTART)
        kit.clock.advance(598)
        await kit.say("run apt-get install -y jq on web1", by="kim", place="kim-dm")
        hers = kit.newest_id()
        await look(kit, after_s=2)
        await kit.say("go ahead", by="kim", place="kim-dm")
        assert kit.states(hers) == ["waiting"]


async def test_a_nudge_leaves_the_window_of_who_asked(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, policy=PLAIN, executor=Ends) as kit:
        await kit.say(RESTART)
        await look(kit, after_s=300)
        await kit.say("go ahead")
        assert kit.states() == ["succeeded"]


async def test_the_timer_knows_when_the_next_step_is_due(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, policy=PLAIN, executor=Ends) as kit:
        assert ladder.next_due(kit.core) is None
        await kit.say(RESTART)
        for after_s in (300, 300, 300):
            due = deadlines.next_due(kit.core)
            assert due is not None
            assert (due - kit.clock.now()).total_seconds() == after_s
            await look(kit, after_s=after_s)
        assert deadlines.next_due(kit.core) is None


async def test_both_steps_that_came_due_while_it_was_down_are_taken_once_in_order(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, policy=PLAIN, executor=Ends) as kit:
        await heard(kit)
        await kit.say(RESTART)
    kit.clock.advance(700)
    for _ in range(2):
        async with conversation(
            tmp_path, operators=PEOPLE, policy=PLAIN, executor=Ends, clock=kit.clock
        ) as kit:
            await kit.say("pending")
    steps = [kind for kind in _kinds(tmp_path) if kind in ("approval:nudged", "approval:escalated")]
    assert steps == ["approval:nudged", "approval:escalated"]


def _kinds(folder: Path) -> list[str]:
    import sqlite3  # noqa: PLC0415 - only to look at a closed ledger

    with sqlite3.connect(folder / "ledger.db") as connection:
        found = [row[0] for row in connection.execute("SELECT kind FROM entry ORDER BY seq")]
    connection.close()
    return found


async def test_where_two_are_missing_two_are_shown_it(tmp_path: Path) -> None:
    two = replace(PLAIN, quorum=(("reversible_low", 2),))
    async with conversation(tmp_path, operators=PEOPLE, policy=two, executor=Ends) as kit:
        await heard(kit)
        await kit.say(RESTART)
        await look(kit, after_s=600)
        (body,) = bodies(kit, "approval:escalated")
        assert body["to"] == ["kim", "lee"]


async def test_who_said_yes_or_sits_there_is_not_shown_it_again(tmp_path: Path) -> None:
    two = replace(PLAIN, quorum=(("reversible_low", 2),))
    async with conversation(tmp_path, operators=PEOPLE, policy=two, executor=Ends) as kit:
        await heard(kit)
        await kit.say("pending", by="lee", place="ops")
        await kit.say(RESTART, place="lee-dm")  # where lee is reached it stands already
        await kit.say(f"approve {kit.newest_id()}", by="kim", place="kim-dm")
        await look(kit, after_s=600)
        (body,) = bodies(kit, "approval:escalated")
        assert (body["to"], body["places"]) == ([], [])
        assert "nobody else to show it to 14:10" in kit.card.text


async def test_the_config_may_name_the_place(tmp_path: Path) -> None:
    named = replace(PLAIN, escalation="script::oncall")
    async with conversation(tmp_path, operators=PEOPLE, policy=named, executor=Ends) as kit:
        await heard(kit)
        await kit.say(RESTART)
        await look(kit, after_s=600)
        assert "also shown in oncall on script 14:10" in texts(kit, "oncall")[-1]
        assert not any("caddy" in one for one in texts(kit, "kim-dm"))
        assert kit.core.known_places == {kit.core.place_of(parse("script::oncall")): parse("script::oncall")}


async def test_a_card_that_stands_there_already_is_not_shown_twice(tmp_path: Path) -> None:
    named = replace(PLAIN, escalation="script::ops")
    async with conversation(tmp_path, operators=PEOPLE, policy=named, executor=Ends) as kit:
        await kit.say(RESTART)
        await look(kit, after_s=600)
        (body,) = bodies(kit, "approval:escalated")
        assert (body["where"], body["places"]) == ("", [])
        assert "nobody else to show it to 14:10" in kit.card.text


async def test_a_list_is_nudged_in_one_line_with_an_entry_for_each(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, policy=PLAIN, executor=Ends) as kit:
        await kit.say("web1: systemctl restart caddy\nweb2: systemctl restart caddy")
        before = len(texts(kit, "ops"))
        await look(kit, after_s=300)
        assert len(texts(kit, "ops")) == before + 1
        assert len(bodies(kit, "approval:nudged")) == 2
        view = kit.core.queries.proposal(ProposalId(kit.newest_id()))
        assert view is not None
        assert not ladder.climb(kit.core, view, kit.clock.now())


async def test_off_is_off(tmp_path: Path) -> None:
    off = replace(PLAIN, nudge_s=0, escalate_s=0)
    async with conversation(tmp_path, operators=PEOPLE, policy=off, executor=Ends) as kit:
        await kit.say(RESTART)
        await look(kit, after_s=899)
        assert not {"approval:nudged", "approval:escalated"} & set(kit.kinds())
