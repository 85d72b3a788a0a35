"""The Bot API as the real client library sees it: HTTP on loopback, limits and refusals of the real one.

Faults are queued by method and used once each, in order; see `faults`. Refused or broken calls are kept in
`calls` like all others.
"""

import asyncio
import contextlib
import json
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

from tests.simulators.telegram.faults import Fault
from tests.simulators.telegram.limits import (
    MAX_ANSWER,
    MAX_FILE,
    Json,
    RefusedError,
    bad,
    check_markup,
    taken,
    units,
)
from tests.simulators.telegram.world import BOT_ID, BOT_NAME, Chat, Person, Post, World

TOKEN = "4200:AA-simulated_token_of_a_bot"


class Server:
    """One bot's API. `token` None: revoked. `webhook`: something else gets the updates."""

    def __init__(self) -> None:
        self.world = World()
        self.bot = Person(BOT_ID, "sayso", is_bot=True)
        self.token: str | None = TOKEN
        self.webhook = ""
        self.url = ""
        self.calls: list[tuple[str, Json]] = []
        self.faults: dict[str, deque[Fault]] = defaultdict(deque)
        #: Messages and edits that a group takes in a minute, 20 in earnest; None for no limit.
        self.per_minute: int | None = None
        self._sent: dict[int, deque[float]] = defaultdict(deque)
        self._polling: asyncio.Event | None = None

    # ------------------------------------------------------------ looking

    def called(self, method: str) -> list[Json]:
        return [params for name, params in self.calls if name == method]

    async def until_called(self, method: str, times: int = 1) -> list[Json]:
        await self.world.until(lambda: len(self.called(method)) >= times)
        return self.called(method)

    def fail(self, method: str, *faults: Fault) -> None:
        self.faults[method].extend(faults)

    # ------------------------------------------------------------ HTTP

    async def handle(self, request: web.Request) -> web.StreamResponse:
        params = await _params(request)
        method = request.match_info["method"]
        self.calls.append((method, params))
        self.world.change()
        fault = self.faults[method].popleft() if self.faults[method] else None
        try:
            if fault is not None and fault.before is not None:
                await fault.before(request)
            result = await self._answer(request.match_info["token"], method, params)
            if fault is not None and fault.after is not None:
                await fault.after(request)
        except RefusedError as refused:
            doc: Json = {"ok": False, "error_code": refused.code, "description": refused.description}
            if refused.parameters:
                doc["parameters"] = refused.parameters
            return web.json_response(doc, status=refused.code)
        if fault is not None and fault.body is not None:
            return web.Response(body=fault.body, status=fault.status)
        return web.json_response({"ok": True, "result": result})

    async def _answer(self, token: str, method: str, params: Json) -> Any:
        if token != self.token:
            raise RefusedError(401, "Unauthorized")
        handler = getattr(self, f"_{method}", None)
        if handler is None:
            raise RefusedError(404, "Not Found")
        result = await handler(params)
        self.world.change()
        return result

    # ------------------------------------------------------------ methods: receiving

    async def _getMe(self, _params: Json) -> Json:  # noqa: N802
        return {
            "id": BOT_ID,
            "is_bot": True,
            "first_name": "sayso",
            "username": BOT_NAME,
            "can_join_groups": True,
            "can_read_all_group_messages": not self.world.privacy,
            "supports_inline_queries": False,
        }

    async def _getUpdates(self, params: Json) -> list[Json]:  # noqa: N802
        if self.webhook:
            raise RefusedError(
                409,
                "Conflict: can't use getUpdates method while webhook is active;"
                " use deleteWebhook to delete the webhook first",
            )
        if self._polling is not None:
            self._polling.set()  # the older of two pollers is the one that is told
        ended = self._polling = asyncio.Event()
        world = self.world
        if "allowed_updates" in params:
            world.allowed = params["allowed_updates"] or None
        if "offset" in params:
            world.confirm(params["offset"])
        until = time.monotonic() + params.get("timeout", 0)
        try:
            while not world.queue and (left := until - time.monotonic()) > 0:
                waits = [asyncio.ensure_future(world.news.wait()), asyncio.ensure_future(ended.wait())]
                try:
                    await asyncio.wait(waits, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for one in waits:
                        one.cancel()
                if ended.is_set():
                    raise RefusedError(
                        409,
                        "Conflict: terminated by other getUpdates request;"
                        " make sure that only one bot instance is running",
                    )
        finally:
            if self._polling is ended:
                self._polling = None
        return [queued.json for queued in world.queue[: params.get("limit", 100)]]

    async def _answerCallbackQuery(self, params: Json) -> bool:  # noqa: N802
        query, text = params["callback_query_id"], params.get("text", "")
        if units(text) > MAX_ANSWER:
            raise bad("MESSAGE_TOO_LONG")
        world = self.world
        if query not in world.pressed_at or query in world.answers or query in world.expired:
            raise bad("query is too old and response timeout expired or query ID is invalid")
        world.answers[query] = (text, time.monotonic() - world.pressed_at[query])
        if text:
            assert params.get("show_alert") is True
            chat, name = world.pressers[query]
            number = -len(world.answers)
            world.chats[chat].posts[number] = Post({"message_id": number, "text": text}, alert_for=name)
        return True

    # ------------------------------------------------------------ methods: showing

    def _chat(self, params: Json) -> Chat:
        chat = self.world.chats.get(int(params["chat_id"]))
        if chat is None:
            raise bad("chat not found")
        self._count(chat)
        if chat.moved_to:
            raise RefusedError(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                {"migrate_to_chat_id": chat.moved_to},
            )
        if chat.kicked:
            raise RefusedError(403, f"Forbidden: bot was kicked from the {chat.type} chat")
        thread = params.get("message_thread_id")
        if thread is not None and (not chat.is_forum or thread not in chat.topics):
            raise bad("message thread not found")
        return chat

    def _count(self, chat: Chat) -> None:
        """Refuse what is too much for a group in a minute."""
        sent, now = self._sent[chat.id], time.monotonic()
        while sent and sent[0] < now - 60:
            sent.popleft()
        if self.per_minute is not None and chat.type != "private" and len(sent) >= self.per_minute:
            wait = int(sent[0] + 60 - now) + 1
            raise RefusedError(429, f"Too Many Requests: retry after {wait}", {"retry_after": wait})
        sent.append(now)

    def _new(self, chat: Chat, params: Json) -> Json:
        doc: Json = {
            "message_id": chat.new_id(),
            "from": self.bot.json() | {"username": BOT_NAME},
            "chat": chat.json(),
            "date": int(time.time()),
        }
        if "message_thread_id" in params:
            doc |= {"message_thread_id": params["message_thread_id"], "is_topic_message": True}
        markup = check_markup(params.get("reply_markup"))
        if markup is not None:
            doc["reply_markup"] = markup
        answered = params.get("reply_parameters")
        if answered is not None:
            if answered["message_id"] in chat.posts:
                doc["reply_to_message"] = chat.posts[answered["message_id"]].json
            elif not answered.get("allow_sending_without_reply"):
                raise bad("message to be replied not found")
        return doc

    def _keep(self, chat: Chat, doc: Json, *, file: bytes | None = None) -> Json:
        post = chat.posts[doc["message_id"]] = Post(doc, file=file)
        return post.shown()

    async def _sendMessage(self, params: Json) -> Json:  # noqa: N802
        assert "parse_mode" not in params
        chat = self._chat(params)
        text, entities = taken(params.get("text", ""), params.get("entities", []))
        doc = self._new(chat, params) | {"text": text, "entities": entities}
        self.world.note_pings(text, entities)
        return self._keep(chat, doc)

    async def _sendDocument(self, params: Json) -> Json:  # noqa: N802
        chat = self._chat(params)
        name, content = params["document"]
        doc = self._new(chat, params) | {"document": _document(name, content)}
        return self._keep(chat, doc, file=content)

    def _ours(self, params: Json) -> tuple[Chat, Post]:
        chat = self._chat(params)
        post = chat.posts.get(params["message_id"])
        if post is None or post.json["from"]["id"] != BOT_ID:
            raise bad("message to edit not found")
        if "force_reply" in post.json.get("reply_markup", {}):
            raise bad("message can't be edited")
        return chat, post

    def _changed(self, post: Post, changes: Json, markup: Json | None) -> Json:
        new = {key: value for key, value in post.json.items() if key != "reply_markup"} | changes
        if markup is not None:
            new["reply_markup"] = markup
        if new == post.json:
            raise bad(
                "message is not modified: specified new message content and reply markup are exactly the same"
                " as a current content and reply markup of the message"
            )
        post.json = new | {"edit_date": int(time.time())}
        post.edits += 1
        shown = dict(post.json)
        post.json = new
        return shown

    async def _editMessageText(self, params: Json) -> Json:  # noqa: N802
        _chat, post = self._ours(params)
        text, entities = taken(params.get("text", ""), params.get("entities", []), edit=True)
        markup = check_markup(params.get("reply_markup"), inline_only=True)
        if "document" in post.json:
            raise bad("there is no text in the message to edit")
        self.world.note_pings(text, entities)
        return self._changed(post, {"text": text, "entities": entities}, markup)

    async def _editMessageReplyMarkup(self, params: Json) -> Json:  # noqa: N802
        _chat, post = self._ours(params)
        return self._changed(post, {}, check_markup(params.get("reply_markup"), inline_only=True))

    async def _editMessageMedia(self, params: Json) -> Json:  # noqa: N802
        _chat, post = self._ours(params)
        name, content = params[params["media"]["media"].removeprefix("attach://")]
        post.file = content
        return self._changed(post, {"document": _document(name, content)}, None)

    async def _deleteMessage(self, params: Json) -> bool:  # noqa: N802
        chat = self._chat(params)
        if chat.posts.pop(params["message_id"], None) is None:
            raise bad("message to delete not found")
        return True


def _document(name: str, content: bytes) -> Json:
    if not content:
        raise bad("file must be non-empty")
    if len(content) > MAX_FILE:
        raise RefusedError(413, "Request Entity Too Large")
    return {
        "file_id": name,
        "file_unique_id": f"{name}{len(content)}",
        "file_name": name,
        "file_size": len(content),
    }


async def _params(request: web.Request) -> Json:
    """Return the parameters; files as (name, content)."""
    found: Json = {}
    for key, value in (await request.post()).items():
        if isinstance(value, web.FileField):
            with value.file:
                found[key] = (value.filename, value.file.read())
            continue
        assert isinstance(value, str)
        found[key] = value
        if key not in ("text", "callback_query_id"):
            with contextlib.suppress(ValueError):
                found[key] = json.loads(value)
    return found


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    """Serve a bot's API on loopback."""
    server = Server()
    app = web.Application(client_max_size=MAX_FILE + 1_000_000)
    app.router.add_post("/bot{token}/{method}", server.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        server.url = f"http://127.0.0.1:{port}"
        yield server
    finally:
        await runner.cleanup()
