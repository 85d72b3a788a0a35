"""Socket Mode of the simulator: connections, envelopes, acknowledgements and how long they took."""

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.simulators.slack.world import APP, Json, World


@dataclass(kw_only=True)
class Delivery:
    """One envelope that was sent."""

    key: str
    envelope: str
    body: Json
    attempt: int
    sent_at: float
    connection: int
    acked_at: float = 0.0
    answer: Json | None = None

    @property
    def latency_s(self) -> float:
        return self.acked_at - self.sent_at


@dataclass(kw_only=True, eq=False)
class Connection:
    id: int
    ws: web.WebSocketResponse
    request: web.Request
    mute: bool = False  # its peer is gone without a word: no pong, no event gets through
    deaf: bool = False  # acknowledgements do not arrive


@dataclass(kw_only=True)
class Knobs:
    """How the sockets behave: `others` is how many more connections Slack counts."""

    others: int = 0
    hello: bool = True
    refuse: int = 0  # HTTP status for new sockets; 0 takes them
    tickets: set[str] = field(default_factory=set)


class Sockets:
    """Every connection, and all that went over them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.knobs = Knobs()
        self.connections: list[Connection] = []
        self.deliveries: list[Delivery] = []
        self.opened = 0
        self.address = ""

    def new_url(self) -> str:
        ticket = self.world.new_id("ticket")
        self.knobs.tickets.add(ticket)
        return f"{self.address.replace('http', 'ws')}/link?ticket={ticket}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """The websocket. A ticket opens one connection."""
        ticket = request.query.get("ticket", "")
        if self.knobs.refuse:
            return web.Response(status=self.knobs.refuse)
        if ticket not in self.knobs.tickets:
            return web.Response(status=404)
        self.knobs.tickets.discard(ticket)
        ws = web.WebSocketResponse(autoping=False)
        await ws.prepare(request)
        self.opened += 1
        connection = Connection(id=self.opened, ws=ws, request=request)
        self.connections.append(connection)
        if self.knobs.hello:
            await ws.send_json(
                {
                    "type": "hello",
                    "num_connections": len(self.connections) + self.knobs.others,
                    "connection_info": {"app_id": APP},
                    "debug_info": {"host": "sim", "approximate_connection_time": 18060},
                }
            )
        self.world.tell()
        try:
            await self._follow(connection)
        finally:
            if connection in self.connections:
                self.connections.remove(connection)
            self.world.tell()
        return ws

    async def _follow(self, connection: Connection) -> None:
        async for message in connection.ws:
            if connection.mute:
                continue
            if message.type is WSMsgType.PING:
                await connection.ws.pong(message.data)
            elif message.type is WSMsgType.TEXT and not connection.deaf:
                self._acked(json.loads(message.data))

    def _acked(self, frame: Json) -> None:
        for one in self.deliveries:
            if one.envelope == frame.get("envelope_id") and not one.acked_at:
                one.acked_at = time.monotonic()
                one.answer = frame.get("payload")
        self.world.tell()

    # ------------------------------------------------------------ sending

    async def send(self, kind: str, body: Json, *, key: str, attempt: int = 0) -> Delivery | None:
        """Send an envelope to the newest connection; None where there is none, and it is lost."""
        ready = [one for one in self.connections if not one.mute and not one.ws.closed]
        if not ready:
            return None
        connection = ready[-1]
        one = Delivery(
            key=key,
            envelope=self.world.new_id("env"),
            body=body,
            attempt=attempt,
            sent_at=time.monotonic(),
            connection=connection.id,
        )
        self.deliveries.append(one)
        frame: Json = {
            "type": kind,
            "envelope_id": one.envelope,
            "payload": body,
            "accepts_response_payload": kind != "events_api",
        }
        if kind == "events_api":
            frame |= {"retry_attempt": attempt, "retry_reason": "timeout" if attempt else ""}
        try:
            await connection.ws.send_json(frame)
        except ConnectionError:
            return None  # it broke a moment ago
        return one

    async def event(self, event: Json, *, key: str) -> Delivery | None:
        body = {
            "type": "event_callback",
            "team_id": "T1",
            "api_app_id": APP,
            "event_id": self.world.new_id("Ev"),
            "event_time": 1,
            "authorizations": [{"team_id": "T1", "user_id": "UBOT", "is_bot": True}],
            "event": event,
        }
        return await self.send("events_api", body, key=key)

    async def again(self, key: str) -> Delivery | None:
        """Send an event once more, as Slack does where nothing was acknowledged: in a new envelope."""
        first = next(one for one in self.deliveries if one.key == key)
        attempts = sum(one.key == key for one in self.deliveries)
        return await self.send("events_api", first.body, key=key, attempt=attempts)

    def was_acked(self, key: str) -> bool:
        return any(one.acked_at for one in self.deliveries if one.key == key)

    async def acked(self, key: str) -> Delivery:
        await self.world.until(lambda: self.was_acked(key))
        return next(one for one in self.deliveries if one.key == key and one.acked_at)

    def worst_latency_s(self) -> float:
        return max((one.latency_s for one in self.deliveries if one.acked_at), default=0.0)

    # ------------------------------------------------------------ ends

    async def announce(self, reason: str) -> None:
        """Say that every present connection will be closed soon."""
        for one in list(self.connections):
            frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "sim"}}
            with contextlib.suppress(ConnectionError):
                await one.ws.send_json(frame)

    def cut(self) -> None:
        """Break every connection without a word."""
        for one in list(self.connections):
            if one.request.transport is not None:
                one.request.transport.abort()

    async def close(self) -> None:
        """Close every connection as a server does that goes away."""
        for one in list(self.connections):
            await one.ws.close(code=1001)

    async def until(self, fact: Callable[[], Any]) -> None:
        await self.world.until(fact)
