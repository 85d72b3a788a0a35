"""Places that go on under other ids: what waits there goes on waiting, and words count in the new place."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot.places import parse, place_id
from bot.ports import InboundKind, MessageRef, PlaceRef
from gate.policy import Policy
from tests.bot.test_digest import Ends
from tests.kit import Kit, ScriptedPort, Shown, conversation, person

RESTART = "run systemctl restart caddy on web1"
POLICY = Policy(revision="r" * 64)


def there(channel: str = "bigger") -> PlaceRef:
    return PlaceRef(platform="script", channel=channel)


async def move(kit: Kit, *, old: str = "ops", new: str = "bigger", late_s: float = 0) -> str:
    told = kit.inbound("", by="", place=old)
    kit.clock.advance(late_s)
    return await kit.send(replace(told, kind=InboundKind.MOVED, moved_to=there(new)))


def posted(kit: Kit, channel: str) -> list[Shown]:
    return [one for one in kit.port.screen.values() if one.ref.place.channel == channel]


def ran(kit: Kit) -> Sequence[str]:
    return list(kit.core.executor.ran)  # type: ignore[attr-defined] # Ends


async def test_what_waits_survives_and_is_shown_where_the_place_went(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        await move(kit)
        assert kit.states() == ["waiting"]
        (card,) = posted(kit, "bigger")
        assert card.message.buttons == posted(kit, "ops")[-1].message.buttons
        await kit.press(card, "Approve", place="bigger")
        assert ran(kit) == ["systemctl restart caddy"]


async def test_words_count_in_the_new_place(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        await move(kit)
        await kit.say("go ahead", place="bigger")
        assert ran(kit) == ["systemctl restart caddy"]
        assert kit.core.place_of(there()) == place_id(parse("script::ops"))


async def test_words_count_though_the_new_place_numbers_its_messages_anew(tmp_path: Path) -> None:
    port = ScriptedPort(ordered=True)
    async with conversation(tmp_path, executor=Ends, port=port) as kit:
        port.position = 5000
        await kit.say(RESTART, position=5000)
        port.position = 0
        await move(kit)
        assert posted(kit, "bigger")[-1].ref.position == 1
        await kit.say("go ahead", place="bigger", position=2)
        assert ran(kit) == ["systemctl restart caddy"]


async def test_being_told_twice_changes_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        await move(kit)
        assert await move(kit) == ""
        assert kit.kinds().count("place:moved") == 1
        assert len(posted(kit, "bigger")) == 1
        assert not kit.core.ledger.inbox.pending()


async def test_a_move_that_is_told_late_counts_all_the_same(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends, policy=replace(POLICY, approval_s=90_000)) as kit:
        await kit.say(RESTART)
        await move(kit, late_s=89_000)
        assert "restart caddy" in posted(kit, "bigger")[0].text
    later = tmp_path / "later"
    async with conversation(later, executor=Ends) as kit:
        await kit.say("pending")
        await move(kit, late_s=7200)
        assert kit.kinds().count("place:moved") == 1


async def test_a_move_without_a_new_place_or_of_an_unknown_one_is_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        told = replace(kit.inbound("", by=""), kind=InboundKind.MOVED)
        await kit.send(told)
        await move(kit, old="nowhere")
        assert "place:moved" not in kit.kinds()
        assert kit.states() == ["waiting"]
        assert not kit.core.ledger.inbox.pending()


async def test_only_what_waits_there_is_shown_anew(tmp_path: Path) -> None:
    people = (person("ana"), person("kim"))
    async with conversation(tmp_path, operators=people, executor=Ends) as kit:
        await kit.say(RESTART)
        await kit.say("run systemctl restart nginx on web2", by="kim", place="other")
        await kit.say("run systemctl restart a on web1")
        await kit.say("no, not that")
        await move(kit)
        assert [one.text.partition("\n")[0] for one in posted(kit, "bigger")] == ["◔ web1 · restart caddy"]


async def test_a_routed_place_that_moved_is_reached_where_it_went(tmp_path: Path) -> None:
    routed = replace(POLICY, routes=(("reversible_low", "script::security"),))
    async with conversation(tmp_path, executor=Ends, policy=routed) as kit:
        await kit.say("hello", place="security")
        await move(kit, old="security", new="security2")
        await kit.say(RESTART)
        assert "restart caddy" in posted(kit, "security2")[-1].text


async def test_it_is_known_after_a_restart_and_a_rebuild(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        await move(kit)
    async with conversation(tmp_path, executor=Ends, port=kit.port, clock=kit.clock) as kit:
        await kit.say(f"approve {kit.newest_id()}", place="bigger")
        assert ran(kit) == ["systemctl restart caddy"]
        assert {one.ref.place.channel for one in kit.port.screen.values()} == {"ops", "bigger"}


@pytest.mark.parametrize("channel", ["ops", "bigger"])
async def test_a_reply_to_either_card_counts(tmp_path: Path, channel: str) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        await move(kit)
        await kit.say("go ahead", place="bigger", reply_to=posted(kit, channel)[-1])
        assert ran(kit) == ["systemctl restart caddy"]


async def test_a_reply_to_a_message_that_has_the_number_of_an_old_card_is_no_reply_to_that(
    tmp_path: Path,
) -> None:
    async with conversation(tmp_path, operators=(person("ana"), person("kim")), executor=Ends) as kit:
        await kit.say(RESTART)
        old = posted(kit, "ops")[-1].ref.message
        await move(kit)
        somebodys = replace(kit.card, ref=MessageRef(place=there(), message=old))
        await kit.say("go ahead", by="kim", place="bigger", addressed=False, reply_to=somebodys)
        assert not ran(kit)
        assert kit.states() == ["waiting"]
        await kit.say(
            "go ahead", by="kim", place="bigger", addressed=False, reply_to=posted(kit, "bigger")[-1]
        )
        assert ran(kit) == ["systemctl restart caddy"]
