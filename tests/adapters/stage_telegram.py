"""Telegram on stage: the real client library, a simulated Bot API, and people who use their clients."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from adapters.telegram.editing import Pacing
from adapters.telegram.polling import Patience
from adapters.telegram.port import TelegramPort
from adapters.telegram.settings import Settings
from bot.clock import SystemClock
from bot.ports import Account, PlaceRef
from tests.adapters.console_fakes import FakeCore, StillClock, listening
from tests.adapters.stage import OnScreen
from tests.simulators.telegram.server import TOKEN, Server, serving
from tests.simulators.telegram.world import BOT_NAME, Chat, Post

QUICK = Patience(retry_s=0.02, first_s=0.01, most_s=0.05, slow_s=0.05, look_s=0.05)
PREFIX = "s1:"


def new_port(server: Server, **more: Any) -> TelegramPort:
    """Return a port that talks to `server`; faults are waited for less long than in earnest."""
    more = {"token": TOKEN, "clock": StillClock(), "patience": QUICK, **more}
    return TelegramPort(Settings(api_url=server.url), **more)


def port_at(address: str, _folder: Path) -> TelegramPort:
    """Return a port that talks to the server at `address`, which another process may hold."""
    # As the simulated messages' dates.
    return TelegramPort(Settings(api_url=address), token=TOKEN, clock=SystemClock(), patience=QUICK)


@contextlib.contextmanager
def no_proxy() -> Any:
    """The machine's proxy is for the world, not for loopback."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.lower().endswith("_proxy"):
                patch.delenv(name)
        yield


def text_of(post: Post) -> str:
    """Return a message as a client shows it: blocks indented, a file by its name and what is in it."""
    if post.file is not None:
        return f"{post.json['document']['file_name']}\n{post.file.decode('utf-8', 'replace')}"
    wide = post.json["text"].encode("utf-16-le")
    shown, at = "", 0
    for entity in sorted(post.json.get("entities", []), key=lambda one: one["offset"]):
        if entity["type"] == "pre":
            start, end = 2 * entity["offset"], 2 * (entity["offset"] + entity["length"])
            inside = wide[start:end].decode("utf-16-le")
            shown += wide[at:start].decode("utf-16-le") + "\n".join(
                f"  {line}" for line in inside.split("\n")
            )
            at = end
    return shown + wide[at:].decode("utf-16-le")


def can_read(chat: Chat, name: str) -> list[Post]:
    """Return what the bot shows to a person in a chat, oldest first."""
    ours = [
        post
        for post in chat.posts.values()
        if post.alert_for or post.json["from"].get("username") == BOT_NAME
    ]
    return [post for post in ours if post.alert_for in ("", name)]


class TelegramStage:
    def __init__(self, server: Server, port: TelegramPort) -> None:
        self.server, self.world, self.port = server, server.world, port
        self.chat = self.world.private("ana")
        self.person = self.world.person("ana")
        self.place = PlaceRef(platform="telegram", channel=str(self.chat.id))
        self.account = Account(platform="telegram", user=str(self.person.id))
        self._updates: dict[str, int] = {}
        self._said: dict[str, int] = {}
        self._presses: dict[str, str] = {}

    async def say(self, text: str, event: str) -> None:
        if event in self._said:
            message = self.chat.posts[self._said[event]].json
            self._updates[event] = self.world.again("message", message)
            return
        self._said[event] = self.world.say(self.chat, self.person, text)
        self._updates[event] = self.world.next_update

    async def press(self, token: str, event: str) -> None:
        data = f"{PREFIX}{token}"
        (post,) = [
            one for one in self.chat.posts.values() if data in [b["callback_data"] for b in one.buttons()]
        ]
        self._presses[event] = self.world.press(self.chat, post.id, self.person, data)
        self._updates[event] = self.world.next_update

    async def acknowledged(self, event: str) -> None:
        await self.world.until(lambda: self.was_acknowledged(event))

    def was_acknowledged(self, event: str) -> bool:
        if event in self._presses:
            return self._presses[event] in self.world.answers
        return event in self._updates and self.world.confirmed >= self._updates[event]

    async def reads(self, text: str) -> str:
        await self.world.until(lambda: text in self.screen())
        return self.screen()

    def screen(self) -> str:
        shown = ""
        for post in can_read(self.chat, "ana"):
            labels = " ".join(f"[{button['text']}]" for button in post.buttons())
            shown += f"{text_of(post)}\n{labels}\n" if labels else f"{text_of(post)}\n"
        return shown

    def tokens(self) -> tuple[str, ...]:
        return tuple(
            button["callback_data"].removeprefix(PREFIX)
            for post in can_read(self.chat, "ana")
            for button in post.buttons()
        )


@contextlib.asynccontextmanager
async def stage(core: FakeCore, folder: Path) -> AsyncIterator[TelegramStage]:
    with no_proxy():
        async with serving() as server, started(new_port(server), core) as port:
            yield TelegramStage(server, port)


@contextlib.asynccontextmanager
async def started(port: TelegramPort, core: FakeCore) -> AsyncIterator[TelegramPort]:
    """Let a port listen."""
    running = asyncio.create_task(port.listen(core.sink))
    try:
        await listening(port)
        yield port
    finally:
        await port.close()
        await asyncio.wait_for(running, 30)


@contextlib.asynccontextmanager
async def talking(core: FakeCore, **more: Any) -> AsyncIterator[tuple[Server, TelegramPort]]:
    """A bot's API, and a port that listens to it."""
    with no_proxy():
        async with serving() as server, started(new_port(server, **more), core) as port:
            yield server, port


class TelegramSurface:
    """Places are groups in which people name the bot, as clients do who pick it from the list.

    "dm-NAME" is the private chat of somebody.
    """

    def __init__(self, server: Server) -> None:
        self.server, self.world = server, server.world
        self.address = server.url
        self.restart()
        self._places: dict[str, Chat] = {}
        self._read: dict[tuple[str, int], list[dict[str, Any]]] = {}

    def restart(self) -> None:
        # As the simulated messages' dates; words for one person are theirs however long the core takes.
        self.port = new_port(self.server, clock=SystemClock(), hold_s=30.0)

    def chat(self, name: str) -> Chat:
        if name.startswith("dm-"):
            return self.world.private(name.removeprefix("dm-"))
        if name not in self._places:
            self._places[name] = self.world.group(-(500 + len(self._places)))
        return self._places[name]

    def account(self, name: str) -> Account:
        person = self.world.person(name)
        return Account(platform="telegram", user=str(person.id), display=person.name)

    def place(self, name: str) -> PlaceRef:
        return PlaceRef(platform="telegram", channel=str(self.chat(name).id))

    async def say(
        self,
        text: str,
        *,
        by: str = "ana",
        place: str = "ops",
        reply_to: str = "",
        forwarded: bool = False,
        is_bot: bool = False,
        addressed: bool = True,
    ) -> str:
        more: dict[str, Any] = {}
        person = self.world.person(by)
        if is_bot:
            person = self.world.person(f"{by}_robot", is_bot=True)
        if forwarded:
            more["forward_origin"] = {"type": "hidden_user", "date": 1, "sender_user_name": "somebody"}
        is_named = addressed and not reply_to and not place.startswith("dm-")
        said = f"@{BOT_NAME} {text}" if is_named else text
        number = self.world.say(self.chat(place), person, said, reply_to=int(reply_to or 0), **more)
        return str(number)

    async def edit(self, message: str, text: str, *, by: str = "ana", place: str = "ops") -> None:
        self.world.edit(self.chat(place), int(message), f"@{BOT_NAME} {text}")

    async def press(self, message: str, label: str, *, by: str = "ana", place: str = "ops") -> None:
        chat, number = self.chat(place), int(message)
        buttons = self._read.get((by, number)) or chat.posts[number].buttons()
        (data,) = [button["callback_data"] for button in buttons if button["text"] == label]
        self.world.press(chat, number, self.world.person(by), data)

    async def fill(self, text: str, *, by: str = "ana", place: str = "ops") -> None:
        chat = self.chat(place)
        asking = [p for p in can_read(chat, by) if "force_reply" in p.json.get("reply_markup", {})]
        self.world.say(chat, self.world.person(by), text, reply_to=asking[-1].id)

    def screen(self, *, by: str = "ana", place: str = "ops") -> Sequence[OnScreen]:
        shown = []
        for post in can_read(self.chat(place), by):
            if post.buttons() or (by, post.id) not in self._read:
                # A phone that is slow still shows the buttons that it showed last.
                self._read[by, post.id] = post.buttons()
            labels = tuple(button["text"] for button in post.buttons())
            shown.append(
                OnScreen(
                    id=str(post.id),
                    text=text_of(post),
                    labels=labels,
                    edits=post.edits,
                    private=post.alert_for,
                    files=() if post.file is None else ((post.json["document"]["file_name"], post.file),),
                )
            )
        return shown


@contextlib.contextmanager
def no_pace() -> Iterator[None]:
    """Let nothing wait for how many edits Telegram likes; test_telegram_editing.py looks at those waits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pacing, "wait_s", lambda *_, **__: 0.0)
        yield


@contextlib.asynccontextmanager
async def surface(folder: Path) -> AsyncIterator[TelegramSurface]:
    with no_proxy(), no_pace():
        async with serving() as server:
            yield TelegramSurface(server)
