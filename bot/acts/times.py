"""What reminders and schedules share: the facts a time is resolved by, and how it is told.

Gathers and tells only; the gate resolves, and the handlers record.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot import dates, memory
from bot.answering import Speaker
from bot.core import Core
from bot.zones import zones_in
from gate.resolve import telling
from gate.resolve.decision import Clarify, Decision, Deny, Slots
from gate.resolve.times import Times, Width
from gate.when import Grain, Remembered, Why
from ledger.jobs import JobView

#: Why a decision was made that a second opinion may help with.
_NOT_READ = frozenset({"unread", "no time"})
#: Why a question may be due to events that are not known.
_WITHOUT_EVENT = frozenset({"unread", "no time", Why.UNKNOWN_EVENT.value})
#: The slots that hold words about a time.
_SAID = ("words", "when", "about", "timing")


def remembered(core: Core, speaker: Speaker) -> Remembered:
    """Return the events that the times of `speaker` may be counted from."""
    return memory.anchors(core, speaker.operator.id, alone=speaker.alone)


def facts(core: Core, speaker: Speaker, slots: Slots, *, request_at: datetime, now: datetime) -> Times:
    """Return what the time in `slots` is resolved by."""
    return Times(
        request_at=request_at,
        now=now,
        zone=speaker.zone,
        remembered=remembered(core, speaker),
        zones=zones_in("\n".join(slots.get(name, "") for name in _SAID)),
        width=Width(core.settings.text("clarify.width")),
    )


def with_guesses(
    decision: Decision, slots: Slots, times: Times, resolve: Callable[[Times], Decision]
) -> Decision:
    """Return `decision`, or the question that offers what somebody else reads out of words not understood.

    Args:
        resolve: the resolver that `decision` came from, with other facts.
    """
    if not isinstance(decision, Clarify | Deny) or decision.because not in _NOT_READ:
        return decision
    said = slots.get("when") or slots.get("words", "")
    read = dates.second_opinion(said, request_at=times.request_at, zone=times.zone)
    return resolve(replace(times, guesses=read)) if read else decision


def with_remark(core: Core, speaker: Speaker, decision: Decision) -> Decision:
    """Return `decision`; where it asks for lack of an event, it says that none can be looked up (K4)."""
    if not isinstance(decision, Clarify) or decision.because not in _WITHOUT_EVENT:
        return decision
    if not memory.recall(core, speaker.operator.id, alone=speaker.alone).failed:
        return decision
    return replace(decision, question=f"What is remembered cannot be read right now. {decision.question}")


def told(slots: Slots, speaker: Speaker, *, now: datetime) -> str:
    """Return the time in `slots` with its zone: "Tue 1 Dec 13:00 CET", "every day at 07:00 CET, first …"."""
    at = datetime.fromisoformat(slots["fire_at"])
    seconds = slots["grain"] == Grain.SECOND.value
    return told_at(at, slots["zone"], slots["rrule"], speaker=speaker, now=now, seconds=seconds)


def told_job(job: JobView, speaker: Speaker, *, now: datetime) -> str:
    """Return when a job is due next, with its zone."""
    return told_at(job.next_at or job.first_at, job.zone, job.rrule, speaker=speaker, now=now)


def told_at(
    at: datetime, zone: str, rrule: str, *, speaker: Speaker, now: datetime, seconds: bool = False
) -> str:
    """Return an instant in the zone it was meant in, and in the speaker's own where that is another."""
    there = at.astimezone(ZoneInfo(zone) if zone else speaker.zone)
    here = at.astimezone(speaker.zone)
    elsewhere = there.utcoffset() != here.utcoffset()
    own = f" ({telling.full(here, now=now)})" if elsewhere else ""
    if rrule:
        each = f"{telling.recurrence(rrule, there)} {telling.zone_word(there)}"
        return f"{each}, next {telling.moment(here, now=now, zone=speaker.zone)}"
    return f"{telling.full(there, now=now, seconds=seconds)}{own}"
