"""Normalising: an update of Telegram to the event of the port, or to nothing. Pure.

The rule it owns: who speaks is what Telegram vouches for. Whoever speaks as a group or a channel, and
whatever an inline bot wrote, is nobody's word.
"""

from collections.abc import Mapping
from datetime import datetime

from telegram import CallbackQuery, Chat, Message, Update, User
from telegram.constants import ChatType

from adapters.telegram.heard import Me, words
from adapters.telegram.render import MAX_TOKEN_BYTES, PREFIX
from bot.ports import Account, Inbound, InboundKind, MessageRef, PlaceRef

NAME = "telegram"
#: Always sent: without it Telegram goes by what the last poller wanted.
ALLOWED_UPDATES = ("message", "edited_message", "callback_query")


def from_update(update: Update, *, me: Me, now: datetime) -> Inbound | None:
    """Return what `update` says, or None for what is not for us.

    Args:
        now: for presses, whose time Telegram does not tell.
    """
    if update.callback_query is not None:
        return _press(update.callback_query, now=now)
    if update.edited_message is not None:
        return _said(update.edited_message, me=me, edited=True)
    if update.message is not None:
        return _message(update.message, me=me)
    return None


def chat_of(raw: Mapping[str, object]) -> str:
    """Return the chat of an update as it came, "" for none: its messages are handed over in order."""
    for kind in ("message", "edited_message"):
        message = raw.get(kind)
        if isinstance(message, dict) and isinstance(chat := message.get("chat"), dict):
            return str(chat.get("id", ""))
    return ""


def token_of(query: CallbackQuery) -> str:
    """Return the token of the pressed button, or "" when the payload is none of ours."""
    data = query.data or ""
    token = data.removeprefix(PREFIX)
    if token == data or query.message is None or not token.isascii() or len(token) > MAX_TOKEN_BYTES:
        return ""
    return token


def place_of(message: Message, chat: Chat) -> PlaceRef:
    """Return where `message` stands. Thread ids count in topics only, and General has none."""
    thread = ""
    if getattr(message, "is_topic_message", None) and message.message_thread_id is not None:
        thread = str(message.message_thread_id)
    return PlaceRef(platform=NAME, channel=str(chat.id), thread=thread)


def moved(old: int | str, new: int | str, *, at: datetime) -> Inbound:
    """Return that the group `old` goes on as `new`; told twice, it is the same event."""
    return Inbound(
        event_id=f"v:{old}:{new}",
        place=PlaceRef(platform=NAME, channel=str(old)),
        moved_to=PlaceRef(platform=NAME, channel=str(new)),
        account=Account(platform=NAME, user=""),
        sent_at=at,
        kind=InboundKind.MOVED,
        addressed=False,
    )


def _message(message: Message, *, me: Me) -> Inbound | None:
    if message.migrate_to_chat_id is not None:
        return moved(message.chat.id, message.migrate_to_chat_id, at=message.date)
    if message.migrate_from_chat_id is not None:
        return moved(message.migrate_from_chat_id, message.chat.id, at=message.date)
    return _said(message, me=me, edited=False)


def _said(message: Message, *, me: Me, edited: bool) -> Inbound | None:
    speaker = message.from_user
    heard = words(message, me=me)
    if speaker is None or speaker.id == me.id or heard is None or message.chat.type == ChatType.CHANNEL:
        return None
    chat = message.chat.id
    answered = _answered(message)
    direct = message.chat.type == ChatType.PRIVATE
    stamp = message.edit_date or message.date
    return Inbound(
        event_id=f"e:{chat}:{message.message_id}:{int(stamp.timestamp())}"
        if edited
        else f"m:{chat}:{message.message_id}",
        place=place_of(message, message.chat),
        account=_account(speaker, speaks_as_other=message.sender_chat is not None),
        sent_at=stamp if edited else message.date,
        kind=InboundKind.EDIT if edited else InboundKind.MESSAGE,
        text=heard.text,
        reply_to=None if answered is None else _ref(answered),
        forwarded=message.forward_origin is not None or message.via_bot is not None,
        addressed=direct or heard.names_us or (answered is not None and _is_ours(answered, me)),
        position=message.message_id,
        direct=direct,
    )


def _answered(message: Message) -> Message | None:
    """Return what `message` is a reply to. In a topic, Telegram says so of the topic's own beginning too."""
    reply = message.reply_to_message
    if reply is None or reply.forum_topic_created is not None:
        return None
    if message.is_topic_message and reply.message_id == message.message_thread_id:
        return None
    return reply


def _is_ours(message: Message, me: Me) -> bool:
    return message.from_user is not None and message.from_user.id == me.id


def _ref(message: Message) -> MessageRef:
    return MessageRef(
        place=place_of(message, message.chat), message=str(message.message_id), position=message.message_id
    )


def _account(user: User, *, speaks_as_other: bool = False) -> Account:
    return Account(
        platform=NAME, user=str(user.id), display=user.full_name, is_bot=user.is_bot or speaks_as_other
    )


def _press(query: CallbackQuery, *, now: datetime) -> Inbound | None:
    token, message = token_of(query), query.message
    if not token or message is None:
        return None
    place = place_of(message, message.chat)  # type: ignore[arg-type]  # an inaccessible one has chat and id too
    return Inbound(
        event_id=f"c:{query.id}",
        place=place,
        account=_account(query.from_user),
        sent_at=now,
        kind=InboundKind.CLICK,
        token=token,
        direct=message.chat.type == ChatType.PRIVATE,
    )
