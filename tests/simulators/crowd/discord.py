"""A crowd on Discord: nothing is acknowledged but presses, and history tells what was missed."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bot.ports import PlaceRef
from tests.simulators.crowd.people import Crowd, Press, Room, secret
from tests.simulators.discord.rest import Call, Handler
from tests.simulators.discord.simulator import TOKEN, Discord, buttons, discord


class DiscordCrowd(Crowd):
    platform = "discord"

    def __init__(self, simulated: Discord) -> None:
        super().__init__()
        self.discord = simulated
        self._said: dict[str, dict[str, Any]] = {}
        simulated.rest._routes = [
            (method, pattern, self._watched(handler, is_new=method == "POST"))
            if "messages" in pattern.pattern and method != "GET"
            else (method, pattern, handler)
            for method, pattern, handler in simulated.rest._routes
        ]

    def _watched(self, handler: Handler, *, is_new: bool) -> Handler:
        async def watched(call: Call, *parts: str) -> Any:
            message = await handler(call, *parts)  # type: ignore[call-arg] # as the router calls it
            self._shown(int(message["channel_id"]), message["id"], is_new=is_new)
            return message

        return watched

    def open_room(self, name: str) -> None:
        channel = self.discord.world.direct(name)
        self._add(Room(name, (self.discord.world.user(name), channel)), channel.id)

    def adapter(self, folder: Path) -> str:
        return (
            f'[adapters.discord]\napi_url = "{self.discord.api_url}"\n'
            f'gateway_url = "{self.discord.gateway_url}"\n'
            f'token_file = "{secret(folder, "discord", TOKEN)}"\n'
        )

    def account(self, room: Room) -> str:
        return f"discord::{room.where[0].id}"

    def place(self, room: Room) -> PlaceRef:
        return PlaceRef(platform="discord", channel=str(room.where[1].id))

    async def say(self, room: Room, text: str) -> str:
        user, channel = room.where
        message = await self.discord.say(user, channel, text)
        event = f"m:{channel.id}:{message['id']}"
        self._said[event] = message
        return event

    async def chat(self, text: str) -> str:
        channel = self.discord.world.channel("ops")
        message = await self.discord.say(self.discord.world.user("passer-by"), channel, text)
        return f"m:{channel.id}:{message['id']}"

    async def again(self, room: Room, event: str) -> None:
        await self.discord.announce("MESSAGE_CREATE", self._said[event], room.where[1])

    async def press(self, room: Room, message: str, label: str) -> Press:
        user, channel = room.where
        card = channel.messages[int(message)]
        custom_id = next(one["custom_id"] for one in buttons(card) if one["label"] == label)
        heard = self.is_connected()
        pressed = await self.discord.press(user, channel, card, custom_id)
        return Press(f"c:{pressed.id}" if heard else "", lambda: bool(pressed.answers))

    def text(self, room: Room, message: str) -> str:
        return self.discord.text(room.where[1].messages[int(message)])

    def labels(self, room: Room, message: str) -> Sequence[str]:
        return [one["label"] for one in buttons(room.where[1].messages[int(message)])]

    def nonces(self, room: Room) -> Sequence[str]:
        messages = room.where[1].messages.values()
        return [str(one["nonce"]) for one in messages if one.get("nonce")]

    def is_connected(self) -> bool:
        return any(one.socket is not None and not one.socket.closed for one in self.discord.gateway.sessions)

    def acknowledgements(self) -> Iterable[float]:
        pressed = self.discord.world.interactions.values()
        return [one.answered_after_s for one in pressed if one.answered_after_s is not None]

    def faults(self) -> Sequence[Callable[[], Any]]:
        gateway = self.discord.gateway
        return (
            self.closed_4000,
            gateway.ask_to_reconnect,
            self.ended,
            self.unsure,
            gateway.abort_all,
            self.forgot,
        )

    async def closed_4000(self) -> None:
        await self.discord.gateway.close_all(4000)

    async def ended(self) -> None:
        """Op 9, not to be resumed."""
        await self.discord.gateway.invalidate(resumable=False)

    async def unsure(self) -> None:
        """Op 9, to be resumed."""
        await self.discord.gateway.invalidate(resumable=True)

    def forgot(self) -> None:
        """Break the connection and forget its session."""
        self.discord.gateway.sessions.clear()
        self.discord.gateway.abort_all()


@contextlib.asynccontextmanager
async def opened() -> AsyncIterator[DiscordCrowd]:
    async with discord() as simulated:
        simulated.world.channel("ops")
        simulated.rest.keeps_nonces = True
        yield DiscordCrowd(simulated)
