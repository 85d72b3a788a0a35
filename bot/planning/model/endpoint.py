"""The endpoint of a model: OpenAI, Anthropic, or any address that speaks as OpenAI's chat completions do.

The one module that imports pydantic-ai, and only when a model is called for the first time. It sends what it
is given, once, and decides nothing. The rules it owns: a key comes from a file or the environment and goes to
another machine only over TLS; no error quotes it; and nothing is sent twice, since every call was counted.
"""

import asyncio
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bot.planning.model.thinking import (
    Answered,
    Call,
    Message,
    Reply,
    Results,
    Thinker,
    ThinkerError,
    Thought,
    Told,
)
from bot.settings.config import Config
from bot.settings.errors import ConfigError, Problem
from bot.settings.model import Provider

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model

#: Where a key comes from that no file holds.
VARIABLES = {
    Provider.OPENAI: "OPENAI_API_KEY",
    Provider.COMPATIBLE: "OPENAI_API_KEY",
    Provider.ANTHROPIC: "ANTHROPIC_API_KEY",
}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
#: Sent where an address asks for no key; the SDK wants one.
_NO_KEY = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which model, and where it is."""

    provider: Provider
    model: str
    base_url: str = ""


def open_thinker(config: Config, environ: Mapping[str, str] = os.environ) -> Thinker | None:
    """Return the model of the config, nothing of it imported or connected yet; None where none is set.

    Raises:
        ConfigError: with every problem found.
    """
    found = problems(config, environ)
    if found:
        raise ConfigError(found)
    provider = Provider(config.text("model.provider"))
    if provider is Provider.OFF:
        return None
    place = Place(provider=provider, model=config.text("model.name"), base_url=config.text("model.base_url"))
    return Endpoint(place, key=key_of(config, environ))


def key_of(config: Config, environ: Mapping[str, str] = os.environ) -> str:
    """Return the key of the model; "" for none."""
    file = config.text("model.api_key_file")
    if not file:
        return environ.get(VARIABLES.get(Provider(config.text("model.provider")), ""), "").strip()
    try:
        return Path(file).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def problems(config: Config, environ: Mapping[str, str] = os.environ) -> list[Problem]:
    """Return what is wrong with the settings of the model; asks no network."""
    provider = Provider(config.text("model.provider"))
    if provider is Provider.OFF:
        return []
    found: list[tuple[str, str]] = []
    if not config.text("model.name"):
        found.append(("model.name", "say which model, as its provider calls it."))
    base_url, key = config.text("model.base_url"), key_of(config, environ)
    parts = urlsplit(base_url)
    if base_url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query):
        found.append(("model.base_url", f"{base_url!r} is no web address."))
    elif parts.scheme == "http" and parts.hostname not in _LOOPBACK and key:
        found.append(
            ("model.base_url", "it is not encrypted, so the key would cross the network in the clear.")
        )
    if provider is Provider.COMPATIBLE and not base_url:
        found.append(("model.base_url", "say where the model is."))
    if provider is not Provider.COMPATIBLE and not key:
        what = f"there is no key. Put it in a file, mode 600, or set {VARIABLES[provider]}."
        found.append(("model.api_key_file", what))
    found += _file_problems(config.text("model.api_key_file"))
    return [Problem(where=config.values[key].why, key=key, what=what) for key, what in found]


def _file_problems(name: str) -> list[tuple[str, str]]:
    file = Path(name).expanduser()
    if not name:
        return []
    if not file.is_file():
        return [("model.api_key_file", f"{name} cannot be read.")]
    if file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return [("model.api_key_file", f"others on this machine can read the key. Type: chmod 600 {file}")]
    return []


class Endpoint:
    """A model behind an endpoint; see `Thinker`."""

    def __init__(self, place: Place, *, key: str) -> None:
        self.name = f"{place.provider.value}:{place.model}"
        self._place = place
        self._key = key
        self._opened: tuple[Model, Any] | None = None
        self._opening = asyncio.Lock()

    async def think(self, thought: Thought) -> Reply:
        """Call the model once; see `Thinker`."""
        return _reply(await _request(await self._open(), thought))

    async def _open(self) -> "Model":
        async with self._opening:
            if self._opened is None:
                # Importing takes seconds, in which everything else goes on.
                self._opened = await asyncio.to_thread(_connect, self._place, self._key)
            return self._opened[0]

    async def close(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            await self._opened[1].close()


def _connect(place: Place, key: str) -> "tuple[Model, Any]":
    if place.provider is Provider.ANTHROPIC:
        from anthropic import AsyncAnthropic  # noqa: PLC0415 - lazy: seconds, and only with a model
        from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

        claude = AsyncAnthropic(api_key=key, base_url=place.base_url or None, max_retries=0)
        return AnthropicModel(place.model, provider=AnthropicProvider(anthropic_client=claude)), claude
    from openai import AsyncOpenAI  # noqa: PLC0415 - lazy: likewise
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    client = AsyncOpenAI(api_key=key or _NO_KEY, base_url=place.base_url or None, max_retries=0)
    return OpenAIChatModel(place.model, provider=OpenAIProvider(openai_client=client)), client


async def _request(model: "Model", thought: Thought) -> "ModelResponse":
    from pydantic_ai import direct, exceptions  # noqa: PLC0415 - lazy: as above
    from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415
    from pydantic_ai.settings import ModelSettings  # noqa: PLC0415
    from pydantic_ai.tools import ToolDefinition  # noqa: PLC0415

    tools = [
        ToolDefinition(name=one.name, description=one.about, parameters_json_schema=dict(one.schema))
        for one in thought.tools
    ]
    try:
        return await direct.model_request(
            model,
            [_message(one, thought.instructions) for one in thought.messages],
            model_settings=ModelSettings(max_tokens=thought.answer_tokens, timeout=thought.timeout_s),
            model_request_parameters=ModelRequestParameters(function_tools=tools),
        )
    except exceptions.ModelHTTPError as error:
        raise ThinkerError(f"it answered with HTTP {error.status_code}") from None
    except exceptions.ModelConnectionError:
        raise ThinkerError("it cannot be reached") from None
    except exceptions.AgentRunError as error:
        raise ThinkerError(f"what it answered cannot be read ({type(error).__name__})") from None


def _message(message: Message, instructions: str) -> "ModelMessage":
    from pydantic_ai.messages import (  # noqa: PLC0415 - lazy: as above
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    match message:
        case Told(text=text):
            return ModelRequest(parts=[UserPromptPart(content=text)], instructions=instructions)
        case Results(of=of):
            parts = [
                ToolReturnPart(tool_name=one.tool, content=one.text, tool_call_id=one.call) for one in of
            ]
            return ModelRequest(parts=parts, instructions=instructions)
        case Answered():
            calls = [
                ToolCallPart(tool_name=one.tool, args=one.args, tool_call_id=one.id) for one in message.calls
            ]
            said = [TextPart(content=message.text)] if message.text else []
            return ModelResponse(parts=[*said, *calls])


def _reply(response: "ModelResponse") -> Reply:
    from pydantic_ai.messages import TextPart, ToolCallPart  # noqa: PLC0415 - lazy: as above

    said = [part.content for part in response.parts if isinstance(part, TextPart)]
    calls = tuple(
        Call(id=part.tool_call_id, tool=part.tool_name, args=part.args_as_json_str())
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    if len({one.id for one in calls}) < len(calls):
        raise ThinkerError("two of its calls have one id")
    usage = response.usage
    return Reply(
        answered=Answered(text="\n".join(said), calls=calls),
        tokens_in=usage.input_tokens or None,
        tokens_out=usage.output_tokens or None,
    )
