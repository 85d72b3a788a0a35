"""What arrives is taken in its order, once, and leaves nothing behind; faults are told to operators only."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot import conversation as talking
from bot import overheard
from bot.ports import InboundKind, Message, MessageRef, PlaceRef
from tests.bot.test_digest import Ends
from tests.kit import Kit, ScriptedPort, conversation, person

RESTART = "run systemctl restart caddy on web1"


async def test_who_arrived_first_goes_first_however_slow_the_look_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, slow = asyncio.to_thread, ["the first one"]

    async def to_thread(work: Callable[..., Any], *values: Any) -> Any:
        if work.__name__ == "place_of" and slow:
            slow.clear()
            await asyncio.sleep(0.2)
        return await real(work, *values)

    async with conversation(tmp_path, executor=Ends) as kit:
        await kit.say(RESTART)
        monkeypatch.setattr(asyncio, "to_thread", to_thread)
        first = await kit.hand_over(kit.inbound("uptime of web2"))
        second = await kit.hand_over(kit.inbound("go ahead"))
        await asyncio.wait([first.settled, second.settled])
        assert not slow
        assert "approval:granted" not in kit.kinds()


async def test_places_that_fell_silent_cost_nothing(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        for number in range(5):
            await kit.say("pending", place=f"thread {number}")
        await kit.look()
        talk = kit.app.conversation
        assert (len(talk._lanes), len(talk._unrecorded.places), len(talk._delivery._lanes)) == (0, 0, 0)


async def test_an_event_is_the_same_whether_or_not_it_tells_where_a_guest_is_from(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        told = kit.inbound(RESTART)
        assert (await kit.hand_over(told)).fresh
        again = replace(told, account=replace(told.account, tenant="T2"))
        assert not (await kit.hand_over(again)).fresh


def break_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    def concerns(*_: object, **__: object) -> bool:
        raise RuntimeError("no way with password=hunter22")

    monkeypatch.setattr(overheard, "concerns", concerns)


async def test_a_fault_is_told_to_operators_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        break_turns(monkeypatch)
        assert await kit.say("hello", by="mallory") == ""
        assert await kit.say("hello", is_bot=True) == ""
        assert kit.kinds()[-2:] == ["turn:crashed", "turn:crashed"]
        told = await kit.say("hello")
        assert "That failed inside sayso. Nothing ran from this message." in told
        assert "hunter22" not in told


async def late(kit: Kit, text: str, **changes: object) -> str:
    told = replace(kit.inbound(text), **changes)  # type: ignore[arg-type] # fields by name
    kit.clock.advance(7200)
    return await kit.send(told)


async def test_what_an_app_says_late_in_an_operators_name_is_not_theirs(tmp_path: Path) -> None:
    async with conversation(tmp_path, operators=(person("ana"),), executor=Ends) as kit:
        app = replace(kit.inbound("").account, is_bot=True)
        assert await late(kit, "go ahead", account=app) == ""
        assert "reached sayso late" in await late(kit, "go ahead")


async def test_an_edit_that_is_read_late_is_not_answered(tmp_path: Path) -> None:
    async with conversation(tmp_path, executor=Ends) as kit:
        assert await late(kit, "go ahead", kind=InboundKind.EDIT) == ""


class Stuck(ScriptedPort):
    """A platform that takes nothing until it is let go."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.free = asyncio.Event()

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        await self.free.wait()
        return await super().post(place, message, nonce=nonce)


async def test_a_turn_is_settled_though_another_platform_takes_nothing(tmp_path: Path) -> None:
    stuck = Stuck("stuck")
    ana = replace(person("ana"), accounts=("script::ana", "stuck::ana"))
    async with conversation(tmp_path, operators=(ana,), executor=Ends, ports=(stuck,)) as kit:
        told = kit.inbound("pending")
        there = replace(
            told, place=replace(told.place, platform="stuck"), account=replace(told.account, platform="stuck")
        )
        waiting = await kit.hand_over(replace(there, event_id="there"))
        await kit.say(RESTART)
        assert "ok in" in await kit.say("go ahead")
        assert not waiting.settled.done()
        stuck.free.set()
        await waiting.settled
        assert "Nothing waits" in next(iter(stuck.screen.values())).text


async def test_a_stop_waits_for_the_turn_in_hand_only_and_the_next_start_takes_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, entered = overheard.concerns, threading.Event()
    async with conversation(tmp_path, executor=Ends) as kit:
        talk = kit.app.conversation

        def slow(*values: Any, **named: Any) -> bool:
            entered.set()
            while not talk._closing:
                time.sleep(0.001)
            return real(*values, **named)

        monkeypatch.setattr(overheard, "concerns", slow)
        for number in range(40):
            await kit.hand_over(kit.inbound(f"uptime of web{1 + number % 2}"))
        await asyncio.to_thread(entered.wait)
    monkeypatch.setattr(overheard, "concerns", real)
    with sqlite3.connect(tmp_path / "ledger.db") as file:
        (taken,) = file.execute("SELECT count(*) FROM entry WHERE kind='turn:received'").fetchone()
        (left,) = file.execute("SELECT count(*) FROM inbox WHERE done_at IS NULL").fetchone()
    file.close()
    assert (taken, left) == (1, 39)
    async with conversation(tmp_path, executor=Ends) as kit:
        assert kit.kinds().count("turn:received") == 40
        assert kit.core.ledger.inbox.pending() == []
        rows = kit.core.ledger.reader().execute(
            "SELECT json_extract(body, '$.event') FROM entry WHERE kind='turn:received' ORDER BY seq"
        )
        heard = [row[0] for row in rows]
        assert len(set(heard)) == 40
        assert heard == sorted(heard, key=lambda event: int(event.removeprefix("e")))


async def test_a_turn_that_hangs_does_not_keep_sayso_from_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talking, "CLOSE_S", 0.01)
    let, entered = threading.Event(), threading.Event()

    def hangs(*_: object, **__: object) -> bool:
        entered.set()
        return not let.wait()

    try:
        async with conversation(tmp_path, executor=Ends) as kit:
            monkeypatch.setattr(overheard, "concerns", hangs)
            await kit.hand_over(kit.inbound(RESTART))
            await asyncio.to_thread(entered.wait)
            await kit.app.conversation.close()
            assert len(kit.core.ledger.inbox.pending()) == 1
            let.set()
    finally:
        let.set()
