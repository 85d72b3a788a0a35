"""The listener: takes deliveries over HTTP and answers once they are stored (D26).

2xx is said after the inbox commit and never before; while nothing can be stored it is 503, and so it is for
what comes too often, since senders send again what got a 5xx and drop what got a 4xx. It shows nothing: what
a report leads to is shown where the owner says.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Mapping
from datetime import timedelta

from aiohttp import web

from adapters.webhook import formats, proof
from adapters.webhook.settings import Settings, SourceSettings, address_of
from bot.ports import (
    Account,
    Capabilities,
    Clock,
    Health,
    Inbound,
    InboundKind,
    Message,
    MessageRef,
    NotCommittedError,
    PlaceRef,
    RejectedError,
    Sink,
)
from gate.signals import SignalError, pack

log = logging.getLogger(__name__)

NAME = "webhook"
PATH = "/signals"
#: Seconds that a sender has for its body, that a bind is waited for anew, and that requests in hand have.
_BODY_S, _AGAIN_S, _CLOSING_S = 10.0, 5.0, 2.0
_MINUTE = timedelta(minutes=1)
_RETRY_AFTER_S = 30
_NOWHERE = "Nothing is shown here: alerts are shown in signals.place."


class WebhookPort:
    """Takes deliveries.

    Attributes:
        bound: host and port; None while it does not listen.
    """

    name = NAME
    capabilities = Capabilities()

    def __init__(self, settings: Settings, *, secrets: Mapping[str, bytes], clock: Clock) -> None:
        self._settings = settings
        self._secrets = dict(secrets)
        self._clock = clock
        self._recent: dict[str, deque[float]] = {name: deque() for name in settings.sources}
        self._taken: dict[str, int] = dict.fromkeys(settings.sources, 0)
        self._closed = asyncio.Event()
        self._fault = "it does not listen yet"
        self.bound: tuple[str, int] | None = None

    # ------------------------------------------------------------ the port

    async def listen(self, sink: Sink) -> None:
        """Take deliveries until closed."""
        while not self._closed.is_set():
            try:
                await self._serve(sink)
            except OSError as error:
                self._fault = f"{self._settings.listen} cannot be listened on: {error.strerror or error}"
                log.error("webhook: %s; it is tried again", self._fault)  # noqa: TRY400 - expected, and said
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_AGAIN_S):
                        await self._closed.wait()

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:  # noqa: ARG002 - of the port
        """Show nothing; raises RejectedError."""
        raise RejectedError(_NOWHERE)

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:  # noqa: ARG002 - of the port
        """Return None: nothing was shown."""
        return None

    async def edit(self, ref: MessageRef, message: Message) -> None:  # noqa: ARG002 - of the port
        """Show nothing; raises RejectedError."""
        raise RejectedError(_NOWHERE)

    async def note(self, place: PlaceRef, account: Account, message: Message) -> None:  # noqa: ARG002 - of the port
        """Show nothing; raises RejectedError."""
        raise RejectedError(_NOWHERE)

    async def health(self) -> Health:
        """Tell whether it listens, and what it took."""
        if self.bound is None:
            return Health(ok=False, detail=self._fault)
        facts = tuple((name, f"{count} deliveries") for name, count in self._taken.items())
        return Health(ok=True, detail=f"{self.bound[0]}:{self.bound[1]}", facts=facts)

    async def close(self) -> None:
        """Stop listening."""
        self._closed.set()

    # ------------------------------------------------------------ HTTP

    async def _serve(self, sink: Sink) -> None:
        async def take(request: web.Request) -> web.Response:
            return await self._take(request, sink)

        app = web.Application(client_max_size=self._settings.max_bytes)
        for method in ("POST", "PUT"):
            app.router.add_route(method, f"{PATH}/{{source}}", take)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_CLOSING_S)
        await runner.setup()
        try:
            host, port = address_of(self._settings.listen)
            await web.TCPSite(runner, host, port).start()
            name = runner.addresses[0]
            self.bound = (str(name[0]), int(name[1]))
            log.info("webhook: http://%s:%s%s", *self.bound, PATH)
            await self._closed.wait()
        finally:
            self.bound, self._fault = None, "it does not listen any more"
            await runner.cleanup()

    async def _take(self, request: web.Request, sink: Sink) -> web.Response:
        name = request.match_info["source"]
        source = self._settings.sources.get(name)
        if source is None:
            return _answer(404, "There is no such source here. Its name stands at the end of the path.")
        read = await self._read(request, name, source)
        if isinstance(read, web.Response):
            return read
        if self._too_often(name, source):
            return _answer(503, f"More than {source.per_minute} deliveries in a minute. Send it again later.")
        return await self._stored(name, read, sink)

    async def _read(
        self, request: web.Request, name: str, source: SourceSettings
    ) -> formats.Delivery | web.Response:
        """Return what was sent, or why it is not taken."""
        try:
            body, stamp = await self._let_in(request, name, source)
            return formats.read(source.format, body, source=name, now=self._clock.now(), stamp=stamp)
        except proof.RefusedError as error:
            return _answer(401, str(error))
        except web.HTTPRequestEntityTooLarge:
            return _answer(
                413, f"The most is {self._settings.max_bytes} bytes. Let fewer alerts share a group."
            )
        except TimeoutError:
            return _answer(408, "The body did not come in time.")
        except SignalError as error:
            return _answer(400, f"This is not what a {source.format} source sends: {error}.")

    async def _let_in(self, request: web.Request, name: str, source: SourceSettings) -> tuple[bytes, str]:
        secret = self._secrets[name]
        if source.token_file:
            proof.bearer(secret, request.headers)
        async with asyncio.timeout(_BODY_S):
            body = await request.read()
        if source.token_file:
            return body, ""
        return body, proof.signature(source, secret, request.headers, body, now=self._clock.now())

    def _too_often(self, name: str, source: SourceSettings) -> bool:
        now, recent = self._clock.now().timestamp(), self._recent[name]
        while recent and recent[0] <= now - _MINUTE.total_seconds():
            recent.popleft()
        if len(recent) >= source.per_minute:
            return True
        recent.append(now)
        return False

    async def _stored(self, name: str, delivery: formats.Delivery, sink: Sink) -> web.Response:
        inbound = Inbound(
            event_id=delivery.event,
            place=PlaceRef(platform=NAME, channel=name),
            account=Account(platform=NAME, user=name, display=name, is_bot=True),
            sent_at=self._clock.now(),
            kind=InboundKind.SIGNAL,
            text=pack(delivery.signals),
            addressed=False,
        )
        try:
            receipt = await sink(inbound)
        except NotCommittedError:
            return _answer(503, "It could not be stored, so it was not taken. Send it again later.")
        self._taken[name] += receipt.fresh
        told = {"taken": len(delivery.signals) if receipt.fresh else 0, "known": not receipt.fresh}
        return web.json_response(told)


def _answer(status: int, text: str) -> web.Response:
    headers = {"Retry-After": str(_RETRY_AFTER_S)} if status == 503 else {}  # noqa: PLR2004 - HTTP
    if status == 401:  # noqa: PLR2004 - HTTP
        headers["WWW-Authenticate"] = "Bearer"
    return web.Response(status=status, text=f"{text}\n", headers=headers)
