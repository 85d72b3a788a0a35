"""What exists on the simulated Discord: people, channels, messages, interactions. It speaks to nobody."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

EPOCH_MS = 1_420_070_400_000
TEXT_CHANNEL, DM, THREAD = 0, 1, 11
GUILD, APPLICATION, BOT, BOT_ROLE = (114_738_888_999_900_000 + last for last in range(1, 5))
#: What an invited bot may do; see adapters.discord.setup.
PERMISSIONS = "274878008320"

_numbers = itertools.count(1)


def iso(number: int) -> str:
    """Return the time of an id as Discord writes it."""
    seconds, rest = divmod((number >> 22) + EPOCH_MS, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}000+00:00"


@dataclass
class User:
    id: int
    name: str
    bot: bool = False

    def json(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "username": self.name,
            "global_name": self.name.title(),
            "discriminator": "0",
            "avatar": None,
            "bot": self.bot,
        }


@dataclass
class Channel:
    """A text channel, a thread in one, or a direct conversation with one person."""

    id: int
    name: str
    type: int = TEXT_CHANNEL
    parent: int = 0
    person: int = 0
    messages: dict[int, dict[str, Any]] = field(default_factory=dict)
    locked: bool = False

    def json(self, world: "World") -> dict[str, Any]:
        base: dict[str, Any] = {"id": str(self.id), "type": self.type, "flags": 0}
        if self.type == DM:
            return {**base, "recipients": [world.users[self.person].json()], "last_message_id": None}
        base |= {"name": self.name, "guild_id": str(GUILD), "position": 0, "permission_overwrites": []}
        if self.type == THREAD:
            return base | {
                "parent_id": str(self.parent),
                "owner_id": str(BOT),
                "message_count": len(self.messages),
                "member_count": 2,
                "rate_limit_per_user": 0,
                "thread_metadata": {
                    "archived": False,
                    "auto_archive_duration": 1440,
                    "archive_timestamp": iso(self.id),
                    "locked": self.locked,
                },
            }
        return base | {"parent_id": None, "topic": None, "nsfw": False, "rate_limit_per_user": 0}


@dataclass
class Interaction:
    """One press or one filled form; `answers` are the callbacks Discord took."""

    id: int
    token: str
    user: int
    channel: int
    began_at: float
    expired: bool = False
    worn_out: bool = False
    answers: list[dict[str, Any]] = field(default_factory=list)
    answered_after_s: float | None = None


class World:
    """Everything, by id.

    `now` is its clock, in seconds since 1970: real time, or that of a test.
    """

    def __init__(self) -> None:
        self.now: Callable[[], float] = time.time
        self.users: dict[int, User] = {BOT: User(BOT, "sayso", bot=True)}
        self.channels: dict[int, Channel] = {}
        self.interactions: dict[str, Interaction] = {}
        self.ephemeral: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.content_intent = True
        #: Posts by (author, nonce), which Discord remembers for some minutes.
        self.nonces: dict[str, int] = {}
        #: Threads of which the gateway has told nothing.
        self.untold: set[int] = set()
        self.permissions = PERMISSIONS

    def snowflake(self) -> int:
        """Return an id as Discord makes them: growing, with its time in it."""
        milliseconds = int(self.now() * 1000) - EPOCH_MS
        return (milliseconds << 22) | (next(_numbers) & 0x3FFFFF)

    def user(self, name: str, *, bot: bool = False) -> User:
        """Return the person of that name; they join when first named."""
        for user in self.users.values():
            if user.name == name:
                return user
        user = User(self.snowflake(), name, bot)
        self.users[user.id] = user
        return user

    def channel(self, name: str, **more: Any) -> Channel:
        """Return the channel of that name; it is made when first named."""
        for channel in self.channels.values():
            if channel.name == name:
                return channel
        channel = Channel(id=self.snowflake(), name=name, **more)
        self.channels[channel.id] = channel
        return channel

    def direct(self, name: str) -> Channel:
        """Return the direct conversation of a person with the bot."""
        return self.channel(f"@{name}", type=DM, person=self.user(name).id)

    def member(self, user: User) -> dict[str, Any]:
        return {
            "roles": [str(BOT_ROLE)] if user.id == BOT else [],
            "joined_at": "2024-01-01T00:00:00+00:00",
            "deaf": False,
            "mute": False,
            "flags": 0,
            "permissions": self.permissions,
        }

    def message(self, channel: Channel, author: User, content: str, **more: Any) -> dict[str, Any]:
        """Write a message and return it as Discord keeps it."""
        number = self.snowflake()
        mentioned = [
            user for user in self.users.values() if f"<@{user.id}>" in content or f"<@!{user.id}>" in content
        ]
        data: dict[str, Any] = {
            "id": str(number),
            "channel_id": str(channel.id),
            "author": author.json(),
            "content": content.strip(),
            "timestamp": iso(number),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [user.json() for user in mentioned],
            "mention_roles": [str(BOT_ROLE)] if f"<@&{BOT_ROLE}>" in content else [],
            "attachments": [],
            "embeds": [],
            "components": [],
            "pinned": False,
            "type": 0,
            "flags": 0,
        } | more
        channel.messages[number] = data
        return data

    def seen_by_bot(self, data: dict[str, Any], channel: Channel) -> dict[str, Any]:
        """Return a message as the bot gets it: without its words where an intent is missing."""
        if self.content_intent or channel.type == DM or int(data["author"]["id"]) == BOT:
            return data
        if any(int(user["id"]) == BOT for user in data["mentions"]):
            return data
        return data | {"content": "", "embeds": [], "attachments": [], "components": []}

    def guild(self) -> dict[str, Any]:
        channels = [one for one in self.channels.values() if one.type == TEXT_CHANNEL]
        threads = [one for one in self.channels.values() if one.type == THREAD and one.id not in self.untold]
        role = {"color": 0, "colors": {"primary_color": 0}, "hoist": False, "mentionable": False, "flags": 0}
        return {
            "id": str(GUILD),
            "name": "Fleet",
            "owner_id": "1",
            "unavailable": False,
            "member_count": len(self.users),
            "large": False,
            "joined_at": "2024-01-01T00:00:00+00:00",
            "roles": [
                {
                    "id": str(GUILD),
                    "name": "@everyone",
                    "position": 0,
                    "permissions": self.permissions,
                    "managed": False,
                }
                | role,
                {
                    "id": str(BOT_ROLE),
                    "name": "sayso",
                    "position": 1,
                    "permissions": self.permissions,
                    "managed": True,
                    "tags": {"bot_id": str(BOT)},
                }
                | role,
            ],
            "members": [{"user": self.users[BOT].json()} | self.member(self.users[BOT])],
            "channels": [one.json(self) for one in channels],
            "threads": [one.json(self) for one in threads],
            "presences": [],
            "voice_states": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
            "emojis": [],
            "stickers": [],
            "features": [],
            "verification_level": 0,
            "default_message_notifications": 0,
            "explicit_content_filter": 0,
            "mfa_level": 0,
            "system_channel_id": None,
            "system_channel_flags": 0,
            "rules_channel_id": None,
            "public_updates_channel_id": None,
            "safety_alerts_channel_id": None,
            "afk_channel_id": None,
            "afk_timeout": 0,
            "application_id": None,
            "vanity_url_code": None,
            "description": None,
            "banner": None,
            "icon": None,
            "splash": None,
            "discovery_splash": None,
            "premium_tier": 0,
            "premium_progress_bar_enabled": False,
            "preferred_locale": "en-US",
            "nsfw_level": 0,
        }
