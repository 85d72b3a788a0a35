"""Reading updates: nothing is confirmed before it is stored, nothing is lost, nothing waits in vain."""

import asyncio

import pytest

from adapters.telegram.polling import MOST_KEPT_BACK
from bot.ports import Inbound, Receipt
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_telegram import (
    QUICK,
    can_read,
    new_port,
    no_proxy,
    started,
    talking,
    text_of,
)
from tests.adapters.telegram_help import confirmed, says, texts, until_health
from tests.simulators.telegram.server import serving

NOT_YET = (
    "Not stored, so nothing was done. It is tried again for some minutes. Free some disk space: sayso doctor"
)


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
        assert said() == [NOT_YET]
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


@pytest.mark.parametrize("is_bot", [False, True])
async def test_only_people_who_spoke_to_the_bot_are_told(is_bot: bool) -> None:  # noqa: FBT001
    core = FakeCore(full=frozenset({"run reboot", "reboot"}))
    async with talking(core) as (server, _port):
        world = server.world
        chat = world.group(-500)
        speaker = world.person("x", is_bot=is_bot)
        world.say(chat, speaker, "/reboot" if is_bot else "run reboot")
        says(server, "run reboot")
        await world.until(lambda: bool(can_read(world.private("ana"), "ana")))
        assert [call["chat_id"] for call in server.called("sendMessage")] == [world.private("ana").id]
