"""Reports of runs for people: JSON, readable Markdown and a timeline in text (R23).

`gate.supervise.report` says what happened; here it is looked up, masked once more with the secrets of this
installation, and written out. Nothing is sent anywhere: a caller that was asked for a report gets it as text
(C18). Signing it is `bot.runbooks.attest`'s business.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.phrasing import duration, plural
from bot.runbooks.owed import with_reason
from bot.text import visible
from gate.redact import redact, redact_command
from gate.supervise import envelope, report
from gate.supervise.binding import as_text
from gate.supervise.domain import RunbookId, RunbookSpec, StepId, StepKind, StepSpec
from gate.supervise.events import EndCause, Ended, Entered, Event, Judged, Started
from gate.supervise.report import DeviationReport, EntryReport, RunReport
from ledger.queries import Queries

FORMAT = "sayso-run-report/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A run, told.

    Attributes:
        exact: the words of its runbook are kept; else titles of its steps are not known, and every input is
            masked.
        knowledge: what was learned from it: ids of runbooks that were kept.
    """

    report: RunReport
    exact: bool
    knowledge: tuple[str, ...] = ()


def tell(queries: Queries, run: str, *, secrets: Sequence[str]) -> Told | None:
    """Return the report of a run, secrets masked; None where there is no such run."""
    events = _explained(queries, run)
    started = events[0] if events else None
    if not isinstance(started, Started):
        return None
    spec = queries.run_spec(run)
    found = _bare(started, events) if spec is None else spec
    told = report.report(envelope.derive(found, posture=started.posture), events)
    made = {one.proposal for one in told.entries if one.proposal}
    hidden = [*secrets, *_secrets(found, started, events)]
    learned = [
        str(one.runbook) for one in queries.capabilities() if made.intersection(map(str, one.proposals))
    ]
    return Told(report=_masked(told, hidden), exact=spec is not None, knowledge=tuple(dict.fromkeys(learned)))


def _explained(queries: Queries, run: str) -> tuple[Event, ...]:
    """Return what happened to a run, the reason of its refusal with it though it was given later."""
    view, events = queries.run(run), queries.run_events(run)
    return tuple(
        with_reason(queries, view, one) or one if view is not None and isinstance(one, Ended) else one
        for one in events
    )


def _secrets(spec: RunbookSpec, started: Started, events: Iterable[Event]) -> Iterable[str]:
    """Yield the values of secret inputs, which a command may have told anywhere."""
    captured = [one.captured for one in events if isinstance(one, Judged) and one.captured is not None]
    for name, value in (*started.inputs.items(), *captured):
        if name in spec.inputs and spec.inputs[name].secret:
            yield as_text(value)


def _bare(started: Started, events: Iterable[Event]) -> RunbookSpec:
    """Return what the events alone know of a runbook whose words were pruned: its steps by their ids."""
    ids = dict.fromkeys([started.first, *(one.step for one in events if isinstance(one, Entered))])
    steps = tuple(StepSpec(id=StepId(one), kind=StepKind.NOTE, title=str(one)) for one in ids)
    title = str(started.runbook)
    return RunbookSpec(id=RunbookId(started.runbook), title=title, digest=started.digest, steps=steps)


# ---------------------------------------------------------------- masking


def _masked(told: RunReport, secrets: Sequence[str]) -> RunReport:
    """Mask whatever looks like a secret, or is one, in everything that people or programs wrote."""

    def words(text: str) -> str:
        return redact(text, extra=secrets).text

    def command(text: str | None) -> str | None:
        return None if text is None else redact_command(text, extra=secrets).text

    def entry(one: EntryReport) -> EntryReport:
        return replace(
            one,
            title=words(one.title),
            command=command(one.command),
            taken_back=tuple(map(words, one.taken_back)),
            why=words(one.why),
            captured=None if one.captured is None else words(one.captured),
        )

    def deviation(one: DeviationReport) -> DeviationReport:
        return replace(one, tool=words(one.tool), target=words(one.target), command=command(one.command))

    refusal = told.refusal
    if refusal is not None and refusal.reason is not None:
        refusal = replace(refusal, reason=words(refusal.reason))
    return replace(
        told,
        inputs={name: words(value) for name, value in told.inputs.items()},
        entries=tuple(map(entry, told.entries)),
        deviations=tuple(map(deviation, told.deviations)),
        refusal=refusal,
        why=words(told.why),
    )


# ---------------------------------------------------------------- JSON


def document(told: Told) -> dict[str, Any]:
    """Return a report as JSON values, which is what an attestation covers."""
    return {
        "format": FORMAT,
        "exact": told.exact,
        "knowledge": list(told.knowledge),
        **report.document(told.report),
    }


def as_json(told: Told) -> str:
    """Return a report as JSON, keys in order, for people and programs."""
    return f"{json.dumps(document(told), ensure_ascii=False, indent=2)}\n"


# ---------------------------------------------------------------- Markdown

_ENDS: Mapping[EndCause, str] = {
    EndCause.TERMINAL: "its document ends there",
    EndCause.REFUSED: "refused",
    EndCause.EXPIRED: "nobody answered in time",
    EndCause.ABORTED: "stopped by a person",
    EndCause.BUDGET: "a budget was spent",
    EndCause.DEVIATIONS: "too much outside the runbook was proposed",
    EndCause.LOST: "the end of a step is unknown",
    EndCause.ESCALATED: "it could not go on by itself",
}


def as_markdown(told: Told) -> str:
    """Return a report to be read: what ran, who agreed, what came of it."""
    one = told.report
    lines = [
        f"# Run {one.run}: {_md(one.title)}",
        "",
        f"**{_ending(one)}**",
        "",
        f"- runbook `{one.runbook}`, digest `{one.digest[:12]}`",
        f"- target {_md(one.target) or 'none of its own'}, run by {_md(one.agent)}",
        f"- {_when(one.started_at)} to {'now' if one.ended_at is None else _when(one.ended_at)}",
    ]
    if one.undoes is not None:
        lines.append(f"- rolls back run {one.undoes}")
    lines += [f"- input `{name}`: {_code(value)}" for name, value in one.inputs.items()]
    if not told.exact:
        lines.append("- the words of the runbook are gone, so titles are not known and inputs are masked")
    lines += _section("Findings", [f"- {_md(words)}" for words in one.findings])
    lines += ["", "## Steps", ""]
    for entry in one.entries:
        lines += _entry(entry)
    if not one.entries:
        lines.append("No step was entered.")
    lines += _section("Deviations", [_deviation(each) for each in one.deviations])
    lines += _section("Knowledge", [f"- runbook `{name}` was kept from it" for name in told.knowledge])
    lines += ["", "## Budgets", "", *_budgets(one)]
    return "\n".join(lines) + "\n"


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines] if lines else []


def _ending(one: RunReport) -> str:
    if one.outcome is None or one.cause is None:
        return "It goes on."
    by = f" by {one.ended_by}" if one.ended_by is not None else ""
    terminal = f" at end:{one.terminal.value}" if one.terminal is not None else ""
    why = f": {one.why}" if one.why else ""
    if one.refusal is not None:
        reason = "no reason given" if one.refusal.reason is None else f'"{one.refusal.reason}"'
        return _md(
            f"{one.outcome.value}: {one.refusal.decided_by} refused {one.refusal.step_id}, {reason}{why}"
        )
    return _md(f"{one.outcome.value}{terminal}: {_ENDS[one.cause]}{by}{why}")


def _entry(one: EntryReport) -> list[str]:
    again = f", attempt {one.attempt}" if one.attempt > 1 else ""
    lines = [f"### {one.number}. {_md(one.title)}{again}", ""]
    if one.command is not None:
        lines += [*_fenced(one.command), ""]
    lines += [f"- {_md(words)}" for words in _facts(one)]
    return [*lines, ""]


def _facts(one: EntryReport) -> Iterable[str]:
    """Yield what is known of an entry, each as a sentence's worth of words."""
    entered = f"entered {_when(one.entered_at)} by {one.via.value}"
    yield f"`{one.step}`, {one.kind.value}, {one.risk.value}, {entered}"
    if one.verdict:
        asked = f", proposal #{one.proposal}" if one.proposal else ""
        yield f"{'asked' if one.verdict == 'require_approval' else 'permitted'}{asked}"
    if one.decided_by is not None and one.decided_at is not None:
        verb = "agreed" if one.let_go_at is not None or one.passed is not None else "decided"
        yield f"{one.decided_by} {verb}, {_when(one.decided_at)}"
    yield from (f"taken back: {words}" for words in one.taken_back)
    if one.wait_until is not None:
        cut = f", cut short by {one.cut_short_by}" if one.cut_short_by is not None else ""
        yield f"waited until {_when(one.wait_until)}{cut}"
    if one.passed is not None:
        code = f", exit {one.exit_code}" if one.exit_code is not None else ""
        why = f": {one.why}" if one.why else ""
        yield f"{'passed' if one.passed else 'failed'}{code}{why}"
    if one.captured is not None:
        yield f"captured {one.captured}"


def _deviation(one: DeviationReport) -> str:
    where = f"in `{one.step}`" if one.step is not None else "after the end"
    command = f": {_code(one.command)}" if one.command is not None else ""
    what = f"{_md(one.by)} proposed {_md(one.tool)} on {_md(one.target)}{command}"
    return f"- {_when(one.at)} {where}, {what}, blocked: {_md(one.reason)}"


def _budgets(one: RunReport) -> list[str]:
    spent = one.budgets
    lines = [
        f"- entries {spent.entries[0]} of {spent.entries[1]}",
        f"- deviations {spent.deviations[0]} of {spent.deviations[1]}",
        f"- time {duration(spent.seconds[0])} of {duration(spent.seconds[1])}",
    ]
    return [
        *lines,
        *(f"- retries of `{step}` {used} of {most}" for step, (used, most) in spent.retries.items()),
    ]


_MARKED = str.maketrans({char: f"\\{char}" for char in "\\*_[]<>#|"})


def _md(text: str) -> str:
    """Return words on one line that Markdown takes as words; code spans in them stay."""
    parts = " ".join(visible(str(text)).split()).split("`")
    if len(parts) % 2 == 0:  # a lone backtick
        return "\\`".join(part.translate(_MARKED) for part in parts)
    return "`".join(part if index % 2 else part.translate(_MARKED) for index, part in enumerate(parts))


def _code(text: str) -> str:
    """Return words as a code span, whatever is in them."""
    shown = " ".join(visible(text).split()) or " "
    ticks = "`" * (_longest(shown) + 1)
    edge = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{edge}{shown}{edge}{ticks}"


def _fenced(text: str) -> list[str]:
    """Return text as a code block, whatever is in it."""
    shown = visible(text)
    fence = "`" * max(3, _longest(shown) + 1)
    return [f"{fence}sh", *shown.split("\n"), fence]


def _longest(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, "".join(char if char == "`" else " " for char in text).split()), default=0)


# ---------------------------------------------------------------- timeline


def as_timeline(told: Told) -> str:
    """Return what happened when, a line each, in order."""
    one = told.report
    moments = [(one.started_at, f"run {one.run} of {one.runbook} began on {one.target or 'its own targets'}")]
    for entry in one.entries:
        moments += _moments(entry)
    moments += [(each.at, f"  ! blocked: {each.reason}") for each in one.deviations]
    if one.ended_at is not None:
        moments.append((one.ended_at, f"ended: {_ending(one)}"))
    moments.sort(key=lambda moment: moment[0])
    spent = "" if one.ended_at is None else f" in {duration((one.ended_at - one.started_at).total_seconds())}"
    lines = [f"{at.strftime('%H:%M:%S')}  {' '.join(visible(words).split(' '))}" for at, words in moments]
    head = f"{one.started_at.strftime('%Y-%m-%d')} UTC, {plural(len(one.entries), 'step')}{spent}"
    return "\n".join([head, *lines]) + "\n"


def _moments(one: EntryReport) -> list[tuple[datetime, str]]:
    name = f"{one.number}. {one.step}"
    found = [(one.entered_at, f"  {name} entered ({one.via.value})")]
    if one.decided_at is not None:
        found.append((one.decided_at, f"  {name} decided by {one.decided_by}"))
    if one.let_go_at is not None:
        found.append((one.let_go_at, f"  {name} let go"))
    if one.judged_at is not None:
        mark = "passed" if one.passed else "FAILED"
        code = f", exit {one.exit_code}" if one.exit_code is not None else ""
        found.append((one.judged_at, f"  {name} {mark}{code}"))
    return found


def _when(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")
