"""The simulated REST API: posts, edits, history, answers to interactions; and faults on order."""

import asyncio
import contextlib
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.simulators.discord import limits, published
from tests.simulators.discord.gateway import Gateway
from tests.simulators.discord.limits import RefusalError
from tests.simulators.discord.world import (
    APPLICATION,
    BOT,
    BOT_ROLE,
    GUILD,
    Channel,
    Interaction,
    World,
    iso,
)

Handler = Callable[["Call"], Awaitable[Any]]


@dataclass
class Fault:
    """What goes wrong with a request.

    Attributes:
        status: answer with this, and `body` and `headers`, instead of doing it.
        reset: "before" or "after" it was done, cut the connection instead of answering.
        hold: do it, but answer only once this is set.
        times: for how many requests; the rest go well.
    """

    status: int = 0
    body: dict[str, Any] | str = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    reset: str = ""
    hold: asyncio.Event | None = None
    times: int = 1


def too_many(retry_after: float, **more: Any) -> Fault:
    """Return a 429 as Discord itself answers it."""
    return Fault(
        status=429,
        body={"message": "You are being rate limited.", "retry_after": retry_after, "global": False},
        headers={"Via": "1.1 google", "Retry-After": str(retry_after)},
        **more,
    )


@dataclass
class Call:
    """One request as it came."""

    method: str
    path: str
    query: dict[str, str]
    body: dict[str, Any]
    files: dict[str, bytes]
    names: dict[str, str]
    authorized: bool


class Rest:
    """Answers requests. `calls` keeps what was asked, `faults` what is to go wrong."""

    def __init__(self, world: World, gateway: Gateway, token: str) -> None:
        self.world = world
        self.gateway = gateway
        self.token = token
        self.calls: list[Call] = []
        self.faults: list[tuple[re.Pattern[str], Fault]] = []
        self.pinged: list[str] = []
        self.keeps_nonces = False
        #: Flags of the application: the Message Content intent of an app in few servers.
        self.application_flags = 1 << 19
        self.endpoint: str | None = None
        self.news = asyncio.Event()
        self._routes: list[tuple[str, re.Pattern[str], Handler]] = [
            ("GET", re.compile(r"/users/@me"), self._me),
            ("GET", re.compile(r"/oauth2/applications/@me"), self._application),
            ("POST", re.compile(r"/channels/(\d+)/messages"), self._post),
            ("GET", re.compile(r"/channels/(\d+)/messages"), self._history),
            ("PATCH", re.compile(r"/channels/(\d+)/messages/(\d+)"), self._edit),
            ("GET", re.compile(r"/channels/(\d+)"), self._channel),
            ("POST", re.compile(r"/interactions/(\d+)/([^/]+)/callback"), self._callback),
            ("POST", re.compile(r"/webhooks/(\d+)/([^/]+)"), self._follow_up),
        ]

    def fail(self, pattern: str, fault: Fault) -> None:
        """Let the next requests that match "METHOD path" go wrong."""
        self.faults.append((re.compile(pattern), fault))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        call = await _read(request, self.token)
        self.calls.append(call)
        fault = self._fault(f"{call.method} {call.path}")
        if fault is not None and fault.status:
            return _json(fault.status, fault.body, fault.headers)
        if fault is not None and fault.reset == "before":
            return _cut(request)
        try:
            status, body = 200, await self._do(call)
        except RefusalError as refusal:
            status, body = refusal.status, refusal.body
        finally:
            self._tell()
        if fault is not None and fault.reset == "after":
            return _cut(request)
        if fault is not None and fault.hold is not None:
            await fault.hold.wait()
        return web.Response(status=204) if body is None else _json(status, body)

    def _fault(self, line: str) -> Fault | None:
        for index, (pattern, fault) in enumerate(self.faults):
            if pattern.fullmatch(line):
                fault.times -= 1
                if fault.times <= 0:
                    del self.faults[index]
                return fault
        return None

    async def _do(self, call: Call) -> Any:
        for method, pattern, handler in self._routes:
            match = pattern.fullmatch(call.path)
            if match and method == call.method:
                own_token = call.path.startswith(("/interactions/", "/webhooks/"))
                if not own_token and not call.authorized:
                    raise RefusalError(401, 0, "401: Unauthorized")
                if own_token and call.authorized:
                    raise AssertionError("the bot token went where it is not needed")
                return await handler(call, *match.groups())
        raise RefusalError(404, 0, f"404: Not Found {call.method} {call.path}")

    # ------------------------------------------------------------ who

    async def _me(self, _call: Call) -> Any:
        return self.world.users[BOT].json() | {
            "mfa_enabled": False,
            "locale": "en-US",
            "verified": True,
            "flags": 0,
        }

    async def _application(self, _call: Call) -> Any:
        return {
            "id": str(APPLICATION),
            "name": "sayso",
            "icon": None,
            "description": "",
            "summary": "",
            "bot_public": False,
            "bot_require_code_grant": False,
            "verify_key": "0" * 64,
            "flags": self.application_flags,
            "owner": self.world.users[BOT].json(),
            "team": None,
            "rpc_origins": [],
            "hook": True,
            "interactions_endpoint_url": self.endpoint,
        }

    # ------------------------------------------------------------ messages

    def _find_channel(self, number: str) -> Channel:
        channel = self.world.channels.get(int(number))
        if channel is None:
            raise RefusalError(404, 10003, "Unknown Channel")
        return channel

    def _find_message(self, channel: Channel, number: str) -> dict[str, Any]:
        message = channel.messages.get(int(number))
        if message is None:
            raise RefusalError(404, 10008, "Unknown Message")
        return message

    async def _channel(self, _call: Call, number: str) -> Any:
        return self._find_channel(number).json(self.world)

    async def _post(self, call: Call, number: str) -> Any:
        channel = self._find_channel(number)
        if channel.locked:
            raise RefusalError(400, 50083, "Thread is archived")
        limits.check_message(call.body, call.files)
        published.check("message_create", call.body)
        nonce = call.body.get("nonce")
        if nonce and call.body.get("enforce_nonce") and nonce in self.world.nonces:
            return self._find_message(channel, str(self.world.nonces[nonce]))
        more: dict[str, Any] = {
            "components": call.body.get("components") or [],
            "flags": call.body.get("flags", 0),
        }
        if reference := call.body.get("message_reference"):
            more |= {
                "type": 19,
                "message_reference": {"channel_id": number, "guild_id": str(GUILD), **reference},
                "referenced_message": channel.messages.get(int(reference["message_id"])),
            }
        message = self.world.message(channel, self.world.users[BOT], call.body.get("content") or "", **more)
        message["attachments"] = self._attach(call)
        if nonce:
            self.world.nonces[nonce] = int(message["id"])
        self._note_pings(call)
        echoed = message | ({"nonce": nonce} if nonce else {})
        if self.keeps_nonces:
            message["nonce"] = nonce
        if channel.type != 1:
            echoed["guild_id"] = str(GUILD)
        await self.gateway.dispatch("MESSAGE_CREATE", echoed)
        return echoed

    def _attach(self, call: Call) -> list[dict[str, Any]]:
        attached = []
        for key, content in call.files.items():
            number = str(self.world.snowflake())
            self.world.files[number] = content
            attached.append(
                {
                    "id": number,
                    "filename": call.names[key],
                    "size": len(content),
                    "url": f"https://cdn.invalid/{number}",
                    "proxy_url": f"https://cdn.invalid/{number}",
                }
            )
        wanted = [one for one in call.body.get("attachments") or [] if "filename" in one]
        if len(wanted) != len(attached):
            raise limits.invalid("attachments", "Attachments and files do not agree")
        return attached

    def _note_pings(self, call: Call) -> None:
        self.pinged += limits.pings(
            call.body.get("content") or "",
            call.body.get("allowed_mentions"),
            list(self.world.users),
            [BOT_ROLE],
        )

    async def _history(self, call: Call, number: str) -> Any:
        channel = self._find_channel(number)
        most = int(call.query.get("limit", 50))
        if not 1 <= most <= 100:
            raise limits.invalid("limit", "int value should be between 1 and 100.")
        messages = [channel.messages[key] for key in sorted(channel.messages)]
        if "after" in call.query:
            after = int(call.query["after"])
            messages = [one for one in messages if int(one["id"]) > after][:most]
        if "before" in call.query:
            before = int(call.query["before"])
            messages = [one for one in messages if int(one["id"]) < before]
        return [self.world.seen_by_bot(one, channel) for one in reversed(messages[-most:])]

    async def _edit(self, call: Call, number: str, message_id: str) -> Any:
        channel = self._find_channel(number)
        message = self._find_message(channel, message_id)
        if int(message["author"]["id"]) != BOT:
            raise RefusalError(403, 50005, "Cannot edit a message authored by another user")
        limits.check_message(
            {"content": message["content"], "attachments": message["attachments"], **call.body}, call.files
        )
        published.check("message_edit", call.body)
        if "content" in call.body:
            message["content"] = (call.body["content"] or "").strip()
        if "components" in call.body:
            message["components"] = call.body["components"]
        if "attachments" in call.body:
            message["attachments"] = self._attach(call)
        message["edited_timestamp"] = iso(self.world.snowflake())
        message["edits"] = message.get("edits", 0) + 1
        self._note_pings(call)
        await self.gateway.dispatch(
            "MESSAGE_UPDATE", message | ({} if channel.type == 1 else {"guild_id": str(GUILD)})
        )
        return message

    # ------------------------------------------------------------ interactions

    def _interaction(self, token: str) -> Interaction:
        found = self.world.interactions.get(token)
        if found is None or found.expired:
            raise RefusalError(404, 10062, "Unknown interaction")
        return found

    async def _callback(self, call: Call, _number: str, token: str) -> Any:
        interaction = self._interaction(token)
        if interaction.answers:
            raise RefusalError(400, 40060, "Interaction has already been acknowledged.")
        data = call.body.get("data") or {}
        match call.body["type"]:
            case 4:
                limits.check_message(data, call.files)
                published.check("reply", call.body)
            case 9:
                limits.check_modal(data)
                published.check("modal", call.body)
            case 6 | 7:
                published.check("update", call.body)
            case _:
                raise limits.invalid("type", "Unknown type")
        interaction.answers.append(call.body)
        interaction.answered_after_s = asyncio.get_running_loop().time() - interaction.began_at
        if call.body["type"] == 4:
            self._whisper(interaction, data, call)
        return None

    async def _follow_up(self, call: Call, _application: str, token: str) -> Any:
        interaction = self.world.interactions.get(token)
        if interaction is None or not interaction.answers:
            raise RefusalError(404, 10015, "Unknown Webhook")
        if interaction.worn_out:
            raise RefusalError(401, 50027, "Invalid Webhook Token")
        limits.check_message(call.body, call.files)
        published.check("follow_up", call.body)
        return self._whisper(interaction, call.body, call)

    def _whisper(self, interaction: Interaction, data: dict[str, Any], call: Call) -> dict[str, Any]:
        """Show a message to the one who pressed; these never go over the gateway."""
        if not int(data.get("flags") or 0) & 64:
            raise AssertionError("this would be shown to everybody")
        number = self.world.snowflake()
        self.pinged += limits.pings(
            data.get("content") or "", data.get("allowed_mentions"), list(self.world.users), [BOT_ROLE]
        )
        message = {
            "id": str(number),
            "channel_id": str(interaction.channel),
            "author": self.world.users[BOT].json(),
            "content": (data.get("content") or "").strip(),
            "components": data.get("components") or [],
            "attachments": self._attach(Call("", "", {}, data, call.files, call.names, authorized=False)),
            "timestamp": iso(number),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
            "flags": data["flags"],
            "for": interaction.user,
        }
        self.world.ephemeral.append(message)
        return message

    def _tell(self) -> None:
        self.news.set()
        self.news = asyncio.Event()


async def _read(request: web.Request, token: str) -> Call:
    body: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    names: dict[str, str] = {}
    if request.content_type == "multipart/form-data":
        async for part in await request.multipart():
            content = await part.read(decode=True)
            if part.name == "payload_json":
                body = json.loads(content)
            else:
                files[part.name] = bytes(content)
                names[part.name] = part.filename or ""
    elif request.can_read_body:
        body = await request.json()
    path = request.path.removeprefix("/api/v10")
    authorized = request.headers.get("Authorization") == f"Bot {token}"
    return Call(request.method, path, dict(request.query), body, files, names, authorized)


def _json(status: int, body: dict[str, Any] | str, headers: dict[str, str] | None = None) -> web.Response:
    # Exactly "application/json": with a charset the SDK takes the body for text.
    kind = "application/json" if not isinstance(body, str) else "text/html"
    text = json.dumps(body) if not isinstance(body, str) else body
    response = web.Response(status=status, body=text.encode(), headers=headers or {})
    response.headers["Content-Type"] = kind
    return response


def _cut(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    raise asyncio.CancelledError


__all__ = ["Call", "Fault", "Rest", "contextlib", "too_many"]
