"""Posting, editing and finding messages, by ids only: no cache of the SDK is asked.

Every post carries the mark of its nonce, and Discord itself drops a second post with the same mark for some
minutes. Discord does not keep the mark with the message, so `find` goes by what came back over the gateway,
by the buttons of a card, and by what nobody else of us wrote; where these do not tell, nobody can.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from adapters.discord.client import Gateway, parameters
from adapters.discord.faults import Fault, outcome
from adapters.discord.render import Outgoing, is_marked, mark_of, outgoing
from adapters.discord.sdk import discord
from adapters.discord.status import Status
from bot.ports import BusyError, Message, MessageRef, PlaceRef, RejectedError, UncertainError

#: The most messages of a place that one request brings.
PAGE = 100
#: The longest that one request may take, the SDK's own waits and retries included.
SEND_S = 60.0
_KEPT = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A post that was begun: where, what it says, and the newest message id that was known before."""

    place: PlaceRef
    content: str
    after: int


class Sending:
    """Sends through whichever client is logged in.

    Args:
        client: returns the client, or None while there is none.
        closed: whether the port was closed.
        quiet: waits while something more urgent is under way.
    """

    def __init__(
        self,
        client: Callable[[], Gateway | None],
        *,
        closed: Callable[[], bool],
        quiet: Callable[[], Awaitable[None]],
        status: Status,
    ) -> None:
        self._client = client
        self._closed = closed
        self._quiet = quiet
        self._status = status
        self._attempts: OrderedDict[str, Attempt] = OrderedDict()
        self._shown: OrderedDict[str, MessageRef] = OrderedDict()
        self._echoed: OrderedDict[str, None] = OrderedDict()
        self._newest = 0

    async def post(self, place: PlaceRef, message: Message, *, nonce: str, reply_to: str = "") -> MessageRef:
        """Show a message once, whatever its nonce is tried.

        Raises:
            RejectedError: it was not shown; BusyError when later will do.
            UncertainError: it may have been.
        """
        channel = channel_of(place)
        mark = mark_of(str(channel), nonce)
        if mark in self._shown:
            return self._shown[mark]
        await self._quiet()
        ready = _rendered(message, mark)
        payload = {**ready.payload, "nonce": mark, "enforce_nonce": True}
        if reply_to:
            payload["message_reference"] = {"message_id": reply_to, "fail_if_not_exists": False}
        client = self._ready()
        self._attempts[mark] = Attempt(place=place, content=str(payload["content"]), after=self._newest)
        _bound(self._attempts)
        sent = Outgoing(payload=payload, files=ready.files)
        data = await _sent(client.http.send_message(channel, params=parameters(sent)))
        if mark not in self._echoed:
            self._status.unheard[str(data["id"])] = asyncio.get_running_loop().time()
        return self._remember(mark, place, str(data["id"]))

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Replace a message, its files and buttons included.

        Raises:
            RejectedError: it was refused; buttons that were to go are gone all the same (report 14).
            UncertainError: it may have been replaced.
        """
        channel, number = channel_of(ref.place), _number(ref.message)
        await self._quiet()
        ready = _rendered(message, "")
        client = self._ready()
        try:
            await _sent(client.http.edit_message(channel, number, params=parameters(ready)))
        except BusyError:
            raise
        except RejectedError:
            if not message.buttons:
                bare = Outgoing(payload={"components": []})
                await _sent(client.http.edit_message(channel, number, params=parameters(bare)))
            raise

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        """Return the message that was posted with `nonce`, or None when it certainly is not there.

        Raises:
            UncertainError: nobody can tell.
        """
        channel = channel_of(place)
        mark = mark_of(str(channel), nonce)
        if mark in self._shown:
            return self._shown[mark]
        client = self._ready()
        try:
            page = await _sent(client.http.logs_from(channel, PAGE))
        except RejectedError as error:
            raise UncertainError(str(error)) from error
        me = str(client.user.id) if client.user is not None else ""
        mine = [one for one in page if str(one["author"]["id"]) == me]
        for one in mine:
            if is_marked(one, mark):
                return self._remember(mark, place, str(one["id"]))
        attempt = self._attempts.get(mark)
        after = 0 if attempt is None else attempt.after
        doubtful = [
            one
            for one in mine
            if is_marked(one, mark) is None
            and str(one["id"]) not in self._status.ours
            and int(one["id"]) > after
        ]
        if attempt is not None:
            same = [one for one in doubtful if one["content"] == attempt.content.strip()]
            if len(same) == 1:
                return self._remember(mark, place, str(same[0]["id"]))
        if doubtful or (len(page) >= PAGE and min(int(one["id"]) for one in page) > after):
            raise UncertainError("Discord does not tell which of the messages there it is")
        return None

    def seen(self, message_id: int) -> None:
        """Take note that a message of this id exists."""
        self._newest = max(self._newest, message_id)

    def echoed(self, message: "discord.Message", now: float) -> None:
        """Take note of a message of the bot's own that came back over the gateway."""
        mark = str(message.nonce or "")
        attempt = self._attempts.get(mark)
        if attempt is None:
            self._status.foreign.append((now, str(message.id)))
        else:
            self._echoed[mark] = None
            _bound(self._echoed)
            self._status.unheard.pop(str(message.id), None)
            self._remember(mark, attempt.place, str(message.id))

    def _remember(self, mark: str, place: PlaceRef, message: str) -> MessageRef:
        self._status.sent(message)
        self.seen(int(message))
        ref = self._shown[mark] = MessageRef(place=place, message=message, position=int(message))
        _bound(self._shown)
        return ref

    def _ready(self) -> Gateway:
        # Not refused, before it listens or after: what waits then is shown later, or by the next process.
        if self._closed():
            raise BusyError("sayso does not listen on Discord now", retry_after_s=1.0)
        client = self._client()
        if client is None or client.user is None:
            raise BusyError("Discord is not connected yet", retry_after_s=1.0)
        return client


def channel_of(place: PlaceRef) -> int:
    """Return the id under which Discord knows a place: of the thread where there is one.

    Raises:
        RejectedError: it is no id of Discord's.
    """
    return _number(place.thread or place.channel)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise RejectedError(f"Discord knows no {text!r}")
    return int(text)


def _rendered(message: Message, mark: str) -> Outgoing:
    try:
        return outgoing(message, mark=mark)
    except ValueError as error:
        raise RejectedError(f"Discord cannot show it: {error}") from error


async def _sent(request: Any) -> Any:  # noqa: ANN401  # the SDK's own types are JSON
    """Wait for a request and tell how it ended."""
    try:
        async with asyncio.timeout(SEND_S):
            return await request
    except Fault as error:
        raise outcome(error) from error


def _bound(kept: "OrderedDict[str, Any]") -> None:
    while len(kept) > _KEPT:
        kept.popitem(last=False)
