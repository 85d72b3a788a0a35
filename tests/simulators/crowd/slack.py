"""A crowd on Slack: events come again where they were not acknowledged, presses never do."""

import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bot.ports import PlaceRef
from tests.simulators.crowd.people import Crowd, Press, Room, secret
from tests.simulators.slack.server import Slack, running
from tests.simulators.slack.world import APP_TOKEN, BOT_TOKEN, BOT_USER, TEAM, buttons, shown

#: Seconds until Slack sends an event again that was not acknowledged; 3 in earnest, and three times at most.
AGAIN_S, ATTEMPTS = 3.0, 3


def _now() -> Iterator[int]:
    last = 0
    while True:
        last = max(last + 1, time.time_ns() // 1000)
        yield last


class SlackCrowd(Crowd):
    platform = "slack"

    def __init__(self, slack: Slack) -> None:
        super().__init__()
        self.slack = slack
        self.redelivered = 0
        self._looked = 0
        slack.world._clock = _now()  # type: ignore[assignment] # the bot's clock is the real one
        post, update = slack.api.methods["chat.postMessage"], slack.api.methods["chat.update"]

        async def posted(payload: dict[str, Any]) -> dict[str, Any]:
            answer = await post(payload)
            self._shown(answer["channel"], answer["ts"], is_new=True)
            return answer

        async def updated(payload: dict[str, Any]) -> dict[str, Any]:
            answer = await update(payload)
            self._shown(answer["channel"], answer["ts"], is_new=False)
            return answer

        slack.api.methods |= {"chat.postMessage": posted, "chat.update": updated}

    def open_room(self, name: str) -> None:
        user, channel = f"U_{name.upper()}", f"D_{name.upper()}"
        self.slack.world.people[user] = name
        self.slack.world.add_channel(channel, kind="im", members={user, BOT_USER})
        self._add(Room(name, (user, channel)), channel)

    def adapter(self, folder: Path) -> str:
        return (
            f'[adapters.slack]\napi_url = "{self.slack.api_url}"\n'
            f'bot_token_file = "{secret(folder, "slack-bot", BOT_TOKEN)}"\n'
            f'app_token_file = "{secret(folder, "slack-app", APP_TOKEN)}"\n'
        )

    def account(self, room: Room) -> str:
        return f"slack:{TEAM}:{room.where[0]}"

    def place(self, room: Room) -> PlaceRef:
        return PlaceRef(platform="slack", tenant=TEAM, channel=room.where[1])

    async def say(self, room: Room, text: str) -> str:
        user, channel = room.where
        return f"m:{channel}:{await self.slack.say(text, by=user, channel=channel)}"

    async def chat(self, text: str) -> str:
        return f"m:C_OPS:{await self.slack.say(text, by='U_ANA', channel='C_OPS')}"

    async def again(self, room: Room, event: str) -> None:
        key = event.rpartition(":")[2]
        if any(one.key == key for one in reversed(self.slack.sockets.deliveries)):
            await self.slack.sockets.again(key)

    async def press(self, room: Room, message: str, label: str) -> Press:
        user, channel = room.where
        delivery = await self.slack.press(message, label=label, by=user, channel=channel)
        if delivery is None:
            return Press("", lambda: False)
        stamp = delivery.body["actions"][0]["action_ts"]
        return Press(f"c:{channel}:{stamp}:{user}:{message}", lambda: bool(delivery.acked_at))

    def text(self, room: Room, message: str) -> str:
        return shown(self.slack.find(room.where[1], message))

    def labels(self, room: Room, message: str) -> Sequence[str]:
        return [one["text"]["text"] for one in buttons(self.slack.find(room.where[1], message))]

    def nonces(self, room: Room) -> Sequence[str]:
        messages = self.slack.world.channels[room.where[1]].messages.values()
        return [json.dumps(one["metadata"]) for one in messages if one.get("metadata")]

    def is_connected(self) -> bool:
        return any(not one.ws.closed and not one.mute for one in self.slack.sockets.connections)

    def acknowledgements(self) -> Iterable[float]:
        return [one.latency_s for one in self.slack.sockets.deliveries if one.acked_at]

    def faults(self) -> Sequence[Callable[[], Any]]:
        return (self.warned, self.refreshed, self.slack.sockets.cut, self.slack.sockets.close, self.deafened)

    async def warned(self) -> None:
        await self.slack.sockets.announce("warning")

    async def refreshed(self) -> None:
        await self.slack.sockets.announce("refresh_requested")

    def deafened(self) -> None:
        """Lose acknowledgements, then the connection."""
        for one in self.slack.sockets.connections:
            one.deaf = True

    async def redeliver(self) -> None:
        now, deliveries = time.monotonic(), self.slack.sockets.deliveries
        newest: dict[str, Any] = {}
        for one in deliveries[self._looked :]:
            newest[one.key] = one
        settled = True
        for index, one in enumerate(deliveries[self._looked :], start=self._looked):
            event = "event_id" in one.body
            over = one.acked_at or not event or one.attempt >= ATTEMPTS or newest[one.key] is not one
            if settled and over:
                self._looked = index + 1
            elif not over:
                settled = False
                if now - one.sent_at > AGAIN_S:
                    self.redelivered += 1
                    await self.slack.sockets.send(
                        "events_api", one.body, key=one.key, attempt=one.attempt + 1
                    )
        deaf = [one for one in self.slack.sockets.connections if one.deaf]
        for connection in deaf:
            if any(
                one.connection == connection.id and not one.acked_at and now - one.sent_at > 1
                for one in deliveries[self._looked :]
            ):
                await connection.ws.close(code=1001)


@contextlib.asynccontextmanager
async def opened() -> AsyncIterator[SlackCrowd]:
    async with running() as slack:
        yield SlackCrowd(slack)
