"""Firing: what is due is done, one batch of the ledger per occurrence.

The batch that claims an occurrence is the one that says it, or that proposes its command; it expects the job
to wait for exactly that occurrence, so it is written once or not at all (D20). A command that is due passes
the gate as if its person had just asked for it, and no more: posture, switches, routes and phrases hold, and
whoever is no operator any more schedules nothing.
"""

import logging
from dataclasses import dataclass, replace
from datetime import datetime

from bot import asking, choices
from bot.acts.watches import read_back
from bot.answering import Speaker, record_denial
from bot.core import Core
from bot.outcome import Outcome
from bot.planning.drafts import Plan, PlanSource
from bot.proposing import Asked, Denied, bind, paced, propose, show_in
from bot.scheduling import wording
from bot.scheduling.due import Due, due, seen, zone_of
from bot.scheduling.quiet import may_wait, quiet_until
from bot.scheduling.recurring import Run, following
from bot.signals import watching
from bot.text import Text
from gate.autonomy import Level, at_least
from gate.domain import AGENT, ProposalId, Reason, ReasonCode, TurnId
from gate.policy import Operator
from gate.redact import redact
from gate.resolve.decision import Act
from ledger.codec import instant
from ledger.jobs import JobView
from ledger.kinds import JobIsDue, Json, Kind, LedgerError, LostRaceError, SwitchesAre

log = logging.getLogger(__name__)

#: The setting that says how far a scheduled command goes by itself.
DIAL = "schedule.autonomy"
#: Seconds that a missed run is offered for: nothing waits for the answer (C2).
OFFERED_S = 24 * 60 * 60
#: The policy that is recorded of what a kill switch held back.
STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """What was done, and when to look again; None: nothing will be due."""

    outcomes: tuple[Outcome, ...]
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Held:
    """It waits until then."""

    until: datetime


def fire_due(core: Core) -> Fired:
    """Do everything that is due.

    Raises:
        LedgerUnwritableError: what is due and was not done yet stays due.
    """
    now = core.now()
    outcomes, again = [], []
    for job in due(core, now):
        made = _fire(core, job, now)
        if isinstance(made, _Held):
            again.append(made.until)
        elif made is not None:
            outcomes.append(made)
    next_at = core.queries.next_due(after=now)
    times = [*again, *filter(None, [next_at])]
    return Fired(outcomes=tuple(outcomes), next_at=min(times, default=None))


def _fire(core: Core, job: JobView, now: datetime) -> Outcome | _Held | None:
    """Write what comes of `job`; None where it changed meanwhile, and is seen at the next look."""
    try:
        made = _composed(core, job, now)
    except LedgerError:
        raise
    except Exception as error:
        log.exception("job %s", job.id)
        made = _failed(core, job, now, error)
    if isinstance(made, _Held):
        return made
    core.probe("job.composed")
    try:
        core.ledger.append(made.batch())
    except LostRaceError:
        return None
    core.probe("job.recorded")
    return made


def _composed(core: Core, job: JobView, now: datetime) -> Outcome | _Held:
    outcome = _outcome(core, job, now)
    operator = core.operator(job.person)
    if operator is None:
        _over(outcome, job, "withdrawn")
        outcome.say(Text.of(wording.withdrawn(core, job)))
        return outcome
    one = seen(core, job, now)
    if job.act is not Act.REMIND:
        # What starts something, or goes out, starts from these switches or not at all.
        outcome.expect(SwitchesAre(core.queries.switch_seq()))
        if core.switches().stopped:
            _stopped(core, outcome, one)
            return outcome
    if one.is_missed and job.missed != "late":
        _missed(core, outcome, one, operator)
        return outcome
    until = quiet_until(core, job.person, now) if may_wait(job) else None
    if until is not None and job.act is not Act.SCHEDULE:
        return _Held(until)
    _claim(outcome, one, job.missed)
    if job.act is Act.SCHEDULE:
        _command(core, outcome, one)
    elif job.act is Act.WATCH:
        watching.look(core, outcome, job, read_back(core, job.text))
    else:
        outcome.say(wording.reminder(core, one, now))
    if until is not None and outcome.shows:
        return _Held(until)  # it would ask, and nobody would answer in time
    return outcome


# ---------------------------------------------------------------- entries


def _outcome(core: Core, job: JobView, now: datetime) -> Outcome:
    outcome = Outcome(at=now, place=job.place, turn=TurnId(core.ids.token()), new_nonce=core.ids.token)
    outcome.expect(JobIsDue(job.id, instant(job.next_at or now)))
    return outcome


def _claim(outcome: Outcome, one: Due, policy: str) -> None:
    """Enter the occurrence that is done, after those before it that are not."""
    if one.earlier is not None:
        _enter_missed(outcome, one.job, one.earlier, policy, next_at=one.fire_at)
    late_s = max(0, int((outcome.at - one.fire_at).total_seconds()))
    _write(
        outcome,
        Kind.OCCURRENCE_CLAIMED,
        one.job,
        {"fire_at": instant(one.fire_at), "late_s": late_s, "next_at": _text(one.next_at)},
    )
    if one.next_at is None:
        _over(outcome, one.job, "done")


def _pass(outcome: Outcome, one: Due, policy: str) -> None:
    """Enter every occurrence that has come as one that nothing came of."""
    _enter_missed(outcome, one.job, one.all, policy, next_at=one.next_at)
    if one.next_at is None:
        _over(outcome, one.job, "done")


def _enter_missed(outcome: Outcome, job: JobView, run: Run, policy: str, *, next_at: datetime | None) -> None:
    times: dict[str, Json] = {"from": instant(run.first), "to": instant(run.last), "count": run.count}
    _write(outcome, Kind.OCCURRENCE_MISSED, job, {**times, "policy": policy, "next_at": _text(next_at)})


def _over(outcome: Outcome, job: JobView, how: str) -> None:
    _write(outcome, Kind.JOB_ENDED, job, {"how": how, "by": AGENT})


def _write(outcome: Outcome, kind: Kind, job: JobView, body: dict[str, Json]) -> None:
    outcome.write(kind, correlation_id=job.commitment, body={"job": job.id, **body})


def _text(at: datetime | None) -> str:
    return "" if at is None else instant(at)


# ---------------------------------------------------------------- what did not happen


def _stopped(core: Core, outcome: Outcome, one: Due) -> None:
    """Hold back what is due while everything is stopped; say so once for as long as it is."""
    _pass(outcome, one, STOPPED)
    last = next(iter(core.queries.occurrences(one.job.id)), None)
    if last is None or last.why != STOPPED or last.seq < core.queries.switch_seq():
        outcome.say(Text.of(wording.stopped(core, one, outcome.at)))


def _missed(core: Core, outcome: Outcome, one: Due, operator: Operator) -> None:
    """Report what went by while nobody was there; a command is offered, and never made up by itself."""
    job = one.job
    _pass(outcome, one, job.missed)
    words = wording.missed(core, one, outcome.at)
    if job.act is Act.SCHEDULE and job.missed == "ask":
        choice = choices.Choice(question=words, options=[("Run it now", job.text)], open_s=OFFERED_S)
        choices.ask(core, outcome, _speaker(core, one, operator), choice)
    else:
        outcome.say(Text.of(words))


def _failed(core: Core, job: JobView, now: datetime, error: Exception) -> Outcome:
    """Enter an occurrence that sayso itself failed at: nothing runs, it is said, and the next may come."""
    outcome = _outcome(core, job, now)
    next_at = _next(core, job, now)
    first = job.next_at or now
    _enter_missed(outcome, job, Run(first=first, last=first, count=1), "failed", next_at=next_at)
    if next_at is None:
        _over(outcome, job, "failed")
    what = redact(f"{type(error).__name__}: {error}", extra=core.secrets).text
    outcome.say(Text.of(wording.failed(core, job, what[:200])))
    return outcome


def _next(core: Core, job: JobView, now: datetime) -> datetime | None:
    try:
        return following(job.first_at, job.rrule, zone_of(core, job), after=now)
    except Exception:  # noqa: BLE001 - whatever its rule is, it ends
        return None


# ---------------------------------------------------------------- commands


def _command(core: Core, outcome: Outcome, one: Due) -> None:
    """Propose the command of `one`, as its person, in its place."""
    setting = core.settings.value(DIAL)
    because = setting.lowered or f"{DIAL} {setting.level}"
    if not at_least(setting.level, Level.PROPOSE):
        outcome.say(Text.of(wording.only_said(core, one, because)))
        return
    if late := wording.lateness(core, one, outcome.at):
        outcome.say(Text.of(f'"{wording.shown(core, one.job)}", as scheduled.', *late))
    _propose(core, outcome, one.job, waits="" if at_least(setting.level, Level.RUN) else because)


def _propose(core: Core, outcome: Outcome, job: JobView, *, waits: str) -> None:
    read = asking.planned(core, job.text)
    if not isinstance(read, Plan):
        text = wording.unreadable(core, job)
        _deny(outcome, job, Denied(reason=Reason(code=ReasonCode.CANNOT_PLACE, text=text)))
        return
    drafts = [replace(draft, purpose=job.said or job.text) for draft in read.drafts]
    bound = bind(core, drafts, proposal=ProposalId(core.ids.short_id()))
    if isinstance(bound, Denied):
        _deny(outcome, job, bound)
        return
    pace, selector = paced(drafts)
    asked = Asked(
        requester=job.person,
        place=job.place,
        shown_in=job.place,
        source=PlanSource.SCHEDULE.value,
        waits=waits,
        pace=pace,
        selector=selector,
    )
    made = propose(core, outcome, bound, asked)
    if isinstance(made, Denied):
        _deny(outcome, job, made)
        return
    outcome.window = None  # nobody has just asked: bare words mean something else (D2)
    if made in outcome.shows:
        show_in(outcome, made, place=job.place)


def _deny(outcome: Outcome, job: JobView, denied: Denied) -> None:
    outcome.say(Text.of(denied.reason.text))
    record_denial(
        outcome,
        denied.reason,
        person=job.person,
        said=job.said,
        command=denied.command,
        target=denied.target,
    )


def _speaker(core: Core, one: Due, operator: Operator) -> Speaker:
    return Speaker(
        operator=operator,
        said=one.job.said,
        event=f"{one.job.id}@{instant(one.fire_at)}",
        zone=core.zone_for(operator.id),
    )
