"""How the adapter is, for `sayso status` and doctor: kept here, written by the others, read by `health`.

It tells what to do in words; it never holds a token or what somebody said.
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime

from adapters.discord.client import Gateway
from adapters.discord.faults import LOGIN_REFUSED
from adapters.discord.sdk import discord
from adapters.discord.setup import PERMISSIONS
from bot.ports import Health

_SECOND = (
    "Another process uses this Discord token{here}: it answered or wrote here. Stop one of the two; both hear"
    " everything, and people get two answers."
)
#: How long a sign of a second process counts, and how much is kept of what happened.
SECOND_S, _KEPT = 900.0, 512

#: What to do when Discord ends a connection for good.
#: https://discord.com/developers/docs/topics/opcodes-and-status-codes
MISSING_INTENT = (
    "Discord refused the Message Content intent. Switch it on in the Developer Portal (your application >"
    " Bot > Privileged Gateway Intents > Message Content Intent), or set message_content = false in"
    " [adapters.discord]: then only direct messages, mentions and replies are understood."
)
CLOSED = {
    4004: LOGIN_REFUSED,
    4010: "Discord refused the connection: this bot needs sharding, which sayso does not do.",
    4011: "Discord refused the connection: this bot is in too many servers for one connection.",
    4012: "Discord no longer speaks this version of its gateway. Update sayso.",
    4013: "Discord does not know an intent that sayso asks for. Update sayso.",
    4014: MISSING_INTENT,
}
_HIDDEN = (
    "Discord keeps the text of messages from the bot, so it understands mentions and direct messages only."
    " Check Message Content Intent in the Developer Portal (your application > Bot)."
)
_ENDPOINT = (
    "Buttons do not reach the bot: an Interactions Endpoint URL is set. Clear it in the Developer Portal"
    " (your application > General Information)."
)
_INVITE = "Open the link of sayso discord invite-url to add it to one."
_LACKING = "On the server {} the bot lacks: {}. Open the link of sayso discord invite-url again."


def _may(member: "discord.Member", bit: int) -> bool:
    return bool(member.guild_permissions.value & bit)


@dataclass(slots=True)
class Status:
    """What is known now.

    Attributes:
        closed: the port was closed, or does not listen yet.
        connected: a gateway session is open and ready.
        lost_at: loop time at which the last session ended.
        trouble: why Discord does not let us in, and what to do; "" for nothing.
        hidden: messages that came without their words.
        foreign: (loop time, message id) of messages of ours that may come from another process.
        answered_elsewhere: loop time at which another process answered a press before us.
        unheard: loop times at which messages of ours were sent that have not come back over the gateway.
        endpoint: buttons go to an address that is set in the portal, and not to us.
        lacking: servers by name, with the permissions that the bot lacks there.
    """

    host: str = ""
    closed: bool = True
    connected: bool = False
    lost_at: float = 0.0
    who: str = ""
    servers: int = 0
    intents: str = ""
    trouble: str = ""
    network: str = ""
    reconnects: int = 0
    sessions: int = 0
    hidden: int = 0
    caught_up: int = 0
    unread: dict[str, str] = field(default_factory=dict)
    last_inbound_at: datetime | None = None
    answered_elsewhere: float | None = None
    unheard: dict[str, float] = field(default_factory=dict)
    endpoint: bool = False
    lacking: dict[str, str] = field(default_factory=dict)
    foreign: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=_KEPT))
    ours: dict[str, None] = field(default_factory=dict)

    def sent(self, message: str) -> None:
        """Remember that this process wrote `message`."""
        self.ours[message] = None
        while len(self.ours) > _KEPT:
            del self.ours[next(iter(self.ours))]

    def unheard_since(self) -> float | None:
        """Return since when a message of ours has not come back; None for none."""
        return min(self.unheard.values(), default=None)

    def look(self, client: Gateway) -> None:
        """Look at what the SDK knows of this login."""
        self.servers = len(client.guilds)
        application = client.application
        self.endpoint = application is not None and application.interactions_endpoint_url is not None
        self.lacking = {}
        for guild in client.guilds:
            me = None if client.user is None else guild.get_member(client.user.id)
            missing = () if me is None else [name for name, bit in PERMISSIONS.items() if not _may(me, bit)]
            if missing:
                self.lacking[guild.name] = ", ".join(missing)

    def second(self, now: float) -> bool:
        """Tell whether another process on this token showed itself lately."""
        signs = [at for at, message in self.foreign if message not in self.ours]
        if self.answered_elsewhere is not None:
            signs.append(self.answered_elsewhere)
        return any(now - at < SECOND_S for at in signs)

    def health(self, now: float) -> Health:
        """Return it for people."""
        ok, detail = self._judged(now)
        return Health(ok=ok, detail=detail, facts=self._facts())

    def _judged(self, now: float) -> tuple[bool, str]:
        why = f" ({self.network})" if self.network else ""
        first_unread = next(iter(self.unread.items()), ("", ""))
        faults = (
            (self.closed, "Discord is not connected: sayso does not listen there. Start sayso serve."),
            (bool(self.trouble), self.trouble),
            (not self.connected, f"No connection to Discord{why}. It is tried again and again."),
            (self.second(now), _SECOND.format(here=f" (this one runs on {self.host})" if self.host else "")),
            (self.hidden > 0, _HIDDEN),
            (self.endpoint, _ENDPOINT),
            (bool(self.lacking), _LACKING.format(*next(iter(self.lacking.items()), ("", "")))),
            (bool(self.unread), "Channel {} was not caught up: {}".format(*first_unread)),
        )
        here = f"connected as {self.who}" + ("" if self.servers else ", on no server yet. " + _INVITE)
        return next(((False, words) for is_so, words in faults if is_so), (True, here))

    def _facts(self) -> tuple[tuple[str, str], ...]:
        last = self.last_inbound_at
        return (
            ("account", self.who),
            ("servers", str(self.servers)),
            ("intents", self.intents),
            ("last event", "none yet" if last is None else f"{last:%Y-%m-%d %H:%M} UTC"),
            ("sessions", str(self.sessions)),
            ("reconnects", str(self.reconnects)),
            ("caught up", str(self.caught_up)),
        )
