"""Views of signals: what the reader of signals hands out, and the words that the record holds of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gate.domain import PlaceId
from gate.signals import Known, Signal, SignalStatus


class Held(StrEnum):
    """Why nothing is shown or done. Stored, so a value never changes meaning."""

    FLAPPING = "flapping"
    STORM = "storm"
    MAINTENANCE = "maintenance"


class How(StrEnum):
    """What was done about a match. Stored, so a value never changes meaning."""

    NOTED = "noted"
    ASKED = "asked"  # `ref` is the choice
    PROPOSED = "proposed"  # `ref` is the proposal
    RUN = "run"  # `ref` is the run of a runbook
    DENIED = "denied"  # the gate let nothing of it through


class WatchState(StrEnum):
    """What a watch saw. Stored, so a value never changes meaning."""

    CLEAR = "clear"
    RAISED = "raised"
    BLIND = "blind"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalView:
    """One fingerprint as it stands. `signal` has no labels once its words are pruned."""

    id: str
    signal: Signal
    group: str
    held: str
    at: datetime

    @property
    def known(self) -> Known:
        """What decides whether a further report is news."""
        return Known(status=self.signal.status, starts_at=self.signal.starts_at)

    @property
    def is_firing(self) -> bool:
        """Whether it is so now."""
        return self.signal.status is SignalStatus.FIRING


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalActView:
    """What was done about a match, in order.

    Attributes:
        key: names the match, so that it is acted on once in a group.
        signals: ids of those that it was about.
        matched: what was matched and how surely, in words.
        note: why no more was done, or what may be asked for; "" for nothing.
    """

    how: How
    ref: str
    key: str
    level: str
    signals: tuple[str, ...]
    matched: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """Signals that share a card."""

    id: str
    source: str
    place: PlaceId
    is_open: bool
    held: str
    until: datetime | None
    storm: str
    opened_at: datetime
    closed_at: datetime | None
    signals: tuple[SignalView, ...] = ()
    acts: tuple[SignalActView, ...] = ()

    @property
    def firing(self) -> tuple[SignalView, ...]:
        """Those that are so now."""
        return tuple(one for one in self.signals if one.is_firing)


@dataclass(frozen=True, slots=True, kw_only=True)
class StormView:
    """A storm: how many groups and signals came in it, and how many still fire.

    `names` and `sources` count the newest NAMED of its signals, the most frequent first.
    """

    id: str
    place: PlaceId
    is_over: bool
    began_at: datetime
    ended_at: datetime | None
    groups: int
    firing: int
    signals: int
    names: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchView:
    """What a watch saw last on a target."""

    job: str
    target: str
    state: WatchState
    value: str
    at: datetime
