"""The connection: kept, replaced, watched and reported; and what was said while there was none."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from adapters.slack.port import SlackPort
from bot.ports import Health, Inbound, InboundKind, Message, NotCommittedError, PlaceRef, Receipt
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_slack import FAST, port_for, serving
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


@contextlib.asynccontextmanager
async def started(port: SlackPort, core: FakeCore) -> AsyncIterator[SlackPort]:
    """Let a port listen that may never be well."""
    task = asyncio.create_task(port.listen(core.sink))
    try:
        yield port
    finally:
        await port.close()
        await asyncio.wait_for(task, 10)


async def until(port: SlackPort, *, ok: bool, detail: str = "") -> Health:
    """Wait until the port says it is well, or not."""
    async with asyncio.timeout(10):
        while True:
            health = await port.health()
            if health.ok == ok and detail in health.detail:
                return health
            await asyncio.sleep(0.002)


async def connected(slack: Slack, times: int) -> None:
    """Wait until so many connections were opened, and the newest is the only one."""
    await slack.world.until(lambda: slack.sockets.opened >= times and len(slack.sockets.connections) == 1)


@dataclass
class Marks:
    """Where reading stopped."""

    newest_: list[tuple[PlaceRef, str]] = field(default_factory=list)

    def newest(self, platform: str) -> Sequence[tuple[PlaceRef, str]]:
        assert platform == "slack"
        return self.newest_


# ---------------------------------------------------------------- being replaced


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "too_many_websockets"])
async def test_a_connection_that_will_close_is_replaced_first(
    slack: Slack, port: SlackPort, core: FakeCore, reason: str
) -> None:
    """The next one is open before the old one is left, so nothing falls between them."""
    kept = []

    def watch() -> bool:
        kept.append(len(slack.sockets.connections))
        return slack.sockets.opened >= 2 and len(slack.sockets.connections) == 1

    await slack.sockets.announce(reason)
    await slack.world.until(watch)
    assert min(kept) >= 1
    await slack.say("hello")
    assert (await core.heard_of(1))[0].text == "hello"
    assert (await port.health()).ok


async def test_what_arrives_on_a_connection_that_is_being_left_is_handled(
    slack: Slack, port: SlackPort, core: FakeCore
) -> None:
    inner, entered, let = core.sink, asyncio.Event(), asyncio.Event()

    async def slow(inbound: Inbound) -> Receipt:
        entered.set()
        await let.wait()
        return await inner(inbound)

    port._sink = slow
    ts = await slack.say("hello")
    await entered.wait()
    await slack.sockets.announce("warning")
    await slack.world.until(lambda: slack.sockets.opened == 2)
    let.set()
    await slack.sockets.acked(ts)
    await connected(slack, 2)
    assert len(core.heard) == 1


@pytest.mark.parametrize("end", ["cut", "close"])
async def test_a_connection_that_breaks_is_replaced(
    slack: Slack, port: SlackPort, core: FakeCore, end: str
) -> None:
    """Report 20: as often as it takes."""
    for times in range(2, 5):
        await (asyncio.to_thread(lambda: None) if end == "cut" else slack.sockets.close())
        if end == "cut":
            slack.sockets.cut()
        await connected(slack, times)
        await until(port, ok=True)
        await slack.sockets.acked(await slack.say(f"after {times}"))
    assert len(core.heard) == 3
    assert int(dict((await port.health()).facts)["reconnects"]) >= 3


async def test_a_connection_that_went_silent_is_replaced(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    """Report 20: no close, no pong, nothing; found by its own pings."""
    async with serving(port_for(slack, tmp_path, pace=replace(FAST, ping=0.05)), core):
        slack.sockets.connections[0].mute = True
        await slack.world.until(lambda: slack.sockets.opened >= 2)
        await slack.sockets.acked(await slack.say("hello"))
    assert len(core.heard) == 1


@pytest.mark.parametrize("task", ["message_receiver", "message_processor", "current_session_monitor"])
async def test_a_connection_whose_reader_died_is_replaced(
    slack: Slack, core: FakeCore, tmp_path: Path, task: str
) -> None:
    """Report 20: the library's own tasks are watched too."""
    async with serving(port_for(slack, tmp_path, pace=replace(FAST, ping=0.05)), core) as port:
        getattr(port._link._socket, task).cancel()
        await slack.world.until(lambda: slack.sockets.opened >= 2)
        await until(port, ok=True)
        await slack.sockets.acked(await slack.say("hello"))


async def test_it_comes_back_after_slack_was_away(slack: Slack, port: SlackPort, core: FakeCore) -> None:
    slack.sockets.knobs.refuse = 503
    for _ in range(3):
        slack.world.fail("apps.connections.open", Fault(kind="status", status=503))
    slack.sockets.cut()
    health = await until(port, ok=False)
    assert "It tries again by itself." in health.detail
    slack.sockets.knobs.refuse = 0
    await until(port, ok=True)
    await slack.sockets.acked(await slack.say("hello"))
    assert len(core.heard) == 1


async def test_a_socket_that_says_no_hello_is_no_connection(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    slack.sockets.knobs.hello = False
    async with started(port_for(slack, tmp_path, pace=replace(FAST, opening=0.05)), core) as port:
        await slack.world.until(lambda: slack.sockets.opened >= 2)
        assert not (await port.health()).ok
        slack.sockets.knobs.hello = True
        await until(port, ok=True)


async def test_a_press_after_a_replacement_is_heard(slack: Slack, port: SlackPort, core: FakeCore) -> None:
    await slack.sockets.announce("refresh_requested")
    await connected(slack, 2)
    await slack.sockets.acked(await slack.say("hello"))
    assert len(core.heard) == 1


# ---------------------------------------------------------------- another process


async def test_another_process_on_the_app_is_reported(slack: Slack, core: FakeCore, tmp_path: Path) -> None:
    """Report 4, 5, 40 and P12: Slack gives each event to only one of them."""
    slack.sockets.knobs.others = 1
    async with started(port_for(slack, tmp_path), core) as port:
        health = await until(port, ok=False, detail="Another process uses this app")
        assert "Stop the other one" in health.detail
        await slack.say("hello")
        await core.heard_of(1)
        slack.sockets.knobs.others = 0
        await until(port, ok=True)


async def test_what_a_dead_process_left_is_no_other_process(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    """Slack counts a connection for a while after its process was killed; looked at once more, it is gone."""
    slack.sockets.knobs.others = 1
    async with started(port_for(slack, tmp_path, pace=replace(FAST, crowd=0.2)), core) as port:
        await until(port, ok=True)
        slack.sockets.knobs.others = 0
        await slack.world.until(lambda: slack.sockets.opened >= 2)
        await connected(slack, 2)
        assert (await until(port, ok=True)).ok


async def test_two_of_our_ports_see_each_other(slack: Slack, core: FakeCore, tmp_path: Path) -> None:
    """P12, without a knob."""
    (tmp_path / "b").mkdir()
    async with (
        started(port_for(slack, tmp_path), core),
        started(port_for(slack, tmp_path / "b"), core) as second,
    ):
        await until(second, ok=False, detail="Another process uses this app")


# ---------------------------------------------------------------- what only a person can cure


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("invalid_auth", "Copy it again"),
        ("token_revoked", "Reinstall the app"),
        ("account_inactive", "Install it again"),
        ("not_allowed_token_type", "swapped"),
    ],
)
async def test_a_useless_token_is_reported_and_tried_again(
    slack: Slack, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, cure: str
) -> None:
    slack.world.token_error = name
    async with started(port_for(slack, tmp_path), FakeCore()) as port:
        health = await until(port, ok=False, detail=name)
        assert cure in health.detail
        await slack.world.until(lambda: len(slack.world.called("auth.test")) >= 3)
        said = [
            one for one in caplog.records if one.levelno >= logging.ERROR and one.name.startswith("adapters.")
        ]
        assert len(said) == 1
        slack.world.token_error = ""
        await until(port, ok=True)


async def test_a_wrong_app_token_is_reported(slack: Slack, core: FakeCore, tmp_path: Path) -> None:
    slack.world.app_token = "xapp-other"
    async with started(port_for(slack, tmp_path), core) as port:
        await until(port, ok=False, detail="invalid_auth")


async def test_a_token_revoked_while_connected_is_noticed(slack: Slack, port: SlackPort) -> None:
    slack.world.token_error = "token_revoked"
    with pytest.raises(Exception, match="token_revoked"):
        await port.post(DM, Message(body=Text.of("x")), nonce="n")
    await until(port, ok=False, detail="token_revoked")
    slack.world.token_error = ""
    await until(port, ok=True)


async def test_missing_scopes_are_named_with_what_they_are_for(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    slack.world.scopes = "chat:write,im:history,app_mentions:read,groups:history,mpim:history"
    async with started(port_for(slack, tmp_path), core) as port:
        health = await until(port, ok=False, detail="lacks scopes")
        assert "channels:history (hear what is said in public channels)" in health.detail
        assert "files:write (attach long output)" in health.detail
        assert "users:read" not in health.detail
        await slack.sockets.acked(await slack.say("hello"))


async def test_health_tells_who_it_is_and_what_it_heard(slack: Slack, port: SlackPort) -> None:
    await slack.sockets.acked(await slack.say("hello"))
    health = await port.health()
    facts = dict(health.facts)
    assert (health.ok, health.detail) == (True, "sayso in Home (T1)")
    assert facts["who"] == "sayso in Home (T1)"
    assert facts["last event"].startswith("2026-03-01T12:00:00")
    assert "chat:write" in facts["scopes"]
    assert facts["connections"] == "1, ours 1"


async def test_a_port_that_was_closed_before_it_listened_listens_to_nothing(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    port = port_for(slack, tmp_path)
    await port.close()
    await asyncio.wait_for(port.listen(core.sink), 5)
    assert slack.world.calls == []


async def test_closing_while_slack_is_away_ends_at_once(slack: Slack, core: FakeCore, tmp_path: Path) -> None:
    slack.world.token_error = "invalid_auth"
    async with started(port_for(slack, tmp_path, pace=replace(FAST, permanent=3_600)), core) as port:
        await until(port, ok=False, detail="invalid_auth")


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
    for _ in range(2):
        slack.world.fail("conversations.history", Fault(kind="limit", retry_after="60"))
    port = port_for(slack, tmp_path, bookmarks=Marks([(DM, "m:D_ANA:1.0")]))
    async with started(port, core):
        await until(port, ok=False, detail="1 places could not be read")
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
        async with asyncio.timeout(10):
            while not slack.sockets.was_acked(key):
                await slack.sockets.again(key)
                await asyncio.sleep(0.002)
    assert sorted(one.text for one in core.heard) == sorted(f"{number}" for number in range(30))
