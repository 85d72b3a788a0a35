"""What was said while nobody listened: read from the history, in order, once."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from adapters.slack.port import SlackPort
from bot.ports import Inbound, InboundKind, NotCommittedError, PlaceRef, Receipt
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_slack import port_for, serving, started, until
from tests.simulators.slack.server import Slack, running
from tests.simulators.slack.world import TEAM, Fault

DM = PlaceRef(platform="slack", tenant=TEAM, channel="D_ANA")
OPS = replace(DM, channel="C_OPS")


@pytest.fixture
def core() -> FakeCore:
    return FakeCore()


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    async with running() as simulator:
        yield simulator


@pytest.fixture
async def port(slack: Slack, core: FakeCore, tmp_path: Path) -> AsyncIterator[SlackPort]:
    async with serving(port_for(slack, tmp_path), core) as listening:
        yield listening


@dataclass
class Marks:
    """Where reading stopped."""

    newest_: list[tuple[PlaceRef, str]] = field(default_factory=list)

    def newest(self, platform: str) -> Sequence[tuple[PlaceRef, str]]:
        assert platform == "slack"
        return self.newest_


# ---------------------------------------------------------------- catching up


async def test_what_was_said_while_away_is_heard_in_order(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    """Report 20 and P7: in a direct message, a channel, a thread that was known and one that was not."""
    known = await slack.say("@sayso uptime", channel="C_OPS")
    seen = await slack.say("seen")
    marks = Marks([(replace(OPS, thread=known), f"m:C_OPS:{known}"), (DM, f"m:D_ANA:{seen}")])
    await slack.say("one")
    await slack.say("two", by="U_ANA")
    await slack.say("in the thread", channel="C_OPS", thread=known)
    fresh = await slack.say("@sayso df", channel="C_OPS")
    await slack.say("also this", channel="C_OPS", thread=fresh)
    await slack.say("no bot", bot_id="BBOT", user="UBOT")
    core.keys |= {("slack", TEAM, f"m:C_OPS:{known}"), ("slack", TEAM, f"m:D_ANA:{seen}")}
    async with serving(port_for(slack, tmp_path, bookmarks=marks), core):
        heard = await core.heard_of(5)
    assert [one.text for one in heard if one.place.channel == "D_ANA"] == ["one", "two"]
    ops = [(one.text, one.place.thread) for one in heard if one.place.channel == "C_OPS"]
    assert ops == [("in the thread", known), ("df", fresh), ("also this", fresh)]
    assert len(core.heard) == 5


async def test_what_was_said_during_a_break_is_heard(slack: Slack, core: FakeCore, tmp_path: Path) -> None:
    """Report 20: a replaced connection does not bring what the lost one missed."""
    first = await slack.say("first")
    marks = Marks([(DM, f"m:D_ANA:{first}")])
    async with serving(port_for(slack, tmp_path, bookmarks=marks), core):
        await core.heard_of(1)
        slack.sockets.knobs.refuse = 503
        slack.sockets.cut()
        await slack.world.until(lambda: not slack.sockets.connections)
        await slack.say("meanwhile")
        slack.sockets.knobs.refuse = 0
        heard = await core.heard_of(2)
    assert [one.text for one in heard] == ["first", "meanwhile"]


async def test_live_and_caught_up_are_one(slack: Slack, core: FakeCore, tmp_path: Path) -> None:
    ts = await slack.say("hello")
    marks = Marks([(DM, "m:D_ANA:1.000000")])
    async with serving(port_for(slack, tmp_path, bookmarks=marks), core):
        await core.heard_of(1)
        await slack.sockets.event(
            {**slack.world.channels["D_ANA"].messages[ts], "channel": "D_ANA", "channel_type": "im"}, key=ts
        )
        await slack.sockets.acked(ts)
    assert len(core.heard) == 1


async def test_an_edit_made_while_away_is_no_fresh_word(slack: Slack, core: FakeCore, tmp_path: Path) -> None:
    """Report 36: what it said at first is not known any more."""
    ts = await slack.say("no")
    await slack.edit(ts, "yes")
    async with serving(port_for(slack, tmp_path, bookmarks=Marks([(DM, "m:D_ANA:1.0")])), core):
        assert (await core.heard_of(1))[0].kind is InboundKind.EDIT


async def test_a_long_absence_is_read_over_several_pages(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    for number in range(450):
        slack.world.keep("D_ANA", slack.message(f"{number}", by="U_ANA"))
    async with serving(port_for(slack, tmp_path, bookmarks=Marks([(DM, "m:D_ANA:1.0")])), core):
        heard = await core.heard_of(450)
    assert [one.text for one in heard] == [f"{number}" for number in range(450)]


async def test_a_place_that_cannot_be_read_is_reported_and_read_later(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    await slack.say("meanwhile")
    for _ in range(10_000):
        slack.world.fail("conversations.history", Fault(kind="limit", retry_after="60"))
    port = port_for(slack, tmp_path, bookmarks=Marks([(DM, "m:D_ANA:1.0")]))
    async with started(port, core):
        await until(port, ok=False, detail="1 places could not be read")
        slack.world.faults.clear()
        await core.heard_of(1)
        await until(port, ok=True)


async def test_what_cannot_be_stored_when_caught_up_is_read_again(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    await slack.say("meanwhile")
    await slack.say("later")
    core.full = frozenset({"meanwhile"})
    port = port_for(slack, tmp_path, bookmarks=Marks([(DM, "m:D_ANA:1.0")]))
    async with started(port, core):
        await until(port, ok=False, detail="could not be read")
        assert core.heard == []
        core.full = frozenset()
        assert [one.text for one in await core.heard_of(2)] == ["meanwhile", "later"]


@pytest.mark.parametrize("channel", ["C_GONE", "C_CLOSED"])
async def test_a_place_that_is_gone_holds_nothing_up(
    slack: Slack, core: FakeCore, tmp_path: Path, channel: str
) -> None:
    slack.world.add_channel("C_CLOSED", members=set())
    await slack.say("meanwhile")
    marks = Marks([(replace(DM, channel=channel), f"m:{channel}:1.0"), (DM, "m:D_ANA:1.0")])
    async with serving(port_for(slack, tmp_path, bookmarks=marks), core):
        await core.heard_of(1)


async def test_marks_that_cannot_be_read_do_not_stop_it(slack: Slack, core: FakeCore, tmp_path: Path) -> None:
    class Broken:
        def newest(self, platform: str) -> Sequence[tuple[PlaceRef, str]]:
            raise OSError(platform)

    async with started(port_for(slack, tmp_path, bookmarks=Broken()), core) as port:
        await until(port, ok=False, detail="could not be read")
        await slack.sockets.acked(await slack.say("hello"))


# ---------------------------------------------------------------- everything at once


async def test_nothing_is_lost_or_doubled_over_breaks_and_restarts(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    """Report 20 and P1: duplicates, breaks in the middle, announced ones, and new processes."""
    said: list[str] = []
    marks = Marks([(DM, "m:D_ANA:1.0")])

    async def stored(inbound: Inbound) -> Receipt:
        receipt = await core.sink(inbound)
        marks.newest_ = [(DM, inbound.event_id)]
        return receipt

    async def say(text: str) -> str:
        said.append(text)
        return await slack.say(text)

    for process in range(3):
        port = port_for(slack, tmp_path, bookmarks=marks)
        async with serving(port, core):
            port._sink = stored
            for number in range(100):
                ts = await say(f"{process}.{number}")
                if number % 20 == 5 and slack.sockets.was_acked(ts):
                    await slack.sockets.again(ts)
                if number % 40 == 30:
                    slack.sockets.cut()
                if number % 40 == 15:
                    await slack.sockets.announce("warning")
                await asyncio.sleep(0)
            await core.heard_of(len(said))
        await say(f"away {process}")
    async with serving(port_for(slack, tmp_path, bookmarks=marks), core):
        await core.heard_of(len(said))
    assert sorted(one.text for one in core.heard) == sorted(said)


async def test_a_commit_that_fails_now_and_then_loses_nothing(
    slack: Slack, port: SlackPort, core: FakeCore
) -> None:
    inner, tries = core.sink, iter(range(10_000))

    async def moody(inbound: Inbound) -> Receipt:
        if next(tries) % 3 == 1:
            raise NotCommittedError
        return await inner(inbound)

    port._sink = moody
    keys = [await slack.say(f"{number}") for number in range(30)]
    for key in keys:
        async with asyncio.timeout(30):
            while not slack.sockets.was_acked(key):
                await slack.sockets.again(key)
                await asyncio.sleep(0.002)
    assert sorted(one.text for one in core.heard) == sorted(f"{number}" for number in range(30))
