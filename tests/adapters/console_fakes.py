"""A core for the console: takes what is said, and answers as it was told to."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.ports import ChatPort, Form, Inbound, NotCommittedError, Receipt

Answer = Callable[[Inbound], Awaitable[None]]


async def nothing(_inbound: Inbound) -> None:
    """Answer nothing."""


class StillClock:
    """Always the same instant."""

    def now(self) -> datetime:
        return datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass
class FakeCore:
    """A sink that keeps what it was given. `answer` is the turn; there is no room to store `full`.

    A press of token T is answered with the form `forms[T]`, where there is one.
    """

    answer: Answer = nothing
    forms: dict[str, Form] = field(default_factory=dict)
    full: frozenset[str] = frozenset()
    heard: list[Inbound] = field(default_factory=list)
    keys: set[tuple[str, str, str]] = field(default_factory=set)
    stored: asyncio.Event = field(default_factory=asyncio.Event)

    async def sink(self, inbound: Inbound) -> Receipt:
        if inbound.text in self.full:
            raise NotCommittedError
        key = (inbound.place.platform, inbound.place.tenant, inbound.event_id)
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if key in self.keys:
            settled.set_result(None)
            return Receipt(fresh=False, settled=settled)
        self.keys.add(key)
        self.heard.append(inbound)
        self.stored.set()
        self.stored = asyncio.Event()
        turn = asyncio.create_task(self.answer(inbound))
        turn.add_done_callback(lambda done: _settle(settled, done))
        return Receipt(fresh=True, settled=settled, form=self.forms.get(inbound.token))

    async def heard_of(self, count: int) -> list[Inbound]:
        """Wait until `count` events were stored."""
        async with asyncio.timeout(30):
            while len(self.heard) < count:
                await self.stored.wait()
        return self.heard


def _settle(settled: "asyncio.Future[None]", turn: "asyncio.Task[None]") -> None:
    error = turn.exception()
    if error is None:
        settled.set_result(None)
    else:
        settled.set_exception(error)


async def listening(port: ChatPort) -> None:
    """Wait until the port listens."""
    async with asyncio.timeout(30):
        while not (await port.health()).ok:  # noqa: ASYNC110  # health is all that a port tells
            await asyncio.sleep(0.001)
