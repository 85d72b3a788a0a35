"""What happened in a run, told from its events alone (R23).

Values for people and for an attestation: secrets are masked in all of them, and what was refused is told
apart from what expired. Nothing here is what runs. Rendering, signing and sending are others' business; a
report goes nowhere by itself.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime

from gate.domain import Digest, PersonId
from gate.redact import MASK, redact
from gate.supervise.approval import Refusal
from gate.supervise.binding import as_text, render_text
from gate.supervise.domain import Outcome, RunbookId, RunId, StepId, StepKind, StepRisk, Terminal, Value
from gate.supervise.envelope import Envelope
from gate.supervise.events import (
    Consumed,
    Deviated,
    EndCause,
    Ended,
    Entered,
    Event,
    Granted,
    Judged,
    Proposed,
    Started,
    TakenBack,
    Via,
    WaitBegan,
    WaitEnded,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReport:
    """One entry into a step.

    Attributes:
        verdict: "permit" or "require_approval"; "" for a step that proposed nothing.
        command: as it was shown; None where nothing runs.
        requests: the questions asked about this entry, in order.
        passed: None where the run ended before anything came of it.
        why: what decided that.
        cut_short_by: who ended a wait before its time.
    """

    step: StepId
    number: int
    attempt: int
    kind: StepKind
    title: str
    risk: StepRisk
    via: Via
    entered_at: datetime
    verdict: str = ""
    proposal: str = ""
    command: str | None = None
    requests: tuple[str, ...] = ()
    decided_by: PersonId | None = None
    decided_at: datetime | None = None
    let_go_at: datetime | None = None
    taken_back: tuple[str, ...] = ()
    wait_until: datetime | None = None
    cut_short_by: PersonId | None = None
    passed: bool | None = None
    why: str = ""
    exit_code: int | None = None
    captured: str | None = None
    judged_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviationReport:
    """Something that was blocked."""

    step: StepId | None
    reason: str
    tool: str
    target: str
    command: str | None
    scope: tuple[str, ...]
    by: PersonId
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetsUsed:
    """What was spent, each with its limit.

    Attributes:
        retries: by the step that goes back, so many of so many.
    """

    entries: tuple[int, int]
    deviations: tuple[int, int]
    seconds: tuple[int, int]
    retries: Mapping[StepId, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """One run, whole.

    Attributes:
        inputs: as bound when it started, with secrets masked.
        outcome: None while it goes on, like everything about its end.
        findings: what a person should look at, in words.
    """

    run: RunId
    runbook: RunbookId
    title: str
    digest: Digest
    agent: PersonId
    target: str
    undoes: RunId | None
    inputs: Mapping[str, str]
    entries: tuple[EntryReport, ...]
    deviations: tuple[DeviationReport, ...]
    budgets: BudgetsUsed
    started_at: datetime
    ended_at: datetime | None
    outcome: Outcome | None
    cause: EndCause | None
    terminal: Terminal | None
    refusal: Refusal | None
    ended_by: PersonId | None
    why: str
    findings: tuple[str, ...]


def report(envelope: Envelope, events: Sequence[Event]) -> RunReport:
    """Return the report of the run whose events these are, in order, from its start on.

    Raises:
        ValueError: they do not begin with the start of a run.
    """
    started = events[0] if events else None
    if not isinstance(started, Started):
        raise ValueError("a run is told from its start on")  # noqa: TRY004 - the order is wrong, not the type
    ended = next((one for one in events if isinstance(one, Ended)), None)
    values = dict(started.inputs)
    secrets = {as_text(value) for name, value in values.items() if _is_secret(name, envelope)}
    entries: list[EntryReport] = []
    for event in events:
        if isinstance(event, Entered):
            entries.append(_entry(event, envelope, values))
        elif entries:
            entries[-1] = _told(entries[-1], event, envelope)
        if isinstance(event, Judged) and event.captured is not None:
            name, value = event.captured
            values[name] = value
            secrets |= {value} if _is_secret(name, envelope) else set()
    deviations = [_deviation(one, secrets) for one in events if isinstance(one, Deviated)]
    found = RunReport(
        run=started.run,
        runbook=started.runbook,
        title=envelope.title,
        digest=started.digest,
        agent=started.agent,
        target=started.target,
        undoes=started.undoes,
        inputs={name: _masked(name, value, envelope) for name, value in started.inputs.items()},
        entries=tuple(entries),
        deviations=tuple(deviations),
        budgets=_budgets(envelope, events, started=started),
        started_at=started.at,
        ended_at=None if ended is None else ended.at,
        outcome=None if ended is None else ended.outcome,
        cause=None if ended is None else ended.cause,
        terminal=None if ended is None else ended.terminal,
        refusal=None if ended is None else ended.refusal,
        ended_by=None if ended is None else ended.by,
        why="" if ended is None else ended.why,
        findings=(),
    )
    return replace(found, findings=tuple(_findings(found)))


def _entry(event: Entered, envelope: Envelope, values: Mapping[str, Value]) -> EntryReport:
    spec = envelope.steps[event.step].spec
    return EntryReport(
        step=event.step,
        number=event.number,
        attempt=event.attempt,
        kind=spec.kind,
        title=render_text(spec.title, values, inputs=envelope.inputs),
        risk=spec.risk,
        via=event.via,
        entered_at=event.at,
    )


def _told(entry: EntryReport, event: Event, envelope: Envelope) -> EntryReport:
    """Return what is known of an entry once `event` happened, too."""
    match event:
        case Proposed():
            asked = () if event.request is None else (event.request.id,)
            return replace(
                entry,
                verdict="require_approval" if asked else "permit",
                proposal=event.proposal,
                command=event.command,
                requests=(*entry.requests, *asked),
            )
        case Granted():
            return replace(entry, decided_by=event.grant.decided_by, decided_at=event.at)
        case Consumed():
            return replace(entry, let_go_at=event.at)
        case TakenBack():
            return replace(
                entry,
                taken_back=(*entry.taken_back, event.why),
                decided_by=None,
                decided_at=None,
                let_go_at=None,
            )
        case _:
            return _came_of(entry, event, envelope)


def _came_of(entry: EntryReport, event: Event, envelope: Envelope) -> EntryReport:
    match event:
        case WaitBegan():
            return replace(entry, wait_until=event.until)
        case WaitEnded():
            return replace(entry, cut_short_by=event.by, passed=True, judged_at=event.at)
        case Judged():
            captured = event.captured and f"{event.captured[0]} = {_masked(*event.captured, envelope)}"
            return replace(
                entry,
                passed=event.passed,
                why=event.why,
                exit_code=event.exit_code,
                captured=captured,
                judged_at=event.at,
            )
        case Ended(refusal=Refusal() as refusal):
            return replace(entry, decided_by=refusal.decided_by, decided_at=event.at)
        case _:
            return entry


def _is_secret(name: str, envelope: Envelope) -> bool:
    """Whether an input is masked; one that nothing is known of is."""
    return name not in envelope.inputs or envelope.inputs[name].secret


def _masked(name: str, value: Value, envelope: Envelope) -> str:
    return MASK if _is_secret(name, envelope) else as_text(value)


def _deviation(event: Deviated, secrets: AbstractSet[str]) -> DeviationReport:
    return DeviationReport(
        step=event.step,
        reason=event.reason,
        tool=event.tool,
        target=event.target,
        command=None if event.command is None else redact(event.command, extra=sorted(secrets)).text,
        scope=event.scope,
        by=event.by,
        at=event.at,
    )


def _budgets(envelope: Envelope, events: Sequence[Event], *, started: Started) -> BudgetsUsed:
    limits = envelope.limits
    taken = Counter(event.edge for event in events if isinstance(event, Entered))
    edges = {step: policy.spec.retry for step, policy in envelope.steps.items()}
    return BudgetsUsed(
        entries=(sum(isinstance(event, Entered) for event in events), limits.steps or 0),
        deviations=(sum(isinstance(event, Deviated) for event in events), limits.deviations),
        seconds=(int((events[-1].at - started.at).total_seconds()), limits.wall_clock_s),
        retries={step: (taken[step], retry.max) for step, retry in edges.items() if retry is not None},
    )


def _findings(found: RunReport) -> Iterator[str]:
    if found.refusal is not None and found.refusal.reason is None:
        yield f"{found.refusal.decided_by} refused {found.refusal.step_id} and has not said why."
    if found.cause is EndCause.EXPIRED:
        yield "Nobody answered in time; that is neither a yes nor a no."
    if found.cause is EndCause.LOST:
        yield f"Nobody knows how {found.entries[-1].step} ended; look at the target."
    if found.deviations:
        yield f"{len(found.deviations)} times something outside the runbook was proposed, and blocked."


# ---------------------------------------------------------------- for an attestation


def document(found: RunReport) -> dict[str, object]:
    """Return a report as JSON values; instants as ISO 8601 in UTC."""
    return {name: _json(getattr(found, name)) for name in found.__slots__}


def report_digest(found: RunReport) -> Digest:
    """Return the SHA-256 of a report in canonical JSON; any change of it changes this."""
    text = json.dumps(document(found), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return Digest(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


def _json(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat()
        case Mapping():
            return {str(name): _json(one) for name, one in value.items()}
        case tuple():
            return [_json(one) for one in value]
        case EntryReport() | DeviationReport() | BudgetsUsed() | Refusal():
            return {name: _json(getattr(value, name)) for name in value.__slots__}
        case _:
            return value
