"""What was said on Discord while nobody listened: read in order, once, in its place."""

import asyncio
from typing import Any

import pytest

from adapters.discord.connection import Pace
from bot.ports import InboundKind, PlaceRef
from tests.adapters.console_fakes import FakeCore
from tests.adapters.discord_room import Room, trying, until_health
from tests.adapters.stage_discord import NoBookmarks, place_of, playing, port_on
from tests.simulators.discord.rest import Fault
from tests.simulators.discord.simulator import Discord, discord
from tests.simulators.discord.world import BOT

#: Nothing is tried again while a test runs.
SLOW = Pace(identify_pause_s=0.0, retry_s=600.0, slow_s=600.0)


async def restarted(simulated: Discord, core: FakeCore, *known: tuple[PlaceRef, str]) -> Any:
    return port_on(simulated, bookmarks=NoBookmarks(*known))


async def test_what_was_said_while_down_is_read_in_order_and_once() -> None:
    core = FakeCore()
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        async with playing(room.port, core):
            last = await room.say("before")
            await room.heard(1)
        for number in range(250):
            simulated.world.message(room.ops, room.ana, f"missed {number}")
        simulated.world.message(room.ops, simulated.world.users[BOT], "our own")
        known = (place_of(room.ops), f"m:{room.ops.id}:{last}")
        async with playing(await restarted(simulated, core, known), core):
            await room.say("live")
            words = await room.heard(252)
    assert words == ["before", *(f"missed {number}" for number in range(250)), "live"]
    assert all(event.position for event in core.heard)


async def test_what_comes_live_waits_until_what_was_missed_is_read() -> None:
    core = FakeCore()
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        first = simulated.world.message(room.ops, room.ana, "first")
        simulated.world.message(room.ops, room.ana, "missed")
        gate = asyncio.Event()
        simulated.rest.fail(r"GET /channels/\d+/messages", Fault(hold=gate))
        known = (place_of(room.ops), f"m:{room.ops.id}:{first['id']}")
        async with playing(await restarted(simulated, core, known), core):
            await room.say("live")
            assert core.heard == []
            gate.set()
            assert await room.heard(2) == ["missed", "live"]


@pytest.mark.parametrize("event", ["c:{id}", "f:{id}", "e:1:{id}:1700000000", "m:1:{id}"])
async def test_reading_goes_on_after_whatever_came_last(event: str) -> None:
    core = FakeCore()
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        last = simulated.world.message(room.ops, room.ana, "known")
        simulated.world.message(room.ops, room.ana, "missed")
        known = (place_of(room.ops), event.format(id=last["id"]))
        async with playing(await restarted(simulated, core, known), core):
            assert await room.heard(1) == ["missed"]


async def test_a_thread_and_a_direct_conversation_are_caught_up_in_their_place() -> None:
    core = FakeCore()
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        thread = await simulated.start_thread(room.ops, "incident")
        direct = simulated.world.direct("ana")
        known = []
        for channel in (thread, direct):
            last = simulated.world.message(channel, room.ana, "known")
            simulated.world.message(channel, room.ana, f"<@{BOT}> missed")
            known.append((place_of(channel), f"m:{channel.id}:{last['id']}"))
        async with playing(await restarted(simulated, core, *known), core):
            heard = await core.heard_of(2)
    assert {event.place for event in heard} == {place_of(thread), place_of(direct)}
    assert {(event.text, event.addressed, event.direct) for event in heard} == {
        ("missed", True, False),
        ("missed", True, True),
    }


async def test_words_that_were_changed_before_they_were_read_are_an_edit() -> None:
    """Report 36: "no" became "yes" while nobody listened."""
    core = FakeCore()
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        known = simulated.world.message(room.ops, room.ana, "known")
        missed = simulated.world.message(room.ops, room.ana, "no")
        await simulated.edit(room.ops, missed["id"], "yes")
        mark = (place_of(room.ops), f"m:{room.ops.id}:{known['id']}")
        async with playing(await restarted(simulated, core, mark), core):
            (event,) = await core.heard_of(1)
    assert (event.kind, event.text) == (InboundKind.EDIT, "yes")


async def test_a_channel_that_can_no_longer_be_read_is_told_and_holds_up_nothing() -> None:
    core = FakeCore()
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        gone = PlaceRef(platform="discord", tenant=room.discord.world.guild()["id"], channel="4711")
        port = await restarted(simulated, core, (gone, "m:4711:1"), (place_of(room.ops), "nonsense"))
        async with trying(port, core):
            await room.discord.until(lambda: bool(simulated.gateway.sessions))
            await room.say("hello")
            assert await room.heard(1) == ["hello"]
            health = await until_health(port, lambda health: "4711" in health.detail)
    assert "gone" in health.detail


async def test_what_could_not_be_read_is_read_again_and_told_meanwhile() -> None:
    core = FakeCore()
    fault = Fault(status=403, body={"code": 50001, "message": "Missing Access"}, times=1_000_000)
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        first = simulated.world.message(room.ops, room.ana, "first")
        simulated.world.message(room.ops, room.ana, "missed")
        simulated.rest.fail(r"GET /channels/\d+/messages", fault)
        known = (place_of(room.ops), f"m:{room.ops.id}:{first['id']}")
        port = await restarted(simulated, core, known)
        async with playing(port, core):
            await until_health(port, lambda health: "tried again" in health.detail)
            await room.say("live")  # it does not wait for what cannot be read
            assert await room.heard(1) == ["live"]
            simulated.rest.faults.clear()
            assert await room.heard(2) == ["live", "missed"]
            await until_health(port, lambda health: health.ok)


async def test_a_new_session_begins_where_an_old_one_could_not_read() -> None:
    """What came live is newer than what is unread, and would hide it."""
    core = FakeCore()
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        first = simulated.world.message(room.ops, room.ana, "first")
        simulated.world.message(room.ops, room.ana, "missed")
        simulated.rest.fail(r"GET /channels/\d+/messages", Fault(status=403, body={"code": 50001}, times=99))
        known = (place_of(room.ops), f"m:{room.ops.id}:{first['id']}")
        port = port_on(simulated, bookmarks=NoBookmarks(known), pace=SLOW)
        async with playing(port, core):
            await until_health(port, lambda health: "tried again" in health.detail)
            await room.say("live")
            await room.heard(1)
            simulated.rest.faults.clear()
            await simulated.gateway.invalidate(resumable=False)
            assert await room.heard(2) == ["live", "missed"]


async def test_a_channel_that_is_gone_is_not_asked_for_again() -> None:
    core = FakeCore()
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        gone = PlaceRef(platform="discord", tenant=room.discord.world.guild()["id"], channel="4711")
        port = await restarted(simulated, core, (gone, "m:4711:1"))
        async with playing(port, core):
            await until_health(port, lambda health: "gone" in health.detail)
            assert port._catching_up._timers == {}
