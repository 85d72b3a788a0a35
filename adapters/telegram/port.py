"""Telegram's ChatPort: long polling in, Bot API calls out.

It puts the other modules together. A message is in the inbox before Telegram may forget it; a press is
answered in time whatever happens; a group that became a supergroup is followed. It decides nothing.
"""

import asyncio
import contextlib
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from telegram import Update
from telegram.error import TelegramError

from adapters.telegram import inbound as events
from adapters.telegram.editing import Pacing
from adapters.telegram.heard import Me
from adapters.telegram.polling import Patience, Poller
from adapters.telegram.posting import Posting
from adapters.telegram.presses import HOLD_S, MAX_ANSWER, Presses
from adapters.telegram.render import MAX_BUTTONS, MAX_UNITS, units
from adapters.telegram.sending import Wire, closed
from adapters.telegram.settings import Settings
from adapters.telegram.status import CONNECTING, NOT_LISTENING, Status
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
    UncertainError,
)
from bot.text import Text

log = logging.getLogger(__name__)

_NOT_STORED = "Not stored, so nothing was done."
_NOT_YET = f"{_NOT_STORED} It is tried again for some minutes. Free some disk space: sayso doctor"
_FOR_GOOD = f"{_NOT_STORED} Say it again."
_PRESS_AGAIN = f"{_NOT_STORED} Press it again."
_NOBODYS = "That button belongs to nothing here."
_CLOSING_S = 2.0
_PROFILE_EVERY_S = 3600.0
_REMEMBERED = 2000


class TelegramPort:
    """The adapter.

    Args:
        token: of @BotFather.
        patience: how long things are waited for.
        hold_s: how long a press is held for words that only its presser sees.
        now_s: monotonic seconds.
    """

    name = events.NAME
    capabilities = Capabilities(
        max_chars=MAX_UNITS,
        max_buttons=MAX_BUTTONS,
        acks_in_order=True,
        replies=True,
        files=True,
    )

    def __init__(
        self,
        settings: Settings,
        *,
        token: str,
        clock: Clock,
        patience: Patience | None = None,
        hold_s: float = HOLD_S,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._now_s = now_s
        patience = patience or Patience()
        self._wire = Wire(token=token, api_url=settings.api_url, answer_s=patience.answer_s)
        self._status = Status(api_url=settings.api_url, clock=clock, now_s=now_s)
        self._presses = Presses(self._wire.answer, hold_s=hold_s)
        self._posting = Posting(self._wire, pacing=Pacing(now_s=now_s), on_moved=self._has_moved)
        self._poller = Poller(
            fetch=self._fetch,
            take=self._take,
            unstored=self._unstored,
            renew=self._wire.renew,
            status=self._status,
            patience=patience,
        )
        self._sink: Sink | None = None
        self._closing = asyncio.Event()
        self._ended = False
        self._profile_s: float | None = None
        self._told: set[PlaceRef] = set()
        # Who did something last in a place, and the last message of each: whom a question is meant for.
        self._last_actor: OrderedDict[PlaceRef, str] = OrderedDict()
        self._last_message: OrderedDict[tuple[PlaceRef, str], int] = OrderedDict()

    # ------------------------------------------------------------ listening

    async def listen(self, sink: Sink) -> None:
        """Read updates until closed. A fault of the network never ends it; after one of ours, begin again."""
        self._sink = sink
        self._status.listening = True
        self._status.fault = CONNECTING
        reading = asyncio.create_task(self._poller.run())
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait([reading, closing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._status.listening = False
            for task in (reading, closing):
                task.cancel()
            await asyncio.wait([reading, closing])
            self._sink = None
            if reading.cancelled():
                await self._end()
        if not reading.cancelled():
            reading.result()  # a fault of the loop itself is ours

    async def _end(self) -> None:
        """Free everything, once."""
        self._closing.set()
        if not self._ended:
            self._ended = True
            await self._confirm()
            await self._presses.close()
            await self._wire.close()

    async def _confirm(self) -> None:
        """Tell Telegram what is stored; should that fail, it comes again and is known."""
        if self._poller.offset is None:
            return
        with contextlib.suppress(TelegramError, TimeoutError):
            async with asyncio.timeout(_CLOSING_S):
                await self._wire.updates(self._poller.offset, 0)

    async def _fetch(self, offset: int | None, wait_s: int) -> Sequence[Mapping[str, Any]]:
        now_s = self._now_s()
        if self._profile_s is None or now_s - self._profile_s > _PROFILE_EVERY_S:
            self._status.me = await self._wire.me()
            self._profile_s = now_s
            self._status.works()
        return await self._wire.updates(offset, wait_s)

    async def _take(self, raw: Mapping[str, Any]) -> None:
        """Hand one update to the core.

        Raises:
            NotCommittedError: it is not stored.
        """
        update, inbound = self._read(raw)
        if update is None:
            return
        query = update.callback_query
        if query is not None and inbound is None:
            await self._wire.answer(query.id, _NOBODYS)
        if inbound is None:
            return
        if query is not None:
            self._presses.arrived(query.id, place=inbound.place, user=inbound.account.user)
        if inbound.moved_to is not None:
            self._posting.moved(inbound.place.channel, inbound.moved_to.channel)
        self._remember(inbound)
        await self._hand_over(inbound, query="" if query is None else query.id)

    def _read(self, raw: Mapping[str, Any]) -> tuple[Update | None, Inbound | None]:
        me = self._status.me
        if me is None:
            raise NotCommittedError
        try:
            update = Update.de_json(dict(raw), self._wire.bot)
            ours = Me(me.id, me.username or "")
            return update, events.from_update(update, me=ours, now=self._clock.now())
        except Exception as error:  # noqa: BLE001  # whatever it is, it must not hold up what follows
            self._status.unreadable += 1
            log.warning("update %s cannot be read: %s", raw.get("update_id"), type(error).__name__)
            return None, None

    async def _hand_over(self, inbound: Inbound, *, query: str = "") -> None:
        if self._sink is None:
            raise NotCommittedError
        receipt = await self._sink(inbound)
        self._told.discard(inbound.place)

        def settled(turn: "asyncio.Future[None]") -> None:
            if not turn.cancelled() and turn.exception() is not None:
                log.info("a turn ended with %s", type(turn.exception()).__name__)
            if query:
                self._presses.settled(query)

        receipt.settled.add_done_callback(settled)

    async def _unstored(self, raw: Mapping[str, Any], for_good: bool) -> None:  # noqa: FBT001  # the poller's word
        """Tell whoever said it that it was not stored; once for each place while it is tried again."""
        update, inbound = self._read(raw)
        if update is None or inbound is None or inbound.account.is_bot:
            return
        if update.callback_query is not None:
            if not await self._presses.say(update.callback_query.id, _PRESS_AGAIN):
                await self._say(inbound, _PRESS_AGAIN)
        elif inbound.kind is InboundKind.MESSAGE and inbound.addressed:
            if for_good:
                await self._say(inbound, _FOR_GOOD)
            elif inbound.place not in self._told:
                self._told.add(inbound.place)
                await self._say(inbound, _NOT_YET)

    async def _say(self, inbound: Inbound, words: str) -> None:
        try:
            await self._posting.post(
                inbound.place,
                Message(body=Text.of(words)),
                nonce=f"say:{secrets.token_hex(8)}",
                answers=inbound.position or None,
            )
        except (RejectedError, UncertainError):
            log.warning("somebody could not be told that their message was not stored")

    async def _has_moved(self, old: str, new: str) -> None:
        """Follow a group to its new id, and tell the core first."""
        self._posting.moved(old, new)
        try:
            await self._hand_over(events.moved(old, new, at=self._clock.now()))
        except NotCommittedError:
            # Telegram says so in the group as well, and that is tried until it is stored.
            log.warning("the move of a group could not be stored yet")

    def _remember(self, inbound: Inbound) -> None:
        if inbound.kind not in (InboundKind.MESSAGE, InboundKind.CLICK) or inbound.account.is_bot:
            return
        self._last_actor[inbound.place] = inbound.account.user
        self._last_actor.move_to_end(inbound.place)
        if inbound.kind is InboundKind.MESSAGE:
            self._last_message[inbound.place, inbound.account.user] = inbound.position
            self._last_message.move_to_end((inbound.place, inbound.account.user))
        for memory in (self._last_actor, self._last_message):
            if len(memory) > _REMEMBERED:
                memory.popitem(last=False)

    # ------------------------------------------------------------ what the core calls

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        """Show a message; a nonce that was shown by this process is not shown again."""
        if self._closing.is_set():
            raise closed()
        answers = None
        if message.asks and place.channel.startswith("-"):
            # In a group the field opens for everybody, unless the question answers somebody's message.
            answers = self._last_message.get((place, self._last_actor.get(place, "")))
        return await self._posting.post(place, message, nonce=nonce, answers=answers)

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        """Tell nothing: Telegram lets no bot read what it said."""
        raise UncertainError(f"Telegram does not tell whether {nonce} was shown in {place.channel}")

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Replace a message of ours; the newest of many changes is shown."""
        if self._closing.is_set():
            raise closed()
        await self._posting.edit(ref, message)

    async def note(self, place: PlaceRef, account: Account, message: Message) -> None:
        """Show a message as the answer to this person's press, where one is open; else in the place."""
        short = message.body if message.fold is None else message.body + message.fold
        plain = not (message.buttons or message.attachment or message.asks)
        words = short.plain()
        if plain and 0 < units(words) <= MAX_ANSWER and await self._presses.note(place, account.user, words):
            return
        await self.post(place, message, nonce=f"note:{secrets.token_hex(8)}")

    async def health(self) -> Health:
        """Tell how the connection is."""
        return self._status.health()

    async def close(self) -> None:
        """Stop listening; what is not stored comes again at the next start."""
        self._closing.set()
        self._status.fault = NOT_LISTENING
        if not self._status.listening:
            await self._end()
