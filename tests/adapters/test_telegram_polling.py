"""Reading updates: nothing is confirmed before it is stored, nothing is lost, every fault is told."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

import pytest

from adapters.telegram.inbound import moved
from adapters.telegram.polling import MOST_KEPT_BACK
from adapters.telegram.port import TelegramPort
from adapters.telegram.status import CONFLICT_LASTS_S
from bot.ports import Health, Inbound, Message, NotCommittedError, Receipt
from bot.text import Text
from tests.adapters.console_fakes import FakeCore, StillClock
from tests.adapters.stage_telegram import (
    QUICK,
    can_read,
    new_port,
    no_proxy,
    started,
    talking,
    text_of,
)
from tests.simulators.telegram.faults import flood, gateway, held, nonsense, reset
from tests.simulators.telegram.server import TOKEN, Server, serving
from tests.simulators.telegram.world import Chat


def says(server: Server, text: str, *, by: str = "ana", chat: Chat | None = None) -> int:
    """Somebody says something; return the number of the update."""
    server.world.say(chat or server.world.private(by), server.world.person(by), text)
    return server.world.next_update


async def confirmed(server: Server, update: int) -> None:
    await server.world.until(lambda: server.world.confirmed >= update)


async def until_health(port: TelegramPort, fact: Callable[[Health], bool]) -> str:
    async with asyncio.timeout(5):
        while True:
            health = await port.health()
            if fact(health):
                return health.detail
            await asyncio.sleep(0.002)


NOT_YET = (
    "Not stored, so nothing was done. It is tried again for some minutes. Free some disk space: sayso doctor"
)


def texts(core: FakeCore) -> list[str]:
    return [heard.text for heard in core.heard]


class StubbornCore(FakeCore):
    """A core whose inbox hangs for words in `hangs`, until `let`."""

    def __init__(self, *hangs: str) -> None:
        super().__init__()
        self.hangs, self.let, self.entered = hangs, asyncio.Event(), asyncio.Event()

    async def sink(self, inbound: Inbound) -> Receipt:
        if inbound.text in self.hangs:
            self.entered.set()
            await self.let.wait()
        return await super().sink(inbound)


# ---------------------------------------------------------------- stored, then confirmed


async def test_a_process_that_dies_before_storing_loses_nothing() -> None:
    """Report 30: the library's own updater would have confirmed it."""
    stuck, core = StubbornCore("run df -h"), FakeCore()
    with no_proxy():
        async with serving() as server:
            port = new_port(server)
            killed = asyncio.create_task(port.listen(stuck.sink))
            update = says(server, "run df -h")
            await stuck.entered.wait()
            killed.cancel()
            await asyncio.wait([killed])
            assert server.world.confirmed < update
            async with started(new_port(server), core):
                await confirmed(server, update)
    assert (stuck.heard, texts(core)) == ([], ["run df -h"])


async def test_what_was_stored_and_not_confirmed_comes_again_and_is_known() -> None:
    """Report 30: the inbox knows it by the same id."""
    core = FakeCore()
    with no_proxy():
        async with serving() as server:
            async with started(new_port(server), core):
                says(server, "restart caddy")
                await core.heard_of(1)
            server.world.again("message", server.world.private("ana").posts[101].json)
            async with started(new_port(server), core):
                await confirmed(server, says(server, "bye"))
    assert texts(core) == ["restart caddy", "bye"]


async def test_what_was_said_while_down_is_heard_in_order() -> None:
    """Report 31: the backlog is kept."""
    core = FakeCore()
    with no_proxy():
        async with serving() as server:
            for number in range(150):
                says(server, f"line {number}")
            async with started(new_port(server), core):
                await core.heard_of(150)
            assert texts(core) == [f"line {number}" for number in range(150)]
            assert all(call.get("offset", 0) >= 0 for call in server.called("getUpdates"))


async def test_the_kinds_of_updates_are_asked_for_each_time() -> None:
    core = FakeCore()
    async with talking(core) as (server, _port):
        await confirmed(server, says(server, "hello"))
        wanted = ["message", "edited_message", "callback_query"]
        assert all(call["allowed_updates"] == wanted for call in server.called("getUpdates"))


async def test_stopping_confirms_what_is_stored() -> None:
    core = FakeCore()
    with no_proxy():
        async with serving() as server:
            async with started(new_port(server), core):
                update = says(server, "hello")
                await core.heard_of(1)
            assert server.world.confirmed >= update


# ---------------------------------------------------------------- nobody waits


async def test_a_slow_inbox_holds_up_neither_presses_nor_other_chats() -> None:
    """Report 27: presses have a lane of their own."""
    core = StubbornCore("slow")
    async with talking(core, hold_s=0.01) as (server, _port):
        slow = says(server, "slow")
        await core.entered.wait()
        says(server, "after slow")
        says(server, "hello", by="bo")
        chat = server.world.private("ana")
        query = server.world.press(chat, 101, server.world.person("ana"), "s1:tok")
        await core.heard_of(2)
        await server.world.until(lambda: query in server.world.answers)
        assert sorted((one.kind.value, one.text) for one in core.heard) == [
            ("click", ""),
            ("message", "hello"),
        ]
        assert server.world.confirmed < slow
        core.let.set()
        await core.heard_of(4)
        assert [text for text in texts(core) if "slow" in text] == ["slow", "after slow"]
        await confirmed(server, server.world.next_update)


async def test_an_update_that_cannot_be_read_holds_up_nothing() -> None:
    core = FakeCore()
    async with talking(core) as (server, port):
        server.world.push("message", {"message_id": "what"})
        await confirmed(server, says(server, "hello"))
        assert texts(core) == ["hello"]
        assert ("unreadable updates", "1") in (await port.health()).facts


async def test_an_update_of_an_unknown_kind_is_confirmed() -> None:
    core = FakeCore()
    async with talking(core) as (server, _port):
        server.world.allowed = None
        server.world.push("something_new", {"a": 1})
        await confirmed(server, says(server, "hello"))
        assert texts(core) == ["hello"]


async def test_a_sink_that_breaks_is_tried_again() -> None:
    class Breaking(FakeCore):
        broken = 0

        async def sink(self, inbound: Inbound) -> Receipt:
            self.broken += 1
            if self.broken == 1:
                raise ZeroDivisionError
            return await super().sink(inbound)

    core = Breaking()
    async with talking(core) as (server, _port):
        await confirmed(server, says(server, "hello"))
    assert texts(core) == ["hello"]


# ---------------------------------------------------------------- a full disk


async def test_stop_gets_through_while_nothing_can_be_stored_before_it() -> None:
    core = FakeCore(full=frozenset({"run reboot"}))
    async with talking(core) as (server, port):
        first = says(server, "run reboot")
        says(server, "run reboot")
        says(server, "stop")
        await core.heard_of(1)
        assert texts(core) == ["stop"]
        assert server.world.confirmed < first
        detail = await until_health(port, lambda health: not health.ok)
        assert "could not be stored" in detail
        said = lambda: [text_of(post) for post in can_read(server.world.private("ana"), "ana")]  # noqa: E731
        await server.world.until(lambda: bool(said()))
        assert said() == [NOT_YET]
        core.full = frozenset()
        await confirmed(server, server.world.next_update)
        await until_health(port, lambda health: health.ok)
    assert texts(core) == ["stop", "run reboot", "run reboot"]


async def test_what_cannot_be_stored_for_long_has_to_be_said_again() -> None:
    """Report 31: a command that runs when the disk is mended hours later is a surprise."""
    now = [0.0]
    core = FakeCore(full=frozenset({"run reboot"}))
    async with talking(core, now_s=lambda: now[0]) as (server, _port):
        chat = server.world.private("ana")
        update = says(server, "run reboot")
        await server.until_called("sendMessage", 1)
        assert server.world.confirmed < update
        now[0] = QUICK.keep_s
        await confirmed(server, update)
        core.full = frozenset()
        await confirmed(server, says(server, "hello"))
        assert texts(core) == ["hello"]
        assert text_of(can_read(chat, "ana")[-1]) == "Not stored, so nothing was done. Say it again."
        assert can_read(chat, "ana")[-1].json["reply_to_message"]["message_id"] == 101


async def test_what_cannot_be_stored_never_hides_what_comes_after() -> None:
    """Telegram hands out a hundred updates; the oldest are given up before they fill it."""
    core = FakeCore(full=frozenset({"run reboot"}))
    async with talking(core) as (server, _port):
        first = says(server, "run reboot")
        for _ in range(MOST_KEPT_BACK + 30):
            says(server, "run reboot")
        says(server, "stop", by="bo")
        await core.heard_of(1)
        assert texts(core) == ["stop"]
        assert server.world.confirmed >= first


@pytest.mark.parametrize("said", [{"chatter": True}, {"robot": True}])
async def test_only_who_spoke_to_the_bot_is_told(said: dict[str, bool]) -> None:
    core = FakeCore(full=frozenset({"run reboot"}))
    async with talking(core) as (server, _port):
        world = server.world
        chat = world.group(-500)
        robot = world.person("robot", is_bot=True)
        world.say(chat, robot if "robot" in said else world.person("ana"), "run reboot")
        await confirmed(server, 0)
        says(server, "hello")
        await core.heard_of(1)
        assert can_read(chat, "ana") == ([] if "robot" not in said else [chat.posts[101]])


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
    async with talking(core, patience=replace(QUICK, poll_s=0, answer_s=0.1)) as (server, _port):
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
        assert not (await port.health()).ok
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
