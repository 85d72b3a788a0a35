"""The connection: kept, replaced, watched and reported."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.slack.port import SlackPort
from bot.ports import Inbound, Message, PlaceRef, Receipt
from bot.text import Text
from tests.adapters.console_fakes import FakeCore
from tests.adapters.stage_slack import FAST, port_for, serving, started, until
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


async def connected(slack: Slack, times: int) -> None:
    """Wait until so many connections were opened, and the newest is the only one."""
    await slack.world.until(lambda: slack.sockets.opened >= times and len(slack.sockets.connections) == 1)


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
    async with serving(port_for(slack, tmp_path, pace=replace(FAST, ping=1)), core):
        slack.sockets.connections[0].mute = True
        await slack.world.until(lambda: slack.sockets.opened >= 2)
        await slack.sockets.acked(await slack.say("hello"))
    assert len(core.heard) == 1


@pytest.mark.parametrize("task", ["message_receiver", "message_processor", "current_session_monitor"])
async def test_a_connection_whose_reader_died_is_replaced(
    slack: Slack, core: FakeCore, tmp_path: Path, task: str
) -> None:
    """Report 20: the library's own tasks are watched too."""
    async with serving(port_for(slack, tmp_path, pace=replace(FAST, ping=1)), core) as port:
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
    async with started(port_for(slack, tmp_path, pace=replace(FAST, opening=1)), core) as port:
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
    await asyncio.wait_for(port.listen(core.sink), 30)
    assert slack.world.calls == []


async def test_closing_while_slack_does_not_answer_ends_at_once(
    slack: Slack, core: FakeCore, tmp_path: Path
) -> None:
    slow = slack.world.fail("auth.test", Fault(kind="slow"))
    async with started(port_for(slack, tmp_path), core):
        await slow.reached.wait()
    slow.until.set()


async def test_closing_while_slack_is_away_ends_at_once(slack: Slack, core: FakeCore, tmp_path: Path) -> None:
    slack.world.token_error = "invalid_auth"
    async with started(port_for(slack, tmp_path, pace=replace(FAST, permanent=3_600)), core) as port:
        await until(port, ok=False, detail="invalid_auth")
