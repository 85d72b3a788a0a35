"""What the SDK hands over, as `Inbound`. Pure functions; nothing is fetched here.

They own what a message means on Discord: which place it is in, whom it is said to, whether somebody only
forwards or quotes. Whoever is a bot, or a webhook, is marked and left to the core to ignore.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.discord.render import FIELD
from adapters.discord.sdk import discord
from bot.ports import Account, Inbound, InboundKind, MessageRef, PlaceRef

NAME = "discord"

#: Kinds of messages in which a person says something; the others tell of joins, pins, threads and calls.
_SAID = (discord.MessageType.default, discord.MessageType.reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class Self:
    """Who the bot is: its user id, and the ids of the roles that Discord made for it."""

    user: int
    roles: frozenset[int] = frozenset()


def place_of(channel: object, guild_id: int | None) -> PlaceRef | None:
    """Return the place of a channel as the SDK knows it, or None when it knows no more than an id.

    A thread is a place within its parent channel.
    """
    if isinstance(channel, discord.Thread):
        return PlaceRef(
            platform=NAME,
            tenant=str(channel.guild.id),
            channel=str(channel.parent_id),
            thread=str(channel.id),
        )
    if isinstance(channel, discord.DMChannel):
        return PlaceRef(platform=NAME, channel=str(channel.id))
    if isinstance(channel, discord.abc.GuildChannel):
        return PlaceRef(platform=NAME, tenant=str(channel.guild.id), channel=str(channel.id))
    if isinstance(channel, discord.PartialMessageable) and guild_id is None:
        return PlaceRef(platform=NAME, channel=str(channel.id))
    return None


def account_of(user: "discord.User | discord.Member", *, webhook: bool = False) -> Account:
    """Return who spoke."""
    return Account(
        platform=NAME, user=str(user.id), display=user.display_name, is_bot=bool(user.bot) or webhook
    )


def message_event(channel_id: int | str, message_id: int | str) -> str:
    """Return the event id of a message: the same, however it arrives."""
    return f"m:{channel_id}:{message_id}"


def newest_position(event_id: str) -> int | None:
    """Return the point in time that an event id tells, as a message id; None when it tells none.

    Discord's ids grow with time, whatever they are of.
    """
    match event_id.split(":"):
        case ["m" | "e", _, number, *_] | ["c" | "f", number] if number.isdigit():
            return int(number)
        case _:
            return None


def is_said(message: "discord.Message") -> bool:
    """Tell whether somebody says something with this message."""
    return message.type in _SAID


def is_hidden(message: "discord.Message") -> bool:
    """Tell whether Discord kept the words from us: an intent is missing."""
    shown = (message.content, message.attachments, message.embeds, message.stickers, message.components)
    empty = not any(shown) and message.poll is None and not message.message_snapshots
    return empty and message.guild is not None and is_said(message)


def from_message(message: "discord.Message", place: PlaceRef, me: Self) -> Inbound:
    """Return a message that somebody wrote in `place`."""
    forwarded = bool(message.message_snapshots) or _is_forward(message.reference)
    text = message.content
    if not text and message.message_snapshots:
        text = message.message_snapshots[0].content
    return Inbound(
        event_id=message_event(message.channel.id, message.id),
        place=place,
        account=account_of(message.author, webhook=message.webhook_id is not None),
        sent_at=message.created_at,
        text=unaddressed(text, me),
        reply_to=_reply_to(message, place),
        forwarded=forwarded or is_quote(text),
        addressed=is_addressed(message, place, me),
        position=message.id,
        direct=not place.tenant,
    )


def is_addressed(message: "discord.Message", place: PlaceRef, me: Self) -> bool:
    """Tell whether a message is said to the bot."""
    if not place.tenant or any(user.id == me.user for user in message.mentions):
        return True
    if me.roles.intersection(message.raw_role_mentions):
        return True
    answered = message.reference.resolved if message.reference is not None else None
    return (
        isinstance(answered, discord.Message)
        and answered.author.id == me.user
        and not _is_forward(message.reference)
    )


def unaddressed(text: str, me: Self) -> str:
    """Return `text` without the mention of the bot at its beginning or end; one within it stays."""
    roles = "".join(rf"|<@&{role}>" for role in sorted(me.roles))
    mention = rf"(?:<@!?{me.user}>{roles})"
    return re.sub(rf"^(?:\s*{mention})+[ \t]*[,:]?\s*|\s*(?:{mention}\s*)+$", "", text)


def is_quote(text: str) -> bool:
    """Tell whether every line of `text` quotes somebody."""
    if text.startswith(">>> "):
        return True
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all(line.startswith("> ") for line in lines)


def from_edit(message: "discord.Message", place: PlaceRef, me: Self) -> Inbound | None:
    """Return the change of a message, or None when nobody changed it: a link was unfolded (report 12)."""
    if message.edited_at is None or not is_said(message):
        return None
    stamp = round(message.edited_at.timestamp() * 1_000_000)
    return Inbound(
        event_id=f"e:{message.channel.id}:{message.id}:{stamp}",
        place=place,
        account=account_of(message.author, webhook=message.webhook_id is not None),
        sent_at=message.edited_at,
        kind=InboundKind.EDIT,
        text=unaddressed(message.content, me),
        addressed=is_addressed(message, place, me),
        position=message.id,
        direct=not place.tenant,
    )


def from_press(interaction: "discord.Interaction[Any]", place: PlaceRef, token: str) -> Inbound:
    """Return the press of the button with `token`."""
    return _from_interaction(interaction, place, token=token, kind=InboundKind.CLICK, text="")


def from_form(interaction: "discord.Interaction[Any]", place: PlaceRef, token: str) -> Inbound:
    """Return the form with `token`, filled in."""
    text = form_value(interaction.data or {})
    return _from_interaction(interaction, place, token=token, kind=InboundKind.FORM, text=text)


def _from_interaction(
    interaction: "discord.Interaction[Any]", place: PlaceRef, *, token: str, kind: InboundKind, text: str
) -> Inbound:
    prefix = "c" if kind is InboundKind.CLICK else "f"
    return Inbound(
        event_id=f"{prefix}:{interaction.id}",
        place=place,
        account=account_of(interaction.user),
        sent_at=interaction.created_at,
        kind=kind,
        text=text,
        token=token,
        direct=not place.tenant,
    )


def form_value(data: Mapping[str, Any]) -> str:
    """Return what was written into the field of a form, in either shape in which Discord sends it back."""
    for part in data.get("components", ()):
        # A label holds one component, a row of the older shape several.
        for field in (part.get("component"), *part.get("components", ())):
            if field and field.get("custom_id") == FIELD:
                return str(field.get("value") or "")
    return ""


def _is_forward(reference: "discord.MessageReference | None") -> bool:
    return reference is not None and reference.type is discord.MessageReferenceType.forward


def _reply_to(message: "discord.Message", place: PlaceRef) -> MessageRef | None:
    reference = message.reference
    if reference is None or reference.message_id is None or _is_forward(reference):
        return None
    if reference.channel_id != message.channel.id:
        return None
    return MessageRef(place=place, message=str(reference.message_id), position=reference.message_id)
