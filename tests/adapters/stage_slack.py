"""Slack on stage: the real client library against the simulator, and people who use it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from adapters.slack import Settings
from adapters.slack.link import Pace
from adapters.slack.port import SlackPort
from bot.ports import Account, Bookmarks, Health, PlaceRef
from tests.adapters.console_fakes import FakeCore, StillClock, listening
from tests.adapters.stage import OnScreen
from tests.simulators.slack.server import Slack, running
from tests.simulators.slack.world import APP_TOKEN, BOT_TOKEN, BOT_USER, TEAM, Json, buttons, shown

#: In a hurry only where it decides by itself when to go on; who has to answer may take their time.
FAST = Pace(
    ping=10,
    look=0.02,
    ack=30,
    first=0.01,
    most=0.05,
    permanent=0.05,
    crowd=0.05,
    grace=10,
    opening=30,
    again=0.05,
)


def port_for(
    slack: Slack, folder: Path, *, bookmarks: Bookmarks | None = None, pace: Pace = FAST
) -> SlackPort:
    """Return a port that connects to the simulator, with its tokens in files."""
    return port_at(slack.api_url, folder, bookmarks=bookmarks, pace=pace)


def port_at(
    address: str, folder: Path, *, bookmarks: Bookmarks | None = None, pace: Pace = FAST
) -> SlackPort:
    """Return a port that connects to the simulator at `address`, which another process may hold."""
    files = {}
    for kind, token in (("bot", BOT_TOKEN), ("app", APP_TOKEN)):
        file = folder / f"{kind}-token"
        file.write_text(f"{token}\n")
        file.chmod(0o600)
        files[f"{kind}_token_file"] = str(file)
    settings = Settings(api_url=address, **files)
    return SlackPort(settings, clock=StillClock(), bookmarks=bookmarks, pace=pace)


@contextlib.asynccontextmanager
async def serving(port: SlackPort, core: FakeCore) -> AsyncIterator[SlackPort]:
    """Let a port listen until the block ends."""
    running_port = asyncio.create_task(port.listen(core.sink))
    try:
        await listening(port)
        yield port
    finally:
        await port.close()
        await asyncio.wait_for(running_port, 30)


@contextlib.asynccontextmanager
async def started(port: SlackPort, core: FakeCore) -> AsyncIterator[SlackPort]:
    """Let a port listen that may never be well."""
    task = asyncio.create_task(port.listen(core.sink))
    try:
        yield port
    finally:
        await port.close()
        await asyncio.wait_for(task, 30)


async def until(port: SlackPort, *, ok: bool, detail: str = "") -> Health:
    """Wait until the port says it is well, or not."""
    async with asyncio.timeout(30):
        while True:
            health = await port.health()
            if health.ok == ok and detail in health.detail:
                return health
            await asyncio.sleep(0.002)


class SlackStage:
    """One person in a direct message."""

    def __init__(self, slack: Slack, port: SlackPort) -> None:
        self.slack = slack
        self.port = port
        self.place = PlaceRef(platform="slack", tenant=TEAM, channel="D_ANA")
        self.account = Account(platform="slack", tenant=TEAM, user="U_ANA", display="ana")
        self._events: dict[str, str] = {}

    async def say(self, text: str, event: str) -> None:
        if event in self._events:
            await self.slack.sockets.again(self._events[event])
        else:
            self._events[event] = await self.slack.say(text)

    async def press(self, token: str, event: str) -> None:
        card = next(one for one in self._messages() if token in _tokens(one))
        delivery = await self.slack.press(card["ts"], token=token)
        assert delivery is not None
        self._events[event] = delivery.key

    async def acknowledged(self, event: str) -> None:
        await self.slack.sockets.acked(self._events[event])

    def was_acknowledged(self, event: str) -> bool:
        return self.slack.sockets.was_acked(self._events[event])

    async def reads(self, text: str) -> str:
        await self.slack.world.until(lambda: text in self.screen())
        return self.screen()

    def screen(self) -> str:
        return "".join(f"{_readable(one)}\n" for one in self._messages())

    def tokens(self) -> tuple[str, ...]:
        return tuple(token for one in self._messages() for token in _tokens(one))

    def _messages(self) -> list[Json]:
        channel = self.slack.world.channels["D_ANA"]
        ours = [one for one in channel.messages.values() if one.get("user") == BOT_USER]
        return sorted([*ours, *channel.ephemeral], key=lambda one: one["ts"])


def _readable(message: Json) -> str:
    labels = " ".join(f"[{one['text']['text']}]" for one in buttons(message))
    files = [f"{one['name']}:\n{one['content'].decode()}" for one in message.get("files") or ()]
    return "\n".join(filter(None, [shown(message, indent="  "), "".join(files), labels]))


def _tokens(message: Json) -> list[str]:
    return [one["value"].removeprefix("s1:") for one in buttons(message)]


@contextlib.asynccontextmanager
async def stage(core: FakeCore, folder: Path) -> AsyncIterator[SlackStage]:
    async with running() as slack, serving(port_for(slack, folder), core) as port:
        yield SlackStage(slack, port)


class SlackSurface:
    """Several people: "ops" and other names are threads of a channel, "dm-NAME" a direct message.

    Each thread hangs on a message of nobody in particular, so that only a mention speaks to the bot there.
    """

    def __init__(self, slack: Slack, folder: Path) -> None:
        self.slack = slack
        self.folder = folder
        self.address = slack.api_url
        self.port = port_for(slack, folder)
        self._roots: dict[str, str] = {}
        self._read: dict[tuple[str, str], Json] = {}

    def restart(self) -> None:
        self.port = port_for(self.slack, self.folder)

    def account(self, name: str) -> Account:
        return Account(platform="slack", tenant=TEAM, user=_user(name), display=name)

    def place(self, name: str) -> PlaceRef:
        channel, thread = self._where(name)
        return PlaceRef(platform="slack", tenant=TEAM, channel=channel, thread=thread)

    def _where(self, name: str) -> tuple[str, str]:
        if name.startswith("dm-"):
            return f"D_{name.removeprefix('dm-').upper()}", ""
        if name not in self._roots:
            root = self.slack.message(f"{name} today", by="U_NOBODY")
            self._roots[name] = self.slack.world.keep("C_OPS", root)["ts"]
        return "C_OPS", self._roots[name]

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
        channel, thread = self._where(place)
        more: Json = {}
        if forwarded:
            more["attachments"] = [{"is_share": True, "is_msg_unfurl": True, "text": text}]
        if is_bot:
            more |= {"bot_id": "B_OTHER", "app_id": "A_OTHER", "client_msg_id": None}
        self.slack.world.channels[channel].members.add(_user(by))  # who speaks is in the channel
        mention = "@sayso " if addressed and channel.startswith("C") and not forwarded else ""
        # A thread has no threads: within one, nothing but the thread says what is answered.
        ts = await self.slack.say(
            mention + text, by=_user(by), channel=channel, thread=thread or reply_to, **more
        )
        await self.slack.sockets.acked(ts)
        return ts

    async def edit(self, message: str, text: str, *, by: str = "ana", place: str = "ops") -> None:
        channel, _ = self._where(place)
        await self.slack.sockets.acked(await self.slack.edit(message, text, by=_user(by), channel=channel))

    async def press(self, message: str, label: str, *, by: str = "ana", place: str = "ops") -> None:
        channel, _ = self._where(place)
        self.slack.world.channels[channel].members.add(_user(by))  # who presses is in the channel
        card = self._read.get((channel, message)) or self.slack.find(channel, message)
        delivery = await self.slack.press(message, label=label, by=_user(by), channel=channel, message=card)
        assert delivery is not None
        await self.slack.sockets.acked(delivery.key)

    async def fill(self, text: str, *, by: str = "ana", place: str = "ops") -> None:
        del place  # a form is a person's, wherever it was opened
        await self.slack.world.until(lambda: _user(by) in self.slack.world.views)
        await self.slack.fill(text, by=_user(by))

    def screen(self, *, by: str = "ana", place: str = "ops") -> Sequence[OnScreen]:
        channel, thread = self._where(place)
        kept = self.slack.world.channels[channel]
        ours = [one for one in kept.messages.values() if one.get("user") == BOT_USER]
        private = [one for one in kept.ephemeral if one["to"] == _user(by)]
        here = [one for one in [*ours, *private] if not thread or one.get("thread_ts") == thread]
        here.sort(key=lambda one: one["ts"])
        for one in here:  # a phone that is slow still shows the buttons that it showed last
            if buttons(one) or (channel, one["ts"]) not in self._read:
                self._read[channel, one["ts"]] = dict(one)
        return [_on_screen(one, by if "to" in one else "") for one in here]


def _on_screen(message: Json, private: str) -> OnScreen:
    files = "".join(f"[{one['name']}]" for one in message.get("files") or ())
    return OnScreen(
        id=message["ts"],
        text=shown(message, indent="  ") + files,
        labels=tuple(one["text"]["text"] for one in buttons(message)),
        edits=message.get("edits", 0),
        private=private,
        files=tuple((one["name"], one["content"]) for one in message.get("files") or ()),
    )


def _user(name: str) -> str:
    return f"U_{name.upper()}"


@contextlib.asynccontextmanager
async def surface(folder: Path) -> AsyncIterator[SlackSurface]:
    async with running() as slack:
        opened = SlackSurface(slack, folder)
        try:
            yield opened
        finally:
            await opened.port.close()
