"""Status: what is known of the connection, for `sayso status`. Told, never asked of Telegram here.

It keeps facts only; what to do about a fault is part of its words.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from telegram import User

from bot.ports import Clock, Health

log = logging.getLogger(__name__)

#: How long after the last Conflict the token counts as having two users: theirs comes back within this.
CONFLICT_LASTS_S = 180.0

NOT_LISTENING = "Telegram: not listening. Start sayso serve."
CONNECTING = "Telegram: connecting."
CONFLICT = (
    "Telegram: another process reads with the same bot token, so each gets only part of what is said. Stop"
    " the other one. If you know of none, somebody else has the token: get a new one, @BotFather, /revoke."
)
WEBHOOK = (
    "Telegram: a webhook is set for this bot, so nothing can be read. If another program uses it, make a bot"
    " of its own for sayso; else delete it: open <api_url>/bot<token>/deleteWebhook once."
)
REVOKED = (
    "Telegram: the bot token is refused. It was revoked, or the bot deleted. Get the token from @BotFather"
    " (/mybots, API Token), put it in token_file and restart sayso."
)
PRIVACY_ON = (
    "on: in groups only /commands, replies to the bot and maybe mentions reach it. To let it hear the rest:"
    " @BotFather, /setprivacy, Disable; then remove it from the group and add it again"
)


@dataclass
class Status:
    """What happened so far.

    Attributes:
        now_s: monotonic seconds.
        fault: what is wrong at present, "" for nothing.
        unstored: messages that could not be stored yet.
    """

    api_url: str
    clock: Clock
    now_s: Callable[[], float]
    listening: bool = False
    me: User | None = None
    fault: str = NOT_LISTENING
    reconnects: int = 0
    conflicts: int = 0
    unreadable: int = 0
    unstored: int = 0
    heard_at: datetime | None = None
    answered_at: datetime | None = None
    _conflict_s: float | None = field(default=None)

    def failed(self, words: str) -> None:
        """Note what is wrong; it is logged once, not at each try."""
        if words != self.fault:
            log.warning("%s", words)
        self.fault = words

    def conflict(self) -> None:
        """Note that another process reads with our token."""
        self.conflicts += 1
        self._conflict_s = self.now_s()
        self.failed(CONFLICT)

    def works(self) -> None:
        """Note that Telegram answered."""
        if self.fault and self.fault not in (CONNECTING, NOT_LISTENING):
            self.reconnects += 1
            log.info("Telegram answers again")
        self.fault = ""
        self.answered_at = self.clock.now()

    def heard(self) -> None:
        """Note that something arrived."""
        self.heard_at = self.clock.now()

    def health(self) -> Health:
        """Return how it is, in words."""
        detail = self._detail()
        ok = not detail
        if ok and self.me is not None:
            detail = f"@{self.me.username}"
        return Health(ok=ok, detail=detail, facts=self._facts())

    def _detail(self) -> str:
        if not self.listening:
            return NOT_LISTENING
        if self.fault:
            return self.fault
        if self._conflict_s is not None and self.now_s() - self._conflict_s < CONFLICT_LASTS_S:
            return CONFLICT
        if self.unstored:
            return (
                f"Telegram: {self.unstored} messages could not be stored and were not acted on; Telegram"
                " keeps them for now. Free some disk space: sayso doctor."
            )
        return ""

    def _facts(self) -> tuple[tuple[str, str], ...]:
        facts = [("api", urlsplit(self.api_url).netloc)]
        if self.me is not None:
            facts += [
                ("bot", f"@{self.me.username} ({self.me.id})"),
                ("privacy mode", "off" if self.me.can_read_all_group_messages else PRIVACY_ON),
                ("may join groups", "yes" if self.me.can_join_groups else "no: @BotFather, /setjoingroups"),
            ]
        facts += [
            ("last message", _when(self.heard_at)),
            ("last answer", _when(self.answered_at)),
            ("reconnects", str(self.reconnects)),
            ("conflicts", str(self.conflicts)),
        ]
        if self.unreadable:
            facts.append(("unreadable updates", str(self.unreadable)))
        return tuple(facts)


def _when(moment: datetime | None) -> str:
    return "none yet" if moment is None else moment.isoformat(timespec="seconds")
