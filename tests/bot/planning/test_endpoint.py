"""The endpoint of a model: what is really sent and read over HTTP, its key, and every way it fails."""

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.planning.model.endpoint import Endpoint, Place, key_of, open_thinker, problems
from bot.planning.model.thinking import Answered, Call, Result, Results, ThinkerError, Thought, Told
from bot.planning.model.tools import TOOLS
from bot.settings.config import Config, load
from bot.settings.errors import ConfigError
from bot.settings.model import Provider
from bot.settings.paths import Paths
from tests.simulators.model.double import call, calls, says
from tests.simulators.model.server import model_server

LOOK = call("run", target="web1", command="uptime", purpose="look")


def thought(*messages: Any, timeout_s: float = 20.0) -> Thought:
    told = Told(text="is web1 well?")
    return Thought(
        instructions="Plan.",
        messages=(told, *messages),
        tools=TOOLS,
        answer_tokens=321,
        timeout_s=timeout_s,
    )


async def test_a_call_says_everything_and_reads_calls_and_usage() -> None:
    async with model_server(calls(LOOK, text="Looking.")) as server:
        thinker = server.thinker(key="sk-simulated-key-0123456789")
        reply = await thinker.think(thought())
        await thinker.close()
    assert reply.answered.text == "Looking."
    (wanted,) = reply.answered.calls
    assert (wanted.tool, json.loads(wanted.args)["command"]) == ("run", "uptime")
    assert (reply.tokens_in, reply.tokens_out) == (100, 20)
    (asked,) = server.requests
    assert [one["role"] for one in asked["messages"]] == ["system", "user"]
    assert asked["messages"][0]["content"] == "Plan."
    assert asked["messages"][1]["content"] == "is web1 well?"
    assert {one["function"]["name"] for one in asked["tools"]} == {one.name for one in TOOLS}
    assert 321 in (asked.get("max_tokens"), asked.get("max_completion_tokens"))
    assert server.keys == ["Bearer sk-simulated-key-0123456789"]


async def test_a_conversation_goes_back_as_it_was() -> None:
    first = Answered(text="", calls=(Call(id="c0", tool="run", args=LOOK.args),))
    result = Results(of=(Result(call="c0", tool="run", text="up 3 days"),))
    async with model_server(calls(LOOK), says("It is well.")) as server:
        thinker = server.thinker()
        reply = await thinker.think(thought(first, result))
        await thinker.close()
    assert reply.answered == says("It is well.")
    roles = [one["role"] for one in server.requests[0]["messages"]]
    assert roles == ["system", "user", "assistant", "tool"]
    assert server.requests[0]["messages"][3]["content"] == "up 3 days"


async def test_anthropic_is_told_the_same_in_its_own_form() -> None:
    first = Answered(text="", calls=(Call(id="c0", tool="run", args=LOOK.args),))
    result = Results(of=(Result(call="c0", tool="run", text="up 3 days"),))
    async with model_server(calls(LOOK), says("It is well.")) as server:
        place = Place(
            provider=Provider.ANTHROPIC, model="claude-scripted", base_url=server.url.removesuffix("/v1")
        )
        thinker = Endpoint(place, key="sk-ant-simulated")
        asked = await thinker.think(thought())
        answered = await thinker.think(thought(first, result))
        await thinker.close()
    assert asked.answered.calls[0].tool == "run"
    assert (asked.tokens_in, asked.tokens_out) == (100, 20)
    assert answered.answered == says("It is well.")
    assert all("sk-ant-simulated" in key for key in server.keys)
    last = server.requests[1]["messages"][-1]["content"][0]
    assert (last["type"], last["tool_use_id"]) == ("tool_result", "c0")
    assert "up 3 days" in json.dumps(last["content"])
    assert server.requests[0]["max_tokens"] == 321


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (web.Response(status=500, text="boom"), "it answered with HTTP 500"),
        (web.Response(status=429, text="slow down"), "it answered with HTTP 429"),
        (web.Response(status=401, text="bad key sk-simulated"), "it answered with HTTP 401"),
        (web.Response(text="<html>proxy error</html>", content_type="text/html"), "cannot be read"),
        (web.json_response({"choices": []}), "cannot be read"),
        (
            Answered(calls=(Call(id="c", tool="run", args="{}"), Call(id="c", tool="run", args="{}"))),
            "two of its calls have one id",
        ),
    ],
)
async def test_what_is_no_answer_says_why_and_is_asked_once(answer: Any, why: str) -> None:
    async with model_server(answer) as server:
        thinker = server.thinker()
        with pytest.raises(ThinkerError, match=why) as caught:
            await thinker.think(thought())
        await thinker.close()
    assert len(server.requests) == 1
    assert "sk-simulated" not in str(caught.value)


async def test_an_address_where_nobody_is_is_said() -> None:
    place = Place(provider=Provider.COMPATIBLE, model="x", base_url="http://127.0.0.1:9/v1")
    thinker = Endpoint(place, key="")
    with pytest.raises(ThinkerError, match="it cannot be reached"):
        await thinker.think(thought())
    await thinker.close()


async def test_one_that_was_never_asked_closes() -> None:
    await Endpoint(Place(provider=Provider.ANTHROPIC, model="claude"), key="k").close()


# ---------------------------------------------------------------- the settings


def configured(folder: Path, *flags: str) -> Config:
    return load(file=None, environ={}, flags=flags, login="ana", paths=Paths(folder / "state"))


def wrong(folder: Path, *flags: str, environ: dict[str, str] | None = None) -> list[str]:
    """Return the keys of what is wrong."""
    return [one.key for one in problems(configured(folder, *flags), environ or {})]


COMPATIBLE = ("model.provider=compatible", "model.name=x")


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    assert wrong(tmp_path) == []
    assert wrong(tmp_path, "model.provider=openai") == ["model.name", "model.api_key_file"]
    assert wrong(tmp_path, *COMPATIBLE) == ["model.base_url"]
    assert wrong(tmp_path, *COMPATIBLE, "model.base_url=there") == ["model.base_url"]
    assert wrong(tmp_path, *COMPATIBLE, "model.base_url=http://127.0.0.1:1/v1") == []
    with pytest.raises(ConfigError, match=r"model\.name"):
        open_thinker(configured(tmp_path, "model.provider=openai"), {})


def test_a_key_goes_to_another_machine_over_tls_only(tmp_path: Path) -> None:
    key = {"OPENAI_API_KEY": "sk-test"}
    far = (*COMPATIBLE, "model.base_url=http://models.example/v1")
    assert wrong(tmp_path, *far, environ=key) == ["model.base_url"]
    assert wrong(tmp_path, *far) == []
    assert wrong(tmp_path, *COMPATIBLE, "model.base_url=https://models.example/v1", environ=key) == []


def test_a_key_file_is_private_and_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "key"
    flags = ("model.provider=openai", "model.name=x", f"model.api_key_file={file}")
    assert wrong(tmp_path, *flags) == ["model.api_key_file", "model.api_key_file"]
    file.write_text("sk-of-the-file\n")
    file.chmod(0o644)
    assert wrong(tmp_path, *flags) == ["model.api_key_file"]
    file.chmod(0o600)
    assert wrong(tmp_path, *flags) == []
    assert key_of(configured(tmp_path, *flags), {"OPENAI_API_KEY": "sk-other"}) == "sk-of-the-file"
    thinker = open_thinker(configured(tmp_path, *flags), {})
    assert thinker is not None
    assert thinker.name == "openai:x"
