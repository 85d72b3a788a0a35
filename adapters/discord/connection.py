"""Keeps one login to Discord open until it is closed.

The SDK resumes a session by itself; here is what it does not do: begin anew after a lasting fault, slower and
slower, tell what a person has to mend, and give up a login that never comes alive. No fault of the network or
refusal of Discord ends it.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import aiohttp

from adapters.discord.client import Gateway, Taker
from adapters.discord.faults import LOGIN_REFUSED, Fault, outcome
from adapters.discord.sdk import discord
from adapters.discord.settings import Settings
from adapters.discord.status import CLOSED, MISSING_INTENT, Status

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long things take, in seconds.

    Attributes:
        ack_s: the core's time before a press is answered without it.
        identify_pause_s: before a session is begun anew on an open login; Discord allows one in five seconds.
        retry_s: before the first new login; doubled up to `slow_s`, which also holds for lasting refusals.
        alive_s: a login that is not ready for so long is given up and made anew (report 20).
        close_s: for the other side to agree to the end of a login.
    """

    ack_s: float = 1.5
    identify_pause_s: float = 5.0
    retry_s: float = 1.0
    slow_s: float = 60.0
    alive_s: float = 90.0
    close_s: float = 5.0


class Connection:
    """One login after the other.

    Args:
        takers: what to call for which event of the SDK.
        began: called with the client when a session begins that nothing was played back into.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        token: str,
        pace: Pace,
        status: Status,
        takers: Mapping[str, Taker],
        began: Callable[[Gateway], None],
    ) -> None:
        self._settings = settings
        self._token = token
        self._pace = pace
        self._status = status
        self._began = began
        self._takers: dict[str, Taker] = {
            **takers,
            "connect": self._connected,
            "resumed": self._resumed,
            "disconnect": self._lost,
        }
        self._closing = asyncio.Event()
        self.client: Gateway | None = None

    def close(self) -> None:
        """Let `hold` end."""
        self._closing.set()

    async def hold(self) -> None:
        """Be logged in until closed."""
        delay = self._pace.retry_s
        while not self._closing.is_set():
            sessions = self._status.sessions
            is_lasting = await self._login()
            if self._status.sessions > sessions:
                delay = self._pace.retry_s
            await self._pause(self._pace.slow_s if is_lasting else delay)
            delay = min(2 * delay, self._pace.slow_s)

    async def _login(self) -> bool:
        """Hold one login until it ends; return whether a person has to mend something first."""
        client = Gateway(self._settings, self._takers, identify_pause_s=self._pace.identify_pause_s)
        self.client = client
        self._status.lost_at = asyncio.get_running_loop().time()
        running = asyncio.create_task(client.start(self._token))
        others = [asyncio.create_task(self._closing.wait()), asyncio.create_task(self._given_up())]
        try:
            await asyncio.wait({running, *others}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.client = None
            self._status.connected = False
            await self._end(client)
            for task in (running, *others):
                task.cancel()
            await asyncio.gather(running, *others, return_exceptions=True)
        return self._ended(running)

    async def _end(self, client: Gateway) -> None:
        """End a login, whether or not the other side still answers."""
        try:
            async with asyncio.timeout(self._pace.close_s):
                await client.close()
        except TimeoutError:
            await client.http.close()

    def _ended(self, running: "asyncio.Task[None]") -> bool:
        error = None if running.cancelled() else running.exception()
        if isinstance(error, AttributeError) and isinstance(error.__context__, Fault):
            error = error.__context__  # the SDK stumbles over a gateway that it never reached
        before, self._status.trouble, self._status.network = self._status.trouble, "", ""
        match error:
            case None:
                return False
            case discord.LoginFailure():
                self._status.trouble = LOGIN_REFUSED
            case discord.PrivilegedIntentsRequired():
                self._status.trouble = MISSING_INTENT
            case discord.ConnectionClosed() if error.code in CLOSED:
                self._status.trouble = CLOSED[error.code]
            case discord.DiscordException() | aiohttp.ClientError() | OSError():
                self._status.network = str(outcome(error))
                log.warning("Discord: %s", self._status.network)
            case _:
                self._status.network = type(error).__name__
                log.error("Discord: the connection ended", exc_info=error)
        if self._status.trouble and self._status.trouble != before:
            log.error("%s", self._status.trouble)
        return bool(self._status.trouble)

    async def _given_up(self) -> None:
        """Return once the login had no session for too long, or one in which nothing comes back."""
        left = self._pace.alive_s
        while left > 0:
            await asyncio.sleep(left)
            now = asyncio.get_running_loop().time()
            since = self._status.unheard_since() if self._status.connected else self._status.lost_at
            left = self._pace.alive_s - (0.0 if since is None else now - since)
        log.warning("Discord: nothing came for %.0f s, connecting anew", self._pace.alive_s)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()

    # ------------------------------------------------------------ what the SDK tells

    def _connected(self) -> None:
        client, status = self.client, self._status
        if client is None or client.user is None:
            return
        status.sessions += 1
        status.unheard.clear()
        status.reconnects += status.sessions > 1
        status.connected, status.trouble, status.network = True, "", ""
        status.who = f"{client.user} ({client.user.id})"
        self._began(client)

    def _resumed(self) -> None:
        self._status.reconnects += 1
        self._status.connected = True

    def _lost(self) -> None:
        if self._status.connected:
            self._status.lost_at = asyncio.get_running_loop().time()
        self._status.connected = False
