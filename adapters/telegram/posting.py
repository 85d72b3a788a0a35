"""Posting: a message of the core as messages of Telegram, and their changes.

Files go up before the message that names them, so that no card with a shortened command stands there without
its file; what cannot be changed loses its buttons at least. A nonce is shown once. Groups that became
supergroups are followed.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from telegram import ForceReply, InlineKeyboardMarkup
from telegram.error import ChatMigrated

from adapters.telegram.editing import Editing, Pacing
from adapters.telegram.render import cut, fits, keyboard, render
from adapters.telegram.sending import Wire
from bot.fitting import Fitted, fit
from bot.ports import BusyError, Message, MessageRef, PlaceRef, RejectedError, UncertainError
from bot.text import visible

#: Bot API, ForceReply.input_field_placeholder.
_MAX_HINT_UNITS = 64
_REMEMBERED = 2000

_MOVED_ON = "the group goes on as a supergroup; what was shown before cannot be changed"


class Posting:
    """What is shown.

    Args:
        on_moved: told that a chat goes on under another id, before anything is sent there.
    """

    def __init__(
        self, wire: Wire, *, pacing: Pacing, on_moved: Callable[[str, str], Awaitable[None]]
    ) -> None:
        self._wire = wire
        self._pacing = pacing
        self._on_moved = on_moved
        self._editing = Editing(self._change, pacing=pacing)
        self._posts: OrderedDict[str, asyncio.Future[MessageRef]] = OrderedDict()
        self._moved: dict[str, str] = {}
        # Files beside a message, by name: the message that holds the file, and its digest.
        self._files: OrderedDict[MessageRef, dict[str, tuple[int, str]]] = OrderedDict()

    def moved(self, old: str, new: str) -> None:
        """Send what is for the chat `old` to `new` from now on."""
        self._moved[old] = new

    def now_at(self, place: PlaceRef) -> PlaceRef:
        """Return where `place` is by now."""
        new = self._moved.get(place.channel)
        return place if new is None else PlaceRef(platform=place.platform, channel=new)

    async def post(
        self, place: PlaceRef, message: Message, *, nonce: str, answers: int | None = None
    ) -> MessageRef:
        """Show `message` once for each nonce; `answers` is the message whose writer is asked.

        Raises:
            RejectedError: it was not shown.
            UncertainError: it may have been.
        """
        known = self._posts.get(nonce)
        if known is not None:
            return await asyncio.shield(known)
        shown = self._posts[nonce] = asyncio.ensure_future(self._post(place, message, answers))
        shown.add_done_callback(_seen)
        if len(self._posts) > _REMEMBERED:
            self._posts.popitem(last=False)
        try:
            return await asyncio.shield(shown)
        except (RejectedError, UncertainError):
            self._posts.pop(nonce, None)  # whoever sends it again has looked whether it was shown
            raise

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Show `message` in the place of an older one. Raises as `post`."""
        await self._editing.edit(ref, message)

    # ------------------------------------------------------------ new messages

    async def _post(self, place: PlaceRef, message: Message, answers: int | None) -> MessageRef:
        place = self.now_at(place)
        try:
            return await self._show(place, message, answers)
        except ChatMigrated as error:
            await self._on_moved(place.channel, str(error.new_chat_id))
        try:
            return await self._show(self.now_at(place), message, None)
        except ChatMigrated as error:
            raise RejectedError("Telegram: the chat keeps moving") from error

    async def _show(self, place: PlaceRef, message: Message, answers: int | None) -> MessageRef:
        _check(place)
        fitted, buttons = _draw(message)
        files = await self._send_files(place, fitted)
        markup: InlineKeyboardMarkup | ForceReply | None = buttons
        if message.asks and buttons is None:
            hint = cut(visible(message.asks), _MAX_HINT_UNITS)
            markup = ForceReply(selective=answers is not None, input_field_placeholder=hint)
        try:
            number = await self._wire.text(place, render(fitted.text), markup=markup, answers=answers)
        except (RejectedError, ChatMigrated):
            await self._wire.take_back(place, [number for number, _ in files.values()])
            raise
        self._pacing.sent(place.channel)
        ref = MessageRef(place=place, message=str(number), position=number)
        self._editing.shown(ref, message)
        self._keep_files(ref, files)
        return ref

    async def _send_files(self, place: PlaceRef, fitted: Fitted) -> dict[str, tuple[int, str]]:
        sent: dict[str, tuple[int, str]] = {}
        try:
            for name, content in fitted.files:
                sent[name] = (await self._wire.file(place, name, content), _digest(content))
                self._pacing.sent(place.channel)
        except (RejectedError, UncertainError, ChatMigrated) as error:
            await self._wire.take_back(place, [number for number, _ in sent.values()])
            if isinstance(error, UncertainError):
                raise RejectedError(f"a file of the message was not sent: {error}") from error
            raise
        return sent

    def _keep_files(self, ref: MessageRef, files: dict[str, tuple[int, str]]) -> None:
        if files:
            self._files[ref] = files
            if len(self._files) > _REMEMBERED:
                self._files.popitem(last=False)

    # ------------------------------------------------------------ changes

    async def _change(self, ref: MessageRef, message: Message) -> None:
        _check(ref.place)
        if ref.place.channel in self._moved:
            raise RejectedError(_MOVED_ON)
        number = int(ref.message)
        try:
            fitted, buttons = _draw(message)
            await self._change_files(ref, fitted)
            try:
                await self._wire.change(ref.place, number, render(fitted.text), markup=buttons)
            except UncertainError:  # an edit that is made twice is made once
                await self._wire.change(ref.place, number, render(fitted.text), markup=buttons)
        except BusyError:
            raise
        except RejectedError:
            await self._disarm(ref)
            raise
        except ChatMigrated as error:
            await self._on_moved(ref.place.channel, str(error.new_chat_id))
            raise RejectedError(_MOVED_ON) from error

    async def _disarm(self, ref: MessageRef) -> None:
        """Take the buttons off a message that shows something outdated; it can be decided in words."""
        try:
            await self._wire.change_buttons(ref.place, int(ref.message), markup=None)
        except (RejectedError, UncertainError, ChatMigrated):
            return

    async def _change_files(self, ref: MessageRef, fitted: Fitted) -> None:
        """Bring the files beside a message up to date; one that was sent before is changed in its place."""
        known = self._files.get(ref, {})
        for name, content in fitted.files:
            number, digest = known.get(name, (0, ""))
            try:
                if not number:
                    number = await self._wire.file(ref.place, name, content)
                elif digest != _digest(content):
                    await self._wire.replace_file(ref.place, number, name, content)
                else:
                    continue
            except UncertainError as error:
                raise RejectedError(f"a file of the message was not sent: {error}") from error
            self._pacing.sent(ref.place.channel)
            known[name] = (number, _digest(content))
            self._keep_files(ref, known)


def _draw(message: Message) -> tuple[Fitted, InlineKeyboardMarkup | None]:
    try:
        return fit(message, fits), keyboard(message.buttons)
    except ValueError as error:
        raise RejectedError(f"Telegram cannot show this message: {error}") from error


def _seen(done: "asyncio.Future[MessageRef]") -> None:
    """Look at the end of a post whose caller may be gone."""
    if not done.cancelled():
        done.exception()


def _check(place: PlaceRef) -> None:
    if not place.channel.removeprefix("-").isdecimal() or not (not place.thread or place.thread.isdecimal()):
        raise RejectedError("Telegram: there is no such chat")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
