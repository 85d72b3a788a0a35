"""Who may go on, and who waits: commands under way, and connections being opened.

A place that is held by something silent helps nobody, so it is given back early: a host that does not answer
holds up neither the other hosts nor another address of the same sshd. What is bounded for a server's sake,
what it counts itself, is held to the end.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Hashable
from dataclasses import dataclass, field

from bot.execution.limits import Limits
from bot.execution.run import unless


class Place:
    """One place of a bound. Given back once, however often that is asked for."""

    def __init__(self, bound: asyncio.Semaphore) -> None:
        self._bound = bound
        self._held = False

    async def take(self, *, cancel: asyncio.Event | None = None) -> None:
        """Wait for a place.

        Args:
            cancel: set to wait no longer.

        Raises:
            StoppedError: `cancel` was set first.
        """
        if cancel is None or not self._bound.locked():
            await self._take()
        else:
            await unless(cancel, self._take())

    async def _take(self) -> None:
        if not self._held:
            await self._bound.acquire()
            self._held = True

    def give_back(self) -> None:
        """Let somebody else have it."""
        if self._held:
            self._held = False
            self._bound.release()


@dataclass(slots=True, kw_only=True, eq=False)
class Turn:
    """One connection's right to be opened.

    Attributes:
        own: what the address counts; kept to the end once somebody there took the connection.
        shared: what others need too; given back after a silence.
    """

    own: Place
    shared: tuple[Place, ...]
    patience_s: float
    connected: bool = False
    heard_at: float = 0.0
    _timer: asyncio.TimerHandle | None = field(default=None)

    def heard(self) -> None:
        """Note a sign of life; called with every piece of data."""
        self.connected = True
        self.heard_at = asyncio.get_running_loop().time()

    def watch(self) -> None:
        """Give places back once nothing was heard for `patience_s`."""
        loop = asyncio.get_running_loop()
        if not self.connected:
            self.heard_at = loop.time()
        self._timer = loop.call_at(self.heard_at + self.patience_s, self._look)

    def _look(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        if loop.time() < self.heard_at + self.patience_s:
            self._timer = loop.call_at(self.heard_at + self.patience_s, self._look)
            return
        for place in self.shared:
            place.give_back()
        if not self.connected:  # nobody there counts it
            self.own.give_back()

    def end(self) -> None:
        """Give back everything."""
        if self._timer is not None:
            self._timer.cancel()
        for place in (*self.shared, self.own):
            place.give_back()


class Handshakes:
    """Bounds on connections being opened: over all hosts, for each address, for each sshd.

    An sshd is told by the host keys that are trusted for it: one that listens on many addresses counts them
    together (MaxStartups), whatever names lead there.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._all = asyncio.Semaphore(limits.handshakes)
        self._each: dict[Hashable, asyncio.Semaphore] = {}

    @contextlib.asynccontextmanager
    async def turn(self, address: Hashable, *, keys: tuple[str, ...]) -> AsyncIterator[Turn]:
        """Wait for a turn, and hold it.

        Args:
            address: where the connection goes.
            keys: fingerprints of the keys trusted there.
        """
        # in one order everywhere, so that no two wait for each other; the one that all need comes last
        bounds = [self._bound(("key", key)) for key in sorted(keys)] + [self._all]
        turn = Turn(
            own=Place(self._bound(("address", address))),
            shared=tuple(map(Place, bounds)),
            patience_s=self._limits.silence_s,
        )
        try:
            await turn.own.take()
            for place in turn.shared:
                await place.take()
            turn.watch()
            yield turn
        finally:
            turn.end()

    def _bound(self, key: Hashable) -> asyncio.Semaphore:
        bound = self._each.get(key)
        if bound is None:
            bound = self._each[key] = asyncio.Semaphore(self._limits.handshakes_each)
        return bound
