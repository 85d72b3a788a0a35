"""Hearing over the real socket client: stored before acknowledged, acknowledged in time, heard once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.ports import Button, Inbound, InboundKind, Message, PlaceRef, Receipt
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_slack import SlackStage, port_for, serving
from tests.simulators.slack.server import Slack, running
from tests.simulators.slack.world import BOT_USER, TEAM

HERE = PlaceRef(platform="slack", tenant=TEAM, channel="D_ANA")


@pytest.fixture
def core() -> FakeCore:
    return FakeCore()


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    async with running() as simulator:
        yield simulator


@pytest.fixture
async def on(slack: Slack, core: FakeCore, tmp_path: Path) -> AsyncIterator[SlackStage]:
    async with serving(port_for(slack, tmp_path), core) as port:
        yield SlackStage(slack, port)


# ---------------------------------------------------------------- events


async def test_a_redelivery_is_acknowledged_and_heard_once(on: SlackStage, core: FakeCore) -> None:
    """Report 1: Slack sends again what was acknowledged too late, in new envelopes."""
    ts = await on.slack.say("hello")
    await on.slack.sockets.acked(ts)
    for _ in range(3):
        again = await on.slack.sockets.again(ts)
        assert again is not None
        await on.slack.world.until(lambda again=again: again.acked_at)
    assert [heard.text for heard in core.heard] == ["hello"]
    assert len({one.envelope for one in on.slack.sockets.deliveries if one.key == ts}) == 4


async def test_what_was_not_stored_is_stored_when_it_comes_again(on: SlackStage, core: FakeCore) -> None:
    """Report 1 and P1: no acknowledgement, so Slack sends it again, and then it counts."""
    core.full = frozenset({"hello"})
    ts = await on.slack.say("hello")
    await on.slack.say("other")
    await core.heard_of(1)
    assert not on.slack.sockets.was_acked(ts)
    core.full = frozenset()
    await on.slack.sockets.again(ts)
    await on.slack.sockets.acked(ts)
    assert [heard.text for heard in core.heard] == ["other", "hello"]


async def test_a_fault_of_the_core_is_not_acknowledged(on: SlackStage, core: FakeCore) -> None:
    inner = core.sink

    async def broken(inbound: Inbound) -> Receipt:
        if inbound.text == "odd":
            raise ZeroDivisionError
        return await inner(inbound)

    on.port._sink = broken
    ts = await on.slack.say("odd")
    await on.slack.sockets.acked(await on.slack.say("even"))
    assert not on.slack.sockets.was_acked(ts)


async def test_a_mention_and_its_message_are_heard_once(on: SlackStage, core: FakeCore) -> None:
    """Report 2."""
    ts = await on.slack.say("@sayso uptime", channel="C_OPS", events=("message", "app_mention"))
    await on.slack.world.until(
        lambda: sum(bool(one.acked_at) for one in on.slack.sockets.deliveries if one.key == ts) == 2
    )
    assert [heard.text for heard in core.heard] == ["uptime"]


async def test_a_mention_alone_is_enough(on: SlackStage, core: FakeCore) -> None:
    """Report 3: some workspaces send nothing else."""
    await on.slack.say("@sayso uptime", channel="C_OPS", events=("app_mention",))
    (heard,) = await core.heard_of(1)
    assert (heard.text, heard.addressed) == ("uptime", True)


async def test_what_we_post_and_edit_comes_back_and_starts_nothing(on: SlackStage, core: FakeCore) -> None:
    """Reports 11, 12 and 50."""
    ref = await on.port.post(HERE, Message(body=Text.of("one")), nonce="n")
    await on.port.edit(ref, Message(body=Text.of("two")))
    await on.slack.sockets.acked(await on.slack.say("hello"))
    echoes = [one for one in on.slack.sockets.deliveries if one.body["event"].get("user") == BOT_USER]
    assert echoes
    await on.slack.world.until(lambda: all(one.acked_at for one in on.slack.sockets.deliveries))
    assert [heard.text for heard in core.heard] == ["hello"]


async def test_an_edit_by_a_person_is_heard_as_one(on: SlackStage, core: FakeCore) -> None:
    """Report 36."""
    ts = await on.slack.say("no")
    await core.heard_of(1)
    await on.slack.edit(ts, "yes")
    heard = (await core.heard_of(2))[1]
    assert (heard.kind, heard.text, heard.position) == (InboundKind.EDIT, "yes", core.heard[0].position)


async def test_another_bot_is_heard_as_one(on: SlackStage, core: FakeCore) -> None:
    """Report 50."""
    await on.slack.say("yes", bot_id="B_OTHER", app_id="A_OTHER")
    assert (await core.heard_of(1))[0].account.is_bot


@pytest.mark.parametrize(
    "event",
    [
        {"type": "reaction_added", "user": "U_ANA", "item": {"channel": "C_OPS", "ts": "1.0"}},
        {"type": "app_home_opened", "user": "U_ANA", "channel": "D_ANA"},
        {"type": "function_executed", "function": {}},
        {"type": "message", "subtype": "channel_join", "channel": "C_OPS", "user": "U_BO", "ts": "1.0"},
        {"type": "something_new"},
    ],
)
async def test_every_event_is_acknowledged(on: SlackStage, core: FakeCore, event: dict[str, Any]) -> None:
    """An event that nobody acknowledges comes again, and again."""
    await on.slack.sockets.event(event, key="odd")
    await on.slack.sockets.acked("odd")
    assert core.heard == []


async def test_a_slow_commit_holds_up_its_own_channel_only(on: SlackStage, core: FakeCore) -> None:
    inner, let = core.sink, asyncio.Event()

    async def slow(inbound: Inbound) -> Receipt:
        if inbound.text == "first":
            await let.wait()
        return await inner(inbound)

    on.port._sink = slow
    first = await on.slack.say("first")
    second = await on.slack.say("second")
    await on.slack.sockets.acked(await on.slack.say("elsewhere", by="U_BO", channel="D_BO"))
    assert not on.slack.sockets.was_acked(second)
    let.set()
    await on.slack.sockets.acked(first)
    await on.slack.sockets.acked(second)
    assert [heard.text for heard in core.heard] == ["elsewhere", "first", "second"]


async def test_a_name_is_known_from_the_second_time_on(on: SlackStage, core: FakeCore) -> None:
    await on.slack.say("one")
    await core.heard_of(1)
    await on.slack.world.until(lambda: on.slack.world.called("users.info"))
    async with asyncio.timeout(30):
        while on.port._people.name_of("U_ANA") != "ana":  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0)
    await on.slack.say("two")
    assert [heard.account.display for heard in await core.heard_of(2)] == ["U_ANA", "ana"]
    assert len(on.slack.world.called("users.info")) == 1


# ---------------------------------------------------------------- many at once


async def test_many_conversations_at_once_are_acknowledged_and_heard_once(
    on: SlackStage, core: FakeCore
) -> None:
    """With a press, a redelivery and a growing card in each of 60 conversations."""
    for number in range(60):
        on.slack.world.add_channel(f"D_{number}", kind="im", members={"U_ANA", BOT_USER})

    async def converse(number: int) -> None:
        channel = f"D_{number}"
        place = PlaceRef(platform="slack", tenant=TEAM, channel=channel)
        ts = await on.slack.say(f"run {number}", channel=channel)
        button = Message(body=Text.of("go?"), buttons=(Button(label="Go", token="t"),))
        ref = await on.port.post(place, button, nonce=f"n{number}")
        await on.slack.sockets.again(ts)
        await on.slack.press(ref.message, token="t", channel=channel)
        await on.port.edit(ref, Message(body=Text.of("done")))

    await asyncio.gather(*(converse(number) for number in range(60)))
    await core.heard_of(120)
    await on.slack.world.until(lambda: all(one.acked_at for one in on.slack.sockets.deliveries))
    assert len(core.heard) == 120
    assert on.slack.world.refused == []
    assert on.slack.world.pings == []


async def test_a_lost_acknowledgement_is_a_redelivery_and_nothing_else(
    on: SlackStage, core: FakeCore
) -> None:
    for connection in on.slack.sockets.connections:
        connection.deaf = True
    ts = await on.slack.say("hello")
    await core.heard_of(1)
    assert not on.slack.sockets.was_acked(ts)
    for connection in on.slack.sockets.connections:
        connection.deaf = False
    await on.slack.sockets.again(ts)
    await on.slack.sockets.acked(ts)
    assert len(core.heard) == 1
