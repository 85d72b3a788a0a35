"""Discord on stage: the real client library against the simulator, and people who use it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from adapters.discord.connection import Pace
from adapters.discord.port import DiscordPort
from adapters.discord.render import token_of_button
from adapters.discord.settings import Settings
from bot.ports import Account, PlaceRef
from tests.adapters.console_fakes import FakeCore, StillClock, listening
from tests.adapters.stage import OnScreen
from tests.simulators.discord.simulator import TOKEN, Discord, buttons, discord
from tests.simulators.discord.world import BOT, DM, GUILD, THREAD, Channel, Interaction, User

#: As in earnest, except that nothing waits for Discord's own pace, and the core may take its time.
QUICK = Pace(ack_s=30.0, identify_pause_s=0.0, retry_s=0.01, slow_s=0.05)


class NoBookmarks:
    """Nobody ever spoke."""

    def __init__(self, *known: tuple[PlaceRef, str]) -> None:
        self.known = known

    def newest(self, platform: str) -> Sequence[tuple[PlaceRef, str]]:
        return self.known


def port_on(
    simulated: Discord, *, bookmarks: NoBookmarks | None = None, pace: Pace = QUICK, **more: Any
) -> DiscordPort:
    """Return a port for the simulator, not listening yet."""
    settings = Settings(api_url=simulated.api_url, gateway_url=simulated.gateway_url, **more)
    return DiscordPort(
        settings, token=TOKEN, clock=StillClock(), bookmarks=bookmarks or NoBookmarks(), host="box", pace=pace
    )


def port_at(address: str, _folder: Path) -> DiscordPort:
    """Return a port for the simulator at `address`, which another process may hold."""
    api_url, gateway_url = address.split()
    settings = Settings(api_url=api_url, gateway_url=gateway_url)
    return DiscordPort(
        settings, token=TOKEN, clock=StillClock(), bookmarks=NoBookmarks(), host="box", pace=QUICK
    )


def place_of(channel: Channel) -> PlaceRef:
    """Return a channel of the simulator as the core knows it."""
    if channel.type == DM:
        return PlaceRef(platform="discord", channel=str(channel.id))
    if channel.type == THREAD:
        return PlaceRef(
            platform="discord", tenant=str(GUILD), channel=str(channel.parent), thread=str(channel.id)
        )
    return PlaceRef(platform="discord", tenant=str(GUILD), channel=str(channel.id))


def account_of(user: User) -> Account:
    """Return a person of the simulator as the core knows them."""
    return Account(platform="discord", user=str(user.id), display=user.name.title(), is_bot=user.bot)


class DiscordStage:
    """One person in one channel. Discord takes no acknowledgement of messages: taken means stored."""

    def __init__(self, simulated: Discord, port: DiscordPort) -> None:
        self.discord = simulated
        self.port = port
        self.user = simulated.world.user("ana")
        self.channel = simulated.world.direct("ana")
        self.place = place_of(self.channel)
        self.account = account_of(self.user)
        self.said: dict[str, dict[str, Any]] = {}
        self.pressed: dict[str, Interaction] = {}

    async def say(self, text: str, event: str) -> None:
        if event in self.said:
            await self.discord.announce("MESSAGE_CREATE", self.said[event], self.channel)
        else:
            self.said[event] = await self.discord.say(self.user, self.channel, text)

    async def press(self, token: str, event: str) -> None:
        for message in self.discord.visible(self.channel, self.user):
            for button in buttons(message):
                if token_of_button(button["custom_id"]) == token:
                    self.pressed[event] = await self.discord.press(
                        self.user, self.channel, message, button["custom_id"]
                    )
                    return
        raise AssertionError(f"nothing to press: {token}")

    async def acknowledged(self, event: str) -> None:
        if event in self.pressed:
            await self.discord.until(lambda: self.was_acknowledged(event))
            return
        async with asyncio.timeout(30):
            while not self.was_acknowledged(event):  # noqa: ASYNC110  # what is stored tells nobody
                await asyncio.sleep(0.001)

    def was_acknowledged(self, event: str) -> bool:
        if event in self.pressed:
            return bool(self.pressed[event].answers)
        return self.port.taken(f"m:{self.channel.id}:{self.said[event]['id']}")

    async def reads(self, text: str) -> str:
        await self.discord.until(lambda: text in self.screen())
        return self.screen()

    def screen(self) -> str:
        lines: list[str] = []
        for message in self.discord.visible(self.channel, self.user):
            lines += [self.discord.text(message), *(f"[{button['label']}]" for button in buttons(message))]
        return "\n".join(lines)

    def tokens(self) -> tuple[str, ...]:
        return tuple(
            token_of_button(button["custom_id"]) or ""
            for message in self.discord.visible(self.channel, self.user)
            for button in buttons(message)
        )


@contextlib.asynccontextmanager
async def playing(port: DiscordPort, core: FakeCore) -> AsyncIterator[None]:
    """Let a port listen; end as a daemon would."""
    running = asyncio.create_task(port.listen(core.sink))
    try:
        await listening(port)
        yield
    finally:
        await port.close()
        await asyncio.wait_for(running, 30)


@contextlib.asynccontextmanager
async def stage(core: FakeCore, folder: Path) -> AsyncIterator[DiscordStage]:
    async with discord() as simulated:
        port = port_on(simulated)
        async with playing(port, core):
            yield DiscordStage(simulated, port)


class DiscordSurface:
    """People and places by short names: channels of one server, and "dm-NAME" for direct ones."""

    def __init__(self, simulated: Discord) -> None:
        self.discord = simulated
        self.address = f"{simulated.api_url} {simulated.gateway_url}"
        self.port = port_on(simulated)
        # What each person read last, with its buttons as they were then.
        self._read: dict[tuple[str, str], dict[str, dict[str, str]]] = {}

    def restart(self) -> None:
        self.port = port_on(self.discord)

    def account(self, name: str) -> Account:
        return account_of(self.discord.world.user(name))

    def place(self, name: str) -> PlaceRef:
        return place_of(self._channel(name))

    def _channel(self, name: str) -> Channel:
        if name.startswith("dm-"):
            return self.discord.world.direct(name.removeprefix("dm-"))
        return self.discord.world.channel(name)

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
        user = self.discord.world.user(f"{by}-robot" if is_bot else by, bot=is_bot)
        channel = self._channel(place)
        if forwarded:
            return str((await self.discord.forward(user, channel, text))["id"])
        words = f"<@{BOT}> {text}" if addressed and channel.type != DM else text
        if reply_to:
            return str((await self.discord.reply(user, channel, reply_to, words))["id"])
        return str((await self.discord.say(user, channel, words))["id"])

    async def edit(self, message: str, text: str, *, by: str = "ana", place: str = "ops") -> None:
        channel = self._channel(place)
        assert channel.messages[int(message)]["author"]["id"] == str(self.discord.world.user(by).id)
        mention = "" if channel.type == DM else f"<@{BOT}> "
        await self.discord.edit(channel, message, mention + text)

    async def press(self, message: str, label: str, *, by: str = "ana", place: str = "ops") -> None:
        user, channel = self.discord.world.user(by), self._channel(place)
        if message not in self._read.get((by, place), {}):
            self.screen(by=by, place=place)
        custom_id = self._read[by, place][message][label]
        shown = next(one for one in self.discord.visible(channel, user) if one["id"] == message)
        await self.discord.press(user, channel, shown, custom_id)

    async def fill(self, text: str, *, by: str = "ana", place: str = "ops") -> None:
        user, channel = self.discord.world.user(by), self._channel(place)
        # A form may still be on its way; where none comes, the newest message is answered.
        await self.discord.until(lambda: not self._unanswered(user, channel))
        if not self._forms(user, channel):
            newest = self.screen(by=by, place=place)[-1].id
            await self.say(text, by=by, place=place, reply_to=newest, addressed=False)
            return
        opened, form = self._forms(user, channel)[-1]
        opened.answers[0]["filled"] = True
        await self.discord.submit(user, channel, form, text)

    def _unanswered(self, user: User, channel: Channel) -> bool:
        pressed = self.discord.world.interactions.values()
        return any(not one.answers for one in pressed if (one.user, one.channel) == (user.id, channel.id))

    def _forms(self, user: User, channel: Channel) -> list[tuple[Interaction, str]]:
        return [
            (one, one.answers[0]["data"]["custom_id"])
            for one in self.discord.world.interactions.values()
            if (one.user, one.channel) == (user.id, channel.id)
            and one.answers
            and one.answers[0]["type"] == 9
            and "filled" not in one.answers[0]
        ]

    def screen(self, *, by: str = "ana", place: str = "ops") -> Sequence[OnScreen]:
        user = self.discord.world.user(by)
        shown = self.discord.visible(self._channel(place), user)
        read = self._read.setdefault((by, place), {})
        for one in shown:
            pressable = {button["label"]: button["custom_id"] for button in buttons(one)}
            if pressable or one["id"] not in read:
                read[one["id"]] = pressable
        return [
            OnScreen(
                id=one["id"],
                text=self.discord.text(one),
                labels=tuple(button["label"] for button in buttons(one)),
                edits=one.get("edits", 0),
                private=by if "for" in one else "",
                files=tuple(
                    (file["filename"], self.discord.world.files[file["id"]]) for file in one["attachments"]
                ),
            )
            for one in shown
        ]


@contextlib.asynccontextmanager
async def surface(folder: Path) -> AsyncIterator[DiscordSurface]:
    async with discord() as simulated:
        yield DiscordSurface(simulated)
