"""The Slack ChatPort: puts the parts together. Holds no rule of its own.

`intake` hears, `sending` shows, `link` keeps the connection, `catchup` reads what was missed.
"""

import asyncio
import logging
from dataclasses import replace

from adapters.slack import catchup
from adapters.slack.inbound import NAME, Reader
from adapters.slack.intake import Intake
from adapters.slack.link import Link, Pace
from adapters.slack.people import People
from adapters.slack.render import MAX_BUTTONS
from adapters.slack.sending import Sending
from adapters.slack.settings import Settings
from adapters.slack.state import State
from adapters.slack.web import Web, closed
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
    Sink,
)

log = logging.getLogger(__name__)


class SlackPort:
    """One Slack app in one workspace.

    Args:
        bookmarks: where reading stopped; None reads nothing that was said before.

    Raises:
        TokenError: there is no token to connect with.
    """

    name = NAME
    capabilities = Capabilities(
        max_chars=6_000,
        own_threads=True,
        max_buttons=MAX_BUTTONS,
        forms=True,
        files=True,
        finds=True,
    )

    def __init__(
        self, settings: Settings, *, clock: Clock, bookmarks: Bookmarks | None, pace: Pace | None = None
    ) -> None:
        pace = pace or Pace()
        self._state = State()
        self._sink: Sink | None = None
        self._bookmarks = bookmarks
        self._web = Web(token=settings.token("bot"), url=settings.api_url)
        self._people = People(self._web)
        self._sending = Sending(self._web, clock=clock)
        self._intake = Intake(
            self._web, clock=clock, state=self._state, pace=pace, sink=self._hear, note=self._sending.note
        )
        self._link = Link(
            self._web,
            app_token=settings.token("app"),
            state=self._state,
            pace=pace,
            handle=self._intake.handle,
            ready=self._ready,
            catch_up=self._catch_up,
        )
        self._ended = asyncio.Event()
        self._ended.set()

    async def listen(self, sink: Sink) -> None:
        """Hear events until closed. No fault of Slack ends it; after one of ours it may be begun again."""
        if self._state.closed:
            return
        self._sink = sink
        self._ended.clear()
        try:
            await self._link.run()
        finally:
            self._sink = None
            if self._link.stopped:
                await self._people.close()
                await self._web.close()
            self._ended.set()

    async def _hear(self, inbound: Inbound) -> Receipt:
        if self._sink is None:
            raise NotCommittedError("sayso is not listening")
        return await self._sink(inbound)

    def _ready(self, reader: Reader) -> None:
        """Read events as whoever the token says we are."""
        reader = replace(reader, name_of=self._people.name_of, is_ours=self._is_ours)
        self._intake.reader = reader
        self._sending.reader = reader

    def _is_ours(self, channel: str, thread: str) -> bool:
        return (channel, thread) in self._sending.threads

    async def _catch_up(self) -> bool:
        reader = self._intake.reader
        if self._bookmarks is None or reader is None:
            return True
        try:
            marks = await asyncio.to_thread(catchup.marks_of, self._bookmarks)
        except Exception:
            log.exception("Slack: where reading stopped is not known")
            self._state.unread = 1
            return False
        self._state.unread = await catchup.catch_up(
            self._web, reader=reader, marks=marks, deliver=self._intake.deliver
        )
        return not self._state.unread

    # ------------------------------------------------------------ what the core calls

    async def post(self, place: PlaceRef, message: Message, *, nonce: str) -> MessageRef:
        """Show a message, once for a nonce."""
        self._is_open()
        return await self._sending.post(place, message, nonce=nonce)

    async def find(self, place: PlaceRef, *, nonce: str) -> MessageRef | None:
        """Return the message that was posted with `nonce`; looks three days back."""
        return await self._sending.find(place, nonce=nonce)

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Replace a message of ours."""
        self._is_open()
        await self._sending.edit(ref, message)

    async def note(self, place: PlaceRef, account: Account, message: Message) -> None:
        """Show a message to one person, until they reload; long ones in several parts."""
        self._is_open()
        await self._sending.note(place, account, message)

    def _is_open(self) -> None:
        if self._state.closed:
            raise closed()

    async def health(self) -> Health:
        """Tell how the connection is, who we are and what only a person can cure."""
        return self._state.health()

    async def close(self) -> None:
        """Stop listening and free everything."""
        self._link.stop()
        await self._ended.wait()
        await self._people.close()
        await self._web.close()
