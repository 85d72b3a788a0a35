"""The Web API of the simulator: the methods that the adapter calls, refusing as Slack does."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.simulators.slack import limits
from tests.simulators.slack.world import BOT, BOT_USER, TEAM, Fault, Json, decoded

if TYPE_CHECKING:
    from tests.simulators.slack.server import Slack

Method = Callable[[Json], Awaitable[Json]]


class Refusal(Exception):  # noqa: N818 - it is what Slack says, not a fault
    """Slack answers ok=false."""

    def __init__(self, error: str, details: str = "") -> None:
        super().__init__(error)
        self.error, self.details = error, details


class Api:
    """The methods, by name; `answer` is the aiohttp handler."""

    def __init__(self, slack: "Slack") -> None:
        self.slack = slack
        self.world = slack.world
        self.methods: dict[str, Method] = {
            "apps.connections.open": self.connections_open,
            "auth.test": self.auth_test,
            "chat.postMessage": self.post_message,
            "chat.postEphemeral": self.post_ephemeral,
            "chat.update": self.update,
            "conversations.history": self.history,
            "conversations.replies": self.history,
            "files.completeUploadExternal": self.complete_upload,
            "files.getUploadURLExternal": self.upload_url,
            "users.info": self.users_info,
            "views.open": self.views_open,
        }

    async def answer(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        payload = await _payload(request)
        self.world.calls.append((name, payload))
        self.world.tell()
        queue = self.world.faults[name]
        fault = queue.popleft() if queue else Fault(kind="none")
        fault.reached.set()
        if fault.kind == "reset_before":
            return _reset(request)
        if fault.kind == "slow":
            await fault.until.wait()
        if fault.kind in {"limit", "status", "junk"}:
            return _broken(fault)
        headers = {"x-oauth-scopes": self.world.scopes}
        try:
            self._authorise(name, request, fault)
            told = await self.methods[name](payload)
        except Refusal as refusal:
            self.world.refused.append((name, refusal.error, refusal.details))
            told = {"ok": False, "error": refusal.error}
            if refusal.details:
                told["response_metadata"] = {"messages": [f"[ERROR] {refusal.details}"]}
            return web.json_response(told, headers=headers)
        if fault.kind == "reset_after":
            return _reset(request)
        return web.json_response({"ok": True, **told}, headers=headers)

    def _authorise(self, name: str, request: web.Request, fault: Fault) -> None:
        if fault.kind == "error":
            raise Refusal(fault.name)
        wanted = self.world.app_token if name == "apps.connections.open" else self.world.bot_token
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.world.token_error:
            raise Refusal(self.world.token_error)
        if not given:
            raise Refusal("not_authed")
        if given[:5] != wanted[:5]:
            raise Refusal("not_allowed_token_type")
        if given != wanted:
            raise Refusal("invalid_auth")
        if name not in self.methods:
            raise Refusal("unknown_method")

    # ------------------------------------------------------------ methods

    async def auth_test(self, _payload: Json) -> Json:
        return {"team": "Home", "team_id": TEAM, "user": "sayso", "user_id": BOT_USER, "bot_id": BOT}

    async def connections_open(self, _payload: Json) -> Json:
        return {"url": self.slack.sockets.new_url()}

    async def users_info(self, payload: Json) -> Json:
        name = self.world.people.get(payload["user"])
        if name is None:
            raise Refusal("user_not_found")
        return {"user": {"id": payload["user"], "name": name, "profile": {"display_name": name}}}

    async def post_message(self, payload: Json) -> Json:
        channel = self._channel(payload)
        message = self._message(payload)
        message["metadata"] = decoded(payload.get("metadata")) or {}
        if payload.get("thread_ts"):
            self._thread(channel.id, payload["thread_ts"])
            message["thread_ts"] = payload["thread_ts"]
        self.world.keep(channel.id, message)
        await self.slack.echo(channel.id, message)
        return {"channel": channel.id, "ts": message["ts"], "message": message}

    async def post_ephemeral(self, payload: Json) -> Json:
        channel = self._channel(payload)
        if payload["user"] not in channel.members:
            raise Refusal("user_not_in_channel")
        message = self._message(payload)
        message |= {"to": payload["user"], "thread_ts": payload.get("thread_ts")}
        channel.ephemeral.append(message)
        self.world.tell()
        return {"message_ts": message["ts"]}

    async def update(self, payload: Json) -> Json:
        channel = self._channel(payload)
        old = channel.messages.get(payload["ts"])
        if old is None:
            raise Refusal("message_not_found")
        if old.get("user") != BOT_USER:
            raise Refusal("cant_update_message")
        new = self._message(payload, is_update=True)
        before = dict(old)
        stamp = self.world.ts()
        old |= {"text": new["text"], "blocks": new["blocks"], "edited": {"user": BOT_USER, "ts": stamp}}
        old["edits"] = old.get("edits", 0) + 1
        self.world.tell()
        await self.slack.changed(channel.id, old, before)
        return {"channel": channel.id, "ts": payload["ts"]}

    async def history(self, payload: Json) -> Json:
        channel = self._channel(payload)
        thread = payload.get("ts", "")
        if thread:
            self._thread(channel.id, thread)
        metadata = str(payload.get("include_all_metadata", "0")).lower() in {"1", "true"}
        found = self.world.listing(
            channel.id, thread=thread, oldest=payload.get("oldest") or "0", metadata=metadata
        )
        start, limit = int(payload.get("cursor") or 0), int(payload.get("limit") or 100)
        page = found[start : start + limit]
        more = len(found) > start + limit
        cursor = str(start + limit) if more else ""
        return {"messages": page, "has_more": more, "response_metadata": {"next_cursor": cursor}}

    async def upload_url(self, payload: Json) -> Json:
        if int(payload["length"]) < 1:
            raise Refusal("invalid_arguments", "length must be more than 0")
        file = self.world.new_id("F")
        self.world.files[file] = {"name": payload["filename"], "length": int(payload["length"])}
        return {"upload_url": f"{self.slack.address}/upload/{file}", "file_id": file}

    async def upload(self, request: web.Request) -> web.Response:
        """The address that a file is sent to."""
        file, content = self.world.files[request.match_info["file"]], await request.read()
        if self.world.faults["upload"]:
            fault = self.world.faults["upload"].popleft()
            return web.Response(status=fault.status, text="failed")
        if len(content) != file["length"]:
            return web.Response(status=400, text="length differs")
        file["content"] = content
        return web.Response(text=f"OK - {len(content)}")

    async def complete_upload(self, payload: Json) -> Json:
        channel = self._channel({"channel": payload["channel_id"]})
        files = decoded(payload["files"])
        for one in files:
            if "content" not in self.world.files.get(one["id"], {}):
                raise Refusal("file_not_found")
        message = {
            "type": "message",
            "subtype": "file_share",
            "user": BOT_USER,
            "bot_id": BOT,
            "text": "",
            "ts": self.world.ts(),
            "files": [{"id": one["id"], **self.world.files[one["id"]]} for one in files],
        }
        if payload.get("thread_ts"):
            message["thread_ts"] = payload["thread_ts"]
        self.world.keep(channel.id, message)
        bare = {**message, "files": [{"id": one["id"]} for one in files]}
        await self.slack.echo(channel.id, bare)
        return {"files": [{"id": one["id"], "title": one.get("title")} for one in files]}

    async def views_open(self, payload: Json) -> Json:
        state = self.world.triggers.get(payload["trigger_id"])
        if state is None:
            raise Refusal("invalid_trigger_id")
        if state == "used":
            raise Refusal("exchanged_trigger_id")
        if state == "expired":
            raise Refusal("expired_trigger_id")
        view = decoded(payload["view"])
        if problem := limits.view_problem(view):
            raise Refusal("invalid_arguments", problem)
        self.world.triggers[payload["trigger_id"]] = "used"
        view |= {"id": self.world.new_id("V"), "hash": self.world.new_id("h"), "team_id": TEAM}
        self.world.views[state] = view
        self.world.tell()
        return {"view": view}

    # ------------------------------------------------------------ helpers

    def _channel(self, payload: Json) -> Any:
        channel = self.world.channels.get(payload["channel"])
        if channel is None:
            raise Refusal("channel_not_found")
        if BOT_USER not in channel.members:
            raise Refusal("not_in_channel")
        if channel.archived:
            raise Refusal("is_archived")
        return channel

    def _thread(self, channel: str, ts: Any) -> None:
        """A thread that is a number lost its last digits on the way (report 9)."""
        if not isinstance(ts, str) or ts not in self.world.channels[channel].messages:
            raise Refusal("thread_not_found")

    def _message(self, payload: Json, *, is_update: bool = False) -> Json:
        payload = {**payload, "blocks": decoded(payload.get("blocks")) or []}
        if problem := limits.message_problem(payload, is_update=is_update):
            raise Refusal(*problem)
        self.world.pings.extend(limits.pings(payload))
        return {
            "type": "message",
            "user": BOT_USER,
            "bot_id": BOT,
            "app_id": "A1",
            "ts": self.world.ts(),
            "text": payload.get("text") or "",
            "blocks": payload["blocks"],
        }


async def _payload(request: web.Request) -> Json:
    if request.content_type == "application/json":
        return await request.json()
    return {**request.query, **await request.post()}


def _broken(fault: Fault) -> web.Response:
    if fault.kind == "limit":
        body = {"ok": False, "error": "ratelimited"}
        return web.json_response(body, status=429, headers={"Retry-After": fault.retry_after})
    if fault.kind == "junk":
        return web.Response(text="<html>upstream error</html>", content_type="text/html")
    return web.json_response({"ok": False, "error": fault.name or "fatal_error"}, status=fault.status)


def _reset(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
