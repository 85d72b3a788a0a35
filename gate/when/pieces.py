"""The pieces of a text that say something about time, as values in the order in which they stand.

Language-neutral: the readers make them, the rules compose them. A `Trouble` is a word about time that no
reader could place; one of them is enough to ask.
"""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import Enum, auto

from gate.when.outcome import Anchor


class Way(Enum):
    """Where a lead is counted from."""

    BARE = auto()  # "5 minutes"
    FORWARD = auto()  # "in 5 minutes", "5 minutes from now"
    BACK = auto()  # "5 minutes ago"
    AFTER = auto()  # "after 5 minutes", which may go on "of the reset"
    BEFORE = auto()  # likewise in Arabic
    BY = auto()  # the Arabic "by 5 minutes", after an event


class Side(Enum):
    """On which side of an event."""

    BEFORE = auto()
    AFTER = auto()


class Half(Enum):
    """What is said about an hour beside its number."""

    NONE = auto()
    AM = auto()
    PM = auto()
    EXACT = auto()  # 24 hours, "15:00" or "03:00"


class Part(Enum):
    """A part of the day."""

    MORNING = auto()
    NOON = auto()
    AFTERNOON = auto()
    EVENING = auto()
    NIGHT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """A length: months as the calendar counts them, days by the wall clock, seconds by the world."""

    months: int = 0
    days: int = 0
    seconds: int = 0
    way: Way = Way.BARE

    @property
    def about_days(self) -> int:
        """Its size, in whole days; good enough for a limit."""
        return self.months * 31 + self.days + self.seconds // 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A time of day; hour 0 to 24."""

    hour: int
    minute: int = 0
    second: int = 0
    half: Half = Half.NONE
    fine: bool = False  # minutes were said


@dataclass(frozen=True, slots=True)
class DayPart:
    """A part of the day: "in the morning"."""

    part: Part


@dataclass(frozen=True, slots=True, kw_only=True)
class DayShift:
    """Days from today: 1 is tomorrow; with a part of that day for "tonight"."""

    days: int
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class NextWeek:
    """The week after this one: "next week"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weekday:
    """Days of the week, Monday 0; several only in a recurrence."""

    days: tuple[int, ...]
    following: bool = False  # "next Tuesday"
    many: bool = False  # "Tuesdays", "weekdays"


@dataclass(frozen=True, slots=True, kw_only=True)
class Date:
    """A date of the calendar; `year` None when it was not said."""

    year: int | None
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class MonthDay:
    """A day of a month: "the 15th"."""

    day: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A full date with its time, as in ISO 8601; `at` is aware when an offset was given."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Every:
    """A recurrence: every such length, or () for "every" alone, whose day follows."""

    lead: Lead | None


@dataclass(frozen=True, slots=True)
class Relation:
    """A side of an event: "before", "after"."""

    side: Side


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone; None when the name is not known or stands for several."""

    zone: tzinfo | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A mention of remembered events: several when they share the name."""

    anchors: tuple[Anchor, ...]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Words about time that were not understood."""

    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """Any other word, number or mark."""

    text: str


Piece = (
    Lead
    | Clock
    | DayPart
    | DayShift
    | NextWeek
    | Weekday
    | Date
    | MonthDay
    | Moment
    | Every
    | Relation
    | Zone
    | Event
    | Trouble
    | Word
)
