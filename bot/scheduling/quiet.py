"""Quiet hours: when nothing that can wait is put to a person.

What they asked for at a time of its own is no such thing: a reminder for 23:00 comes at 23:00, and a
scheduled command that asks nobody runs when it is due. What only counts hours or minutes, and a scheduled
command that would ask for a yes, which would expire unread, wait until the quiet hours end (D14).
"""

from datetime import datetime, timedelta

from bot.core import Core
from bot.scheduling.recurring import counts_elapsed, instant_of
from gate.domain import PersonId
from gate.resolve.decision import Act
from ledger.jobs import JobView


def quiet_until(core: Core, person: PersonId, at: datetime) -> datetime | None:
    """Return when the quiet hours of `person` end in which `at` lies, aware UTC; None outside of them."""
    operator = core.operator(person)
    if operator is None or operator.quiet is None:
        return None
    start, end = operator.quiet
    zone = core.zone_for(person)
    wall = at.astimezone(zone).replace(tzinfo=None, fold=0)
    is_quiet = start <= wall.time() < end if start < end else start != end and not end <= wall.time() < start
    if not is_quiet:
        return None
    ends = wall.replace(hour=end.hour, minute=end.minute, second=0, microsecond=0)
    return instant_of(ends if ends > wall else ends + timedelta(days=1), zone)


def may_wait(job: JobView) -> bool:
    """Whether `job` was given no time of its own: it comes again, and is a command or counts hours only."""
    if job.act is Act.WATCH:
        return False  # a look puts nothing to anybody, and what it finds is what was asked for
    return bool(job.rrule) and (job.act is not Act.REMIND or counts_elapsed(job.rrule))
