"""Sending: the Bot API calls, and what their failures mean to whoever wanted something shown (P10).

Telegram knows no id by which a message could be recognised, so a call whose answer never came is uncertain
unless it certainly never left this machine. It draws nothing and decides nothing.
"""

import asyncio
import contextlib
import functools
import logging
import os
import ssl
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import httpx
from telegram import (
    Bot,
    ForceReply,
    InlineKeyboardMarkup,
    InputFile,
    InputMediaDocument,
    LinkPreviewOptions,
    ReplyParameters,
    User,
)
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)
from telegram.request import HTTPXRequest

from adapters.telegram.inbound import ALLOWED_UPDATES
from adapters.telegram.render import Rendered
from bot.ports import BusyError, PlaceRef, RejectedError, UncertainError
from bot.text import visible

log = logging.getLogger(__name__)

# The library is moving from seconds to timedelta and warns whoever has not chosen; this is how it is chosen.
os.environ.setdefault("PTB_TIMEDELTA", "true")

#: Of one file; Bot API, "Sending files".
MAX_FILE_BYTES = 50_000_000
#: For the answer to a press: later it is of no use.
PRESS_ANSWER_S = 5.0
_LATER_S = 5.0
_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@functools.cache
def _tls() -> ssl.SSLContext:
    """Return the library's own way of checking certificates, read once: it takes a tenth of a second."""
    return httpx.create_ssl_context()


class _Bot(Bot):
    """The library's client, with updates as they come: one that cannot be read holds up no other."""

    async def raw_updates(self, offset: int | None, wait_s: int) -> list[Mapping[str, Any]]:
        data = {"offset": offset, "timeout": wait_s, "allowed_updates": list(ALLOWED_UPDATES)}
        margin_s = self.request.read_timeout or 0.0
        found = await self._post("getUpdates", data, read_timeout=wait_s + margin_s)
        return found if isinstance(found, list) else []


class Wire:
    """One bot at one address.

    Args:
        api_url: without a slash at its end.
        answer_s: how long an answer may take, beyond the wait that was asked for.
    """

    def __init__(self, *, token: str, api_url: str, answer_s: float) -> None:
        # httpx logs every address at INFO, and the address holds the token.
        for name in ("httpx", "httpcore", "telegram"):
            logging.getLogger(name).setLevel(logging.WARNING)
        tls = {"verify": _tls()}
        self._polls = HTTPXRequest(connection_pool_size=2, read_timeout=answer_s, httpx_kwargs=tls)
        self._calls = HTTPXRequest(
            connection_pool_size=64,
            read_timeout=answer_s,
            pool_timeout=answer_s,
            media_write_timeout=60.0,
            httpx_kwargs=tls,
        )
        self.bot = _Bot(
            token,
            base_url=f"{api_url}/bot",
            base_file_url=f"{api_url}/file/bot",
            request=self._calls,
            get_updates_request=self._polls,
        )

    async def me(self) -> User:
        """Return the bot's own account. Raises TelegramError."""
        return await self.bot.get_me()

    async def updates(self, offset: int | None, wait_s: int) -> Sequence[Mapping[str, Any]]:
        """Return updates from `offset`, confirming all before it. Raises TelegramError."""
        return await self.bot.raw_updates(offset, wait_s)

    async def renew(self) -> None:
        """Make new connections for polling: a broken one is sometimes kept by the pool."""
        await self._polls.shutdown()
        await self._polls.initialize()

    async def close(self) -> None:
        """Close every connection."""
        await asyncio.gather(self._polls.shutdown(), self._calls.shutdown())

    # ------------------------------------------------------------ showing

    async def text(
        self,
        place: PlaceRef,
        shown: Rendered,
        *,
        markup: InlineKeyboardMarkup | ForceReply | None = None,
        answers: int | None = None,
    ) -> int:
        """Show a message and return its id; as a silent answer to the message `answers`, where there is one.

        Raises:
            RejectedError: it was not shown.
            UncertainError: it may have been.
            ChatMigrated: it was not shown; the chat goes on under another id.
        """
        with outcomes():
            message = await self.bot.send_message(
                chat_id=int(place.channel),
                text=shown.text,
                entities=shown.entities,
                message_thread_id=_thread(place),
                link_preview_options=_NO_PREVIEW,
                reply_markup=markup,
                reply_parameters=_answer_to(answers),
                disable_notification=answers is not None,
            )
        return message.message_id

    async def file(self, place: PlaceRef, name: str, content: bytes) -> int:
        """Show a file and return the id of its message. Raises as `text`."""
        with outcomes():
            message = await self.bot.send_document(
                chat_id=int(place.channel),
                document=_input(name, content),
                message_thread_id=_thread(place),
                disable_content_type_detection=True,
            )
        return message.message_id

    async def replace_file(self, place: PlaceRef, message: int, name: str, content: bytes) -> None:
        """Show another file in its message. Raises as `text`."""
        with outcomes(), _unchanged_is_fine():
            await self.bot.edit_message_media(
                chat_id=int(place.channel),
                message_id=message,
                media=InputMediaDocument(
                    _input(name, content, attach=True), disable_content_type_detection=True
                ),
            )

    async def change(
        self, place: PlaceRef, message: int, shown: Rendered, *, markup: InlineKeyboardMarkup | None
    ) -> None:
        """Change a message and its buttons. Raises as `text`."""
        with outcomes(), _unchanged_is_fine():
            await self.bot.edit_message_text(
                chat_id=int(place.channel),
                message_id=message,
                text=shown.text,
                entities=shown.entities,
                link_preview_options=_NO_PREVIEW,
                reply_markup=markup,
            )

    async def change_buttons(
        self, place: PlaceRef, message: int, *, markup: InlineKeyboardMarkup | None
    ) -> None:
        """Change the buttons of a message only. Raises as `text`."""
        with outcomes(), _unchanged_is_fine():
            await self.bot.edit_message_reply_markup(
                chat_id=int(place.channel), message_id=message, reply_markup=markup
            )

    async def take_back(self, place: PlaceRef, messages: Sequence[int]) -> None:
        """Delete messages of ours, as far as that works."""
        for message in messages:
            try:
                await self.bot.delete_message(chat_id=int(place.channel), message_id=message)
            except TelegramError as error:
                log.info("message %s stays: %s", message, type(error).__name__)

    async def answer(self, query: str, words: str) -> bool:
        """Answer a press, with an alert when there are words; False when Telegram did not take it."""
        try:
            await self.bot.answer_callback_query(
                query, text=words or None, show_alert=bool(words), read_timeout=PRESS_ANSWER_S
            )
        except TelegramError as error:
            # "Query is too old" among them: the press is stored and counts all the same.
            log.info("a press was not answered: %s", type(error).__name__)
            return False
        return True


def seconds(error: RetryAfter) -> float:
    """Return how long Telegram wants to be left alone."""
    wait = error.retry_after
    return wait.total_seconds() if isinstance(wait, timedelta) else float(wait)


@contextlib.contextmanager
def outcomes() -> Iterator[None]:
    """Turn the library's errors into the three outcomes of a send; ChatMigrated goes through."""
    try:
        yield
    except ChatMigrated:
        raise
    except RetryAfter as error:
        raise BusyError("Telegram wants less at once", retry_after_s=seconds(error)) from error
    except (BadRequest, Forbidden, InvalidToken, Conflict) as error:
        raise RejectedError(f"Telegram refused it: {error.message}") from error
    except NetworkError as error:
        if isinstance(error.__cause__, _NEVER_SENT):
            raise BusyError("Telegram cannot be reached", retry_after_s=_LATER_S) from error
        what = "no answer" if isinstance(error, TimedOut) else "no proper answer"
        raise UncertainError(f"Telegram gave {what}; it may have been shown") from error
    except TelegramError as error:
        raise UncertainError("Telegram gave an answer that makes no sense; it may have been shown") from error
    except RuntimeError as error:  # how the library says that it was closed
        raise closed() from error


def closed() -> BusyError:
    """Return what is raised once the port is closed: nothing is refused, the next process shows it."""
    return BusyError("Telegram: sayso has closed the connection", retry_after_s=_LATER_S)


@contextlib.contextmanager
def _unchanged_is_fine() -> Iterator[None]:
    try:
        yield
    except BadRequest as error:
        if "message is not modified" not in error.message.lower():
            raise


def _thread(place: PlaceRef) -> int | None:
    return int(place.thread) if place.thread else None


def _answer_to(message: int | None) -> ReplyParameters | None:
    return None if message is None else ReplyParameters(message, allow_sending_without_reply=True)


def _input(name: str, content: bytes, *, attach: bool = False) -> InputFile:
    if len(content) > MAX_FILE_BYTES:
        raise RejectedError(f"the file has {len(content)} bytes; Telegram takes {MAX_FILE_BYTES}")
    plain = visible(name).replace("/", "_").replace("\\", "_").strip() or "file.txt"
    return InputFile(content or b"\n", filename=plain[-100:], attach=attach)  # an empty file is refused
