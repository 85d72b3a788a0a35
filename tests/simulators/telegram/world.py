"""People, chats and messages as Telegram keeps them, and the updates that a bot has not confirmed."""

import asyncio
import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.simulators.telegram.limits import Json, found, units

BOT_ID, BOT_NAME = 4200, "sayso_test_bot"
#: Telegram's own accounts, as which groups and channels speak.
GROUP_ANONYMOUS_BOT = 1087968824


@dataclass
class Person:
    id: int
    name: str
    is_bot: bool = False

    @property
    def username(self) -> str:
        return f"{self.name}_tg"

    def json(self) -> Json:
        return {"id": self.id, "is_bot": self.is_bot, "first_name": self.name, "username": self.username}


@dataclass
class Post:
    """A message: its JSON, and what only Telegram knows."""

    json: Json
    file: bytes | None = None
    edits: int = 0
    alert_for: str = ""

    @property
    def id(self) -> int:
        return int(self.json["message_id"])

    def shown(self) -> Json:
        """Return the message as bots get it: of markup only inline keyboards come back."""
        doc = dict(self.json)
        if "force_reply" in doc.get("reply_markup", {}):
            del doc["reply_markup"]
        return doc

    def buttons(self) -> list[Json]:
        rows = self.json.get("reply_markup", {}).get("inline_keyboard", [])
        return [button for row in rows for button in row]


@dataclass
class Chat:
    id: int
    type: str
    title: str = ""
    is_forum: bool = False
    posts: dict[int, Post] = field(default_factory=dict)
    next_id: int = 100
    topics: set[int] = field(default_factory=set)
    moved_to: int = 0
    kicked: bool = False

    def json(self) -> Json:
        doc: Json = {"id": self.id, "type": self.type}
        if self.title:
            doc["title"] = self.title
        if self.is_forum:
            doc["is_forum"] = True
        return doc

    def new_id(self) -> int:
        self.next_id += 1
        return self.next_id


@dataclass
class Queued:
    json: Json
    at: float


class World:
    """The state. `privacy` hides from the bot what it would not get in a group."""

    def __init__(self) -> None:
        self.people: dict[str, Person] = {}
        self.chats: dict[int, Chat] = {}
        self.privacy = False
        self.queue: list[Queued] = []
        self.next_update = 1000
        self.allowed: list[str] | None = None
        self.confirmed = 0
        #: Seconds from the update to its confirmation, by update.
        self.confirmed_after: dict[int, float] = {}
        self.pressed_at: dict[str, float] = {}
        #: What each press was answered with, and after how many seconds.
        self.answers: dict[str, tuple[str, float]] = {}
        self.expired: set[str] = set()
        self.pressers: dict[str, tuple[int, str]] = {}
        self.pings: list[str] = []
        #: Set at the next change; take it before looking.
        self.news = asyncio.Event()

    # ------------------------------------------------------------ waiting

    def change(self) -> None:
        self.news.set()
        self.news = asyncio.Event()

    async def until(self, fact: Callable[[], bool], *, seconds: float = 30) -> None:
        async with asyncio.timeout(seconds):
            while not fact():
                await self.news.wait()

    # ------------------------------------------------------------ who and where

    def person(self, name: str, *, is_bot: bool = False) -> Person:
        if name not in self.people:
            self.people[name] = Person(7000 + len(self.people), name, is_bot)
        return self.people[name]

    def private(self, name: str) -> Chat:
        person = self.person(name)
        return self.chats.setdefault(person.id, Chat(person.id, "private"))

    def group(self, number: int, *, kind: str = "group", is_forum: bool = False) -> Chat:
        return self.chats.setdefault(number, Chat(number, kind, f"group {number}", is_forum))

    def topic(self, chat: Chat) -> int:
        """Open a topic; its id is the id of the message that says so."""
        number = chat.new_id()
        chat.topics.add(number)
        created = {"name": "ops", "icon_color": 0x6FB9F0}
        chat.posts[number] = Post(
            {**self._message(chat, number, self.person("ana")), "forum_topic_created": created}
        )
        return number

    def migrate(self, chat: Chat, number: int, *, tell: bool = True) -> Chat:
        """Make a supergroup of a group: its id changes, its messages stay behind."""
        new = self.group(number, kind="supergroup")
        new.next_id, chat.moved_to = 1, number
        if tell:
            ana = self.person("ana")
            self.push("message", {**self._message(chat, chat.new_id(), ana), "migrate_to_chat_id": number})
            self.push("message", {**self._message(new, new.new_id(), ana), "migrate_from_chat_id": chat.id})
        return new

    # ------------------------------------------------------------ what people do

    def say(
        self,
        chat: Chat,
        by: Person,
        text: str,
        *,
        entities: Sequence[Json] | None = None,
        reply_to: int = 0,
        topic: int = 0,
        **more: Any,
    ) -> int:
        number = chat.new_id()
        doc = {**self._message(chat, number, by), "text": text, **more}
        doc["entities"] = list(found(text) if entities is None else entities)
        if topic:
            doc |= {"message_thread_id": topic, "is_topic_message": True}
            doc.setdefault("reply_to_message", chat.posts[topic].json)
        if reply_to:
            answered = chat.posts[reply_to].shown()
            answered.pop("reply_to_message", None)
            doc["reply_to_message"] = answered
        chat.posts[number] = Post(doc)
        if self._reaches_the_bot(chat, doc):
            self.push("message", doc)
        return number

    def edit(self, chat: Chat, number: int, text: str) -> None:
        post = chat.posts[number]
        post.json |= {"text": text, "entities": found(text), "edit_date": int(time.time()) + post.edits}
        post.edits += 1
        self.push("edited_message", dict(post.json))

    def press(self, chat: Chat, number: int, by: Person, data: str, *, inaccessible: bool = False) -> str:
        query = f"q{self.next_update}"
        message: Json = {**chat.posts[number].json, "chat": chat.json()} if number in chat.posts else {}
        if inaccessible or not message:
            message = {"chat": chat.json(), "message_id": number, "date": 0}
        self.pressed_at[query] = time.monotonic()
        self.pressers[query] = (chat.id, by.name)
        doc = {"id": query, "from": by.json(), "message": message, "chat_instance": "1", "data": data}
        self.push("callback_query", doc)
        return query

    def _message(self, chat: Chat, number: int, by: Person) -> Json:
        author = by.json()
        return {"message_id": number, "from": author, "chat": chat.json(), "date": int(time.time())}

    def _reaches_the_bot(self, chat: Chat, doc: Json) -> bool:
        if chat.type == "private" or not self.privacy:
            return True
        reply = doc.get("reply_to_message", {}).get("from", {}).get("id")
        return reply == BOT_ID or any(one["type"] == "bot_command" for one in doc["entities"])

    # ------------------------------------------------------------ updates

    def push(self, kind: str, doc: Json) -> int:
        """Queue an update, unless the bot does not want its kind; return its number."""
        self.next_update += 1
        if self.allowed is None or kind in self.allowed:
            update = {"update_id": self.next_update, kind: copy.deepcopy(doc)}
            self.queue.append(Queued(update, time.monotonic()))
        self.change()
        return self.next_update

    def again(self, kind: str, doc: Json) -> int:
        """Queue what was queued before once more, as after a lost offset."""
        return self.push(kind, doc)

    def confirm(self, offset: int) -> None:
        """Forget every update before `offset`."""
        for queued in [one for one in self.queue if one.json["update_id"] < offset]:
            self.queue.remove(queued)
            self.confirmed_after[queued.json["update_id"]] = time.monotonic() - queued.at
        self.confirmed = max(self.confirmed, offset - 1)
        self.change()

    def note_pings(self, text: str, entities: Sequence[Json]) -> None:
        """Remember who is told of a text: whoever it mentions, as far as the server looks at entities."""
        wide = text.encode("utf-16-le")
        for one in found(text, entities):
            if one["type"] == "mention":
                self.pings.append(wide[2 * one["offset"] :][: 2 * one["length"]].decode("utf-16-le"))
        for one in entities:
            if one["type"] in ("text_mention", "mention") or "tg://user" in one.get("url", ""):
                self.pings.append(one["type"])
        assert units(text) > 0
