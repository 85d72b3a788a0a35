"""Listening: keeps a surface heard, also after a fault of ours in it.

A port sees to faults of the world itself. What ends it all the same is a fault of ours: it is begun again,
slower and slower, and its health says so meanwhile. Which surfaces there are, and which of them nothing goes
on without, is the composition root's.
"""

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import Protocol

from bot.ports import Health, Sink

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long is waited before a surface is begun again, in seconds.

    Attributes:
        first_s, most_s: after the first end, doubled after each further one up to the most.
        well_s: after so long without an end, the next one counts as the first.
    """

    first_s: float = 1.0
    most_s: float = 60.0
    well_s: float = 300.0


class Heard(Protocol):
    """What can be listened to: a port, or another way in."""

    name: str

    async def listen(self, sink: Sink, /) -> None:
        """Take what comes until closed."""

    async def health(self) -> Health:
        """Tell how it is."""


class Listener:
    """Listens to one port until it is told to stop.

    Args:
        stopping: set once nothing is to be begun again.
    """

    def __init__(
        self, port: Heard, sink: Sink, *, stopping: asyncio.Event, patience: Patience | None = None
    ) -> None:
        self._port = port
        self._sink = sink
        self._stopping = stopping
        self._patience = patience or Patience()
        self._broken = ""

    @property
    def name(self) -> str:
        """The name of the surface."""
        return self._port.name

    async def keep(self) -> None:
        """Listen, and begin again where that ends by itself, until stopping."""
        loop, pause_s = asyncio.get_running_loop(), self._patience.first_s
        while not self._stopping.is_set():
            began = loop.time()
            try:
                await self._port.listen(self._sink)
                fault = "it ended by itself"
            except Exception as error:
                fault = type(error).__name__
                if not self._stopping.is_set():
                    log.exception("%s stopped listening", self.name)
            if self._stopping.is_set():
                return
            if loop.time() - began >= self._patience.well_s:
                pause_s = self._patience.first_s
            self._broken = f"it stopped listening ({fault}) and is begun again. Look at the log."
            log.warning("%s is begun again in %.0f s", self.name, pause_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._stopping.wait()
            pause_s = min(2 * pause_s, self._patience.most_s)
            self._broken = ""

    async def health(self) -> Health:
        """Tell how the port is, or that it does not listen."""
        if self._broken:
            return Health(ok=False, detail=self._broken)
        return await self._port.health()
