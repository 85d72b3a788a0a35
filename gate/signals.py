"""Signals: what machines report, as values, and what is new about them (N40, C7).

Owns the normal form that every source is brought to, which report is news, and how far a signal may go at
most. Pure: no format of any sender stands here, and no text of a signal is ever read as words of a person.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gate.autonomy import Level, at_least

#: The most signals that one delivery holds, and the most labels of a signal.
MAX_SIGNALS, MAX_LABELS = 2000, 64
#: The most characters of a label's name, of its value, and of an annotation.
MAX_NAME, MAX_VALUE, MAX_TEXT = 64, 256, 1000
#: The label that says what the alert is called.
ALERTNAME = "alertname"
#: The source of what a person asked to be told about; no sender can have this name.
WATCH = "watch"


class SignalStatus(StrEnum):
    """Whether what is reported is so now. Stored, so a value never changes meaning."""

    FIRING = "firing"
    RESOLVED = "resolved"


class News(StrEnum):
    """What a report changes. Stored, so a value never changes meaning."""

    FIRED = "fired"
    RESOLVED = "resolved"
    REPEAT = "repeat"  # it is so already
    STALE = "stale"  # it speaks of something that is over, or was never heard of


class SignalError(ValueError):
    """That is no signal. The message names the field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One report.

    Attributes:
        source: the name of the sender in the config, or "watch".
        fingerprint: names what is reported, the same for as long as it is about the same thing.
        labels: what it is about, by name; annotations: text for people. Both are the sender's words.
        starts_at: since when it is so, aware UTC.
        severity: as the sender calls it; "" where it does not.
        group: what the sender counts it to; signals of one source and group share a card.
    """

    source: str
    fingerprint: str
    status: SignalStatus
    starts_at: datetime
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    severity: str = ""
    group: str = ""

    @property
    def name(self) -> str:
        """What it is called: its alertname, else a label that names it, else its fingerprint."""
        return self.labels.get(ALERTNAME) or self.labels.get("name") or self.fingerprint

    @property
    def says(self) -> str:
        """What it says to people: the first of summary, description and message; "" for nothing."""
        found = (self.annotations.get(name, "") for name in ("summary", "description", "message"))
        return next((text for text in found if text.strip()), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a fingerprint already."""

    status: SignalStatus
    starts_at: datetime


def news(signal: Signal, known: Known | None) -> News:
    """Return what `signal` changes: a report that was heard of, or that is older, changes nothing."""
    fires = signal.status is SignalStatus.FIRING
    if known is None:
        return News.FIRED if fires else News.STALE
    if signal.starts_at < known.starts_at:
        return News.STALE
    if fires:
        if signal.starts_at > known.starts_at:
            return News.FIRED
        # What ended does not begin anew at the time at which it began.
        return News.REPEAT if known.status is SignalStatus.FIRING else News.STALE
    return News.RESOLVED if known.status is SignalStatus.FIRING else News.REPEAT


# ---------------------------------------------------------------- how far it may go


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far sayso goes about a signal, and what bounds it; "" where nothing but the dial does."""

    level: Level
    because: str = ""


def reach(
    dial: Level,
    *,
    source: str,
    storm: bool = False,
    late: bool = False,
    spent: bool = False,
    sure: bool = True,
) -> Reach:
    """Return how far a signal may go.

    Args:
        dial: what the settings permit, its ceiling included.
        storm: so many came at once that nothing is done about one of them.
        late: it waited so long to be read that it may be over.
        spent: as much was done about signals lately as may be.
        sure: it is certain what it is about; otherwise a person is asked at most, and never acted (D14).
    """
    if source == WATCH and not at_least(dial, Level.ADVISE):
        dial = Level.ADVISE  # who asked to be told is told: the dial governs what nobody asked for (C7)
    bounds = (
        (storm, Level.ADVISE, "there are too many at once"),
        (late, Level.ADVISE, "it was read too late to act on"),
        (spent, Level.ADVISE, "signals.acts_per_hour is used up"),
        (not sure, Level.ASK, "it is not certain what it is about"),
    )
    for applies, most, why in bounds:
        if applies and not at_least(most, dial):
            return Reach(level=most, because=why)
    return Reach(level=dial)


# ---------------------------------------------------------------- as text


def pack(signals: Sequence[Signal]) -> str:
    """Return `signals` as JSON, for the inbox."""
    return json.dumps([_doc(one) for one in signals], ensure_ascii=True, sort_keys=True)


def unpack(text: str) -> tuple[Signal, ...]:
    """Return what `pack` wrote."""
    return tuple(
        Signal(
            source=doc["source"],
            fingerprint=doc["fingerprint"],
            status=SignalStatus(doc["status"]),
            starts_at=datetime.fromisoformat(doc["starts_at"]),
            labels=doc["labels"],
            annotations=doc["annotations"],
            severity=doc["severity"],
            group=doc["group"],
        )
        for doc in json.loads(text)
    )


def _doc(one: Signal) -> dict[str, object]:
    return {
        "source": one.source,
        "fingerprint": one.fingerprint,
        "status": one.status.value,
        "starts_at": one.starts_at.isoformat(),
        "labels": dict(one.labels),
        "annotations": dict(one.annotations),
        "severity": one.severity,
        "group": one.group,
    }


def texts(value: object, *, field_name: str, most: int) -> dict[str, str]:
    """Return a JSON object of a sender as words by name, each cut to what is kept of it.

    Raises:
        SignalError: it is no object, or holds more than MAX_LABELS.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SignalError(f"{field_name} is no object")
    if len(value) > MAX_LABELS:
        raise SignalError(f"{field_name} holds {len(value)} entries; the most is {MAX_LABELS}")
    return {cut(name, MAX_NAME): cut(one, most) for name, one in value.items()}


def cut(value: object, most: int) -> str:
    """Return a JSON value as text of at most `most` characters, its end marked where it was cut."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair is no text
    return text if len(text) <= most else f"{text[: most - 1]}…"
