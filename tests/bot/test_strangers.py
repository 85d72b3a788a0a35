"""Strangers get nothing run and nothing revealed; of talk that is not for sayso nothing is kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.ports import InboundKind, PlaceRef
from gate.policy import Policy
from tests.bot.test_digest import Ends
from tests.kit import Kit, ScriptedPort, conversation, person

RESTART = "run systemctl restart caddy on web1"
PEOPLE = (person("ana"), person("bo"))
TALK = "the canteen has soup, and the password is hunter22"


async def overhear(kit: Kit, text: str, *, by: str, place: str = "ops", **changes: object) -> str:
    return await kit.say(text, by=by, place=place, addressed=False, **changes)  # type: ignore[arg-type]


def kept(kit: Kit, text: str) -> bool:
    """Whether any table of the ledger holds `text`."""
    reader = kit.core.ledger.reader()
    dumped = "\n".join(
        str(row)
        for table in ("entry", "payload", "inbox", "outbox")
        for row in reader.execute(f"SELECT * FROM {table}")
    )
    return text in dumped


@pytest.mark.parametrize("by", ["mallory", "bo"])
async def test_talk_among_people_writes_nothing_and_is_not_answered(tmp_path: Path, by: str) -> None:
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends) as kit:
        await kit.say(RESTART)
        before = kit.kinds()
        for text in (TALK, "go ahead", "run uptime on web1", "approve it"):
            assert await overhear(kit, text, by=by) == ""
        edited = replace(kit.inbound(TALK, by=by), kind=InboundKind.EDIT, addressed=False)
        assert await kit.send(edited) == ""
        assert kit.kinds() == before
        assert not kept(kit, "canteen")
        assert not kit.core.ledger.inbox.pending()
        assert kit.states() == ["waiting"]


async def test_a_reply_to_somebody_elses_message_is_talk_too(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends) as kit:
        await kit.say(RESTART)
        before = kit.kinds()
        foreign = replace(kit.card, ref=replace(kit.card.ref, message="of kim"))
        assert await overhear(kit, TALK, by="bo", reply_to=foreign) == ""
        assert kit.kinds() == before
        await overhear(kit, "go ahead", by="bo", reply_to=kit.card)
        assert kit.states() == ["succeeded"]


async def test_a_bots_talk_is_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        before = kit.kinds()
        assert await overhear(kit, "stop", by="ana", is_bot=True) == ""
        assert kit.kinds() == before


@pytest.mark.parametrize("words", ["stop", "auto off", "never auto web1"])
async def test_what_tightens_acts_without_an_address_where_sayso_is(tmp_path: Path, words: str) -> None:
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends) as kit:
        await kit.say(RESTART)
        assert await overhear(kit, words, by="mallory") == ""
        assert await overhear(kit, words, by="bo") != ""
        switches = kit.core.switches()
        assert switches.stopped or switches.auto_off or switches.never_auto_act == ("web1",)


async def test_a_stop_where_sayso_never_was_is_talk(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends) as kit:
        assert await overhear(kit, "stop", by="bo", place="lunch") == ""
        assert not kit.core.switches().stopped


async def test_a_stop_acts_where_only_cards_were_shown(tmp_path: Path) -> None:
    routed = Policy(revision="r" * 64, routes=(("reversible_low", "script::security"),))
    async with conversation(tmp_path, operators=PEOPLE, policy=routed, executor=Ends) as kit:
        await kit.say(RESTART)
        await overhear(kit, "stop", by="bo", place="security")
        assert kit.core.switches().stopped


async def test_who_has_something_open_needs_no_address(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends) as kit:
        await kit.say(RESTART)
        await overhear(kit, "go ahead", by="ana")
        assert kit.states() == ["succeeded"]
        await kit.say(RESTART)
        first = kit.newest_id()
        await kit.say("pending", by="bo")
        await overhear(kit, "no, the backup runs", by="ana")
        assert kit.states(first) == ["cancelled"]


@pytest.mark.parametrize(("can", "wanted"), [({"own_threads": True}, "succeeded"), ({}, "waiting")])
async def test_in_a_cards_own_thread_the_next_words_are_any_operators(
    tmp_path: Path, can: dict[str, bool], wanted: str
) -> None:
    port = ScriptedPort(**can)
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends, port=port) as kit:
        thread = PlaceRef(platform="script", channel="ops", thread="17.1")
        await kit.send(replace(kit.inbound(RESTART), place=thread))
        for by in ("mallory", "bo"):
            await kit.send(replace(kit.inbound("go ahead", by=by), place=thread, addressed=False))
        assert kit.states() == [wanted]


async def test_an_owed_reason_needs_no_address(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends) as kit:
        await kit.say(RESTART)
        await kit.press(kit.card, "Deny")
        await kit.say("pending", by="bo")
        assert "Noted with" in await overhear(kit, "the backup is running", by="ana")


async def test_the_second_person_types_the_loosening_phrase_without_an_address(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends) as kit:
        await kit.say("stop")
        await kit.say("resume")
        await overhear(kit, "resume sayso", by="bo")
        assert not kit.core.switches().stopped


async def test_a_stranger_who_speaks_to_sayso_is_recorded_without_words(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends) as kit:
        before = len(kit.kinds())
        assert await kit.say(TALK, by="mallory") == ""
        assert kit.kinds()[before:] == ["turn:received"]
        assert not kept(kit, "canteen")


@pytest.mark.parametrize("kind", [InboundKind.CLICK, InboundKind.FORM])
async def test_a_strangers_press_or_form_is_answered_to_them_alone(tmp_path: Path, kind: InboundKind) -> None:
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends) as kit:
        await kit.say(RESTART)
        token = kit.card.token("Approve")
        await kit.send(replace(kit.inbound("yes", by="mallory"), kind=kind, token=token))
        assert kit.port.notes == [("mallory", "Only operators decide here. Nothing ran.")]
        assert kit.states() == ["waiting"]
        assert not kept(kit, "'yes'")


async def test_a_rehearsal_says_who_the_operators_are(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=PEOPLE, executor=Ends, rehearsal=True) as kit:
        assert await kit.say("hello", by="cy") == "cy is no operator here. Operators: ana, bo."
        assert await kit.say("hello", by="cy", is_bot=True) == ""
