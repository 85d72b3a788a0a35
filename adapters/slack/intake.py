"""Intake: what arrives over the socket, handed to the core before it is acknowledged.

Events are committed by a middleware that runs before everything else, each channel's in order, and then
acknowledged; what could not be stored is not, so Slack sends it again. Presses and forms Slack sends once:
they are acknowledged in time whatever the core does, and a person is told when one was not stored. Decides
nothing.
"""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from adapters.slack import render
from adapters.slack.inbound import Reader
from adapters.slack.link import Pace
from adapters.slack.socket import Socket
from adapters.slack.state import State
from adapters.slack.web import QUIET, Web
from bot.ports import (
    Account,
    Clock,
    Inbound,
    Message,
    MessageRef,
    NotCommittedError,
    PlaceRef,
    Receipt,
    RejectedError,
    Sink,
    UncertainError,
)
from bot.text import Text

log = logging.getLogger(__name__)

Json = dict[str, Any]

_NOT_STORED = "Not stored, so nothing was done."
_UNKNOWN = "It is unknown whether that counted. Look at the card before you try again."
_NOTHING = "That button belongs to nothing here."
_ANY = re.compile(".*", re.DOTALL)


class Lanes:
    """Lets the events of a channel through one after the other, in the order in which they asked."""

    def __init__(self) -> None:
        self._tails: dict[str, asyncio.Future[None]] = {}

    async def run(self, lane: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` once everything that asked before in `lane` is done. Raises what `work` raises."""
        before = self._tails.get(lane)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tails[lane] = done
        try:
            if before is not None:
                await asyncio.wait([before])
            await work()
        finally:
            done.set_result(None)
            if self._tails.get(lane) is done:
                del self._tails[lane]


class Intake:
    """The Bolt app, and what it does with what arrives.

    Args:
        sink: the core's, looked up anew each time.
        note: shows a message to one person.
    """

    def __init__(
        self,
        web: Web,
        *,
        clock: Clock,
        state: State,
        pace: Pace,
        sink: Sink,
        note: Callable[[PlaceRef, Account, Message], Awaitable[None]],
    ) -> None:
        self._web = web
        self._clock = clock
        self._state = state
        self._pace = pace
        self._sink = sink
        self._note = note
        self._lanes = Lanes()
        self.reader: Reader | None = None
        self._app = self._build()

    def _build(self) -> AsyncApp:
        async def known() -> AuthorizeResult:
            """Say who we are: Bolt would ask Slack, in the way of a press, and drop that on failure."""
            reader, token = self.reader, self._web.client.token
            if reader is None:
                return AuthorizeResult(enterprise_id=None, team_id=None, bot_token=token)
            return AuthorizeResult(
                enterprise_id=None,
                team_id=reader.team,
                bot_user_id=reader.user,
                bot_id=reader.bot,
                bot_token=token,
            )

        app = AsyncApp(
            client=self._web.client,
            authorize=known,
            logger=QUIET,
            name="sayso",
            # It runs first, so nothing of the library stands between an event and the inbox.
            before_authorize=self._commit,
            # Sockets are authenticated by their opening, and what we say ourselves is known in `inbound`.
            request_verification_enabled=False,
            ssl_check_enabled=False,
            url_verification_enabled=False,
            ignoring_self_events_enabled=False,
        )
        # An event that no listener wants would not be acknowledged, and would come again and again.
        app.event(_ANY)(_nothing)
        app.action({"type": "block_actions", "action_id": _ANY})(self._pressed)
        app.view(_ANY)(self._sent)
        app.view_closed(_ANY)(_acknowledge)
        app.shortcut(_ANY)(_acknowledge)
        app.command(_ANY)(_acknowledge)
        return app

    async def handle(self, socket: Socket, request: SocketModeRequest) -> None:
        """Let Bolt deal with an envelope, and acknowledge it where that went well."""
        self._state.last_event = self._clock.now()
        response = await self._app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=request.payload))
        # 404: nobody wants it, so it need not come again. What somebody pressed or sent comes only once, and
        # they would see a warning.
        if request.type == "events_api" and response.status not in {200, 404}:
            log.warning("Slack: an envelope of type %s was not acknowledged", request.type)
            return
        body = _json(response) if response.status == 200 else None  # noqa: PLR2004 - it has no better name
        try:
            await socket.send_socket_mode_response(
                SocketModeResponse(envelope_id=request.envelope_id, payload=body)
            )
        except Exception as error:  # noqa: BLE001 - the SDK raises whatever the socket does; Slack sends it again
            log.info("Slack: an acknowledgement was lost: %s", type(error).__name__)

    # ------------------------------------------------------------ events

    async def _commit(
        self,
        body: Json,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt goes by the name
    ) -> BoltResponse | None:
        """Store an event before anything else is done with it."""
        if body.get("type") != "event_callback" or self.reader is None:
            return await next()
        inbound = self.reader.event(body)
        if inbound is not None and not await self.deliver(inbound):
            return BoltResponse(status=503, body="")
        return await next()

    async def deliver(self, inbound: Inbound) -> bool:
        """Hand a message to the core, behind those of its channel; return whether it was stored."""
        stored = False

        async def work() -> None:
            nonlocal stored
            try:
                await self._sink(inbound)
                stored = True
            except NotCommittedError as error:
                log.error("Slack: %s was not stored: %s", inbound.event_id, error)  # noqa: TRY400 - expected
            except Exception:
                log.exception("Slack: %s was not taken", inbound.event_id)

        await self._lanes.run(inbound.place.channel, work)
        return stored

    # ------------------------------------------------------------ presses and forms

    async def _pressed(self, ack: AsyncAck, body: Json) -> None:
        """Acknowledge a press in time, whatever the core does; then show its form or say what went wrong."""
        reader = self.reader
        if reader is None:
            return  # nobody can be told anything before we know who we are
        inbound = reader.press(body)
        card, account = reader.card(body), reader.clicker(body)
        if inbound is None or card is None:
            await ack()
            if card is not None:
                await self._tell(card.place, account, f"{_NOTHING} Nothing ran.")
            return
        taking = asyncio.ensure_future(self._sink(inbound))
        await self._in_time(taking)
        await ack()
        receipt = await self._outcome(taking, inbound, "Press it again.")
        if receipt is not None and receipt.form is not None:
            await self._open(receipt, card, trigger=str(body.get("trigger_id") or ""))

    async def _sent(self, ack: AsyncAck, body: Json) -> None:
        """Take a form that was sent; keep it open where it could not be stored."""
        reader = self.reader
        inbound = None if reader is None else reader.form(body, now=self._clock.now())
        if inbound is None:
            await ack()
            return
        taking = asyncio.ensure_future(self._sink(inbound))
        await self._in_time(taking)
        if taking.done() and isinstance(taking.exception(), NotCommittedError):
            told = f"{_NOT_STORED} Send it again."
            await ack(response_action="errors", errors={render.FORM_BLOCK: told})
            return
        await ack()
        await self._outcome(taking, inbound, "Open it again from the card.")

    async def _in_time(self, taking: "asyncio.Future[Receipt]") -> None:
        await asyncio.wait([taking], timeout=self._pace.ack)
        if not taking.done():
            self._state.late += 1

    async def _outcome(
        self, taking: "asyncio.Future[Receipt]", inbound: Inbound, again: str
    ) -> Receipt | None:
        try:
            return await taking
        except NotCommittedError as error:
            log.error("Slack: %s was not stored: %s", inbound.event_id, error)  # noqa: TRY400 - expected
            await self._tell(inbound.place, inbound.account, f"{_NOT_STORED} {again}")
        except Exception:
            log.exception("Slack: %s was not taken", inbound.event_id)
            await self._tell(inbound.place, inbound.account, _UNKNOWN)
        return None

    async def _open(self, receipt: Receipt, card: MessageRef, *, trigger: str) -> None:
        """Open the form of a press. Its moment may have gone; the press counts all the same."""
        form = receipt.form
        if form is None or not trigger:
            return
        view = render.view(form, channel=card.place.channel, thread=card.place.thread, card=card.message)
        try:
            await self._web.call(lambda client: client.views_open(trigger_id=trigger, view=view))
        except (RejectedError, UncertainError) as error:
            log.info("Slack: a form was not opened: %s", error)

    async def _tell(self, place: PlaceRef, account: Account, words: str) -> None:
        try:
            await self._note(place, account, Message(body=Text.of(words)))
        except (RejectedError, UncertainError) as error:
            log.warning("Slack: nobody could be told: %s", error)


async def _nothing() -> None:
    """Do nothing: an event is dealt with before it is acknowledged."""


async def _acknowledge(ack: AsyncAck) -> None:
    """Take what has no meaning here."""
    await ack()


def _json(response: BoltResponse) -> Json | None:
    """Return what is sent along with an acknowledgement: Bolt keeps it as text."""
    return json.loads(response.body) if response.body else None
