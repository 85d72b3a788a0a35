"""The Slack simulator: a server on loopback that the real client library talks to, and what people do there.

Start it with `async with running() as slack`. People say, edit, press and fill in; what they read is in
`world`. Faults are set with `slack.world.fail` and on `slack.sockets`.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

from tests.simulators.slack.api import Api
from tests.simulators.slack.sockets import Delivery, Sockets
from tests.simulators.slack.world import BOT_USER, TEAM, Json, World, buttons, typed

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


class Slack:
    """A workspace with its servers."""

    def __init__(self) -> None:
        self.world = World()
        self.sockets = Sockets(self.world)
        self.api = Api(self)
        self.address = ""
        self.echoes = True  # our own messages come back as events
        self.pressed = 0

    @property
    def api_url(self) -> str:
        return f"{self.address}/api/"

    # ------------------------------------------------------------ what people do

    async def say(
        self,
        text: str,
        *,
        by: str = "U_ANA",
        channel: str = "D_ANA",
        thread: str = "",
        ts: str = "",
        events: tuple[str, ...] = ("message",),
        **more: Any,
    ) -> str:
        """Say something; returns once it was handed to a socket. `more` overrides fields of the message."""
        message = self.message(text, by=by, thread=thread, ts=ts, **more)
        self.world.keep(channel, message)
        kind = "im" if self.world.channels[channel].kind == "im" else "channel"
        for name in events:
            event = {**message, "type": name, "channel": channel, "event_ts": message["ts"]}
            if name == "message":
                event["channel_type"] = kind
            await self.sockets.event(event, key=message["ts"])
        return message["ts"]

    def message(self, text: str, *, by: str, thread: str = "", ts: str = "", **more: Any) -> Json:
        message: Json = {
            "type": "message",
            "user": by,
            "team": TEAM,
            "client_msg_id": self.world.new_id("m"),
            "ts": ts or self.world.ts(),
            **typed(text),
        }
        if thread:
            message["thread_ts"] = thread
        message |= more
        return {key: value for key, value in message.items() if value is not None}

    async def edit(self, ts: str, text: str, *, by: str = "U_ANA", channel: str = "D_ANA") -> str:
        """Change what was said; return the key of the event."""
        message = self.world.channels[channel].messages[ts]
        before = dict(message)
        message |= {**typed(text), "edited": {"user": by, "ts": self.world.ts()}}
        return await self.changed(channel, message, before)

    async def changed(self, channel: str, message: Json, before: Json) -> str:
        event = {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "channel": channel,
            "channel_type": self.world.channels[channel].kind,
            "ts": self.world.ts(),
            "message": message,
            "previous_message": before,
        }
        if self.echoes or message.get("user") != BOT_USER:
            await self.sockets.event(event, key=event["ts"])
        return event["ts"]

    async def delete(self, ts: str, *, channel: str = "D_ANA") -> str:
        message = self.world.channels[channel].messages.pop(ts)
        event = {
            "type": "message",
            "subtype": "message_deleted",
            "channel": channel,
            "ts": self.world.ts(),
            "deleted_ts": ts,
            "previous_message": message,
        }
        await self.sockets.event(event, key=event["ts"])
        return event["ts"]

    async def echo(self, channel: str, message: Json) -> None:
        """Let a message of ours come back as an event, as Slack does."""
        if self.echoes:
            event = {**message, "channel": channel, "event_ts": message["ts"]}
            await self.sockets.event(event, key=f"echo:{message['ts']}")

    async def press(
        self,
        ts: str,
        *,
        token: str = "",
        label: str = "",
        by: str = "U_ANA",
        channel: str = "D_ANA",
        message: Json | None = None,
        trigger: str = "fresh",
        value: str | None = None,
    ) -> Delivery | None:
        """Press a button of a message, by its token or label, as it is now or as `message` has it."""
        card = message or self.find(channel, ts)
        chosen = next(
            one
            for one in buttons(card)
            if (token and one["value"] == f"s1:{token}") or (label and one["text"]["text"] == label)
        )
        self.pressed += 1
        name = self.world.new_id("trigger")
        if trigger != "unknown":
            self.world.triggers[name] = by if trigger == "fresh" else trigger
        container = {"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": "to" in card}
        if card.get("thread_ts"):
            container["thread_ts"] = card["thread_ts"]
        body = {
            "type": "block_actions",
            "user": {"id": by, "name": self.world.people.get(by, by), "team_id": TEAM},
            "team": {"id": TEAM, "domain": "home"},
            "api_app_id": "A1",
            "container": container,
            "channel": {"id": channel, "name": "ops"},
            "message": {key: value for key, value in card.items() if key != "to"},
            "trigger_id": name,
            "response_url": f"{self.address}/respond",
            "actions": [
                {
                    "type": "button",
                    "block_id": "buttons",
                    "action_id": chosen["action_id"],
                    "text": chosen["text"],
                    "value": chosen["value"] if value is None else value,
                    "action_ts": self.world.ts(),
                }
            ],
        }
        return await self.sockets.send("interactive", body, key=f"press:{self.pressed}")

    def find(self, channel: str, ts: str) -> Json:
        kept = self.world.channels[channel]
        return kept.messages.get(ts) or next(one for one in kept.ephemeral if one["ts"] == ts)

    async def fill(self, text: str | None, *, by: str = "U_ANA") -> Delivery:
        """Send the form that is open for a person; it stays open where the answer says so."""
        view = self.world.views[by]
        block = view["blocks"][0]
        values = {block["block_id"]: {block["element"]["action_id"]: {"type": "text", "value": text}}}
        body = {
            "type": "view_submission",
            "team": {"id": TEAM, "domain": "home"},
            "user": {"id": by, "name": self.world.people[by], "team_id": TEAM},
            "api_app_id": "A1",
            "trigger_id": self.world.new_id("trigger"),
            "view": {**view, "state": {"values": values}},
        }
        key = f"form:{self.world.new_id('s')}"
        await self.sockets.send("interactive", body, key=key)
        done = await self.sockets.acked(key)
        if not done.answer:
            self.world.views.pop(by, None)
        return done


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[Slack]:
    """A simulator that serves."""
    for name in _PROXIES:
        os.environ.pop(name, None)
        os.environ.pop(name.lower(), None)
    slack = Slack()
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/api/{method}", slack.api.answer)
    app.router.add_post("/upload/{file}", slack.api.upload)
    app.router.add_get("/link", slack.sockets.answer)
    runner = web.AppRunner(app, handle_signals=False, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    slack.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    slack.sockets.address = slack.address
    try:
        yield slack
    finally:
        for faults in slack.world.faults.values():
            for fault in faults:
                fault.until.set()
        await slack.sockets.close()
        await runner.cleanup()
        await asyncio.sleep(0)
