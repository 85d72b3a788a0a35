"""Socket: one Socket Mode connection, from its opening to its loss.

The SDK's client, with its way of replacing a connection taken out: it would close the old one first, and keep
trying an address whose ticket has expired. Here a lost connection is only reported; `link` opens the next.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.web import QUIET

#: Turns of the event loop that the SDK needs from a received frame to its handler, and some more.
_DRAIN = 10

Handle = Callable[["Socket", SocketModeRequest], Awaitable[None]]


class Socket(SocketModeClient):
    """One connection. Open it with `open`, give it up with `end`.

    Attributes:
        lost: set when the connection is no good any more, for whatever reason.
        leaving: Slack announced that it will close this connection; it still delivers for a moment.
        connections: how many connections of this app Slack counted when this one was opened.
    """

    def __init__(self, *, app_token: str, web: AsyncWebClient, handle: Handle, ping_s: float) -> None:
        super().__init__(app_token=app_token, web_client=web, logger=QUIET, ping_interval=ping_s)
        self.lost = asyncio.Event()
        self.leaving = False
        self.why = ""
        self.connections = 0
        self._greeted = asyncio.Event()
        self._handling: set[asyncio.Task[None]] = set()
        self._handle = handle
        self.message_listeners.append(self._told)
        self.socket_mode_request_listeners.append(self._take)

    async def open(self, *, timeout_s: float) -> None:
        """Connect and wait until Slack says hello.

        Raises:
            SlackApiError, OSError, aiohttp.ClientError, TimeoutError: it could not be opened.
        """
        async with asyncio.timeout(timeout_s):
            self.wss_uri = await self.issue_new_wss_url()
            await self.connect()  # type: ignore[no-untyped-call]  # the SDK types some
            greeted = asyncio.create_task(self._greeted.wait())
            lost = asyncio.create_task(self.lost.wait())
            try:
                await asyncio.wait({greeted, lost}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                greeted.cancel()
                lost.cancel()
        if not self._greeted.is_set():
            raise ConnectionError(self.why or "Slack closed the connection before it said hello")

    async def end(self, *, grace_s: float) -> None:
        """Close, after what arrived here was handled or `grace_s` is over."""
        self.lost.set()
        for _ in range(_DRAIN):
            # What was read already is taken up within a few turns of the loop.
            await asyncio.sleep(0)
        if self._handling:
            await asyncio.wait(self._handling, timeout=grace_s)
        with contextlib.suppress(TimeoutError, OSError):
            await asyncio.wait_for(self.close(), 2)  # type: ignore[no-untyped-call]  # likewise
        if not self.aiohttp_client_session.closed:
            await self.aiohttp_client_session.close()
        for task in (self.message_processor, self.current_session_monitor, self.message_receiver):
            if task is not None and task is not asyncio.current_task():
                task.cancel()
                await asyncio.wait([asyncio.ensure_future(task)], timeout=1)

    async def is_alive(self) -> bool:
        """Whether it is open and its peer answers; the tasks that would notice the loss are watched too."""
        watched = (self.message_processor, self.current_session_monitor, self.message_receiver)
        return await self.is_connected() and not any(task is None or task.done() for task in watched)

    async def connect_to_new_endpoint(self, force: bool = False) -> None:  # noqa: FBT001, FBT002 - of the SDK
        """Report the loss, which is what the SDK calls this for."""
        self.leaving = force
        self.why = self.why or "the connection was lost"
        self.lost.set()

    async def _told(self, _client: object, message: dict[str, Any], _raw: str | None = None) -> None:
        if message.get("type") == "hello":
            self.connections = int(message.get("num_connections") or 0)
            self._greeted.set()

    async def _take(self, _client: object, request: SocketModeRequest) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._handling.add(task)
            task.add_done_callback(self._handling.discard)
        await self._handle(self, request)
