"""State: how the connection to Slack is, in words that say what to do. Changes nothing; reads no clock."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from adapters.slack.web import PERMANENT
from bot.ports import Health

#: What the bot token must be allowed, and for what.
SCOPES = {
    "app_mentions:read": "hear that it is mentioned",
    "channels:history": "hear what is said in public channels",
    "chat:write": "answer",
    "files:write": "attach long output",
    "groups:history": "hear what is said in private channels",
    "im:history": "hear direct messages",
    "mpim:history": "hear group messages",
    "users:read": "know names",
}
#: Without this one everything works, with ids for names.
_OPTIONAL = frozenset({"users:read"})


@dataclass(slots=True)
class State:
    """What is known of the connection.

    Attributes:
        crowd: connections of this app beyond ours, as often as seen in a row (count, times).
        problem: the newest failure, with what to do; "" when there is none.
        unread: places that could not be caught up.
    """

    open: bool = False
    closed: bool = False
    who: str = ""
    scopes: frozenset[str] = frozenset()
    connections: int = 0
    others: int = 0
    seen_others: int = 0
    reconnects: int = 0
    last_event: datetime | None = None
    problem: str = ""
    refused: str = ""
    unread: int = 0
    late: int = 0
    facts: dict[str, str] = field(default_factory=dict)

    def missing(self) -> list[str]:
        """Return the scopes that are needed and not there."""
        return sorted(set(SCOPES) - self.scopes - _OPTIONAL) if self.who else []

    def health(self) -> Health:
        """Return how it is, and what to do where it is not well."""
        detail = self._detail()
        return Health(ok=self.open and not detail, detail=detail or self.who, facts=tuple(self._facts()))

    def _detail(self) -> str:
        if self.closed:
            return "The Slack adapter is closed. Start sayso serve."
        if self.refused:
            return f"Slack refused: {self.refused}. {PERMANENT.get(self.refused, '')}".strip()
        if not self.open:
            why = f": {self.problem}" if self.problem else ""
            return f"Not connected to Slack{why}. It tries again by itself."
        return self._half_well()

    def _half_well(self) -> str:
        if lacking := self.missing():
            wants = ", ".join(f"{scope} ({SCOPES[scope]})" for scope in lacking)
            return (
                f"The app lacks scopes: {wants}. Paste the manifest again (sayso slack manifest), reinstall."
            )
        if self.seen_others > 1:
            return (
                f"Another process uses this app: {self.others} connections beside ours, and Slack gives each"
                " event to only one. Stop the other one."
            )
        if self.unread:
            return f"{self.unread} places could not be read after an absence. It tries again by itself."
        return ""

    def _facts(self) -> Iterable[tuple[str, str]]:
        yield "who", self.who or "unknown"
        yield "scopes", ", ".join(sorted(self.scopes)) or "unknown"
        yield "connections", f"{self.connections}, ours {self.connections - self.others}"
        yield "reconnects", str(self.reconnects)
        yield (
            "last event",
            "none yet" if self.last_event is None else self.last_event.isoformat("T", "seconds"),
        )
        yield "late acknowledgements", str(self.late)
        yield from self.facts.items()
