"""The questions and denials about a time, in words: one option for each time that may be meant (K23, K37).

Which of them is due is decided in `timing`; an option patches the slots of the time and nothing else.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from gate.domain import Reason, ReasonCode
from gate.resolve import telling
from gate.resolve.decision import Clarify, Deny, Option, Slots
from gate.resolve.times import Times, slots_of
from gate.when import ABSOLUTE, REQUEST, Ask, Grain, Impossible, Resolved, Why
from gate.when import Reason as Cause

#: The slot that an answer in words fills.
FREE = "when"
MEMORY, FROM_NOW, READING, GUESS, TOOL = "memory_anchor", "from_now", "reading", "date", "as_asked"
_FEW = 5
#: An event further from a time than this is not offered beside it.
_AROUND = timedelta(days=45)
_NAME_MAX = 30
_HOW = 'Say it like "tomorrow at 9", "in 20 minutes" or "an hour before standup".'
#: Questions about a length: from now, or before an event.
_COUNTED = frozenset({Why.EVENT_OR_NOW, Why.NEAR_EVENT})
_COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five"}

_PLAIN_QUESTIONS = {
    Why.UNKNOWN_EVENT: (
        "That event is not remembered, or has no time yet. When should it be? "
        'Say it like "tomorrow at 9", or first teach it: "remember that …".'
    ),
    Why.EVENT_WITHOUT_DATE: f"That event is remembered without a date. When should it be? {_HOW}",
    Why.WHICH_EVENT: f"Those events have no time that is still to come. When should it be? {_HOW}",
    Why.WHICH_TIME: 'At what time? Say it like "9:00" or "at 5pm".',
    Why.UNKNOWN_ZONE: (
        'That time zone is not known. Say the whole time again, as "9:00 UTC+3" or "9am Cairo time".'
    ),
    Why.UNREAD: f"When? {_HOW}",
    Why.EVENT_OR_NOW: f"Counted from now, or from the event? {_HOW}",
    Why.NEAR_EVENT: f"When? {_HOW}",
    Why.WHICH_READING: f"That can be read in several ways. When exactly? {_HOW}",
}


def question(asked: Ask, slots: Slots, times: Times, *, said: str = "") -> Clarify:
    """Return the question that `asked` comes to; `said` are words of an answer that named no time."""
    options = _options(asked, times)
    text = _question_with(asked, options, times) if options else _PLAIN_QUESTIONS[asked.why]
    text = f"{_no_time(said)} {text}" if said else text
    return Clarify(question=text, slots=slots, options=options, free=FREE, because=asked.why.value)


def no_time(slots: Slots, times: Times, *, said: str = "") -> Clarify:
    """Return the question for words that name no time; `said` are the words of an answer."""
    asked = Ask(options=(), why=Why.UNREAD)
    text = f"{_no_time(said)} {_HOW}" if said else f"When? {_HOW}"
    return Clarify(question=text, slots=slots, options=guesses(times), free=FREE, because=asked.why.value)


def _no_time(said: str) -> str:
    short = said if len(said) <= _NAME_MAX else f"{said[: _NAME_MAX - 1]}…"
    return f'"{short}" names no time.'


def passed(found: Resolved, slots: Slots, times: Times) -> Clarify:
    """Return the question for a time that has passed since it was named (C22)."""
    said = telling.full(found.at, now=times.now, seconds=found.grain is Grain.SECOND)
    return Clarify(
        question=f"{said} has passed meanwhile. When instead? {_HOW}",
        slots=slots,
        free=FREE,
        because="passed meanwhile",
    )


def given_up(slots: Slots) -> Deny:
    """Return the end of a question whose answers named no time."""
    text = f"Not set: no time was said. Ask again with one. {_HOW}"
    return Deny(reason=Reason(code=ReasonCode.IMPOSSIBLE_TIME, text=text), slots=slots, because="no time")


def conflict(found: Resolved, slots: Slots, times: Times) -> Clarify:
    """Return the question for a time that a tool named and that fits nothing that is remembered (K11)."""
    around = [
        Resolved(at=one.at.astimezone(times.zone), anchor=one.name, grain=found.grain)
        for one in times.remembered.near(found.at, _AROUND)
        if one.at is not None and one.at > times.now
    ]
    events = _nearest_to(found.at, around)
    options = [_event_option(one, number, len(events), times) for number, one in enumerate(events, start=1)]
    return Clarify(
        question="The time that was proposed fits no event that is remembered. When should it be?",
        slots=slots,
        options=(*options, _tool_option(found, times)),
        free=FREE,
        because="conflict",
    )


def proposed(found: Resolved, slots: Slots, times: Times) -> Clarify:
    """Return the question whether a time that a tool named is meant."""
    options = (_tool_option(found, times),)
    return Clarify(question="At this time?", slots=slots, options=options, free=FREE, because="proposed")


def _tool_option(found: Resolved, times: Times) -> Option:
    return Option(id=TOOL, label=_moment(found, times), patch=slots_of(found))


def guesses(times: Times) -> tuple[Option, ...]:
    """Return one option for each guess that is still to come."""
    ahead = sorted({at for at in times.guesses if at > times.now})
    found = [_guessed(at, times) for at in ahead[:_FEW]]
    return tuple(
        Option(id=f"{GUESS}_{number}", label=_moment(one, times), patch=slots_of(one))
        for number, one in enumerate(found, start=1)
    )


def denial(found: Impossible, slots: Slots, times: Times) -> Deny:
    """Return why a time cannot be kept, with the nearest that can (D21)."""
    meant = "" if found.asked_at is None else telling.full(found.asked_at, now=times.now)
    why = _CAUSES[found.reason].format(meant=meant or "That time")
    nearest = _nearest(found.nearest, times)
    return Deny(
        reason=Reason(code=ReasonCode.IMPOSSIBLE_TIME, text=f"Not set. {why}{nearest}"),
        slots=slots,
        because=found.reason.value,
    )


_CAUSES = {
    Cause.PAST: "{meant} has passed.",
    Cause.EVENT_PASSED: "The event has passed, so {meant} cannot come any more.",
    Cause.BEYOND_EVENT: "{meant} is not before that event.",
    Cause.NO_SUCH_TIME: "{meant} does not exist: the calendar lacks it, or the clock is set forward over it.",
    Cause.TOO_FAR: "That is more than ten years ahead.",
}


def _nearest(at: datetime | None, times: Times) -> str:
    if at is None:
        return ""
    if at <= times.now:
        return " Nearest possible: now."
    return f" Nearest possible: {telling.full(at.astimezone(times.zone), now=times.now)}."


def _question_with(asked: Ask, options: Sequence[Option], times: Times) -> str:
    """Return the question above `options`."""
    match asked.why:
        case Why.WHICH_EVENT | Why.UNKNOWN_EVENT if len(asked.options) > 1:
            count = _COUNTS.get(len(asked.options), str(len(asked.options)))
            return f"{count} events are known by that name. Which one?"
        case Why.NEAR_EVENT:
            return f"{_near(asked, times)} close to that. Which time is meant?"
        case Why.EVENT_OR_NOW:
            return "Counted from now, or from the event?"
        case Why.WHICH_READING:
            return "That can be read in several ways. Which one?"
        case _:
            return "When?" if len(options) > 1 else "At this time?"


def _near(asked: Ask, times: Times) -> str:
    events = [one for one in asked.options if one.anchor != REQUEST]
    if len(events) == 1:
        return f"{name_of(events[0].anchor, times)} is"
    return f"{len(events)} remembered events are" if events else "A remembered event is"


def _options(asked: Ask, times: Times) -> tuple[Option, ...]:
    if not asked.options:
        return guesses(times)
    others = [one for one in asked.options if times.event(one.anchor) is None]
    events = [one for one in asked.options if times.event(one.anchor) is not None]
    events = _nearest_to(others[0].at if others else times.now, events)
    options = [
        _event_option(one, number, len(events), times, of_event=asked.why not in _COUNTED)
        for number, one in enumerate(events, start=1)
    ]
    from_now = asked.why in _COUNTED and len(others) == 1
    labels = [_moment(one, times) for one in others]
    if len(set(labels)) < len(labels):  # the hour that comes twice when the clock is set back
        labels = [f"{_moment(one, times)} {telling.zone_word(one.at)}" for one in others]
    for number, (one, label) in enumerate(zip(others, labels, strict=True), start=1):
        option = Option(
            id=FROM_NOW if from_now else f"{READING}_{number}",
            label=f"From now: {label}" if from_now else label,
            patch=slots_of(one),
        )
        options.append(option)
    return tuple(options)


def _nearest_to(at: datetime, events: Sequence[Resolved]) -> list[Resolved]:
    """Return the few events that lie nearest to `at`, soonest first."""
    nearest = sorted(events, key=lambda one: abs(one.at - at))[: _FEW - 1]
    return sorted(nearest, key=lambda one: one.at)


def _event_option(found: Resolved, number: int, count: int, times: Times, *, of_event: bool = True) -> Option:
    """Return the option for a time that an event anchors; with its own time where it names the event."""
    event = times.event(found.anchor)
    name = name_of(found.anchor, times)
    at = found.at if event is None or event.at is None else event.at.astimezone(found.at.tzinfo)
    shown = name if of_event or at == found.at else f"{'Before' if found.at < at else 'After'} {name}"
    when = at if of_event else found.at
    return Option(
        id=MEMORY if count == 1 else f"{MEMORY}_{number}",
        label=f"{shown}, {telling.moment(when, now=times.now, zone=times.zone)}",
        patch=slots_of(found),
    )


def _moment(found: Resolved, times: Times) -> str:
    if found.rrule:
        return telling.recurrence(found.rrule, found.at)
    seconds = found.grain is Grain.SECOND
    return telling.moment(found.at, now=times.now, zone=times.zone, seconds=seconds)


def _guessed(at: datetime, times: Times) -> Resolved:
    return Resolved(at=at.astimezone(times.zone), anchor=ABSOLUTE, grain=Grain.MINUTE)


def name_of(anchor: str, times: Times) -> str:
    """Return what an event is called: "Project sync"."""
    event = times.event(anchor)
    name = event.aliases[0] if event is not None and event.aliases else anchor.replace("_", " ")
    name = name if len(name) <= _NAME_MAX else f"{name[: _NAME_MAX - 1]}…"
    return name[:1].upper() + name[1:]
