"""What reading a time can end in, as values. Says nothing in words: the bot writes what people see.

`Resolved` is the only end with which something may be scheduled. Whatever was not understood whole is an
`Ask`: asking is never wrong, a guessed time is.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

#: The anchors that are no event: the message's own time, and a point that needs no anchor.
REQUEST = "request_at"
ABSOLUTE = "absolute"


class Grain(Enum):
    """How exactly the words said it: "on Friday" names a day, "in 20 min" a minute."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"


class Why(Enum):
    """Why a person is asked."""

    UNKNOWN_EVENT = "unknown_event"  # before or after something that is not remembered
    WHICH_EVENT = "which_event"  # two remembered events go by that name
    EVENT_WITHOUT_DATE = "event_without_date"  # remembered, its date cannot be read
    EVENT_OR_NOW = "event_or_now"  # "about the reset in 3 days": from now, or before the reset
    NEAR_EVENT = "near_event"  # from now, and a remembered event lies close
    WHICH_READING = "which_reading"  # the words allow two times
    WHICH_TIME = "which_time"  # a day or an event without a time
    UNKNOWN_ZONE = "unknown_zone"  # a zone's name that stands for several, or for none known
    UNREAD = "unread"  # words about time that were not understood


class Reason(Enum):
    """Why a time is impossible."""

    PAST = "past"
    EVENT_PASSED = "event_passed"
    BEYOND_EVENT = "beyond_event"  # "before the audit, on Friday", and the audit is on Thursday
    NO_SUCH_TIME = "no_such_time"  # the clock jumps over it, or the calendar lacks it
    TOO_FAR = "too_far"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A remembered event.

    Attributes:
        name: the id it is remembered by, as "grok_next_reset".
        at: when it is, aware; None when its date cannot be read.
        aliases: what people call it, in any language; see `gate.when.naming.names_of`.
    """

    name: str
    at: datetime | None
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """One time, meant without doubt.

    Attributes:
        at: the instant, aware, in the zone it was said in; the first one of a recurrence.
        anchor: an anchor's name, REQUEST or ABSOLUTE.
        grain: how exactly it was said.
        rrule: the recurrence (RFC 5545, without DTSTART), "" when it happens once.
    """

    at: datetime
    anchor: str
    grain: Grain
    rrule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A person has to say which. `options` may be empty: then only they know."""

    options: tuple[Resolved, ...]
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """A time that was understood and cannot be kept.

    Attributes:
        asked_at: the time that was meant; None when no calendar has it.
        nearest: the nearest time that can be kept; None when there is none.
    """

    reason: Reason
    asked_at: datetime | None
    nearest: datetime | None


@dataclass(frozen=True, slots=True)
class NoTime:
    """The text speaks of no time at all."""


Outcome = Resolved | Ask | Impossible | NoTime
