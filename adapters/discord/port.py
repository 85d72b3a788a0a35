"""Discord's ChatPort: hands what arrives to the core, and shows what the core wants shown.

How a login is kept is in `connection`. A message is stored
before anything else happens; Discord takes no acknowledgement of messages, so what could not be stored is
said where it was written. What happens to a press is in `presses`, what is sent in `sending`.
"""

import asyncio
import logging
import secrets
from collections import OrderedDict
from functools import partial
from typing import Any, TypeVar

from adapters.discord import catchup, inbound
from adapters.discord.catchup import CatchUp
from adapters.discord.client import Gateway
from adapters.discord.connection import Connection, Pace
from adapters.discord.faults import Fault, outcome
from adapters.discord.lanes import Lanes
from adapters.discord.presses import BROKE, NOT_STORED, Presses
from adapters.discord.render import outgoing
from adapters.discord.sdk import discord
from adapters.discord.sending import Sending
from adapters.discord.settings import Settings
from adapters.discord.status import Status
from bot.ports import (
    Account,
    Bookmarks,
    Capabilities,
    Clock,
    Health,
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

_KEPT = 4096
#: How long what is being stored may take when the port is closed.
_LAST_S = 5.0
_T = TypeVar("_T")


class DiscordPort:
    """One bot on Discord."""

    name = inbound.NAME
    capabilities = Capabilities(
        max_chars=1900,
        max_buttons=25,
        forms=True,
        files=True,
        finds=True,
    )

    def __init__(
        self,
        settings: Settings,
        *,
        token: str,
        clock: Clock,
        bookmarks: Bookmarks,
        host: str = "",
        pace: Pace | None = None,
    ) -> None:
        pace = pace or Pace()
        self._settings = settings
        self._clock = clock
        self._bookmarks = bookmarks
        self._sink: Sink | None = None
        self._lanes = Lanes()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._status = Status(host=host, intents=_intents(settings))
        self._connection = Connection(
            settings,
            token=token,
            pace=pace,
            status=self._status,
            began=self._began,
            takers={
                "message": self._arrived,
                "raw_message_edit": self._edited,
                "interaction": self._pressed,
            },
        )
        self._catching_up = CatchUp(
            client=lambda: self._connection.client,
            take=self._missed,
            lanes=self._lanes,
            status=self._status,
            pace=pace,
        )
        self._presses = Presses(self._committing, status=self._status, ack_s=pace.ack_s)
        self._sending = Sending(
            lambda: self._connection.client,
            closed=lambda: self._status.closed,
            quiet=self._presses.quiet,
            status=self._status,
        )
        # The newest stored message of each place, places of channels that were looked up, what was stored
        # lately, and the last words of each person.
        self._newest: dict[PlaceRef, int] = {}
        self._places: OrderedDict[int, PlaceRef] = OrderedDict()
        self._taken: OrderedDict[str, None] = OrderedDict()
        self._last_words: OrderedDict[tuple[PlaceRef, str], str] = OrderedDict()

    async def listen(self, sink: Sink) -> None:
        """Take events until closed; faults of the network and refusals of Discord never end it."""
        self._sink = sink
        self._status.closed = False
        try:
            await self._connection.hold()
        finally:
            self._status.closed = True
            self._catching_up.stop()
            await self._lanes.close()
            await self._finish()
            self._sink = None

    async def _finish(self) -> None:
        """Let what is being stored be stored, for a moment; drop the rest."""
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=_LAST_S)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ------------------------------------------------------------ what arrives

    def _began(self, _client: Gateway) -> None:
        """Read what was said before this session first, in the lane of each place."""
        known = list(self._bookmarks.newest(self.name))
        self._catching_up.begin(catchup.starts(known, self._newest))

    async def _missed(self, client: Gateway, place: PlaceRef, message: "discord.Message") -> None:
        me = _self_of(client)
        if message.author.id == me.user or not inbound.is_said(message):
            return
        # Words that were changed before they were read are no words to act on.
        event = inbound.from_edit(message, place, me) or inbound.from_message(message, place, me)
        if event.event_id not in self._taken and (event.text or event.addressed):
            self._status.caught_up += 1
            await self._store(event)

    def _arrived(self, message: "discord.Message") -> None:
        client = self._connection.client
        if client is None or client.user is None:
            return
        self._sending.seen(message.id)
        if message.author.id == client.user.id:
            self._sending.echoed(message, _loop_time())
        elif inbound.is_said(message):
            self._watch_words(message, client.user.id)
            self._lanes.put(message.channel.id, partial(self._hear, client, message))

    def _watch_words(self, message: "discord.Message", me: int) -> None:
        """Notice whether Discord keeps words from us; a mention always comes with its words."""
        if message.guild is None or any(user.id == me for user in message.mentions):
            return
        if message.content:
            self._status.hidden = 0
        elif inbound.is_hidden(message) and self._settings.message_content:
            self._status.hidden += 1

    async def _hear(self, client: Gateway, message: "discord.Message") -> None:
        place = await self._place(client, message)
        event = inbound.from_message(message, place, _self_of(client))
        if event.text or event.addressed:
            await self._store(event)

    def _edited(self, payload: "discord.RawMessageUpdateEvent") -> None:
        client, message = self._connection.client, payload.message
        if client is None or client.user is None or "content" not in payload.data:
            return
        if message.author.id != client.user.id and message.edited_at is not None:
            self._lanes.put(message.channel.id, partial(self._hear_edit, client, message))

    async def _hear_edit(self, client: Gateway, message: "discord.Message") -> None:
        place = await self._place(client, message)
        event = inbound.from_edit(message, place, _self_of(client))
        if event is not None:
            await self._store(event)

    def _pressed(self, interaction: "discord.Interaction[Any]") -> None:
        client = self._connection.client
        if client is not None:
            self._keep(asyncio.create_task(self._presses.take(client, interaction)))

    async def _place(self, client: Gateway, message: "discord.Message") -> PlaceRef:
        """Return where a message is; Discord is asked where the SDK has not heard of the thread."""
        guild = message.guild.id if message.guild is not None else None
        if guild is None and isinstance(message.channel, discord.PartialMessageable):
            guild = message.channel.guild_id
        place = inbound.place_of(message.channel, guild) or self._places.get(message.channel.id)
        if place is not None:
            return place
        try:
            place = inbound.place_of(await client.fetch_channel(message.channel.id), guild)
        except Fault as error:
            log.info("Discord: channel %s is not known: %s", message.channel.id, outcome(error))
        if place is not None:
            self._places[message.channel.id] = place
            while len(self._places) > _KEPT:
                self._places.popitem(last=False)
            return place
        return PlaceRef(
            platform=self.name, tenant="" if guild is None else str(guild), channel=str(message.channel.id)
        )

    def _committing(self, event: Inbound) -> "asyncio.Task[Receipt]":
        """Give an event to the core, in a task of its own: what was begun is finished."""
        return self._keep(asyncio.create_task(self._commit(event)))

    async def _commit(self, event: Inbound) -> Receipt:
        if self._sink is None:
            raise NotCommittedError("sayso is not listening")
        receipt = await self._sink(event)
        self._status.last_inbound_at = self._clock.now()
        self._taken[event.event_id] = None
        while len(self._taken) > _KEPT:
            self._taken.popitem(last=False)
        if event.position:
            self._newest[event.place] = max(event.position, self._newest.get(event.place, 0))
        return receipt

    async def _store(self, event: Inbound) -> None:
        """Store what was written; say so where it could not be."""
        if event.event_id.startswith("m:"):
            key = (event.place, event.account.user)
            self._last_words[key] = event.event_id.rpartition(":")[2]
            self._last_words.move_to_end(key)
            while len(self._last_words) > _KEPT:
                self._last_words.popitem(last=False)
        try:
            await asyncio.shield(self._committing(event))
        except NotCommittedError:
            log.warning("Discord: a message was not stored")
            words = NOT_STORED
        except Exception:
            log.exception("Discord: a message was not taken")
            words = BROKE
        else:
            return
        if event.addressed and not event.account.is_bot and event.event_id.startswith("m:"):
            await self._say(event, words)

    async def _say(self, event: Inbound, words: str) -> None:
        try:
            await self._sending.post(
                event.place, Message(body=Text.of(words)), nonce=f"said:{event.event_id}"
            )
        except (RejectedError, UncertainError) as error:
            log.warning("Discord: nor could that be said: %s", error)

    def taken(self, event_id: str) -> bool:
        """Tell whether an event was stored lately. Discord itself takes no acknowledgement of messages."""
        return event_id in self._taken

    def _keep(self, task: "asyncio.Task[_T]") -> "asyncio.Task[_T]":
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # ------------------------------------------------------------ what the core calls

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        """Show a message; a repeated nonce shows nothing again."""
        return await self._sending.post(place, message, nonce=nonce)

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        """Return the message that was posted with `nonce`; see `Sending.find`."""
        return await self._sending.find(place, nonce=nonce)

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Replace a message, by ids only: no fifteen minutes limit that (report 45)."""
        await self._sending.edit(ref, message)

    async def note(self, place: PlaceRef, account: Account, message: Message) -> None:
        """Show a message to one person only, as an answer to their last press; else as a reply to them."""
        client = self._connection.client
        if client is not None and not self._status.closed:
            try:
                ready = outgoing(message)
            except ValueError as error:
                raise RejectedError(f"Discord cannot show it: {error}") from error
            if await self._presses.whisper(client, place, account.user, ready):
                return
        await self._sending.post(
            place,
            message,
            nonce=f"note:{secrets.token_hex(12)}",
            reply_to=self._last_words.get((place, account.user), ""),
        )

    async def health(self) -> Health:
        """Tell how the connection is."""
        client = self._connection.client
        if client is not None:
            self._status.look(client)
        return self._status.health(_loop_time())

    async def close(self) -> None:
        """Stop listening and end the login."""
        self._status.closed = True
        self._connection.close()


def _loop_time() -> float:
    return asyncio.get_running_loop().time()


def _intents(settings: Settings) -> str:
    return "guilds, messages" + (", message content" if settings.message_content else "")


def _self_of(client: Gateway) -> inbound.Self:
    if client.user is None:
        raise RuntimeError("nobody is logged in")
    roles = frozenset(role.id for guild in client.guilds if (role := guild.self_role) is not None)
    return inbound.Self(user=client.user.id, roles=roles)
