"""Events that are remembered, and a reminder asked for beside them, for the tests of reminders."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from gate.resolve import remind
from gate.resolve.decision import Allow, Clarify, Decision
from gate.resolve.times import Times
from gate.when import Anchor, names_of, remember

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)  # Monday, 10:00 in Berlin
SYNC = Anchor(
    name="b1", at=datetime(2026, 12, 1, 14, tzinfo=BERLIN), aliases=("project sync", "meeting", "اجتماع")
)
ONE_ON_ONE = Anchor(
    name="b2", at=datetime(2026, 12, 2, 10, tzinfo=BERLIN), aliases=("1:1 with Bo", "meeting")
)
RESET = Anchor(
    name="grok_next_reset", at=datetime(2026, 12, 20, tzinfo=UTC), aliases=names_of("grok_next_reset")
)
UNDATED = Anchor(name="b4", at=None, aliases=("the audit",))


def times(*events: Anchor, **changes: Any) -> Times:
    facts: dict[str, Any] = {
        "request_at": NOW,
        "now": NOW,
        "zone": BERLIN,
        "remembered": remember(events),
    }
    return Times(**{**facts, **changes})


def asks(text: str, *events: Anchor, about: str | None = None, **slots: str) -> Decision:
    facts = times(*events)
    return resolved(text, facts, about=about, **slots)


def resolved(text: str, facts: Times, *, about: str | None = None, **slots: str) -> Decision:
    said = text.replace("remind me", "") if about is None else about
    return remind.resolve({"words": text, "about": said, **slots}, times=facts)


def labels(decision: Decision) -> list[tuple[str, str]]:
    assert isinstance(decision, Clarify)
    return [(one.id, one.label) for one in decision.options]


def allowed(decision: Decision) -> tuple[str, str]:
    assert isinstance(decision, Allow), decision
    return decision.slots["fire_at"], decision.slots["text"]


def answered(question: Decision, words: str, facts: Times) -> Decision:
    assert isinstance(question, Clarify)
    return remind.resolve({**question.slots, question.free: words}, times=facts)
