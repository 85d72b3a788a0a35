"""The simulated gateway: sessions, heartbeats, resuming, and every way to lose a connection."""

import asyncio
import contextlib
import json
from typing import Any

from aiohttp import WSMsgType, web

from tests.simulators.discord.world import APPLICATION, BOT, World

MESSAGE_CONTENT = 1 << 15


class Session:
    """What a client resumes: everything that was dispatched in it."""

    def __init__(self, number: int, intents: int) -> None:
        self.id = f"session-{number}"
        self.intents = intents
        self.sent: list[dict[str, Any]] = []
        self.socket: web.WebSocketResponse | None = None

    async def send(self, event: str, data: Any) -> None:
        frame = {"op": 0, "t": event, "s": len(self.sent) + 1, "d": data}
        self.sent.append(frame)
        if self.socket is not None and not self.socket.closed:
            with contextlib.suppress(ConnectionError):
                await self.socket.send_str(json.dumps(frame))


class Gateway:
    """All sessions of the bot. Two processes each have one and both get everything.

    Attributes:
        deaf: connections are greeted and heartbeats answered, and nothing else ever comes.
        refuses: close code for every IDENTIFY; 0 for none.
        forgets: a session cannot be resumed.
        privileged: the Message Content intent is switched on in the portal.
        double: every event is dispatched twice.
        muffled: sessions live, and no event reaches them.
        silent: once a session has begun, nothing of the client is read, as on a dead network; set ends it.
    """

    def __init__(self, world: World, token: str) -> None:
        self.world = world
        self.token = token
        self.url = ""
        self.sessions: list[Session] = []
        self.sockets: set[web.WebSocketResponse] = set()
        self.identified = 0
        self.resumed = 0
        self.connections = 0
        self.deaf = False
        self.refuses = 0
        self.forgets = False
        self.privileged = True
        self.double = False
        self.muffled = False
        self.silent: asyncio.Event | None = None
        self.news = asyncio.Event()

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.sockets.add(socket)
        self.connections += 1
        self._tell()
        session: Session | None = None
        try:
            await socket.send_str(json.dumps({"op": 10, "d": {"heartbeat_interval": 600_000}}))
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    session = await self._take(socket, json.loads(frame.data)) or session
                    if session is not None and self.silent is not None:
                        await self.silent.wait()
        finally:
            self.sockets.discard(socket)
            if session is not None and session.socket is socket:
                session.socket = None
            self._tell()
        return socket

    async def _take(self, socket: web.WebSocketResponse, frame: dict[str, Any]) -> Session | None:
        match frame["op"]:
            case 1:
                await socket.send_str(json.dumps({"op": 11}))
            case 2:
                return await self._identify(socket, frame["d"])
            case 6:
                return await self._resume(socket, frame["d"])
        return None

    async def _identify(self, socket: web.WebSocketResponse, data: dict[str, Any]) -> Session | None:
        self.identified += 1
        self._tell()
        if self.deaf:
            return None
        wants_content = data["intents"] & MESSAGE_CONTENT
        code = self.refuses or (4004 if data["token"] != self.token else 0)
        if not code and wants_content and not self.privileged:
            code = 4014
        if code:
            await socket.close(code=code)
            return None
        self.world.content_intent = bool(wants_content)
        session = Session(self.identified, data["intents"])
        session.socket = socket
        self.sessions.append(session)
        ready = {
            "v": 10,
            "user": self.world.users[BOT].json(),
            "guilds": [{"id": self.world.guild()["id"], "unavailable": True}],
            "session_id": session.id,
            "resume_gateway_url": self.url,
            "application": {"id": str(APPLICATION), "flags": 0},
        }
        await session.send("READY", ready)
        await session.send("GUILD_CREATE", self.world.guild())
        self._tell()
        return session

    async def _resume(self, socket: web.WebSocketResponse, data: dict[str, Any]) -> Session | None:
        session = next((one for one in self.sessions if one.id == data["session_id"]), None)
        if session is None or self.forgets:
            await socket.send_str(json.dumps({"op": 9, "d": False}))
            return None
        session.socket = socket
        for frame in session.sent[data["seq"] :]:
            await socket.send_str(json.dumps(frame))
        await session.send("RESUMED", {})
        self.resumed += 1
        self._tell()
        return session

    async def dispatch(self, event: str, data: Any) -> None:
        """Send an event to every session; those without a connection get it when they resume."""
        for session in () if self.muffled else self.sessions:
            for _ in range(2 if self.double else 1):
                await session.send(event, data)

    # ------------------------------------------------------------ disconnects

    async def close_all(self, code: int) -> None:
        """Close every connection with a code."""
        for socket in list(self.sockets):
            await socket.close(code=code)

    async def ask_to_reconnect(self) -> None:
        """Ask every client to reconnect (op 7)."""
        await self._op({"op": 7, "d": None})

    async def invalidate(self, *, resumable: bool) -> None:
        """Tell every client that its session is over (op 9)."""
        if not resumable:
            self.sessions.clear()
        await self._op({"op": 9, "d": resumable})

    def abort_all(self) -> None:
        """Cut every connection without a word."""
        for socket in list(self.sockets):
            transport = socket._req.transport if socket._req is not None else None
            if transport is not None:
                transport.abort()

    async def _op(self, frame: dict[str, Any]) -> None:
        for socket in list(self.sockets):
            with contextlib.suppress(ConnectionError):
                await socket.send_str(json.dumps(frame))

    def _tell(self) -> None:
        self.news.set()
        self.news = asyncio.Event()
