"""Watches: what is looked at, from when on somebody is told, and how often (C9, K1).

A watch only ever reads: what it would run is judged by the caller, who says what is wrong with it. Owns which
limits make sense for what is watched, and how often a look may come.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gate.domain import Reason, ReasonCode
from gate.resolve.decision import Allow, Clarify, Decision, Deny, Option, Slots

#: Seconds between two looks: the least, the most, and where nothing is said.
SOONEST_S, LATEST_S, USUAL_S = 60, 86_400, 300
#: Targets that a question has buttons for.
MOST_OPTIONS = 8


class Watched(StrEnum):
    """What is watched. Stored in words only, as part of a request."""

    DISK = "disk"
    MEMORY = "memory"
    FAILED_UNITS = "failed_units"
    SERVICE = "service"
    CERTIFICATE = "certificate"
    REACHABLE = "reachable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """From which value on it is told. `rises`: at that value or above; else at it or below."""

    usual: int
    least: int
    most: int
    unit: str
    rises: bool = True


LIMITS: Mapping[Watched, Limits] = {
    Watched.DISK: Limits(usual=90, least=1, most=100, unit="%"),
    Watched.MEMORY: Limits(usual=90, least=1, most=100, unit="%"),
    Watched.FAILED_UNITS: Limits(usual=1, least=1, most=1000, unit=""),
    Watched.SERVICE: Limits(usual=1, least=1, most=1, unit=""),
    Watched.CERTIFICATE: Limits(usual=14, least=0, most=3650, unit=" days", rises=False),
    Watched.REACHABLE: Limits(usual=1, least=1, most=1, unit=""),
}


def is_raised(watched: Watched, value: float, limit: int) -> bool:
    """Whether `value` is one that somebody wants to be told of."""
    return value >= limit if LIMITS[watched].rises else value <= limit


def resolve(slots: Slots, *, targets: Sequence[str], problem: Reason | None, now: datetime) -> Decision:
    """Resolve a watch.

    Args:
        slots: "watched", "target", "about", "limit" and "every_s" as text; "text" says all of it again.
        targets: names to offer where none was said.
        problem: what keeps it from being looked at; None where nothing does, or no target is known yet.
        now: aware UTC; the first look comes at once.
    """
    watched = Watched(slots["watched"])
    limits, limit, every_s = LIMITS[watched], int(slots["limit"]), int(slots["every_s"])
    if not limits.least <= limit <= limits.most:
        return _deny(
            slots, f"Nothing is watched: {limit}{limits.unit} is not from {limits.least} to {limits.most}."
        )
    if not SOONEST_S <= every_s <= LATEST_S:
        return _deny(slots, "Nothing is watched: a look comes every minute at most, and once a day at least.")
    if not slots.get("target"):
        if not targets:
            return _deny(slots, "Nothing is watched: no target is known. targets lists all.")
        options = tuple(
            Option(id=name, label=name, patch={"target": name}) for name in targets[:MOST_OPTIONS]
        )
        return Clarify(question="On which target?", slots=slots, options=options, free="target")
    if problem is not None:
        return Deny(reason=problem, slots=slots, because=problem.code.value)
    made = {"fire_at": now.isoformat(), "rrule": f"FREQ=MINUTELY;INTERVAL={every_s // 60}", "zone": ""}
    return Allow(slots={**slots, **made}, because=f"every {every_s} s")


def _deny(slots: Slots, text: str) -> Deny:
    return Deny(reason=Reason(code=ReasonCode.CANNOT_PLACE, text=text), slots=slots, because="limits")
