"""The SDK's client, bound to the addresses of one port.

The SDK keeps the addresses of Discord on its classes, where every client of the process would share them.
Here each client rewrites them itself, so that nothing outside of it changes. Events are handed on in the
order of their arrival, before the SDK makes tasks of them.
"""

import asyncio
import io
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp

from adapters.discord.render import Outgoing
from adapters.discord.sdk import (
    AsyncWebhookAdapter,
    DiscordWebSocket,
    HTTPClient,
    MultipartParameters,
    Route,
    discord,
    interaction_response_params,
)
from adapters.discord.settings import Settings

log = logging.getLogger(__name__)

#: Called with what the SDK hands over for one event; must not block.
Taker = Callable[..., None]

#: The longest that the SDK itself waits when Discord wants less at once; its own minimum.
MAX_WAIT_S = 30.0


class Wire(HTTPClient):
    """REST, at the address of its settings."""

    settings: Settings

    @property
    def session(self) -> aiohttp.ClientSession:
        """The connections of this login; the SDK keeps them to itself."""
        return self._HTTPClient__session  # type: ignore[attr-defined,no-any-return]  # its private name

    async def request(self, route: Route, **more: Any) -> Any:  # noqa: ANN401  # as the SDK has it
        """Send one request; the SDK waits and retries where Discord says so."""
        return await super().request(at(route, self.settings.api_url), **more)

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        """Open the gateway; a session that is resumed keeps the address that Discord gave for it."""
        default = str(DiscordWebSocket.DEFAULT_GATEWAY)
        if self.settings.gateway_url and url.startswith(default):
            url = f"{self.settings.gateway_url.rstrip('/')}/{url.removeprefix(default)}"
        return await super().ws_connect(url, compress=compress)


class Hooks(AsyncWebhookAdapter):
    """The answers to interactions, which Discord takes by their own tokens."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the SDK has no types there
        self._wire = wire

    async def request(self, route: Route, session: aiohttp.ClientSession, **more: Any) -> Any:  # noqa: ANN401
        """Send one request, as `Wire.request`."""
        return await super().request(at(route, self._wire.settings.api_url), session, **more)

    async def answer(
        self, interaction: "discord.Interaction[Any]", kind: int, data: dict[str, Any] | None = None
    ) -> None:
        """Give the first answer to an interaction; Discord takes exactly one, within three seconds.

        The SDK's own way would keep every modal in memory and answer its submit itself (report 43).
        """
        await self.create_interaction_response(
            interaction.id,
            interaction.token,
            session=self._wire.session,
            params=interaction_response_params(kind, data),
        )

    async def follow_up(self, interaction: "discord.Interaction[Any]", message: Outgoing) -> None:
        """Show one more message for an interaction that was answered, on whichever login that was."""
        params = parameters(message)
        await self.execute_webhook(
            interaction.application_id,
            interaction.token,
            session=self._wire.session,
            payload=params.payload,
            multipart=params.multipart,
            files=params.files,
            wait=True,
        )


def at(route: Route, base: str) -> Route:
    """Return `route` at another base address."""
    route.url = base.rstrip("/") + route.url.removeprefix(Route.BASE)
    return route


def parameters(message: Outgoing) -> MultipartParameters:
    """Return a message as the SDK sends it: JSON, or a form where there are files."""
    if not message.files:
        return MultipartParameters(payload=message.payload, multipart=None, files=None)
    files = [discord.File(io.BytesIO(content), filename=name) for name, content in message.files]
    form: list[dict[str, Any]] = [{"name": "payload_json", "value": json.dumps(message.payload)}]
    form += [
        {
            "name": f"files[{index}]",
            "value": file.fp,
            "filename": file.filename,
            "content_type": "application/octet-stream",
        }
        for index, file in enumerate(files)
    ]
    return MultipartParameters(payload=None, multipart=form, files=files)


class Gateway(discord.Client):
    """One login.

    Args:
        takers: what to call for which event of the SDK, in the order in which they arrive.
        identify_pause_s: wait before a session is begun anew; Discord allows one in five seconds.
    """

    def __init__(self, settings: Settings, takers: Mapping[str, Taker], *, identify_pause_s: float) -> None:
        self._takers = takers
        self._identify_pause_s = identify_pause_s
        intents = discord.Intents(guilds=True, messages=True, message_content=settings.message_content)
        super().__init__(
            intents=intents,
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            max_ratelimit_timeout=MAX_WAIT_S,
        )
        wire = Wire(self.loop, max_ratelimit_timeout=MAX_WAIT_S)
        wire.settings = settings
        self.http = self._connection.http = wire
        self.hooks = Hooks(wire)

    async def before_identify_hook(self, _shard: int | None, *, initial: bool = False) -> None:
        """Wait before beginning a session anew."""
        if not initial:
            await asyncio.sleep(self._identify_pause_s)

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  # as the SDK has it
        """Hand an event on at once, and then as the SDK does."""
        taker = self._takers.get(event)
        if taker is not None:
            try:
                taker(*args)
            except Exception:
                log.exception("the event %s was not taken", event)
        super().dispatch(event, *args, **kwargs)
