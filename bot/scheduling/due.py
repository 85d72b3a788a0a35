"""What is due, and what went by: read from the ledger and a clock, nothing else.

Whatever the clock did and whoever was away, a job stands at the occurrence that it waits for; what lies
between that one and now went by. Decides and writes nothing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.core import Core
from bot.scheduling.quiet import may_wait, quiet_until
from bot.scheduling.recurring import Run, between, following
from ledger.jobs import JobView

#: From here on it is said how late something comes; nobody minds a restart.
LATE = timedelta(seconds=60)
#: Up to here it counts as on time; later, its policy says what becomes of it.
MISSED = timedelta(minutes=5)
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A job that is due.

    Attributes:
        fire_at: the newest occurrence that has come.
        earlier: those before it that nothing came of; None for none.
        next_at: the one after it; None where it is the last.
        late: how long `fire_at` is past, or past the quiet hours that it waited for.
    """

    job: JobView
    zone: tzinfo
    fire_at: datetime
    earlier: Run | None
    next_at: datetime | None
    late: timedelta

    @property
    def all(self) -> Run:
        """Every occurrence that has come and was not entered yet."""
        if self.earlier is None:
            return Run(first=self.fire_at, last=self.fire_at, count=1)
        return Run(first=self.earlier.first, last=self.fire_at, count=self.earlier.count + 1)

    @property
    def is_missed(self) -> bool:
        """Whether it is too late for anything but what the policy of the job says."""
        return self.late > MISSED


def due(core: Core, now: datetime) -> tuple[JobView, ...]:
    """Return the jobs that are due, the longest first."""
    return core.queries.due(now)


def seen(core: Core, job: JobView, now: datetime) -> Due:
    """Return what of `job`, which is due at `now`, has come and what went by.

    Raises:
        ValueError: its rule or its zone is none that can be kept here.
    """
    first = job.next_at or now
    zone = zone_of(core, job)
    later = between(job.first_at, job.rrule, zone, since=first + _TICK, until=now)
    fire_at, earlier = first, None
    if later is not None:
        fire_at = later.last
        before = between(job.first_at, job.rrule, zone, since=first + _TICK, until=later.last - _TICK)
        earlier = Run(first=first, last=first if before is None else before.last, count=later.count)
    ready_at = (quiet_until(core, job.person, fire_at) if may_wait(job) else None) or fire_at
    return Due(
        job=job,
        zone=zone,
        fire_at=fire_at,
        earlier=earlier,
        next_at=following(job.first_at, job.rrule, zone, after=max(now, fire_at)),
        late=max(now - ready_at, timedelta(0)),
    )


def zone_of(core: Core, job: JobView) -> tzinfo:
    """Return the zone that the rule of `job` counts in.

    Raises:
        ValueError: this machine does not know it any more.
    """
    try:
        return ZoneInfo(job.zone) if job.zone else core.zone
    except ZoneInfoNotFoundError:
        raise ValueError(f"there is no time zone {job.zone} here") from None
