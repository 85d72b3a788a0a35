"""Listening goes on after a fault of ours, and says meanwhile that it does not."""

import asyncio

import pytest

from bot.listening import Listener, Patience
from bot.ports import Inbound, Receipt, Sink
from tests.kit import ScriptedPort

QUICK = Patience(first_s=0.001, most_s=0.004)


class BreakingPort(ScriptedPort):
    """A surface that ends as told, then listens until closed."""

    def __init__(self, *ends: Exception | None) -> None:
        super().__init__("breaking")
        self.ends = list(ends)
        self.began = 0
        self.listens, self.closed = asyncio.Event(), asyncio.Event()

    async def listen(self, sink: Sink) -> None:
        self.began += 1
        if self.ends:
            end = self.ends.pop(0)
            if end is not None:
                raise end
            return
        self.listens.set()
        await self.closed.wait()

    async def close(self) -> None:
        self.closed.set()


async def nobody(inbound: Inbound) -> Receipt:
    raise AssertionError(f"nothing is said here: {inbound}")


async def test_a_surface_that_breaks_is_begun_again(caplog: pytest.LogCaptureFixture) -> None:
    port, stopping = BreakingPort(KeyError("x"), None, OSError(), RuntimeError()), asyncio.Event()
    listener = Listener(port, nobody, stopping=stopping, patience=QUICK)
    keeping = asyncio.create_task(listener.keep())
    async with asyncio.timeout(60):
        await port.listens.wait()
    assert port.began == 5
    assert (await listener.health()).ok
    assert caplog.text.count("Traceback") == 3
    stopping.set()
    await port.close()
    await keeping
    assert port.began == 5


async def test_a_surface_that_is_down_says_so_until_it_is_begun_again() -> None:
    port, stopping = BreakingPort(KeyError("secret")), asyncio.Event()
    listener = Listener(port, nobody, stopping=stopping, patience=Patience(first_s=3600.0))
    keeping = asyncio.create_task(listener.keep())
    async with asyncio.timeout(60):
        while (health := await listener.health()).ok:  # noqa: ASYNC110 - health is all that it tells
            await asyncio.sleep(0)
    assert health.detail == "it stopped listening (KeyError) and is begun again. Look at the log."
    stopping.set()  # it waits for an hour, and for no stop
    await asyncio.wait_for(keeping, 60)
    assert port.began == 1


async def test_pauses_grow_up_to_the_longest(caplog: pytest.LogCaptureFixture) -> None:
    port, stopping = BreakingPort(*[OSError()] * 4), asyncio.Event()
    patience = Patience(first_s=0.001, most_s=0.003)
    with caplog.at_level("WARNING", "bot.listening"):
        keeping = asyncio.create_task(Listener(port, nobody, stopping=stopping, patience=patience).keep())
        await asyncio.wait_for(port.listens.wait(), 60)
    pauses = [
        record.args[1]
        for record in caplog.records
        if isinstance(record.args, tuple) and len(record.args) == 2
    ]
    assert pauses == [0.001, 0.002, 0.003, 0.003]
    stopping.set()
    await port.close()
    await keeping


async def test_a_surface_that_ends_with_the_process_is_not_begun_again() -> None:
    port, stopping = BreakingPort(), asyncio.Event()
    keeping = asyncio.create_task(Listener(port, nobody, stopping=stopping, patience=QUICK).keep())
    await asyncio.wait_for(port.listens.wait(), 60)
    stopping.set()
    await port.close()
    await asyncio.wait_for(keeping, 60)
    assert port.began == 1
