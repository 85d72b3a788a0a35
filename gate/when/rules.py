"""The order in which the pieces of a text are judged: the first rule that fits decides (K23, D21).

Trouble asks. Before and after need a remembered event right behind them. A recurrence stands alone. A length
from now asks when a remembered event is mentioned or lies near. A day and a time make a point. What fits no
rule asks.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from gate.when.leads import beside_event, from_now
from gate.when.local import since
from gate.when.outcome import (
    ABSOLUTE,
    Anchor,
    Ask,
    Grain,
    Impossible,
    NoTime,
    Outcome,
    Reason,
    Resolved,
    Why,
)
from gate.when.pieces import (
    Clock,
    Date,
    DayPart,
    DayShift,
    Every,
    Lead,
    Moment,
    MonthDay,
    NextWeek,
    Piece,
    Relation,
    Trouble,
    Way,
    Weekday,
    Zone,
)
from gate.when.points import Day, Point, choose, locate, settle
from gate.when.recur import recurrence
from gate.when.sentence import Sentence

_UNREAD = Ask(options=(), why=Why.UNREAD)


def judge(said: Sentence) -> Outcome:  # noqa: PLR0911 one return a rule
    """Return what the sentence comes to."""
    if said.of(Trouble):
        return _UNREAD
    if not said.times:
        return _about(said) if said.anchors else NoTime()
    zones = said.of(Zone)
    if any(zone.zone is None for zone in zones):
        return Ask(options=(), why=Why.UNKNOWN_ZONE)
    if len(zones) > 1:
        return _UNREAD
    if said.relation is not None:
        return _beside_event(said)
    if said.of(Every) or any(day.many for day in said.of(Weekday)):
        return _recurring(said)
    if said.of(Lead):
        return _from_now(said)
    return _with_event(said, _point(said))


def _about(said: Sentence) -> Outcome:
    """Offer the events that a text without a time is about."""
    options = tuple(
        Resolved(at=anchor.at.astimezone(said.zone), anchor=anchor.name, grain=Grain.MINUTE)
        for anchor in said.anchors
        if anchor.at is not None and since(said.request_at, anchor.at) > timedelta()
    )
    options = tuple(sorted(options, key=lambda option: option.at.timestamp()))
    return Ask(options=options, why=Why.WHICH_EVENT if len(said.anchors) > 1 else Why.WHICH_TIME)


def _point(said: Sentence, *, day: DayShift | None = None) -> Outcome:
    """Read the pieces as one point in time; `day` stands for a length in days."""
    moments, clocks, parts = said.of(Moment), said.of(Clock), said.of(DayPart)
    days: list[Day] = [*said.of(DayShift), *said.of(Weekday), *said.of(Date), *said.of(MonthDay)]
    days += [*said.of(NextWeek), *([day] if day else [])]
    zone = said.of(Zone)[0].zone if said.of(Zone) else None
    if moments:
        alone = len(said.times) == (1 if zone is None else 2)
        return _moment(said, moments[0].at, zone) if alone else _UNREAD
    known = [one.part for one in days if isinstance(one, DayShift) and one.part] + [one.part for one in parts]
    if len(clocks) > 1 or len(set(known)) > 1 or not _together(days) or not (clocks or known or days):
        return _UNREAD
    return locate(
        Point(
            days=tuple(days),
            clock=clocks[0] if clocks else None,
            part=known[0] if known else None,
            zone=zone or said.zone,
            home=said.zone,
        ),
        said.request_at,
    )


def _together(days: Sequence[Day]) -> bool:
    """Whether these name one day: at most a weekday beside a date, a day of the month or a next week."""
    if len(days) <= 1:
        return True
    weekdays = [day for day in days if isinstance(day, Weekday)]
    others = [day for day in days if isinstance(day, Date | MonthDay | NextWeek)]
    paired = len(days) == len([*weekdays, *others]) and len(weekdays) == len(others) == 1
    return paired and not weekdays[0].following


def _moment(said: Sentence, at: datetime, zone: tzinfo | None) -> Outcome:
    if at.tzinfo is None:
        return settle([at], zone or said.zone, said.request_at, anchor=ABSOLUTE, grain=Grain.MINUTE)
    if zone is not None:
        return _UNREAD
    return choose([at], said.request_at, anchor=ABSOLUTE, grain=Grain.MINUTE)


def _with_event(said: Sentence, outcome: Outcome) -> Outcome:
    """Ask when only a day was said and the event that was mentioned is on that day."""
    if not isinstance(outcome, Resolved) or outcome.grain is not Grain.DAY:
        return outcome
    same = tuple(
        Resolved(at=anchor.at.astimezone(said.zone), anchor=anchor.name, grain=Grain.MINUTE)
        for anchor in said.anchors
        if anchor.at is not None
        and anchor.at.astimezone(said.zone).date() == outcome.at.astimezone(said.zone).date()
    )
    return Ask(options=(*same, outcome), why=Why.WHICH_TIME) if same else outcome


def _recurring(said: Sentence) -> Outcome:
    every, weekdays, month_days = said.of(Every), said.of(Weekday), said.of(MonthDay)
    clocks, parts, zones = said.of(Clock), said.of(DayPart), said.of(Zone)
    pieces: list[Sequence[Piece]] = [every, weekdays, month_days, clocks, parts, zones]
    if any(len(kind) > 1 for kind in pieces) or sum(map(len, pieces)) != len(said.times):
        return _UNREAD
    return recurrence(
        every[0] if every else Every(None),
        weekday=weekdays[0] if weekdays else None,
        month_day=month_days[0] if month_days else None,
        clock=clocks[0] if clocks else None,
        part=parts[0].part if parts else None,
        request_at=said.request_at,
        zone=(zones[0].zone if zones else None) or said.zone,
    )


def _from_now(said: Sentence) -> Outcome:
    leads = said.of(Lead)
    rest = [piece for piece in said.times if not isinstance(piece, Lead)]
    if len(leads) > 1:
        return _UNREAD
    if not rest:
        return from_now(said, leads[0])
    lead = leads[0]
    ahead = lead.days > 0 and not lead.months and not lead.seconds and lead.way in {Way.FORWARD, Way.AFTER}
    if ahead and said.of(Clock) and all(isinstance(piece, Clock | DayPart | Zone) for piece in rest):
        return _point(said, day=DayShift(days=lead.days))  # "in 3 days at 9"
    return _UNREAD


def _beside_event(said: Sentence) -> Outcome:
    rest = [piece for piece in said.times if not isinstance(piece, Lead | Relation)]
    if not rest:
        return beside_event(said)
    event = said.governed
    busy = bool(said.of(Lead) or said.of(Every))
    if event is None or len(event.anchors) > 1 or busy:
        return Ask(options=(), why=Why.UNKNOWN_EVENT if event is None else Why.UNREAD)
    return _bounded(_point(said), event.anchors[0], said)


def _bounded(outcome: Outcome, anchor: Anchor, said: Sentence) -> Outcome:
    """Refuse "before the audit, on Friday" when Friday is after the audit; else let a person say."""
    if not isinstance(outcome, Resolved) or anchor.at is None:
        return outcome if isinstance(outcome, Ask | Impossible) else _UNREAD
    if said.is_before and since(anchor.at, outcome.at) > timedelta():
        nearest = anchor.at if since(said.request_at, anchor.at) > timedelta() else None
        return Impossible(reason=Reason.BEYOND_EVENT, asked_at=outcome.at, nearest=nearest)
    return Ask(options=(outcome,), why=Why.WHICH_READING)
