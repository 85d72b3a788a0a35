"""A fault of ours ends listening and frees nothing: each port can be begun again, and hears and shows."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.ports import ChatPort, Message
from bot.text import Text
from tests.adapters import stage_discord, stage_slack, stage_telegram
from tests.adapters.console_fakes import FakeCore, listening
from tests.simulators.discord.simulator import discord
from tests.simulators.slack.server import running
from tests.simulators.telegram.server import serving


@dataclass(frozen=True, slots=True)
class Case:
    """A port, what somebody says there, and where in it our own fault is."""

    port: ChatPort
    stage: Any
    part: Any
    method: str


@contextlib.asynccontextmanager
async def on_slack(folder: Path) -> AsyncIterator[Case]:
    async with running() as slack:
        port = stage_slack.port_for(slack, folder)
        yield Case(port, stage_slack.SlackStage(slack, port), port._link, "_watch")


@contextlib.asynccontextmanager
async def on_discord(folder: Path) -> AsyncIterator[Case]:
    async with discord() as simulated:
        port = stage_discord.port_on(simulated)
        yield Case(port, stage_discord.DiscordStage(simulated, port), port._connection, "_login")


@contextlib.asynccontextmanager
async def on_telegram(folder: Path) -> AsyncIterator[Case]:
    with stage_telegram.no_proxy():
        async with serving() as server:
            port = stage_telegram.new_port(server)
            yield Case(port, stage_telegram.TelegramStage(server, port), port._poller, "_next")


@pytest.mark.parametrize("case", [on_slack, on_discord, on_telegram])
async def test_after_a_fault_of_ours_a_port_is_begun_again(
    case: Callable[[Path], contextlib.AbstractAsyncContextManager[Case]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    core = FakeCore()

    async def fault(*_args: object) -> Awaitable[None]:
        raise ZeroDivisionError

    async with case(tmp_path) as here:
        port = here.port
        with monkeypatch.context() as patch:
            patch.setattr(here.part, here.method, fault)
            with pytest.raises(ZeroDivisionError):
                await asyncio.wait_for(port.listen(core.sink), 30)
            assert not (await port.health()).ok
        again = asyncio.create_task(port.listen(core.sink))
        await listening(port)
        await here.stage.say("hello", "e1")
        assert [event.text for event in await core.heard_of(1)] == ["hello"]
        await port.post(here.stage.place, Message(body=Text.of("here")), nonce="n1")
        assert "here" in await here.stage.reads("here")
        await port.close()
        await asyncio.wait_for(again, 30)


@pytest.mark.parametrize("case", [on_slack, on_discord, on_telegram])
async def test_a_port_that_broke_can_be_closed(
    case: Callable[[Path], contextlib.AbstractAsyncContextManager[Case]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fault(*_args: object) -> Awaitable[None]:
        raise ZeroDivisionError

    async with case(tmp_path) as here:
        monkeypatch.setattr(here.part, here.method, fault)
        with pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(here.port.listen(FakeCore().sink), 30)
        await asyncio.wait_for(here.port.close(), 30)
