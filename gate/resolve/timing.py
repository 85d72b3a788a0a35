"""When an act is to happen: from its slots to one certain time, a question, or why not (K11, K23, K25).

Shared by the acts that need a time. The rules it owns: a person's own words come first; a time that a tool
names counts only where the words name none and what is remembered does not speak against it; a time that was
picked and has passed meanwhile is asked about again (C22); the answer to "at what time?" completes the words
that lacked one, every other answer stands alone and counts from when it was given. Nothing is scheduled here.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum

from gate import when
from gate.resolve import which_time
from gate.resolve.decision import Clarify, Deny, Slots
from gate.resolve.times import Times, Width, slots_time, zone_name
from gate.when import ABSOLUTE, REQUEST, Ask, Impossible, NoTime, Outcome, Resolved, Why

#: Slots that only say how the time was found out; they are gone once it is bound.
WORKING = frozenset({"words", "about", which_time.FREE, "timing", "tries", "asked_at"})
TIME_SLOTS = frozenset({"fire_at", "rrule", "zone", "anchor", "grain"})
#: How far a time that a tool names may lie from a remembered event, and still be about it (K11).
WINDOW = timedelta(days=2)
#: Answers without a time after which it is given up, so that nobody is asked without end.
MOST_TRIES = 2
_STRICT_DAYS = 30
_SOON = timedelta(days=1)


class Consistency(StrEnum):
    """What is remembered says about a time that a tool named."""

    CONSISTENT = "consistent"
    NO_MEMORY = "no_memory"
    CONFLICT = "conflict"
    NOT_ABSOLUTE = "not_absolute"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A tool's time beside what is remembered; `matched` is the event that it is about, "" for none."""

    consistency: Consistency
    matched: str = ""


def bind(
    slots: Slots, times: Times, *, busy: bool = False, nearby_days: int | None = None
) -> Resolved | Clarify | Deny:
    """Return the time that `slots` come to, or what is asked or said instead.

    Args:
        slots: of them "fire_at" with "rrule", "zone", "anchor" and "grain" is a time that was picked; "when"
            the words of an answer, "words" those of the request, "timing" what a tool named.
        busy: the request says what it is about, and that is no remembered event; then "in 20 minutes" is
            not asked about for the sake of an event that is days away.
        nearby_days: see `gate.when.resolve`; None: as wide as `times.width` says.
    """
    picked = slots_time(slots, times.zone)
    left = {name: value for name, value in slots.items() if name not in TIME_SLOTS}
    if picked is not None:
        return which_time.passed(picked, left, times) if picked.at <= times.now else picked
    reader = _Reader(times=times, busy=busy, nearby_days=nearby_days)
    left.setdefault("asked_at", times.request_at.isoformat())
    if slots.get(which_time.FREE, "").strip():
        return _of_answer(reader, left)
    outcome = reader.read(slots.get("words", ""), times.request_at)
    unread = isinstance(outcome, Ask) and outcome.why is Why.UNREAD and not outcome.options
    if slots.get("timing", "").strip() and (unread or isinstance(outcome, NoTime)):
        return _of_tool(reader, left, unread=unread)
    return _end(outcome, left, times)


def parse_absolute(text: str, times: Times) -> Resolved | None:
    """Return the date that `text` names by itself, as "2026-08-15T09:30:00+00:00"; None for other words."""
    outcome = when.resolve(text, request_at=times.request_at, zone=times.zone)
    return outcome if isinstance(outcome, Resolved) and outcome.anchor == ABSOLUTE else None


def check(timing: str, times: Times) -> Checked:
    """Compare a tool's time with what is remembered (K11)."""
    found = parse_absolute(timing, times)
    if found is None:
        return Checked(consistency=Consistency.NOT_ABSOLUTE)
    if not times.remembered.dated:
        return Checked(consistency=Consistency.NO_MEMORY)
    near = times.remembered.near(found.at, WINDOW)
    if not near:
        return Checked(consistency=Consistency.CONFLICT)
    nearest = min(near, key=lambda one: abs((one.at or found.at) - found.at))
    return Checked(consistency=Consistency.CONSISTENT, matched=nearest.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads words as one person means them."""

    times: Times
    busy: bool
    nearby_days: int | None

    def read(self, words: str, at: datetime) -> Outcome:
        """Return what `words` come to that were said at `at`."""
        times, days = self.times, self.nearby_days
        if days is None:
            days = _STRICT_DAYS if times.width is Width.STRICT else when.NEARBY_DAYS
        outcome = when.resolve(
            words,
            request_at=at,
            zone=times.zone,
            anchors=times.remembered,
            zones=times.zones,
            nearby_days=days,
        )
        if isinstance(outcome, Ask) and outcome.why is Why.NEAR_EVENT:
            return self._near(outcome, at)
        if isinstance(outcome, Resolved) and outcome.rrule and self._cannot_keep(outcome.at.tzinfo):
            return Ask(options=(), why=Why.UNKNOWN_ZONE)
        return outcome

    def _cannot_keep(self, zone: tzinfo | None) -> bool:
        """Whether a rule cannot be written down for `zone`: an offset that no zone has a name for."""
        return not zone_name(zone) and zone is not self.times.zone

    def _near(self, asked: Ask, at: datetime) -> Outcome:
        """Return the time from now where a width, or another subject, makes it plain that it is meant."""
        from_now = next((one for one in asked.options if one.anchor == REQUEST), None)
        if from_now is None or self.times.width is Width.STRICT:
            return asked
        if self.times.width is Width.RELAXED or (self.busy and from_now.at - at < _SOON):
            return from_now
        return asked


def _of_answer(reader: _Reader, slots: dict[str, str]) -> Resolved | Clarify | Deny:
    times, said = reader.times, slots[which_time.FREE].strip()
    asked_at = datetime.fromisoformat(slots["asked_at"])
    alone = reader.read(said, times.request_at)
    lacking = reader.read(slots.get("words", ""), asked_at)
    if isinstance(lacking, Ask) and lacking.why is Why.WHICH_TIME:
        whole = reader.read(f"{slots.get('words', '')} {said}", asked_at)
        if isinstance(whole, Resolved | Impossible) or (isinstance(whole, Ask) and whole.options):
            return _end(whole, slots, times)
    if isinstance(alone, NoTime):
        return _again(lacking, said, slots, times)
    if isinstance(alone, Ask) and not alone.options:
        return _again(alone, "", slots, times)
    return _end(alone, slots, times)


def _again(asked: Outcome, said: str, slots: dict[str, str], times: Times) -> Clarify | Deny:
    """Ask `asked` once more where an answer, `said`, named no time; then give up."""
    tries = int(slots.get("tries", "0")) + 1
    if tries >= MOST_TRIES and not times.guesses:
        return which_time.given_up(slots)
    slots["tries"] = str(tries)
    del slots[which_time.FREE]
    if isinstance(asked, Ask):
        return which_time.question(asked, slots, times, said=said)
    return which_time.no_time(slots, times, said=said)


def _of_tool(reader: _Reader, slots: dict[str, str], *, unread: bool) -> Resolved | Clarify | Deny:
    """Return the time that a tool names, where the person's words name none; `unread`: none understood."""
    times, timing = reader.times, slots["timing"].strip()
    found = parse_absolute(timing, times)
    if found is None and not unread:
        return _end(reader.read(timing, times.request_at), slots, times)
    if found is None:
        return which_time.no_time(slots, times)
    if check(timing, times).consistency is Consistency.CONFLICT:
        return which_time.conflict(found, slots, times)
    if unread or times.width is Width.STRICT:
        return which_time.proposed(found, slots, times)
    return _end(found, slots, times)


def _end(outcome: Outcome, slots: Slots, times: Times) -> Resolved | Clarify | Deny:
    match outcome:
        case Resolved():
            return which_time.passed(outcome, slots, times) if outcome.at <= times.now else outcome
        case Ask():
            return which_time.question(outcome, slots, times)
        case Impossible():
            return which_time.denial(outcome, slots, times)
        case _:
            return which_time.no_time(slots, times)
