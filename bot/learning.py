"""What sayso learned: how well runbooks and diagnostics go, what it can do since when, what it would suggest.

Gathers outcomes from the ledger and lets `gate.learning` say what they prove. The rule it owns: nothing here
grants anything. A suggestion is the words that a person would have to say, and saying them takes the phrase
that they always take (X8). A runbook that keeps failing where it used to work is named as drifting.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from bot.core import Core
from bot.inventory import Inventory
from bot.phrasing import clock_time, listed, plural
from bot.planning.library import Library
from gate import learning
from gate.domain import Digest, Risk, TargetId
from gate.learning import Asked, Drift, Rate, Suggestion, Trend
from gate.redact import redact, redact_command
from gate.shell.rules import Rules
from gate.trust_rules import objection
from ledger.guidance import GuidanceState
from ledger.learning import AnsweredView, CapabilityState, CapabilityView, TryView
from ledger.queries import Queries

#: How far back answers count for a suggestion: what people agreed to long ago is no evidence of now.
RECENT = timedelta(days=180)
#: Lines of a list in chat.
SHOWN = 8
_NOTHING = (
    "Nothing yet. It learns from what runs, and from what it is taught:"
    "  save that as a runbook  or  from now on …"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One document of the library that was used, and how it went, oldest first.

    Attributes:
        supervised: a runbook; else a diagnostic or a single action, of which each command counts, since the
            document is as it is now.
    """

    id: str
    title: str
    supervised: bool
    outcomes: tuple[bool, ...]
    times: tuple[datetime, ...]

    @property
    def rate(self) -> Rate:
        """How often it went well."""
        return Rate.of(self.outcomes)

    @property
    def drift(self) -> Drift | None:
        """Whether it keeps failing where it used to work."""
        return learning.drift(self.outcomes)

    @property
    def trend(self) -> Trend:
        """Which way it goes."""
        return learning.trend(self.outcomes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Everything that was learned, as of one moment.

    Attributes:
        skills: runbooks first, then the rest, the most used first.
        capabilities: runbooks that were kept, the oldest first, with what became of them.
        instructions, facts: how many of them count.
    """

    skills: tuple[Skill, ...]
    capabilities: tuple[CapabilityView, ...]
    suggestions: tuple[Suggestion, ...]
    instructions: int
    facts: int

    @property
    def drifting(self) -> tuple[Skill, ...]:
        """What keeps failing where it used to work."""
        return tuple(one for one in self.skills if one.drift is not None)


NOTHING = Learned(skills=(), capabilities=(), suggestions=(), instructions=0, facts=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What learning reads beside the ledger."""

    library: Library
    inventory: Inventory
    rules: Rules
    secrets: Sequence[str] = ()


def known(core: Core) -> Known:
    """Return what learning reads, of a running core."""
    return Known(library=core.library, inventory=core.inventory, rules=core.rules, secrets=core.secrets)


def learn(queries: Queries, known: Known, *, now: datetime) -> Learned:
    """Return what was learned until `now`."""
    return Learned(
        skills=tuple(_skills(queries, known.library)),
        capabilities=queries.capabilities(),
        suggestions=tuple(_suggestions(queries, known, now=now)),
        instructions=len(queries.guidance(GuidanceState.CONFIRMED)),
        facts=sum(not one.private for one in queries.live_beliefs()),
    )


def _skills(queries: Queries, library: Library) -> list[Skill]:
    runs: dict[str, list[tuple[bool, datetime]]] = defaultdict(list)
    titles: dict[str, str] = {}
    for run in queries.run_outcomes():
        runs[run.runbook].append((run.good, run.at))
        titles[run.runbook] = run.title
    commands: dict[str, list[tuple[bool, datetime]]] = defaultdict(list)
    by_revision = {one.revision: one for one in library.documents.values() if not one.supervised}
    for one in queries.command_outcomes():
        document = by_revision.get(one.revision)
        if document is not None:
            commands[document.id].append((one.good, one.at))
    found = [_skill(name, titles[name], ends, supervised=True) for name, ends in runs.items()]
    found += [
        _skill(name, library.documents[name].title, ends, supervised=False) for name, ends in commands.items()
    ]
    return sorted(found, key=lambda one: (not one.supervised, -len(one.outcomes), one.id))


def _skill(name: str, title: str, ends: Sequence[tuple[bool, datetime]], *, supervised: bool) -> Skill:
    return Skill(
        id=name,
        title=title,
        supervised=supervised,
        outcomes=tuple(good for good, _ in ends),
        times=tuple(at for _, at in ends),
    )


# ---------------------------------------------------------------- suggestions


def _suggestions(queries: Queries, known: Known, *, now: datetime) -> Iterable[Suggestion]:
    """Yield what a person might want to allow, as words; what no rule could allow is not suggested."""
    trusted = {
        (one.command, target)
        for one in queries.trust_rules()
        if one.rule.lasts(now)
        for target in one.rule.targets
    }
    groups: dict[str, list[AnsweredView]] = defaultdict(list)
    for one in queries.answered_commands(since=now - RECENT):
        if (one.command, one.target) not in trusted and _may_be_trusted(queries, known, one):
            groups[one.command].append(one)
    for command, views in groups.items():
        where = _called({one.target for one in views}, known.inventory.tags)
        together = Asked(
            command=command,
            where=where,
            answers=tuple(answer for one in views for answer in one.answers),
            ends=tuple(end for one in views for end in one.ends),
            risk=max((one.risk for one in views), key=_rank),
        )
        alone = [_asked(one) for one in views]
        # Together they have to be certain, and on none of them anybody may have had doubts.
        if all(all(one.answers) for one in alone) and (found := learning.suggest_trust(together)):
            yield found
            continue
        yield from filter(None, map(learning.suggest_trust, alone))


def _asked(one: AnsweredView) -> Asked:
    return Asked(
        command=one.command, where=(str(one.target),), answers=one.answers, ends=one.ends, risk=one.risk
    )


def _rank(risk: Risk) -> int:
    return risk.rank


def _may_be_trusted(queries: Queries, known: Known, one: AnsweredView) -> bool:
    """Whether the gate could make a rule of it at all, so that nothing is suggested that it would deny."""
    if redact_command(one.command, extra=known.secrets).count or one.target not in known.inventory.targets:
        return False
    view = queries.action(one.action)
    return objection(view.action, view.verdict, known=known.rules) is None


def _called(targets: set[TargetId], tags: Mapping[str, Sequence[TargetId]]) -> tuple[str, ...]:
    """Return how people say these targets: as one tag where it means exactly them, else by name."""
    tag = next((name for name, members in sorted(tags.items()) if set(members) == targets), None)
    if len(targets) > 1 and tag is not None:
        return (f"@{tag}",)
    return tuple(sorted(map(str, targets)))


# ---------------------------------------------------------------- before something is tried again


def before(core: Core, digest: Digest) -> str:
    """Return what to know before exactly this action is tried again; "" where it went well."""
    return caution(core.queries.tries(digest, limit=learning.REMEMBERED), secrets=core.secrets)


def caution(tries: Sequence[TryView], *, secrets: Sequence[str] = ()) -> str:
    """Return "failed 3 of the last 4 on web7: exit 1, no such unit" for a card; "" where it went well."""
    found = learning.caution([one.good for one in tries])
    if found is None:
        return ""
    last = next(one for one in reversed(tries) if not one.good)
    why = " ".join(redact(last.why, extra=secrets).text.split())[:120]
    code = "" if last.exit_code is None else f"exit {last.exit_code}"
    told = ", ".join(filter(None, (code, why)))
    return f"failed {found.failed} of the last {found.tries} on {last.target}{f': {told}' if told else ''}"


def caution_of_runbook(queries: Queries, runbook: str) -> str:
    """Return what to know before a runbook is run again, for its plan; "" where it went well."""
    outcomes = [one.good for one in queries.run_outcomes(runbook=runbook)]
    if drift := learning.drift(outcomes):
        return f"drifting: {_of(drift.lately)} lately, {_of(drift.before)} before. Look at it first."
    found = learning.caution(outcomes)
    return f"failed {found.failed} of its last {found.tries} runs" if found is not None else ""


def digest_lines(queries: Queries, *, since: datetime, until: datetime) -> list[str]:
    """Return what came to be known between two instants, each by its id, and what drifts since (N35)."""
    found = queries.knowledge(since=since, until=until)
    names = [
        f"{one.what} {one.id if one.what == 'runbook' else f'#{one.id}'}" for one in dict.fromkeys(found)
    ]
    outcomes: dict[str, list[bool]] = defaultdict(list)
    lately = set()
    for run in queries.run_outcomes():
        if run.at <= until:
            outcomes[run.runbook].append(run.good)
            lately |= {run.runbook} if run.at >= since else set()
    drifting = [name for name in sorted(lately) if learning.drift(outcomes[name]) is not None]
    return [
        *([f"learned: {listed(names, most=8)}"] if names else []),
        *([f"drifting, fails where it used to work: {', '.join(drifting)}"] if drifting else []),
    ]


# ---------------------------------------------------------------- in words


def lines(
    learned: Learned, *, zone: tzinfo, now: datetime, secrets: Sequence[str] = (), most: int | None = SHOWN
) -> list[str]:
    """Return what was learned, for people; `most` lines of each list, None for all."""
    told = [
        *_of_skills(learned, most=most),
        *_of_capabilities(learned, zone=zone, now=now, most=most),
        *_of_taught(learned),
        *(
            f"suggested: {redact(one.because, extra=secrets).text}. Say  {one.say}  if you want that."
            for one in learned.suggestions
        ),
    ]
    if not told:
        return [_NOTHING]
    return told


def _of_skills(learned: Learned, *, most: int | None) -> list[str]:
    told = [
        f"! {one.id} is drifting: {_of(one.drift.lately)} lately, {_of(one.drift.before)} before."
        for one in learned.skills
        if one.drift is not None
    ]
    for supervised, name in ((True, "runbooks"), (False, "diagnostics")):
        of_kind = [one for one in learned.skills if one.supervised is supervised]
        if of_kind:
            told.append(f"{name}, by how often they ran (ok, and the true rate with 95 % confidence):")
        told += [f"  {_skill_line(one)}" for one in of_kind[:most]]
        if len(of_kind[:most]) < len(of_kind):
            told.append(f"  … and {len(of_kind[most:])} more; sayso learning lists all")
    return told


def _skill_line(one: Skill) -> str:
    rate = one.rate
    going = "" if one.trend is Trend.STEADY else f" · gets {one.trend.value}"
    return f"{one.id} · {_of(rate)} ({rate.low:.0%}-{rate.high:.0%}){going}"


def _of(rate: Rate) -> str:
    return f"{rate.good} of {rate.total}"


def _of_capabilities(learned: Learned, *, zone: tzinfo, now: datetime, most: int | None) -> list[str]:
    if not learned.capabilities:
        return []
    told = []
    for one in learned.capabilities:
        since = clock_time(one.kept_at, zone=zone, now=now)
        until = "" if one.ended_at is None else f" until {clock_time(one.ended_at, zone=zone, now=now)}"
        how = {
            CapabilityState.KEPT: "",
            CapabilityState.REPLACED: ", replaced",
            CapabilityState.RETIRED: ", retired",
        }[one.state]
        came = f" from {listed([f'#{each}' for each in one.proposals])}" if one.proposals else ""
        told.append(f"  {one.runbook} · since {since}{until}{how} · by {one.kept_by}{came}")
    return ["can do, since when:", *(told if most is None else told[-most:])]


def _of_taught(learned: Learned) -> list[str]:
    told = [
        f"{plural(count, noun)} ({how})"
        for count, noun, how in (
            (learned.instructions, "instruction", "guidance lists them"),
            (learned.facts, "fact", "what do you know? lists them"),
        )
        if count
    ]
    return [f"was told: {', '.join(told)}"] if told else []


# ---------------------------------------------------------------- for scripts


def document(learned: Learned) -> dict[str, object]:
    """Return what was learned as JSON values."""
    return {
        "skills": [
            {
                "id": one.id,
                "title": one.title,
                "supervised": one.supervised,
                **_rate_doc(one.rate),
                "trend": one.trend.value,
                "drift": None
                if one.drift is None
                else {"before": _rate_doc(one.drift.before), "lately": _rate_doc(one.drift.lately)},
                "last_at": one.times[-1].isoformat(),
            }
            for one in learned.skills
        ],
        "capabilities": [
            {
                "id": one.id,
                "runbook": one.runbook,
                "title": one.title,
                "digest": one.digest,
                "state": one.state.value,
                "proposals": list(one.proposals),
                "kept_by": one.kept_by,
                "with_whom": one.with_whom,
                "kept_at": one.kept_at.isoformat(),
                "ended_at": None if one.ended_at is None else one.ended_at.isoformat(),
            }
            for one in learned.capabilities
        ],
        "suggestions": [{"because": one.because, "say": one.say} for one in learned.suggestions],
        "instructions": learned.instructions,
        "facts": learned.facts,
    }


def _rate_doc(rate: Rate) -> dict[str, object]:
    return {"good": rate.good, "total": rate.total, "low": round(rate.low, 4), "high": round(rate.high, 4)}
