"""The listener of HTTP: streamable HTTP of the SDK behind the door, on this machine.

Both generations of the protocol are answered without sessions: an older client's handshake is answered and
nothing of it is kept, so that a restart costs nobody more than the request in hand.
"""

import contextlib
import socket as sockets
from collections.abc import AsyncIterator, Iterator

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from adapters.mcp.door import App, Door
from adapters.mcp.serving import server_for
from adapters.mcp.settings import Settings, address_of
from bot.callers import Callers

#: Bytes of a request; the longest command is far below.
MAX_BODY = 262_144
#: Requests at a time over all agents, each waiting or not.
MAX_REQUESTS = 64
#: Seconds that requests in hand have at the end, and that an idle connection is kept.
_CLOSING_S, _IDLE_S = 2, 30


class _Uvicorn(uvicorn.Server):
    """The server without its own handling of signals: stopping is the composition root's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class Web:
    """Answers HTTP.

    Attributes:
        bound: host and port; None while it does not listen.
    """

    def __init__(self, settings: Settings, callers: Callers) -> None:
        self._settings = settings
        self._callers = callers
        self._managers: dict[str, StreamableHTTPSessionManager] = {}
        self._server: _Uvicorn | None = None
        self.bound: tuple[str, int] | None = None

    async def listen(self) -> None:
        """Answer until closed.

        Raises:
            OSError: the address cannot be had.
        """
        listener = _bound(self._settings.listen)
        door = Door(self._callers, self._way_of, hosts=self._settings.hosts, origins=self._settings.origins)
        config = uvicorn.Config(
            door,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            http="h11",
            server_header=False,
            limit_concurrency=MAX_REQUESTS,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=_CLOSING_S,
            h11_max_incomplete_event_size=65_536,
        )
        self._server = _Uvicorn(config)
        try:
            async with self._managing():
                name = listener.getsockname()
                self.bound = (name[0], name[1])
                await self._server.serve(sockets=[listener])
        finally:
            self.bound = None
            listener.close()

    async def close(self) -> None:
        """Stop answering."""
        if self._server is not None:
            self._server.should_exit = True

    @contextlib.asynccontextmanager
    async def _managing(self) -> AsyncIterator[None]:
        """Hold a way on for every agent; each belongs to the task that opened it."""
        async with contextlib.AsyncExitStack() as stack:
            for agent in self._callers.agents():
                manager = StreamableHTTPSessionManager(
                    server_for(agent, self._callers), stateless=True, max_request_body_size=MAX_BODY
                )
                await stack.enter_async_context(manager.run())
                self._managers[agent] = manager
            try:
                yield
            finally:
                self._managers.clear()

    def _way_of(self, agent: str) -> App:
        return self._managers[agent].handle_request


def _bound(listen: str) -> sockets.socket:
    host, port = address_of(listen)
    family = sockets.AF_INET6 if ":" in host else sockets.AF_INET
    # Named as TCP, since asyncio switches Nagle's algorithm off for what says so: 40 ms of every answer.
    listener = sockets.socket(family, sockets.SOCK_STREAM, sockets.IPPROTO_TCP)
    try:
        listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(MAX_REQUESTS)
        listener.setblocking(False)  # the standard library's signature
    except BaseException:
        listener.close()
        raise
    return listener
