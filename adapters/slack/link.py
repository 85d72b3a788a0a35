"""Link: keeps exactly one good Socket Mode connection, whatever happens to it.

Checks the tokens before it connects, opens the next connection before it leaves one that Slack announced to
close, looks whether somebody else uses the app, and never gives up: what only a person can cure is tried
again slowly. Handles no event itself.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.slack.inbound import Reader
from adapters.slack.socket import Handle, Socket
from adapters.slack.state import State
from adapters.slack.web import PERMANENT, Web, retry_after_s
from bot.ports import RejectedError, UncertainError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast things are done, in seconds; tests are in a hurry.

    Attributes:
        ping: between pings; four that were not answered make a connection lost.
        look: between looks whether the connection is broken, which the library sees a ping later.
        ack: until a press is acknowledged at the latest; Slack allows 3.
        first, most: wait before the first try again, and the longest after repeated failures.
        permanent: wait after what only a person can cure.
        crowd: until it is looked again whether somebody else uses the app.
        grace: for what arrived on a connection that is being left.
        opening: for opening a connection.
        again: until places that could not be caught up are read again.
    """

    ping: float = 10
    look: float = 1
    ack: float = 1.5
    first: float = 0.5
    most: float = 30
    permanent: float = 60
    crowd: float = 60
    grace: float = 2
    opening: float = 15
    again: float = 30


class Link:
    """The connection.

    Args:
        ready: called with who we are, before anything is heard.
        catch_up: reads what was said while nobody listened; returns whether all of it was read.
    """

    def __init__(
        self,
        web: Web,
        *,
        app_token: str,
        state: State,
        pace: Pace,
        handle: Handle,
        ready: Callable[[Reader], None],
        catch_up: Callable[[], Awaitable[bool]],
    ) -> None:
        self._web = web
        self._app_token = app_token
        self._state = state
        self._pace = pace
        self._handle = handle
        self._ready = ready
        self._catch_up = catch_up
        self._socket: Socket | None = None
        self._old: Socket | None = None
        self._stop = asyncio.Event()
        self._checked = False
        web.on_permanent = self._permanent

    @property
    def stopped(self) -> bool:
        """Whether it is over for good."""
        return self._state.closed

    async def run(self) -> None:
        """Stay connected until `stop`; after a fault of ours it may be run again."""
        failures = 0
        try:
            while not self._stop.is_set():
                try:
                    await self._until_stopped(self._connect())
                except _FAULTS as error:
                    failures += 1
                    await self._pause(self._wait_s(error, failures))
                    continue
                failures = 0
                await self._until_stopped(self._watch())
            self._state.closed = True
        except asyncio.CancelledError:
            self._state.closed = True
            raise
        finally:
            self._state.open = False
            for socket in (self._old, self._socket):
                await self._leave(socket)
            self._old = self._socket = None

    def stop(self) -> None:
        """Make `run` end."""
        self._state.open = False
        self._state.closed = True
        self._stop.set()

    async def lose(self) -> None:
        """Give the present connection up, as if it had been lost."""
        if self._socket is not None:
            await self._socket.connect_to_new_endpoint()

    # ------------------------------------------------------------ connecting

    async def _connect(self) -> None:
        """Replace the connection by a new one; read what nobody may have heard in between."""
        old = self._socket
        gap = old is None or not old.leaving or not await old.is_alive()
        if not self._checked:
            await self._check()
        if gap:
            await self._leave(old)
            self._socket = None
            # Old words first: the socket delivers new ones as soon as it is open.
            await self._read_up()
        socket = Socket(
            app_token=self._app_token, web=self._web.client, handle=self._handle, ping_s=self._pace.ping
        )
        try:
            await socket.open(timeout_s=self._pace.opening)
        except BaseException:
            await socket.end(grace_s=0)
            raise
        self._old, self._socket = None if gap else old, socket
        self._count(socket, ours=1 if gap else 2)
        self._state.refused = self._state.problem = ""
        self._state.open = True
        await self._leave(self._old)
        self._old = None
        # Again: what came between reading and opening, or was under way on the connection that was left.
        await self._read_up()

    async def _check(self) -> None:
        told, scopes = await self._web.scopes()
        reader = Reader(
            team=str(told.get("team_id") or ""),
            user=str(told.get("user_id") or ""),
            bot=str(told.get("bot_id") or ""),
        )
        self._state.who = f"{told.get('user')} in {told.get('team')} ({reader.team})"
        self._state.scopes = scopes
        self._ready(reader)
        self._checked = True
        if lacking := self._state.missing():
            log.error("Slack: the app lacks the scopes %s", ", ".join(lacking))

    async def _read_up(self) -> None:
        if not await self._catch_up():
            log.warning("Slack: what was said meanwhile could not all be read; it is tried again")

    async def _leave(self, socket: Socket | None) -> None:
        if socket is not None:
            await socket.end(grace_s=self._pace.grace)

    def _count(self, socket: Socket, *, ours: int) -> None:
        state = self._state
        state.connections = socket.connections
        state.others = max(0, socket.connections - ours)
        state.seen_others = state.seen_others + 1 if state.others else 0
        if state.seen_others == 2:  # noqa: PLR2004 - once may be what a dead process left
            log.error("Slack: another process uses this app; %s connections beside ours", state.others)

    # ------------------------------------------------------------ watching

    async def _watch(self) -> None:
        """Return once the connection has to be replaced, or `stop` was called."""
        socket = self._socket
        if socket is None:
            return
        loop = asyncio.get_running_loop()
        # Each look opens a connection, of which Slack wants few a minute.
        looks = 1 if self._state.seen_others < 2 else 5  # noqa: PLR2004 - it was reported
        recheck_at = loop.time() + self._pace.crowd * looks
        retry_at = loop.time() + self._pace.again
        while not self._stop.is_set() and not socket.lost.is_set():
            await _first(self._stop, socket.lost, timeout_s=self._nap_s())
            if not socket.lost.is_set() and not await socket.is_alive():
                await socket.connect_to_new_endpoint()
            if self._state.others and loop.time() >= recheck_at and not socket.lost.is_set():
                socket.why, socket.leaving = "looking who else is connected", True
                socket.lost.set()
            if self._state.unread and loop.time() >= retry_at:
                await self._read_up()
                retry_at = loop.time() + self._pace.again
        if self._stop.is_set():
            return
        self._state.reconnects += 1
        self._state.open = socket.leaving
        log.info("Slack: connecting anew: %s", socket.why or "Slack asked for it")

    def _nap_s(self) -> float:
        """Return until when to look again, in seconds."""
        naps = [self._pace.look]
        if self._state.others:
            naps.append(self._pace.crowd)
        if self._state.unread:
            naps.append(self._pace.again)
        return min(naps)

    def _wait_s(self, error: Exception, failures: int) -> float:
        """Say what went wrong, once for each kind, and return the seconds until the next try."""
        state, pace = self._state, self._pace
        state.open = False
        name = str(error.response.get("error")) if isinstance(error, SlackApiError) else ""
        if name in PERMANENT:
            self._permanent(name)
        problem = state.refused or name or f"{type(error).__name__}"
        if problem != state.problem:
            log.error("Slack: not connected: %s %s", problem, PERMANENT.get(problem, ""))
        state.problem = problem
        if state.refused:
            return pace.permanent
        if isinstance(error, SlackApiError) and name in {"ratelimited", "rate_limited"}:
            return retry_after_s(error.response.headers)
        return float(min(pace.most, pace.first * 2 ** min(failures - 1, 10)))

    def _permanent(self, name: str) -> None:
        """Take note of what only a person can cure, and check the tokens anew."""
        self._state.refused = name
        self._checked = False
        if self._socket is not None:
            self._socket.why, self._socket.leaving = name, False
            self._socket.lost.set()

    async def _until_stopped(self, work: Coroutine[None, None, None]) -> None:
        """Do `work`, or give it up at `stop`. Raises what `work` raises."""
        task = asyncio.create_task(work)
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in (task, stop):
                if not one.done():
                    one.cancel()
            await asyncio.wait({task, stop})
        if not task.cancelled():
            task.result()

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)


#: What can go wrong between here and Slack; anything else is a fault of ours.
_FAULTS = (
    RejectedError,
    UncertainError,
    SlackClientError,
    aiohttp.ClientError,
    OSError,
    TimeoutError,
    ValueError,
)


async def _first(*events: asyncio.Event, timeout_s: float) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
