"""A crowd on Telegram: every update is kept until it is confirmed, presses too, however late."""

import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bot.ports import PlaceRef
from tests.simulators.crowd.people import Crowd, Press, Room, secret
from tests.simulators.telegram.faults import gateway, nonsense, refused, reset
from tests.simulators.telegram.server import TOKEN, Server, serving

#: A bot that reads asks again within this time, once it got something.
BETWEEN_POLLS_S = 0.5


class TelegramCrowd(Crowd):
    platform = "telegram"
    keeps_presses = True

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.server, self.world = server, server.world
        self.shared = self.world.group(-500)
        self._polled_at = -1.0
        poll = server._getUpdates

        async def polled(params: dict[str, Any]) -> Any:
            self._polled_at = time.monotonic()
            return await poll(params)

        server._getUpdates = polled  # type: ignore[method-assign] # looked up by name
        for method in ("sendMessage", "editMessageText", "editMessageReplyMarkup"):
            setattr(
                server, f"_{method}", self._watched(getattr(server, f"_{method}"), method == "sendMessage")
            )

    def _watched(self, handler: Callable[[Any], Any], is_new: bool) -> Callable[[Any], Any]:  # noqa: FBT001
        async def watched(params: dict[str, Any]) -> Any:
            message = await handler(params)
            self._shown(message["chat"]["id"], message["message_id"], is_new=is_new)
            return message

        return watched

    def open_room(self, name: str) -> None:
        chat = self.world.private(name)
        self._add(Room(name, (self.world.person(name), chat)), chat.id)

    def adapter(self, folder: Path) -> str:
        return (
            f'[adapters.telegram]\napi_url = "{self.server.url}"\n'
            f'token_file = "{secret(folder, "telegram", TOKEN)}"\n'
        )

    def account(self, room: Room) -> str:
        return f"telegram::{room.where[0].id}"

    def place(self, room: Room) -> PlaceRef:
        return PlaceRef(platform="telegram", channel=str(room.where[1].id))

    async def say(self, room: Room, text: str) -> str:
        person, chat = room.where
        return f"m:{chat.id}:{self.world.say(chat, person, text)}"

    async def chat(self, text: str) -> str:
        number = self.world.say(self.shared, self.world.person("passer_by"), text)
        return f"m:{self.shared.id}:{number}"

    async def again(self, room: Room, event: str) -> None:
        self.world.again("message", room.where[1].posts[int(event.rpartition(":")[2])].json)

    async def press(self, room: Room, message: str, label: str) -> Press:
        person, chat = room.where
        post = chat.posts[int(message)]
        data = next(one["callback_data"] for one in post.buttons() if one["text"] == label)
        query = self.world.press(chat, post.id, person, data)
        return Press(f"c:{query}", lambda: query in self.world.answers)

    def text(self, room: Room, message: str) -> str:
        return str(room.where[1].posts[int(message)].json["text"])

    def labels(self, room: Room, message: str) -> Sequence[str]:
        return [one["text"] for one in room.where[1].posts[int(message)].buttons()]

    def is_connected(self) -> bool:
        return self.server._polling is not None or time.monotonic() - self._polled_at < BETWEEN_POLLS_S

    def acknowledgements(self) -> Iterable[float]:
        return [seconds for _words, seconds in self.world.answers.values()]

    def faults(self) -> Sequence[Callable[[], Any]]:
        return (self.bad_gateway, self.made_no_sense, self.broke_before, self.broke_after, self.conflict)

    def bad_gateway(self) -> None:
        self.server.fail("getUpdates", gateway())

    def made_no_sense(self) -> None:
        self.server.fail("getUpdates", nonsense())

    def broke_before(self) -> None:
        self.server.fail("getUpdates", reset(performed=False))

    def broke_after(self) -> None:
        self.server.fail("getUpdates", reset(performed=True))

    def conflict(self) -> None:
        self.server.fail("getUpdates", refused(409, "Conflict: terminated by other getUpdates request"))


@contextlib.asynccontextmanager
async def opened() -> AsyncIterator[TelegramCrowd]:
    async with serving() as server:
        yield TelegramCrowd(server)
