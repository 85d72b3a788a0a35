"""Discord's connection: every way to lose it, what was said meanwhile, and what a person has to mend."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from adapters.discord.sdk import DiscordWebSocket, Route
from bot.ports import Inbound, Message, RejectedError
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.adapters.discord_room import IMPATIENT, Room, trying, until_health
from tests.adapters.stage_discord import QUICK, place_of, playing, port_on
from tests.simulators.discord.rest import Fault
from tests.simulators.discord.simulator import TOKEN, discord
from tests.simulators.discord.world import BOT


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    core = FakeCore()
    async with discord() as simulated:
        made = Room(simulated, port_on(simulated), core)
        async with playing(made.port, core):
            yield made


# ---------------------------------------------------------------- lost and resumed


def facts(health: Any) -> dict[str, str]:
    return dict(health.facts)


async def test_who_it_is_and_what_it_may_is_told(room: Room) -> None:
    await room.say("hello")
    await room.heard(1)
    told = facts(await until_health(room.port, lambda health: facts(health)["servers"] == "1"))
    assert told["account"] == f"sayso ({BOT})"
    assert told["intents"] == "guilds, messages, message content"
    assert told["last event"] == "2026-03-01 12:00 UTC"
    assert told["reconnects"] == "0"


@pytest.mark.parametrize("end", ["op 7", "op 9 resumable", "4000", "4008", "abort"])
async def test_a_session_that_is_resumed_plays_back_what_was_missed_once(room: Room, end: str) -> None:
    await room.say("one")
    await room.heard(1)
    gateway = room.gateway
    match end:
        case "op 7":
            await gateway.ask_to_reconnect()
        case "op 9 resumable":
            await gateway.invalidate(resumable=True)
        case "abort":
            gateway.abort_all()
        case code:
            await gateway.close_all(int(code))
    # Nobody is connected now, or not yet again: this is played back, or comes live.
    await room.say("two")
    await room.discord.until(lambda: gateway.resumed == 1)
    await room.say("three")
    assert await room.heard(3) == ["one", "two", "three"]
    assert gateway.identified == 1
    assert facts(await until_health(room.port, lambda health: health.ok))["reconnects"] == "1"


@pytest.mark.parametrize("end", ["op 9", "4009"])
async def test_a_session_that_is_lost_is_caught_up_from_history(room: Room, end: str) -> None:
    await room.say("one")
    await room.heard(1)
    room.gateway.sessions.clear()  # what is said now reaches nobody
    await room.say("two")
    await (room.gateway.invalidate(resumable=False) if end == "op 9" else room.gateway.close_all(4009))
    await room.discord.until(lambda: room.gateway.identified == 2)
    await room.say("three")
    assert await room.heard(3) == ["one", "two", "three"]
    assert facts(await room.port.health())["caught up"] in {"1", "2"}


async def test_a_gateway_that_never_comes_alive_is_given_up() -> None:
    """Report 20: connected, heartbeats answered, and nothing ever comes."""
    core = FakeCore()
    async with discord() as simulated:
        simulated.gateway.deaf = True
        room = Room(simulated, port_on(simulated, pace=IMPATIENT), core)
        async with trying(room.port, core):
            await simulated.until(lambda: simulated.gateway.connections >= 2)
            assert not (await room.port.health()).ok
            simulated.gateway.deaf = False
            await until_health(room.port, lambda health: health.ok)
            await room.say("hello")
            assert await room.heard(1) == ["hello"]


async def test_a_session_in_which_nothing_comes_back_is_given_up() -> None:
    """Report 20: after a reconnect the client hears no events; what it posts itself does not come back."""
    core = FakeCore()
    async with discord() as simulated:
        room = Room(simulated, port_on(simulated, pace=IMPATIENT), core)
        async with playing(room.port, core):
            await room.say("one")
            await room.heard(1)
            room.gateway.muffled = True
            await room.say("two")
            await room.port.post(place_of(room.ops), Message(body=Text.of("anybody?")), nonce="n1")
            await simulated.until(lambda: room.gateway.identified == 2)
            room.gateway.muffled = False
            assert await room.heard(2) == ["one", "two"]
            await until_health(room.port, lambda health: health.ok)


# ---------------------------------------------------------------- what a person has to mend


async def test_a_refused_token_is_told_once_and_tried_again_slowly(caplog: pytest.LogCaptureFixture) -> None:
    core = FakeCore()
    async with discord() as simulated:
        simulated.rest.token = "another"
        room = Room(simulated, port_on(simulated), core)
        async with trying(room.port, core):
            health = await until_health(room.port, lambda health: "refused the token" in health.detail)
            assert "Reset Token" in health.detail
            await simulated.until(lambda: len(simulated.rest.calls) >= 3)
            simulated.rest.token = TOKEN
            await until_health(room.port, lambda health: health.ok)
    assert sum("refused the token" in record.message for record in caplog.records) == 1


@pytest.mark.parametrize(
    ("code", "words"), [(4004, "Reset Token"), (4011, "too many servers"), (4013, "Update")]
)
async def test_a_session_that_is_refused_for_good_is_told(code: int, words: str) -> None:
    core = FakeCore()
    async with discord() as simulated:
        simulated.gateway.refuses = code
        room = Room(simulated, port_on(simulated), core)
        async with trying(room.port, core):
            await until_health(room.port, lambda health: words in health.detail)
            simulated.gateway.refuses = 0
            await until_health(room.port, lambda health: health.ok)


async def test_a_missing_intent_says_where_to_switch_it_on() -> None:
    """Report 47: 4014."""
    core = FakeCore()
    async with discord() as simulated:
        simulated.gateway.privileged = False
        room = Room(simulated, port_on(simulated), core)
        async with trying(room.port, core):
            health = await until_health(room.port, lambda health: "intent" in health.detail)
            assert "Privileged Gateway Intents > Message Content Intent" in health.detail
            assert "message_content = false" in health.detail
            simulated.gateway.privileged = True
            await until_health(room.port, lambda health: health.ok)


@pytest.mark.parametrize("fault", [Fault(status=503, body="down", times=2), Fault(reset="before", times=2)])
async def test_a_platform_that_is_down_is_waited_for(fault: Fault) -> None:
    core = FakeCore()
    async with discord() as simulated:
        simulated.rest.fail(r"GET /users/@me", fault)
        room = Room(simulated, port_on(simulated), core)
        async with trying(room.port, core):
            await until_health(room.port, lambda health: health.ok)
            await room.say("hello")
            assert await room.heard(1) == ["hello"]


@pytest.mark.parametrize(
    "address", [{"api_url": "http://127.0.0.1:9/api/v10"}, {"gateway_url": "ws://127.0.0.1:9/gateway/"}]
)
async def test_an_address_where_nobody_answers_is_told(address: dict[str, str]) -> None:
    core = FakeCore()
    async with discord() as simulated:
        port = port_on(simulated)
        port._connection._settings = port._settings.model_copy(update=address)
        async with trying(port, core):
            health = await until_health(port, lambda health: "cannot be reached" in health.detail)
    assert not health.ok


async def test_an_address_for_interactions_is_told_because_no_button_would_work() -> None:
    core = FakeCore()
    async with discord() as simulated:
        simulated.rest.endpoint = "https://example.com/interactions"
        port = port_on(simulated)
        async with trying(port, core):
            health = await until_health(port, lambda health: "Endpoint" in health.detail)
    assert "Clear it in the Developer Portal" in health.detail


async def test_permissions_that_are_missing_are_named() -> None:
    core = FakeCore()
    async with discord() as simulated:
        simulated.world.permissions = str(1 << 10 | 1 << 11 | 1 << 38)
        port = port_on(simulated)
        async with trying(port, core):
            health = await until_health(port, lambda health: "lacks" in health.detail)
    assert "On the server Fleet the bot lacks: Attach Files, Read Message History." in health.detail


async def test_two_processes_on_one_token_are_reported(room: Room) -> None:
    """Report 40: both hear everything; the one says that the other is there."""
    other = port_on(room.discord)
    async with playing(other, FakeCore()):
        await other.post(place_of(room.ops), Message(body=Text.of("from the other")), nonce="n1")
        await room.port.post(place_of(room.ops), Message(body=Text.of("from us")), nonce="n2")
        for port in (room.port, other):
            health = await until_health(port, lambda health: not health.ok)
            assert "Another process uses this Discord token" in health.detail


async def test_our_own_messages_are_no_second_process(room: Room) -> None:
    for number in range(3):
        await room.port.post(place_of(room.ops), Message(body=Text.of("ours")), nonce=f"n{number}")
    room.core.full = frozenset({"x"})
    await room.say(f"<@{BOT}> x")
    await room.discord.until(lambda: len(room.ops.messages) == 5)
    await room.say("over")
    await room.heard(1)
    assert (await room.port.health()).ok


# ---------------------------------------------------------------- the rest


async def test_nothing_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    core = FakeCore()

    async def broken(_inbound: Inbound) -> Any:
        raise ValueError("oh")

    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        async with playing(room.port, core):
            await room.say("hunter2 is my password")
            await room.heard(1)
            await room.port.post(place_of(room.ops), Message(body=Text.of("hunter2")), nonce="n1")
            room.port._sink = broken
            await room.say("hunter2 again")
            await room.say(f"<@{BOT}> hunter2 again")
            await room.discord.until(lambda: len(room.ops.messages) == 5)
            await room.gateway.ask_to_reconnect()
            await room.discord.until(lambda: room.gateway.resumed == 1)
    assert TOKEN not in caplog.text
    assert "hunter2" not in caplog.text


async def test_the_addresses_of_other_clients_are_left_alone(room: Room) -> None:
    assert Route.BASE == "https://discord.com/api/v10"
    assert str(DiscordWebSocket.DEFAULT_GATEWAY) == "wss://gateway.discord.gg/"


async def test_it_can_be_closed_while_it_cannot_get_in() -> None:
    core = FakeCore()
    async with discord() as simulated:
        simulated.gateway.deaf = True
        room = Room(simulated, port_on(simulated, pace=QUICK), core)
        async with trying(room.port, core):
            await simulated.until(lambda: simulated.gateway.identified == 1)
        with pytest.raises(RejectedError):
            await room.port.post(place_of(room.ops), Message(body=Text.of("x")), nonce="n1")
        assert not (await room.port.health()).ok


async def test_it_can_be_closed_when_the_network_is_gone() -> None:
    core = FakeCore()
    async with discord() as simulated:
        simulated.gateway.silent = asyncio.Event()
        room = Room(simulated, port_on(simulated, pace=replace(QUICK, close_s=0.05)), core)
        running = asyncio.create_task(room.port.listen(core.sink))
        await until_health(room.port, lambda health: health.ok)
        await room.port.close()
        await asyncio.wait_for(running, 30)
        simulated.gateway.silent.set()


async def test_what_was_begun_is_stored_when_it_is_closed() -> None:
    core, entered, let = FakeCore(), asyncio.Event(), asyncio.Event()

    async def slow(inbound: Inbound) -> Any:
        entered.set()
        await let.wait()
        return await core.sink(inbound)

    async with discord() as simulated:
        room = Room(simulated, port_on(simulated), core)
        async with playing(room.port, core):
            room.port._sink = slow
            await room.say("hello")
            await entered.wait()
            await room.port.close()
            asyncio.get_running_loop().call_later(0.05, let.set)
    assert [event.text for event in core.heard] == ["hello"]
