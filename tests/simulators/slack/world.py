"""A Slack workspace in memory: people, channels, what was said, and the faults that are to happen."""

import asyncio
import itertools
import json
import re
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

TEAM, APP, BOT_USER, BOT = "T1", "A1", "UBOT", "BBOT"
BOT_TOKEN, APP_TOKEN = "xoxb-test", "xapp-test"
SCOPES = (
    "app_mentions:read,channels:history,chat:write,files:write,groups:history,"
    "im:history,mpim:history,users:read"
)
#: 2026-03-01 12:00 UTC, in microseconds; where the tests' clock stands still.
NOON = 1_772_366_400_000_000


@dataclass(kw_only=True)
class Fault:
    """What goes wrong with the next call of a method.

    `kind`: "error" (Slack's word in `name`), "limit" (429), "status", "reset_before" and "reset_after" (the
    connection breaks before or after the call took effect), "slow" (until `until` is set), "junk" (no JSON).
    """

    kind: str
    name: str = ""
    status: int = 200
    retry_after: str = "1"
    until: asyncio.Event = field(default_factory=asyncio.Event)
    reached: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(kw_only=True)
class Channel:
    id: str
    kind: str = "channel"
    members: set[str] = field(default_factory=set)
    archived: bool = False
    messages: dict[str, Json] = field(default_factory=dict)
    ephemeral: list[Json] = field(default_factory=list)


class World:
    """The state of a workspace. Everything is what Slack would show, in Slack's shapes."""

    def __init__(self) -> None:
        self.people = {"U_ANA": "ana", "U_BO": "bo", "U_KIM": "kim"}
        self.channels: dict[str, Channel] = {}
        self.bot_token, self.app_token, self.scopes = BOT_TOKEN, APP_TOKEN, SCOPES
        self.token_error = ""
        self.faults: dict[str, deque[Fault]] = defaultdict(deque)
        self.calls: list[tuple[str, Json]] = []
        self.files: dict[str, Json] = {}
        self.views: dict[str, Json] = {}
        self.triggers: dict[str, str] = {}
        self.pings: list[str] = []
        self.refused: list[tuple[str, str, str]] = []
        self._clock = itertools.count(NOON, 1_000)
        self._ids = itertools.count(1)
        self._news = asyncio.Event()
        self.add_channel("C_OPS", members={"U_ANA", "U_BO", "U_KIM", BOT_USER})
        for name in ("ANA", "BO", "KIM"):
            self.add_channel(f"D_{name}", kind="im", members={f"U_{name}", BOT_USER})

    def add_channel(self, name: str, *, kind: str = "channel", members: set[str]) -> Channel:
        self.channels[name] = Channel(id=name, kind=kind, members=members)
        return self.channels[name]

    def fail(self, method: str, fault: Fault) -> Fault:
        """Let the next call of `method` that has no fault yet go wrong."""
        self.faults[method].append(fault)
        return fault

    def ts(self) -> str:
        now = next(self._clock)
        return f"{now // 1_000_000}.{now % 1_000_000:06d}"

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{next(self._ids)}"

    def called(self, method: str) -> list[Json]:
        return [payload for name, payload in self.calls if name == method]

    def tell(self) -> None:
        """Wake up whoever waits for something to happen."""
        self._news.set()

    async def until(self, fact: Any, *, seconds: float = 30) -> None:
        """Wait until `fact()` is true."""
        async with asyncio.timeout(seconds):
            while not fact():
                self._news.clear()
                await self._news.wait()

    # ------------------------------------------------------------ what is said

    def keep(self, channel: str, message: Json) -> Json:
        kept = self.channels[channel].messages
        kept[message["ts"]] = message
        root = kept.get(message.get("thread_ts", ""))
        if root is not None and root is not message:
            root["thread_ts"] = root["ts"]
            root["reply_count"] = root.get("reply_count", 0) + 1
            message["parent_user_id"] = root.get("user")
        self.tell()
        return message

    def listing(self, channel: str, *, thread: str, oldest: str, metadata: bool) -> list[Json]:
        """Return what history or replies would list: newest first, or oldest first in a thread."""
        kept = self.channels[channel].messages.values()
        if thread:
            chosen = [one for one in kept if thread in {one["ts"], one.get("thread_ts")}]
            chosen.sort(key=lambda one: one["ts"])
            chosen = [one for one in chosen if one["ts"] > oldest or one["ts"] == thread]
        else:
            chosen = [one for one in kept if one.get("thread_ts", one["ts"]) == one["ts"]]
            chosen.sort(key=lambda one: one["ts"], reverse=True)
            chosen = [one for one in chosen if one["ts"] > oldest]
        hidden = set() if metadata else {"metadata"}
        return [{key: value for key, value in one.items() if key not in hidden} for one in chosen]


# ---------------------------------------------------------------- what a person types


_PIECE = re.compile(r"```(?P<pre>.*?)```|`(?P<code>[^`]+)`|(?P<us>@sayso)|(?P<url>https?://\S+)", re.DOTALL)


def typed(text: str) -> Json:
    """Return `text` and `blocks` as Slack's own clients send what was typed."""
    return {
        "text": escape(text).replace("@sayso", f"<@{BOT_USER}>"),
        "blocks": [{"type": "rich_text", "block_id": "x", "elements": _parts(text)}],
    }


def _parts(text: str) -> list[Json]:
    parts: list[Json] = []
    lines: list[str] = []

    def close() -> None:
        if lines:
            parts.extend(_sections("\n".join(lines)))
            lines.clear()

    quoted: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.startswith("> "):
            close()
            quoted.append(line[2:])
            continue
        if quoted:
            parts.append({"type": "rich_text_quote", "elements": _inline("\n".join(quoted))})
            quoted.clear()
        lines.append(line)
    lines.pop()
    close()
    return parts


def _sections(text: str) -> list[Json]:
    made, done = [], 0
    for match in re.finditer(r"```\n?(.*?)\n?```", text, re.DOTALL):
        if before := text[done : match.start()].strip("\n"):
            made.append({"type": "rich_text_section", "elements": _inline(before)})
        made.append({"type": "rich_text_preformatted", "elements": [{"type": "text", "text": match[1]}]})
        done = match.end()
    if rest := text[done:].strip("\n"):
        made.append({"type": "rich_text_section", "elements": _inline(rest)})
    return made


def _inline(text: str) -> list[Json]:
    made, done = [], 0
    for match in _PIECE.finditer(text):
        if before := text[done : match.start()]:
            made.append({"type": "text", "text": before})
        if match["us"]:
            made.append({"type": "user", "user_id": BOT_USER})
        elif match["url"]:
            made.append({"type": "link", "url": match["url"]})
        else:
            made.append({"type": "text", "text": match["code"] or match["pre"], "style": {"code": True}})
        done = match.end()
    if rest := text[done:]:
        made.append({"type": "text", "text": rest})
    return made


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# ---------------------------------------------------------------- what a person reads


def shown(message: Json, *, indent: str = "") -> str:
    """Return what a message shows, without its buttons; preformatted lines are indented by `indent`."""
    blocks = message.get("blocks") or []
    if not blocks:
        return message.get("text", "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    parts = [part for block in blocks if block["type"] == "rich_text" for part in block["elements"]]
    lines = []
    for part in parts:
        text = "".join(one.get("text", "") for one in part["elements"])
        if part["type"] == "rich_text_preformatted":
            text = "\n".join(indent + line for line in text.split("\n"))
        lines.append(text)
    return "\n".join(lines)


def buttons(message: Json) -> list[Json]:
    """Return the buttons of a message, in order."""
    rows = [one for one in message.get("blocks") or () if one["type"] == "actions"]
    return [element for row in rows for element in row["elements"]]


def decoded(value: Any) -> Any:
    """Return a form field that may hold JSON."""
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        return json.loads(value)
    return value
