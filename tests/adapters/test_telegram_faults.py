"""Faults between us and Telegram: none ends the reading, each is told with what to do."""

import asyncio
import logging
from dataclasses import replace

import pytest

from adapters.telegram.inbound import moved
from adapters.telegram.status import CONFLICT_LASTS_S
from bot.ports import Message, NotCommittedError
from bot.text import Text
from tests.adapters.console_fakes import FakeCore, StillClock
from tests.adapters.stage_telegram import (
    QUICK,
    new_port,
    no_proxy,
    started,
    talking,
)
from tests.adapters.telegram_help import confirmed, says, texts, until_health
from tests.simulators.telegram.faults import flood, gateway, held, nonsense, reset
from tests.simulators.telegram.server import TOKEN, serving

# ---------------------------------------------------------------- faults of the network


@pytest.mark.parametrize(
    "fault", [gateway(), nonsense(), reset(performed=True), reset(performed=False), flood(0)], ids=range(5)
)
async def test_a_fault_of_the_network_ends_nothing(fault: object) -> None:
    core = FakeCore()
    async with talking(core) as (server, port):
        await server.until_called("getUpdates")
        server.fail("getUpdates", fault, fault, fault, fault)
        says(server, "hello")
        await core.heard_of(1)
        await until_health(port, lambda health: health.ok)
    assert texts(core) == ["hello"]


async def test_an_outage_is_told_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    core = FakeCore()
    caplog.set_level(logging.INFO)
    async with talking(core) as (server, port):
        await server.until_called("getUpdates")
        server.fail("getUpdates", reset(performed=False), *[gateway()] * 8)
        says(server, "hello")
        await until_health(port, lambda health: not health.ok and "no answer" in health.detail)
        await core.heard_of(1)
        await until_health(port, lambda health: health.ok)
        assert ("reconnects", "1") in (await port.health()).facts
    told = [record.message for record in caplog.records if "no answer" in record.message]
    assert len(told) == 1


async def test_a_server_that_falls_silent_is_asked_again() -> None:
    """Report 20: the watchdog is the longest answer that Telegram may take."""
    core, never = FakeCore(), asyncio.Event()
    async with talking(core, patience=replace(QUICK, poll_s=0, answer_s=0.5)) as (server, _port):
        await server.until_called("getUpdates")
        server.fail("getUpdates", *[held(never, performed=False)] * 4)
        says(server, "hello")
        await core.heard_of(1)
        never.set()
    assert texts(core) == ["hello"]


async def test_a_start_without_a_network_waits_for_one() -> None:
    core = FakeCore()
    with no_proxy():
        async with serving() as server:
            server.fail("getMe", *[gateway()] * 3)
            says(server, "hello")
            async with started(new_port(server), core):
                await core.heard_of(1)
    assert texts(core) == ["hello"]


# ---------------------------------------------------------------- what only a person can mend


async def test_a_second_process_is_told_and_not_fought() -> None:
    """Report 40: each gets only part of what is said."""
    now = [0.0]
    one, two = FakeCore(), FakeCore()
    async with talking(one, now_s=lambda: now[0]) as (server, port):
        await server.until_called("getUpdates")
        async with started(new_port(server), two):
            detail = await until_health(port, lambda health: not health.ok)
            assert "another process reads with the same bot token" in detail
            for number in range(10):
                says(server, f"line {number}")
            await confirmed(server, server.world.next_update)
        await until_health(port, lambda _health: not port._status.fault)
        assert not (await port.health()).ok  # it reads again, and the other one may be back any moment
        now[0] = CONFLICT_LASTS_S + 1
        await until_health(port, lambda health: health.ok)
        conflicts = dict((await port.health()).facts)["conflicts"]
        assert int(conflicts) > 0
    assert {*texts(one), *texts(two)} == {f"line {number}" for number in range(10)}


async def test_a_webhook_is_told_and_not_deleted() -> None:
    core = FakeCore()
    with no_proxy():
        async with serving() as server:
            server.webhook = "https://example.org/hook"
            port = new_port(server)
            running = asyncio.create_task(port.listen(core.sink))
            detail = await until_health(port, lambda health: "webhook" in health.detail)
            assert "deleteWebhook" in detail
            server.webhook = ""
            await until_health(port, lambda health: health.ok)
            assert server.called("deleteWebhook") == []
            await port.close()
            await running


async def test_a_refused_token_is_told_and_tried_slowly() -> None:
    core = FakeCore()
    async with talking(core) as (server, port):
        await server.until_called("getUpdates")
        server.token = None
        server.fail("getUpdates", reset(performed=False))
        says(server, "hello")
        detail = await until_health(port, lambda health: "refused" in health.detail)
        assert "@BotFather" in detail
        assert TOKEN not in detail
        server.token = TOKEN
        await core.heard_of(1)
        await until_health(port, lambda health: health.ok)


# ---------------------------------------------------------------- what status tells


async def test_privacy_mode_is_told_with_what_it_hides() -> None:
    """Report 39."""
    core = FakeCore()
    with no_proxy():
        async with serving() as server:
            server.world.privacy = True
            async with started(new_port(server), core) as port:
                chat = server.world.group(-500)
                says(server, "run df -h", chat=chat)
                says(server, "/help", chat=chat)
                await core.heard_of(1)
                health = await port.health()
    assert texts(core) == ["help"]
    assert health.ok
    facts = dict(health.facts)
    assert facts["privacy mode"].startswith("on: in groups only /commands")
    assert "add it again" in facts["privacy mode"]
    assert facts["bot"] == "@sayso_test_bot (4200)"


async def test_status_tells_when_something_was_heard_last() -> None:
    core = FakeCore()
    async with talking(core) as (server, port):
        assert dict((await port.health()).facts)["last message"] == "none yet"
        says(server, "hello")
        await core.heard_of(1)
        facts = dict((await port.health()).facts)
        assert facts["last message"] == "2026-03-01T12:00:00+00:00"
        assert facts["privacy mode"] == "off"
        assert facts["api"] == server.url.removeprefix("http://")


async def test_neither_token_nor_words_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("httpx").setLevel(logging.NOTSET)
    caplog.set_level(logging.DEBUG)
    core = FakeCore()
    async with talking(core) as (server, port):
        server.fail("getUpdates", gateway())
        server.world.push("message", {"message_id": "what", "text": "hush-hush"})
        says(server, "hush-hush too")
        (heard,) = await core.heard_of(1)
        await port.post(heard.place, Message(body=Text.of("hush-hush three")), nonce="n")
        server.token = None
        await until_health(port, lambda health: "refused" in health.detail or health.ok)
    ours = [
        r for r in caplog.records if r.name.split(".")[0] in ("adapters", "telegram", "httpx", "httpcore")
    ]
    logged = "\n".join(record.getMessage() for record in ours)
    assert TOKEN not in logged
    assert "hush" not in logged


async def test_before_it_listens_it_is_not_healthy() -> None:
    with no_proxy():
        async with serving() as server:
            port = new_port(server)
            health = await port.health()
            assert (health.ok, health.detail) == (False, "Telegram: not listening. Start sayso serve.")
            with pytest.raises(NotCommittedError):
                await port._hand_over(moved("-1", "-2", at=StillClock().now()))
            await port._wire.close()
