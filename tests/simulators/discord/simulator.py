"""Discord on loopback: the real client library talks to it; people use it through the methods here."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web

from tests.simulators.discord.gateway import Gateway
from tests.simulators.discord.reading import read
from tests.simulators.discord.rest import Rest
from tests.simulators.discord.world import (
    APPLICATION,
    BOT,
    DM,
    GUILD,
    THREAD,
    Channel,
    Interaction,
    User,
    World,
    iso,
)

TOKEN = "MTE0NzM4ODg4OTk5OTk5OTk5.GabcDE.abcdefghijklmnopqrstuvwxyz0123456789AB"


class Discord:
    """The whole of it."""

    def __init__(self) -> None:
        self.world = World()
        self.gateway = Gateway(self.world, TOKEN)
        self.rest = Rest(self.world, self.gateway, TOKEN)
        self.api_url = ""
        self.gateway_url = ""

    async def until(self, fact: Callable[[], bool]) -> None:
        """Wait until something is so; only what the bot does can make it so."""
        async with asyncio.timeout(30):
            while not fact():
                waits = [
                    asyncio.create_task(self.rest.news.wait()),
                    asyncio.create_task(self.gateway.news.wait()),
                ]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                for one in waits:
                    one.cancel()

    # ------------------------------------------------------------ what people do

    async def say(self, user: User, channel: Channel, content: str, **more: Any) -> dict[str, Any]:
        """Write a message."""
        message = self.world.message(channel, user, content, **more)
        await self.announce("MESSAGE_CREATE", message, channel)
        return message

    async def reply(self, user: User, channel: Channel, to: str, content: str, **more: Any) -> dict[str, Any]:
        """Write an answer to a message, without pinging whom it answers."""
        return await self.say(
            user,
            channel,
            content,
            type=19,
            message_reference={"type": 0, "message_id": to, "channel_id": str(channel.id)},
            referenced_message=channel.messages.get(int(to)),
            **more,
        )

    async def forward(self, user: User, channel: Channel, content: str) -> dict[str, Any]:
        """Forward somebody's message."""
        snapshot = {
            "content": content,
            "timestamp": iso(self.world.snowflake()),
            "edited_timestamp": None,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "components": [],
            "flags": 0,
            "type": 0,
        }
        return await self.say(
            user,
            channel,
            "",
            message_reference={
                "type": 1,
                "message_id": str(self.world.snowflake()),
                "channel_id": str(channel.id),
            },
            message_snapshots=[{"message": snapshot}],
        )

    async def edit(self, channel: Channel, message_id: str, content: str | None) -> None:
        """Change a message; None only unfolds a link in it."""
        message = channel.messages[int(message_id)]
        if content is not None:
            message["content"] = content
            message["edited_timestamp"] = iso(self.world.snowflake())
        await self.announce("MESSAGE_UPDATE", message, channel)

    async def announce(self, event: str, message: dict[str, Any], channel: Channel) -> None:
        """Tell the bot of a message."""
        data = dict(self.world.seen_by_bot(message, channel))
        if channel.type != DM:
            data["guild_id"] = str(GUILD)
            author = self.world.users.get(int(message["author"]["id"]))
            if author is not None and "webhook_id" not in message:
                data["member"] = self.world.member(author)
        await self.gateway.dispatch(event, data)

    async def press(
        self,
        user: User,
        channel: Channel,
        message: dict[str, Any],
        custom_id: str,
        *,
        again: Interaction | None = None,
    ) -> Interaction:
        """Press a button; `again` delivers an earlier press once more."""
        inner = {"custom_id": custom_id, "component_type": 2}
        return await self._interact(user, channel, 3, inner, message, again=again)

    async def submit(
        self, user: User, channel: Channel, custom_id: str, value: str, *, old_shape: bool = False
    ) -> Interaction:
        """Fill in and send a form."""
        field = {"type": 4, "custom_id": "answer", "value": value, "id": 2}
        part = {"type": 1, "components": [field]} if old_shape else {"type": 18, "id": 1, "component": field}
        return await self._interact(user, channel, 5, {"custom_id": custom_id, "components": [part]}, None)

    async def _interact(
        self,
        user: User,
        channel: Channel,
        kind: int,
        inner: dict[str, Any],
        message: dict[str, Any] | None,
        *,
        again: Interaction | None = None,
    ) -> Interaction:
        number = self.world.snowflake()
        new = Interaction(number, f"token-{number}", user.id, channel.id, asyncio.get_running_loop().time())
        interaction = again or new
        self.world.interactions[interaction.token] = interaction
        data: dict[str, Any] = {
            "id": str(interaction.id),
            "application_id": str(APPLICATION),
            "type": kind,
            "data": inner,
            "token": interaction.token,
            "version": 1,
            "channel_id": str(channel.id),
            "channel": channel.json(self.world),
            "attachment_size_limit": 10 * 1024 * 1024,
            "entitlements": [],
            "authorizing_integration_owners": {"0": str(GUILD)},
            "context": 0,
            "locale": "en-US",
        }
        if message is not None:
            data["message"] = {key: value for key, value in message.items() if key not in {"edits", "for"}}
        if channel.type == DM:
            data |= {"user": user.json(), "context": 1}
        else:
            data |= {"guild_id": str(GUILD), "member": {"user": user.json()} | self.world.member(user)}
        await self.gateway.dispatch("INTERACTION_CREATE", data)
        return interaction

    async def start_thread(self, parent: Channel, name: str, *, told: bool = True) -> Channel:
        """Make a thread; the bot hears of it unless the gateway is silent on that."""
        thread = self.world.channel(name, type=THREAD, parent=parent.id)
        if told:
            await self.gateway.dispatch("THREAD_CREATE", thread.json(self.world))
        else:
            self.world.untold.add(thread.id)
        return thread

    # ------------------------------------------------------------ what people see

    def visible(self, channel: Channel, user: User) -> list[dict[str, Any]]:
        """Return the bot's messages that a person sees in a channel, oldest first."""
        everybody = [one for one in channel.messages.values() if int(one["author"]["id"]) == BOT]
        private = [
            one
            for one in self.world.ephemeral
            if one["for"] == user.id and one["channel_id"] == str(channel.id)
        ]
        return sorted([*everybody, *private], key=lambda one: int(one["id"]))

    def text(self, message: dict[str, Any]) -> str:
        """Return a message as it is read, files below it."""
        lines = [read(message["content"])]
        for one in message["attachments"]:
            content = self.world.files[one["id"]].decode("utf-8", "replace")
            lines.append(f"{one['filename']}\n{content}")
        return "\n".join(lines)


def buttons(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the buttons of a message in their order."""
    return [button for row in message["components"] for button in row["components"]]


@contextlib.asynccontextmanager
async def discord() -> AsyncIterator[Discord]:
    """Run it on a free port of loopback; no proxy of the environment stands between."""
    simulated = Discord()
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_get("/gateway/", simulated.gateway.connect)
    app.router.add_route("*", "/api/v10/{path:.*}", simulated.rest.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    simulated.api_url = f"http://127.0.0.1:{port}/api/v10"
    simulated.gateway_url = simulated.gateway.url = f"ws://127.0.0.1:{port}/gateway/"
    try:
        with pytest.MonkeyPatch.context() as patched:
            for name in ("http_proxy", "https_proxy", "all_proxy"):
                patched.delenv(name, raising=False)
                patched.delenv(name.upper(), raising=False)
            yield simulated
    finally:
        await simulated.gateway.close_all(1000)
        await runner.cleanup()
