"""Sending: what the core wants shown, shown once.

A message goes out after the files it names, so nothing with live buttons ever refers to a file that is not
there. Messages carry their nonce as Slack metadata, by which they are found again. Keeps in memory what this
process has sent; that is a help, not the record.
"""

import asyncio
import hashlib
import logging
import re
from collections import OrderedDict
from typing import Any, TypeVar

from adapters.slack import render
from adapters.slack.inbound import NAME, Reader, micros, timestamp
from adapters.slack.web import SlackRefusedError, Web
from bot.fitting import Fitted
from bot.ports import Account, Clock, Message, MessageRef, PlaceRef, RejectedError, UncertainError
from bot.text import Text, muted

log = logging.getLogger(__name__)

_K = TypeVar("_K")
_V = TypeVar("_V")

_REMEMBERED = 4_000
#: Where `find` stops looking: nothing is reconciled that is older.
_LOOK_BACK_S = 3 * 24 * 3600
_PAGE, _PAGES = 200, 15


class Sending:
    """Posts, edits, notes and finds."""

    def __init__(self, web: Web, *, clock: Clock) -> None:
        self._web = web
        self._clock = clock
        self._sent: OrderedDict[str, MessageRef] = OrderedDict()
        self._unsure: OrderedDict[str, None] = OrderedDict()
        self._uploaded: OrderedDict[str, None] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[MessageRef]] = {}
        #: Threads (channel, ts) in which we have spoken.
        self.threads: OrderedDict[tuple[str, str], None] = OrderedDict()
        #: Set once we know who we are.
        self.reader: Reader | None = None

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        """Show a message, once for a nonce. Raises as ChatPort.post."""
        if nonce in self._sent:
            return self._sent[nonce]
        task = self._under_way.get(nonce)
        if task is None:
            task = asyncio.create_task(self._post(place, message, nonce))
            self._under_way[nonce] = task
            task.add_done_callback(lambda _task: self._under_way.pop(nonce, None))
        return await asyncio.shield(task)

    async def _post(self, place: PlaceRef, message: Message, nonce: str) -> MessageRef:
        if nonce in self._unsure and (found := await self.find(place, nonce=nonce)) is not None:
            return found
        fitted = _fitted(message)
        payload = _payload(fitted.text, message)
        await self._upload(fitted, place, key=nonce)
        metadata = {"event_type": render.METADATA, "event_payload": {"nonce": nonce}}
        try:
            told = await self._web.call(
                lambda client: client.chat_postMessage(
                    channel=place.channel,
                    thread_ts=place.thread or None,
                    metadata=metadata,
                    unfurl_links=False,
                    unfurl_media=False,
                    link_names=False,
                    parse="none",
                    **payload,
                )
            )
        except UncertainError:
            _remember(self._unsure, nonce, None)
            raise
        ref = _ref(place, str(told.get("ts") or ""))
        _remember(self._sent, nonce, ref)
        for name, content in fitted.files:
            _remember(self._uploaded, _key(ref.message, (_name(name), content)), None)
        self._spoke_in(place)
        return ref

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Replace a message of ours. Raises as ChatPort.edit.

        Buttons go away whatever becomes of a long text: only what keeps buttons waits for its files.
        """
        fitted = _fitted(message)
        text = fitted.text
        beside = PlaceRef(
            platform=NAME,
            tenant=ref.place.tenant,
            channel=ref.place.channel,
            thread=ref.place.thread or ref.message,
        )
        try:
            await self._upload(fitted, beside, key=ref.message)
        except RejectedError as error:
            if message.buttons:
                raise
            log.warning("a file beside %s was not uploaded: %s", ref.message, error)
            names = ", ".join(name for name, _ in fitted.files)
            text += Text.of(muted(f"{names} could not be sent to Slack."))
        payload = _payload(text, message)
        await self._web.call(
            lambda client: client.chat_update(
                channel=ref.place.channel, ts=ref.message, parse="none", link_names=False, **payload
            )
        )
        self._spoke_in(ref.place)

    async def note(self, place: PlaceRef, account: Account, message: Message) -> None:
        """Show a message to one person only. Raises RejectedError, UncertainError."""
        try:
            texts = render.parts(message)
            payloads = [_payload(text, message) for text in texts[-1:]]
            payloads = [render.payload(text) for text in texts[:-1]] + payloads
        except render.UnfitError as error:
            raise RejectedError(str(error)) from error
        for payload in payloads:
            await self._web.call(
                lambda client, payload=payload: client.chat_postEphemeral(  # type: ignore[misc]
                    channel=place.channel,
                    user=account.user,
                    thread_ts=place.thread or None,
                    parse="none",
                    link_names=False,
                    **payload,
                )
            )

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        """Return our message with that nonce, or None when it is not there. Raises UncertainError."""
        if nonce in self._sent:
            return self._sent[nonce]
        oldest = timestamp(int((self._clock.now().timestamp() - _LOOK_BACK_S) * 1_000_000))

        async def ask(client: Any, cursor: str) -> Any:  # noqa: ANN401 - of the SDK, see Web.pages
            common = {
                "channel": place.channel,
                "include_all_metadata": True,
                "oldest": oldest,
                "limit": _PAGE,
                "cursor": cursor or None,
            }
            if place.thread:
                return await client.conversations_replies(ts=place.thread, **common)
            return await client.conversations_history(**common)

        try:
            ts = await self._look(ask, nonce)
        except SlackRefusedError as error:
            if error.name in {"channel_not_found", "thread_not_found"}:
                return None
            raise UncertainError(str(error)) from error
        except RejectedError as error:
            raise UncertainError(str(error)) from error
        self._unsure.pop(nonce, None)
        if not ts:
            return None
        _remember(self._sent, nonce, _ref(place, ts))
        return self._sent[nonce]

    async def _look(self, ask: Any, nonce: str) -> str:  # noqa: ANN401 - see Web.pages
        """Return the timestamp of the message with that nonce, "" when it is not there."""
        more = False
        async for messages, is_last in self._web.pages(ask, most=_PAGES):
            found = next((str(one.get("ts")) for one in messages if self._has(one, nonce)), "")
            if found:
                return found
            more = not is_last
        if more:
            raise UncertainError("too much was said there to look through all of it")
        return ""

    def _has(self, message: dict[str, Any], nonce: str) -> bool:
        if self.reader is not None and message.get("user") != self.reader.user:
            return False
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        return metadata.get("event_type") == render.METADATA and payload.get("nonce") == nonce

    async def _upload(self, fitted: Fitted, place: PlaceRef, *, key: str) -> None:
        """Put the files beside a message where it stands, each once for that message."""
        missing = [(_name(name), content) for name, content in fitted.files]
        missing = [file for file in missing if _key(key, file) not in self._uploaded]
        if not missing:
            return
        await self._web.upload(missing, channel=place.channel, thread=place.thread)
        for file in missing:
            _remember(self._uploaded, _key(key, file), None)

    def _spoke_in(self, place: PlaceRef) -> None:
        if place.thread:
            _remember(self.threads, (place.channel, place.thread), None)


def _fitted(message: Message) -> Fitted:
    try:
        return render.fitted(message)
    except render.UnfitError as error:
        raise RejectedError(str(error)) from error


def _payload(text: Text, message: Message) -> dict[str, Any]:
    try:
        return render.payload(text, message.buttons)
    except render.UnfitError as error:
        raise RejectedError(str(error)) from error


def _ref(place: PlaceRef, ts: str) -> MessageRef:
    return MessageRef(place=place, message=ts, position=micros(ts))


def _name(name: str) -> str:
    """Return a file name that is nothing but one."""
    return re.sub(r"[^\w.\-]+", "_", name).strip("._")[:80] or "file.txt"


def _key(message: str, file: tuple[str, bytes]) -> str:
    return f"{message}:{file[0]}:{hashlib.sha256(file[1]).hexdigest()}"


def _remember(memory: "OrderedDict[_K, _V]", key: _K, value: _V) -> None:
    memory[key] = value
    while len(memory) > _REMEMBERED:
        memory.popitem(last=False)
