"""What the core hears of what people do on Discord, through the real client library."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.ports import Inbound, InboundKind, Message, MessageRef
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_discord import NoBookmarks, account_of, place_of, playing, port_on
from tests.simulators.discord.simulator import Discord, discord
from tests.simulators.discord.world import BOT, BOT_ROLE, Channel, User


class Room:
    """A channel of a server, somebody in it, and the bot."""

    def __init__(self, simulated: Discord, port: Any, core: FakeCore) -> None:
        self.discord, self.port, self.core = simulated, port, core
        self.ops: Channel = simulated.world.channel("ops")
        self.ana: User = simulated.world.user("ana")
        self.bo: User = simulated.world.user("bo")

    async def say(self, content: str, **more: Any) -> dict[str, Any]:
        return await self.discord.say(self.ana, self.ops, content, **more)

    async def only(self) -> Inbound:
        """Return the one event that was heard; a word after it shows that there is no other."""
        await self.discord.say(self.bo, self.ops, "over")
        *before, over = await self.core.heard_of(2) if not self.ended else self.core.heard
        assert over.text == "over"
        (event,) = before
        return event

    @property
    def ended(self) -> bool:
        return bool(self.core.heard) and self.core.heard[-1].text == "over"

    async def nothing(self) -> None:
        """Wait until it is certain that nothing was heard."""
        await self.discord.say(self.bo, self.ops, "over")
        (over,) = await self.core.heard_of(1)
        assert over.text == "over"


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    core = FakeCore()
    async with discord() as simulated:
        made = Room(simulated, port_on(simulated), core)
        async with playing(made.port, core):
            yield made


async def test_a_message_says_who_where_and_when(room: Room) -> None:
    said = await room.say("run df -h on web1")
    event = await room.only()
    assert event.account == account_of(room.ana)
    assert event.account.key == f"discord::{room.ana.id}"
    assert event.place == place_of(room.ops)
    assert event.event_id == f"m:{room.ops.id}:{said['id']}"
    assert event.position == int(said["id"])
    assert not event.addressed
    assert not event.direct
    assert event.sent_at.utcoffset() is not None


async def test_a_direct_message_is_addressed_and_has_no_tenant(room: Room) -> None:
    direct = room.discord.world.direct("ana")
    await room.discord.say(room.ana, direct, "hello")
    event = await room.only()
    assert (event.direct, event.addressed, event.place.tenant) == (True, True, "")


@pytest.mark.parametrize("mention", [f"<@{BOT}>", f"<@!{BOT}>", f"<@&{BOT_ROLE}>"])
async def test_our_mention_is_stripped_in_every_form(room: Room, mention: str) -> None:
    """Report 51: the nickname form too, and the role of the bot's own name, which clients offer beside it."""
    await room.say(f"{mention} run df -h on web1")
    event = await room.only()
    assert (event.text, event.addressed) == ("run df -h on web1", True)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (f"<@{BOT}>, yes", "yes"),
        (f"yes <@{BOT}>", "yes"),
        (f"<@{BOT}> run echo <@{BOT}> x on web1", f"run echo <@{BOT}> x on web1"),
        (f"<@{BOT}> ask <@77>", "ask <@77>"),
        (f"<@{BOT}>", ""),
        (f"<@{BOT}>\n```\ndf -h\n```", "```\ndf -h\n```"),
    ],
)
async def test_only_the_address_is_stripped_never_the_words(room: Room, content: str, text: str) -> None:
    await room.say(content)
    assert (await room.only()).text == text


async def test_a_reply_names_what_it_answers_and_is_addressed_when_that_is_ours(room: Room) -> None:
    ref = await room.port.post(place_of(room.ops), Message(body=Text.of("go?")), nonce="n1")
    await room.discord.reply(room.ana, room.ops, ref.message, "yes")
    event = await room.only()
    assert event.reply_to == MessageRef(place=place_of(room.ops), message=ref.message)
    assert event.reply_to.position == ref.position == int(ref.message)
    assert event.addressed


async def test_a_reply_to_somebody_else_is_not_addressed(room: Room) -> None:
    first = await room.discord.say(room.ana, room.ops, "shall we?")
    await room.core.heard_of(1)
    await room.discord.reply(room.bo, room.ops, first["id"], "yes")
    (_, event) = await room.core.heard_of(2)
    assert event.reply_to is not None
    assert not event.addressed


async def test_a_forwarded_yes_is_marked(room: Room) -> None:
    await room.discord.forward(room.ana, room.ops, "yes")
    event = await room.only()
    assert (event.forwarded, event.text, event.reply_to) == (True, "yes", None)


@pytest.mark.parametrize("content", ["> yes", "> go\n> ahead", ">>> yes\ngo"])
async def test_words_that_are_only_quoted_are_marked(room: Room, content: str) -> None:
    await room.say(content)
    assert (await room.only()).forwarded


async def test_a_quote_with_words_of_their_own_is_a_message(room: Room) -> None:
    await room.say("> shall I?\nyes")
    assert not (await room.only()).forwarded


async def test_an_edit_is_an_edit(room: Room) -> None:
    """Report 36: "no" that becomes "yes" is no new message."""
    said = await room.say("no")
    await room.discord.edit(room.ops, said["id"], "yes")
    (first, second) = await room.core.heard_of(2)
    assert (first.kind, first.text) == (InboundKind.MESSAGE, "no")
    assert (second.kind, second.text) == (InboundKind.EDIT, "yes")
    assert second.event_id.startswith(f"e:{room.ops.id}:{said['id']}:")
    assert second.position == first.position


async def test_a_link_that_unfolds_is_no_edit(room: Room) -> None:
    """Report 12."""
    said = await room.say("see https://example.com")
    await room.discord.edit(room.ops, said["id"], None)
    await room.only()


async def test_our_own_messages_and_edits_are_not_heard(room: Room) -> None:
    """Report 11."""
    ref = await room.port.post(place_of(room.ops), Message(body=Text.of("one")), nonce="n1")
    await room.port.edit(ref, Message(body=Text.of("two")))
    await room.nothing()


async def test_bots_and_webhooks_are_marked_as_such(room: Room) -> None:
    """Report 50: the core ignores them, whatever they say."""
    await room.discord.say(room.discord.world.user("deploybot", bot=True), room.ops, f"<@{BOT}> yes")
    await room.say(f"<@{BOT}> yes", webhook_id="4711")
    assert [event.account.is_bot for event in await room.core.heard_of(2)] == [True, True]


async def test_joins_and_pins_are_no_messages(room: Room) -> None:
    for kind in (6, 7, 18, 21):
        await room.say("yes", type=kind)
    await room.nothing()


async def test_a_thread_is_a_place_in_its_channel_and_is_answered_there(room: Room) -> None:
    """Report 49."""
    thread = await room.discord.start_thread(room.ops, "incident")
    await room.discord.say(room.ana, thread, "hello")
    (event,) = await room.core.heard_of(1)
    assert (event.place.channel, event.place.thread) == (str(room.ops.id), str(thread.id))
    await room.port.post(event.place, Message(body=Text.of("answered")), nonce="n1")
    assert [one["content"] for one in thread.messages.values()] == ["hello", "answered"]
    assert not room.ops.messages


async def test_a_thread_that_nobody_told_of_is_looked_up_once_it_speaks(room: Room) -> None:
    thread = await room.discord.start_thread(room.ops, "old", told=False)
    for words in ("hello", "again"):
        await room.discord.say(room.ana, thread, words)
    assert {event.place for event in await room.core.heard_of(2)} == {place_of(thread)}
    looked_up = [call for call in room.discord.rest.calls if call.path == f"/channels/{thread.id}"]
    assert len(looked_up) == 1


async def test_a_message_that_comes_twice_is_heard_once(room: Room) -> None:
    """Report 1."""
    room.discord.gateway.double = True
    await room.say("run df -h on web1")
    room.discord.gateway.double = False
    assert (await room.only()).text == "run df -h on web1"


async def test_what_was_not_stored_is_said_where_it_was_written(room: Room) -> None:
    room.core.full = frozenset({"run reboot on web1"})
    await room.say(f"<@{BOT}> run reboot on web1")
    await room.discord.until(lambda: len(room.ops.messages) == 2)
    assert list(room.ops.messages.values())[1]["content"] == "Not stored, so nothing was done."


async def test_other_peoples_talk_that_was_not_stored_is_not_answered(room: Room) -> None:
    room.core.full = frozenset({"lunch?"})
    await room.say("lunch?")
    await room.nothing()
    assert len(room.ops.messages) == 2


async def test_a_turn_that_breaks_says_so(room: Room) -> None:
    async def broken(_inbound: Inbound) -> Any:
        raise ValueError("oh")

    room.port._sink = broken
    await room.say(f"<@{BOT}> hello")
    await room.discord.until(lambda: len(room.ops.messages) == 2)
    assert "something broke" in list(room.ops.messages.values())[1]["content"]


async def test_words_that_discord_keeps_back_are_reported(room: Room) -> None:
    """Report 47: content is empty although the intent was asked for."""
    room.discord.world.content_intent = False
    await room.say("yes")
    await room.say(f"<@{BOT}> help")
    (event,) = await room.core.heard_of(1)
    assert event.text == "help"
    health = await room.port.health()
    assert not health.ok
    assert "Message Content Intent" in health.detail


async def test_without_the_intent_mentions_and_direct_messages_are_understood() -> None:
    core = FakeCore()
    async with discord() as simulated:
        simulated.gateway.privileged = False
        port = port_on(simulated, message_content=False)
        async with playing(port, core):
            room = Room(simulated, port, core)
            await room.say("between people")
            await room.say(f"<@{BOT}> help")
            await simulated.say(room.ana, simulated.world.direct("ana"), "hello")
            assert {event.text for event in await core.heard_of(2)} == {"help", "hello"}
            assert (await port.health()).ok


async def test_two_clients_keep_their_addresses_to_themselves() -> None:
    cores = FakeCore(), FakeCore()
    async with discord() as one, discord() as two:
        ports = port_on(one), port_on(two, bookmarks=NoBookmarks())
        async with playing(ports[0], cores[0]), playing(ports[1], cores[1]):
            await one.say(one.world.user("ana"), one.world.direct("ana"), "to one")
            await two.say(two.world.user("ana"), two.world.direct("ana"), "to two")
            assert [(await core.heard_of(1))[0].text for core in cores] == ["to one", "to two"]
