"""Routed cards: where they go, whose words count there, and that their end is told once."""

from pathlib import Path

import pytest

from bot import deadlines, routing
from bot.places import parse, place_id, place_name, place_ref
from gate.domain import PlaceId, ProposalId
from gate.policy import Policy
from ledger import waiting
from tests.bot.test_digest import Ends
from tests.kit import Kit, conversation, person

ROUTED = Policy(revision="r" * 64, routes=(("reversible_low", "script::security"),))


def texts(kit: Kit, place: str) -> list[str]:
    return [one.text for one in kit.port.screen.values() if one.ref.place.channel == place]


def told(kit: Kit) -> list[str]:
    return [one for one in texts(kit, "ops") if one[0] in "✓✗?"]


@pytest.mark.parametrize(
    ("text", "thread"),
    [("script::security", ""), ("script::security:17.1", "17.1"), ("script:t:c:a:b", "a:b")],
)
def test_a_place_is_read_as_the_config_writes_it(text: str, thread: str) -> None:
    ref = parse(text)
    assert ref.thread == thread
    assert text.startswith(f"{ref.platform}:{ref.tenant}:{ref.channel}")


async def test_a_place_never_heard_from_is_known_by_the_config(tmp_path: Path) -> None:
    async with conversation(tmp_path, policy=ROUTED) as kit:
        place = place_id(parse("script::security"))
        assert kit.core.queries.place(place) is None
        assert place_ref(kit.core, place) == parse("script::security")
        assert place_ref(kit.core, PlaceId("nowhere")) is None
        assert place_name(kit.core, PlaceId("nowhere")) == "another place"
        assert place_name(kit.core, place) == "security on script"
        await kit.say("hello", place="security")
        assert place_ref(kit.core, place) == parse("script::security")


async def test_the_card_goes_there_and_one_line_stays(tmp_path: Path) -> None:
    async with conversation(tmp_path, policy=ROUTED, executor=Ends) as kit:
        await kit.say("hello", place="security")
        await kit.say("run systemctl restart caddy on web1")
        assert texts(kit, "ops") == [f"#{kit.newest_id()} waits in security on script."]
        assert "restart caddy" in texts(kit, "security")[-1]


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("systemctl restart caddy", "✓ #{id}, restart caddy on web1: ok in under 0.1 s"),
        ("systemctl restart broken", "✗ #{id}, restart broken on web1: exit 1"),
        ("systemctl restart lost", "? #{id}, restart lost on web1: unknown whether it finished"),
        ("systemctl restart unreached", "✗ #{id}, restart unreached on web1: no route to host"),
    ],
)
async def test_each_end_is_told_where_it_was_asked(tmp_path: Path, command: str, line: str) -> None:
    async with conversation(tmp_path, policy=ROUTED, executor=Ends) as kit:
        await kit.say(f"run {command} on web1")
        await kit.say(f"approve {kit.newest_id()}", place="security")
        assert told(kit) == [line.format(id=kit.newest_id())]
        assert not routing.tell_ends(kit.core)
        view = kit.core.queries.proposal(ProposalId(kit.newest_id()))
        assert view is not None
        assert not routing.tell_end(kit.core, view)


async def test_a_list_is_told_in_numbers_and_a_cancelled_one_too(tmp_path: Path) -> None:
    async with conversation(tmp_path, policy=ROUTED, executor=Ends) as kit:
        await kit.say(
            "web1: systemctl restart caddy\nweb1: systemctl restart broken\nweb2: systemctl restart a"
        )
        await kit.say(f"approve {kit.newest_id()}", place="security")
        kit.clock.advance(901)
        await kit.say("pending")
        line = told(kit)[-1]
        assert line.startswith("✗ #")
        assert line.endswith(": 1 ok, 1 dropped, 1 failed")
        await kit.say("web1: systemctl restart broken\nweb2: systemctl restart a")
        await kit.say(f"approve {kit.newest_id()}", place="security")
        await kit.say(f"deny {kit.newest_id()}", place="security")
        assert told(kit)[-1].endswith("restart a on web2: refused by ana, the rest did not run")
        await kit.say("run systemctl restart caddy on web1")
        before = told(kit)
        await kit.say(f"cancel {kit.newest_id()}")
        assert told(kit) == before
        assert waiting.untold(kit.core.ledger.reader()) == ()
        await kit.say("run systemctl restart caddy on web1")
        await kit.say(f"cancel {kit.newest_id()}", place="security")
        assert told(kit)[-1].endswith("restart caddy on web1: cancelled by ana, nothing ran")


async def test_an_end_that_was_recorded_and_not_told_is_told_after_a_restart(tmp_path: Path) -> None:
    async with conversation(tmp_path, policy=ROUTED, executor=Ends) as kit:
        await kit.say("run systemctl restart caddy on web1")
        proposal = ProposalId(kit.newest_id())
        kit.clock.advance(901)
        # The process ends between the two: only the first of the two batches stands.
        view = kit.core.queries.proposal(proposal)
        assert view is not None
        deadlines._close_proposal(kit.core, view, kit.clock.now())
        assert told(kit) == []
    async with conversation(tmp_path, policy=ROUTED, executor=Ends, clock=kit.clock) as kit:
        await kit.say("pending")
        assert told(kit) == [f"✗ #{proposal}, restart caddy on web1: expired, nothing ran"]


async def test_a_card_that_comes_up_elsewhere_closes_the_windows_there(tmp_path: Path) -> None:
    people = (person("ana"), person("kim"))
    async with conversation(tmp_path, operators=people, policy=ROUTED, executor=Ends) as kit:
        await kit.say("run apt-get install -y jq on web1", by="kim", place="security")
        hers = kit.newest_id()
        await kit.say("run systemctl restart caddy on web1")
        shown = await kit.say("go ahead", by="kim", place="security")
        assert "Which one?" in shown
        assert kit.states(hers) == ["waiting"]


async def test_a_second_persons_yes_to_something_else_is_not_taken_for_it(tmp_path: Path) -> None:
    """On consoles each has a place of their own: a card for bo comes up while he has a question open."""
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people, executor=Ends) as kit:
        await kit.say("pending", place="ana-console")
        await kit.say("run systemctl restart caddy on web1", by="bo", place="bo-console", direct=True)
        his = kit.newest_id()
        assert "rm -rf" in await kit.say("run rm -rf /srv/x on web1", place="ana-console")
        shown = {one.ref.place.channel for one in kit.port.screen.values() if "rm -rf" in one.text}
        assert shown == {"ana-console", "bo-console"}
        await kit.say("go ahead", by="bo", place="bo-console", direct=True)
        assert kit.states(his) == ["waiting"]


async def test_a_second_person_is_shown_nothing_where_others_read(tmp_path: Path) -> None:
    people = (person("ana"), person("bo"))
    async with conversation(tmp_path, operators=people, executor=Ends) as kit:
        await kit.say("pending", by="bo", place="canteen")
        await kit.say("run rm -rf /srv/x on web1")
        assert {one.ref.place.channel for one in kit.port.screen.values() if "rm -rf" in one.text} == {"ops"}
