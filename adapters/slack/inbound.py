"""Inbound: what Slack sends, as values of the port. Pure functions of payloads; verifies shape, not rights.

The rules it owns: a message is known by (channel, ts) whatever event brought it, so that `message`,
`app_mention` and catching up say the same thing once; what was edited is never fresh words; whatever an app
had a hand in is no person.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.slack import reading, render
from bot.ports import Account, Inbound, InboundKind, MessageRef, PlaceRef

Json = Mapping[str, Any]

NAME = "slack"
#: Subtypes in which a person says something; every other one is news about the channel.
_SAID = frozenset({"", "file_share", "thread_broadcast", "bot_message"})
_SLACKBOT = "USLACKBOT"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Who we are, and what is known of others, for reading events.

    Attributes:
        team, user, bot: ids of the workspace, of our user and of our app's bot.
        name_of: the display name of a user id; the id itself where it is not known.
        is_ours: whether we have posted in the thread (channel, ts).
    """

    team: str
    user: str
    bot: str
    name_of: Callable[[str], str] = field(default=lambda user: user)
    is_ours: Callable[[str, str], bool] = field(default=lambda _channel, _thread: False)

    # ------------------------------------------------------------ events

    def event(self, body: Json) -> Inbound | None:
        """Return what an event of the Events API says; None for what says nothing to anybody."""
        event = body.get("event") or {}
        if event.get("type") not in {"message", "app_mention"}:
            return None
        if event.get("subtype") == "message_changed":
            return self._changed(event)
        return self.message(event)

    def message(self, message: Json) -> Inbound | None:
        """Return a message, live or from the history, with its `channel` added there."""
        channel, ts = str(message.get("channel") or ""), str(message.get("ts") or "")
        at = micros(ts)
        if not channel or not at or message.get("subtype", "") not in _SAID or self._is_us(message):
            return None
        if message.get("edited"):
            # Nobody heard what it said at first, and an edit is never fresh words (report 36).
            return self._edit(message, channel, stamp=str(message["edited"].get("ts", ts)))
        said = reading.words(message, me=self.user)
        direct = is_direct(channel, message)
        thread = str(message.get("thread_ts") or "")
        in_thread = bool(thread) and thread != ts
        opener = str(message.get("parent_user_id") or "")
        account = self._speaker(message)
        to_us = in_thread and (
            opener == self.user or (opener == account.user and self.is_ours(channel, thread))
        )
        return Inbound(
            event_id=f"m:{channel}:{ts}",
            place=self._place(channel, thread if direct else thread or ts),
            account=account,
            sent_at=instant(at),
            text=said.text,
            reply_to=self._root(channel, thread) if in_thread and opener == self.user else None,
            forwarded=said.quoted or _is_shared(message),
            addressed=direct or said.mentioned or to_us,
            position=at,
            direct=direct,
        )

    def _changed(self, event: Json) -> Inbound | None:
        """Return an edit by a person that changed the words; unfurls and new replies change none."""
        now, before = event.get("message") or {}, event.get("previous_message") or {}
        edited = now.get("edited")
        if not edited or self._is_us(now) or _is_app(now):
            return None
        if reading.words(now, me=self.user).text == reading.words(before, me=self.user).text:
            return None
        channel = str(event.get("channel") or "")
        return self._edit({**now, "channel": channel}, channel, stamp=str(edited.get("ts", "")))

    def _edit(self, message: Json, channel: str, *, stamp: str) -> Inbound | None:
        ts = str(message.get("ts") or "")
        at, changed = micros(ts), micros(stamp)
        if not channel or not at or not changed:
            return None
        direct = is_direct(channel, message)
        thread = str(message.get("thread_ts") or "")
        said = reading.words(message, me=self.user)
        return Inbound(
            event_id=f"e:{channel}:{ts}:{stamp}",
            place=self._place(channel, thread if direct else thread or ts),
            account=self._speaker(message),
            sent_at=instant(changed),
            kind=InboundKind.EDIT,
            text=said.text,
            addressed=direct or said.mentioned,
            position=at,
            direct=direct,
        )

    def _is_us(self, message: Json) -> bool:
        return message.get("user") == self.user or (bool(self.bot) and message.get("bot_id") == self.bot)

    def _speaker(self, message: Json) -> Account:
        user = str(message.get("user") or message.get("bot_id") or "")
        return Account(
            platform=NAME,
            tenant=str(message.get("user_team") or message.get("team") or self.team),
            user=user,
            display=self.name_of(user),
            is_bot=_is_app(message),
        )

    def _root(self, channel: str, thread: str) -> MessageRef:
        """Return the message of ours that a thread hangs on; it stands outside the thread."""
        return MessageRef(place=self._place(channel, ""), message=thread, position=micros(thread))

    def _place(self, channel: str, thread: str) -> PlaceRef:
        return PlaceRef(platform=NAME, tenant=self.team, channel=channel, thread=thread)

    # ------------------------------------------------------------ presses and forms

    def press(self, body: Json) -> Inbound | None:
        """Return the press of one of our buttons; None for anything else."""
        actions: Sequence[Json] = body.get("actions") or ()
        action = actions[0] if len(actions) == 1 else {}
        card = self.card(body)
        token, stamp = str(action.get("value") or ""), str(action.get("action_ts") or "")
        if card is None or not token.startswith(render.PREFIX) or not micros(stamp):
            return None
        account = self.clicker(body)
        return Inbound(
            event_id=f"c:{card.place.channel}:{stamp}:{account.user}:{card.message}",
            place=card.place,
            account=account,
            sent_at=instant(micros(stamp)),
            kind=InboundKind.CLICK,
            token=token.removeprefix(render.PREFIX),
            direct=is_direct(card.place.channel, {}),
        )

    def card(self, body: Json) -> MessageRef | None:
        """Return the message that a press was on, in the place in which it stands."""
        container, message = body.get("container") or {}, body.get("message") or {}
        channel = str(container.get("channel_id") or (body.get("channel") or {}).get("id") or "")
        ts = str(container.get("message_ts") or message.get("ts") or "")
        if not channel or not micros(ts):
            return None
        thread = str(container.get("thread_ts") or message.get("thread_ts") or "")
        # A message that has got replies names itself as their thread, and stands outside it.
        place = self._place(channel, "" if thread == ts else thread)
        return MessageRef(place=place, message=ts, position=micros(ts))

    def clicker(self, body: Json) -> Account:
        """Return who pressed a button or sent a form."""
        user = body.get("user") or {}
        return Account(
            platform=NAME,
            tenant=str(user.get("team_id") or (body.get("team") or {}).get("id") or self.team),
            user=str(user.get("id") or ""),
            display=str(user.get("name") or user.get("username") or user.get("id") or ""),
        )

    def form(self, body: Json, *, now: datetime) -> Inbound | None:
        """Return a form of ours that was sent, or None; all that it belongs to came with it."""
        view = body.get("view") or {}
        if view.get("callback_id") != render.FORM:
            return None
        try:
            about = json.loads(view.get("private_metadata") or "")
            channel, thread, card, token = (str(about[key]) for key in "ctmk")
        except (ValueError, KeyError, TypeError):
            return None
        if not token.startswith(render.PREFIX):
            return None
        values = (view.get("state") or {}).get("values") or {}
        answer = (values.get(render.FORM_BLOCK) or {}).get(render.FORM_FIELD) or {}
        return Inbound(
            event_id=f"f:{channel}:{card}:{view.get('id')}",
            place=self._place(channel, thread),
            account=self.clicker(body),
            sent_at=now,
            kind=InboundKind.FORM,
            text=str(answer.get("value") or ""),
            token=token.removeprefix(render.PREFIX),
            direct=is_direct(channel, {}),
        )


def _is_app(message: Json) -> bool:
    """Whether an app had a hand in it, also one that speaks in a person's name (P6)."""
    return bool(
        message.get("bot_id")
        or message.get("app_id")
        or message.get("bot_profile")
        or message.get("subtype") == "bot_message"
        or message.get("user") in {None, "", _SLACKBOT}
    )


def _is_shared(message: Json) -> bool:
    """Whether it passes on somebody's message."""
    return any(one.get("is_share") or one.get("is_msg_unfurl") for one in message.get("attachments") or ())


def is_direct(channel: str, message: Json) -> bool:
    """Whether a channel is a conversation of one person with the bot."""
    return message.get("channel_type") == "im" or channel.startswith("D")


# ---------------------------------------------------------------- timestamps


def micros(ts: str) -> int:
    """Return a Slack timestamp ("1712345678.000100") as microseconds, without a float; 0 for none."""
    seconds, _, fraction = ts.partition(".")
    digits = seconds + (fraction + "000000")[:6]
    return int(digits) if digits.isascii() and digits.isdecimal() and seconds else 0


def timestamp(at: int) -> str:
    """Return microseconds as a Slack timestamp."""
    return f"{at // 1_000_000}.{at % 1_000_000:06d}"


def instant(at: int) -> datetime:
    """Return microseconds since 1970 as an aware instant."""
    return _EPOCH + timedelta(microseconds=at)


def stamp_of(event_id: str) -> int:
    """Return until when a place had been read at an event, in microseconds; 0 where its id does not say."""
    kind, *parts = event_id.split(":")
    where = {"m": 1, "c": 1, "f": 1, "e": 2}.get(kind, -1)
    return micros(parts[where]) if 0 < where < len(parts) else 0
