"""Watching: a look when its time has come, and what follows when what it sees has changed.

A look is an ordinary proposal of one command that only reads: it passes the gate every time, is recorded, and
shows no card. Only a change is told, as a signal: neither the hundredth time that a disk is full, nor the
hundredth that it is not. What cannot be seen is told once too, and is not taken for well.
"""

import re
from datetime import datetime

from bot.core import Core
from bot.judging import judge
from bot.outcome import Outcome
from bot.proposing import Asked, Denied, bind, propose_judged
from bot.signals import checks
from bot.signals.taking import MAX_TRIES, new_outcome, raise_one
from bot.signals.watch_words import Wanted
from bot.text import Text
from gate.domain import ActionId, ProposalId, Risk, RouteKind
from gate.lifecycle import JobState
from gate.resolve.decision import Act
from gate.resolve.watch import Watched, is_raised
from gate.signals import ALERTNAME, WATCH, Signal, SignalStatus
from ledger.jobs import JobView
from ledger.kinds import Kind, LostRaceError
from ledger.signal_views import WatchState
from ledger.signals import signal_id
from ledger.views import ActionView

_PURPOSE = re.compile(r"watch (?P<job>[a-z0-9]{6}): ")
_NAMES = {
    Watched.DISK: "disk full",
    Watched.MEMORY: "memory",
    Watched.FAILED_UNITS: "failed units",
    Watched.SERVICE: "service down",
    Watched.CERTIFICATE: "certificate expires",
    Watched.REACHABLE: "unreachable",
}
#: The label that holds what a watch is about, for a runbook that wants to know.
_LABELS = {Watched.DISK: "path", Watched.SERVICE: "service", Watched.CERTIFICATE: "path"}


def look(core: Core, outcome: Outcome, job: JobView, wanted: Wanted | None) -> None:
    """Write the looks of a watch whose time has come, one for each target."""
    if wanted is None:
        _blind(core, outcome, job, "*", "its words mean nothing here any more")
        return
    found = core.inventory.select(wanted.target)
    if not isinstance(found, tuple):
        _blind(core, outcome, job, "*", found.reason.text)
        return
    for target in found:
        why = _look(core, outcome, job, wanted, str(target.id))
        if why:
            _blind(core, outcome, job, str(target.id), why)


def _look(core: Core, outcome: Outcome, job: JobView, wanted: Wanted, target: str) -> str:
    """Write one look; return why there is none, "" where there is."""
    draft = checks.draft_of(core, wanted, target=target, purpose=f"watch {job.id}: {wanted.text}")
    if draft is None:
        return "nothing in the library looks at that any more"
    bound = bind(core, (draft,), proposal=ProposalId(core.ids.short_id()))
    if isinstance(bound, Denied):
        return bound.reason.text
    judged = judge(core, bound[0])
    if judged.route.kind is not RouteKind.AUTO or judged.verdict.risk is not Risk.READ_ONLY:
        reason = judged.route.reason
        return reason.text if reason is not None else judged.route.because or "it would wait for a yes"
    asked = Asked(requester=job.person, place=job.place, shown_in=job.place, source=WATCH, quiet=True)
    made = propose_judged(core, outcome, [judged], asked)
    return made.reason.text if isinstance(made, Denied) else ""


def is_look(core: Core, proposal: ProposalId) -> bool:
    """Whether a proposal is a look of a watch."""
    view = core.queries.proposal(proposal)
    return view is not None and view.source == WATCH


def follow(core: Core, action: ActionId) -> tuple[ProposalId, ...]:
    """Tell of what a look saw, if it changed; return the proposals that may move.

    Raises:
        LedgerUnwritableError: nothing was told; the next look sees it.
    """
    for attempt in range(MAX_TRIES):
        outcome = _followed(core, core.queries.action(action))
        if outcome is None:
            return ()
        try:
            core.ledger.append(outcome.batch())
        except LostRaceError:
            if attempt == MAX_TRIES - 1:
                raise
            continue
        return tuple(outcome.work)
    raise AssertionError("unreachable: the last try raises")


def _followed(core: Core, one: ActionView) -> Outcome | None:
    from bot.acts.watches import read_back  # noqa: PLC0415  # the acts know the looks, and their words are there

    match = _PURPOSE.match(one.action.purpose)
    job = None if match is None else core.queries.job(match["job"])
    wanted = None if job is None else read_back(core, job.text)
    if job is None or wanted is None or job.state is not JobState.PENDING or job.act is not Act.WATCH:
        return None
    target, now = str(one.action.target.id), core.now()
    outcome = new_outcome(core, job.place)
    seen = checks.read(wanted, one, now=now)
    if isinstance(seen, str):
        _blind(core, outcome, job, target, seen)
        return outcome if outcome.drafts else None
    raised = is_raised(wanted.watched, seen.value, wanted.limit)
    before = core.queries.watch(job.id, target)
    state = WatchState.RAISED if raised else WatchState.CLEAR
    if before is not None and before.state is state:
        return None
    _changed(outcome, job, target, state, seen.words)
    was_told = core.queries.signal(signal_id(WATCH, fingerprint(job, target)))
    if raised or (was_told is not None and was_told.is_firing):
        status = SignalStatus.FIRING if raised else SignalStatus.RESOLVED
        signal = signal_of(job, wanted, target, status, seen.words, now=now)
        raise_one(core, signal, place=job.place, outcome=outcome)
    return outcome


def _blind(core: Core, outcome: Outcome, job: JobView, target: str, why: str) -> None:
    """Write that a watch sees nothing, and say so once for as long as that lasts."""
    before = core.queries.watch(job.id, target)
    if before is not None and before.state is WatchState.BLIND:
        return
    _changed(outcome, job, target, WatchState.BLIND, why)
    where = "" if target == "*" else f" on {target}"
    outcome.say(
        Text.of(
            f"Watch {job.id} sees nothing{where}: {why.rstrip('.')}. That does not mean that all is well."
        )
    )


def _changed(outcome: Outcome, job: JobView, target: str, state: WatchState, value: str) -> None:
    outcome.write(
        Kind.WATCH_CHANGED,
        correlation_id=job.commitment,
        body={"job": job.id, "target": target, "state": state.value},
        words={"value": value},
    )


def signal_of(
    job: JobView, wanted: Wanted | None, target: str, status: SignalStatus, words: str, *, now: datetime
) -> Signal:
    """Return the signal of a watch on a target."""
    labels = {"instance": target, "watch": job.id}
    if wanted is not None:
        labels[ALERTNAME] = _NAMES[wanted.watched]
        if label := _LABELS.get(wanted.watched):
            labels[label] = wanted.about or "/"
    return Signal(
        source=WATCH,
        fingerprint=fingerprint(job, target),
        status=status,
        starts_at=now,
        labels=labels,
        annotations={"summary": f"{words} (watch {job.id})"} if words else {},
    )


def fingerprint(job: JobView, target: str) -> str:
    """Return what a watch on a target is called among signals."""
    return f"{job.id}:{target}"
