"""A local server that speaks as OpenAI's chat completions or Anthropic's messages do, by a script.

It takes what the SDK really sends, keeps every request as it came over the wire, and can be made to fail: an
HTTP status, text that is no JSON, an answer that never comes.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from bot.planning.model.endpoint import Endpoint, Place
from bot.planning.model.thinking import Answered
from bot.settings.model import Provider

#: What is answered: words and calls, or something that is no answer.
Scripted = Answered | web.Response | None


@dataclass
class ModelServer:
    """One endpoint. `script` is answered by how many answers a conversation has already."""

    script: Sequence[Scripted | Callable[[dict[str, Any]], Scripted]]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    never: asyncio.Event = field(default_factory=asyncio.Event)

    def thinker(self, *, key: str = "sk-simulated-key-0123456789") -> Endpoint:
        """Return the model behind this endpoint, as the config would make it."""
        place = Place(provider=Provider.COMPATIBLE, model="scripted", base_url=self.url)
        return Endpoint(place, key=key)

    async def message(self, request: web.Request) -> web.Response:
        """Answer as Anthropic does."""
        self.requests.append(await request.json())
        self.keys.append(request.headers.get("x-api-key") or request.headers.get("Authorization", ""))
        answer = self.script[len(self.requests) - 1]
        assert isinstance(answer, Answered)
        return web.json_response(_message(answer))

    async def complete(self, request: web.Request) -> web.Response:
        raw = await request.read()
        asked = json.loads(raw)
        self.raw.append(raw)
        self.requests.append(asked)
        self.keys.append(request.headers.get("Authorization", ""))
        at = sum(one["role"] == "assistant" for one in asked["messages"])
        answer = self.script[at] if at < len(self.script) else Answered(text="That is all.")
        if callable(answer):
            answer = answer(asked)
        if isinstance(answer, web.Response):
            return answer
        if answer is None:
            await self.never.wait()
            return web.Response(status=500)
        return web.json_response(_completion(answer))


def _message(answer: Answered) -> dict[str, Any]:
    """Return an answer as Anthropic's messages are."""
    said = [{"type": "text", "text": answer.text}] if answer.text else []
    calls = [
        {"type": "tool_use", "id": one.id, "name": one.tool, "input": json.loads(one.args)}
        for one in answer.calls
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [*said, *calls],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def _completion(answer: Answered) -> dict[str, Any]:
    calls = [
        {"id": one.id, "type": "function", "function": {"name": one.tool, "arguments": one.args}}
        for one in answer.calls
    ]
    message = {"role": "assistant", "content": answer.text or None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_772_460_000,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "message": {**message, **({"tool_calls": calls} if calls else {})},
                "finish_reason": "tool_calls" if calls else "stop",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


@contextlib.asynccontextmanager
async def model_server(
    *script: Scripted | Callable[[dict[str, Any]], Scripted],
) -> AsyncIterator[ModelServer]:
    """Serve on loopback."""
    server = ModelServer(script)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.complete)
    app.router.add_post("/v1/messages", server.message)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    (address,) = runner.addresses
    server.url = f"http://127.0.0.1:{address[1]}/v1"
    try:
        yield server
    finally:
        server.never.set()
        await runner.cleanup()
