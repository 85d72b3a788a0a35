"""What people read of jobs: reminders, how late they are, what went by and why something did not run.

Pure text over what the ledger holds. Secrets are masked; a command is never shortened.
"""

from datetime import datetime, timedelta

from bot.core import Core
from bot.phrasing import clock_time, duration, plural
from bot.scheduling.due import LATE, Due
from bot.text import Span, Text, muted
from gate.redact import redact, redact_command
from gate.resolve.decision import Act
from ledger.jobs import JobView


def reminder(core: Core, one: Due, now: datetime) -> Text:
    """Return a reminder, with how late it is and what of it went by."""
    job = one.job
    head = f"Reminder for {job.person}: " if job.act is Act.REMIND else f"From {job.person}, as scheduled: "
    first, *more = shown(core, job).splitlines() or [""]
    lines: list[str | Span] = [f"{head}{first}", *more]
    return Text.of(*lines, *map(muted, lateness(core, one, now)))


def lateness(core: Core, one: Due, now: datetime) -> list[str]:
    """Return how late `one` is and what of it went by; nothing where it is on time."""
    lines = []
    if now - one.fire_at >= LATE:
        late = duration((now - one.fire_at).total_seconds())
        lines.append(f"It was due {_time(core, one.job, one.fire_at, now)}, {late} ago.")
    if one.earlier is not None:
        since = _time(core, one.job, one.earlier.first, now)
        lines.append(f"Before that, {plural(one.earlier.count, 'time')} since {since} went by.")
    return lines


def missed(core: Core, one: Due, now: datetime) -> str:
    """Return that `one` went by, and nothing came of it."""
    run, what = one.all, f'"{shown(core, one.job)}"'
    if run.count == 1:
        was = f"was due {_time(core, one.job, run.first, now)}"
    else:
        first, last = (_time(core, one.job, at, now) for at in (run.first, run.last))
        was = f"was due {plural(run.count, 'time')}, from {first} to {last}"
    done = "It was not said then." if one.job.act is Act.REMIND else "It did not run."
    return f"Missed: {what} {was}. {done}"


def stopped(core: Core, one: Due, now: datetime) -> str:
    """Return that `one` is held back by the kill switch."""
    when = _time(core, one.job, one.fire_at, now)
    if one.job.act is Act.WATCH:
        return f'sayso is stopped, so "{shown(core, one.job)}" does not look. It goes on after  resume.'
    return (
        f'sayso is stopped, so "{shown(core, one.job)}", due {when}, did not start. '
        f"After  resume  say it again to run it.{_then(core, one, now)}"
    )


def only_said(core: Core, one: Due, setting: str) -> str:
    """Return that `one` is due and nothing is done about it, because of `setting`."""
    return f'Due now: "{shown(core, one.job)}". Nothing ran, because of {setting}. Say it to run it.'


def failed(core: Core, job: JobView, error: str) -> str:
    """Return that sayso could not do `job`."""
    return f'"{shown(core, job)}", scheduled by {job.person}, failed inside sayso: {error}. Nothing ran.'


def withdrawn(core: Core, job: JobView) -> str:
    """Return that nobody answers for `job` any more."""
    return (
        f'"{shown(core, job)}", scheduled by {job.person}, is withdrawn: {job.person} is no operator any '
        "more. Nothing ran, and it comes no more."
    )


def unreadable(core: Core, job: JobView) -> str:
    """Return that the request of `job` does not stand for anything that is done here now."""
    return (
        f'"{shown(core, job)}", scheduled by {job.person}, is nothing that can be done here now. Nothing ran.'
    )


def shown(core: Core, job: JobView) -> str:
    """Return what `job` says or asks for, as people may see it."""
    if job.act is Act.SCHEDULE:
        return redact_command(job.text, extra=core.secrets).text
    return redact(job.text, extra=core.secrets).text


def _then(core: Core, one: Due, now: datetime) -> str:
    return "" if one.next_at is None else f" Next: {_time(core, one.job, one.next_at, now)}."


def _time(core: Core, job: JobView, at: datetime, now: datetime) -> str:
    zone = core.zone_for(job.person)
    text = clock_time(at, zone=zone, now=now)
    return text if abs(at - now) < timedelta(days=180) else f"{at.astimezone(zone):%-d %b %Y %H:%M}"
