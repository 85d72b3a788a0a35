"""Acting: what is done about a signal, as far as `signals.autonomy` lets it (N40, M, D20).

Notes it, asks, proposes or runs; a proposal is the ordinary one, judged, routed and started like any other,
so that posture, trust rules, switches, `never_auto_act` and frozen targets win over this dial. The same match
is acted on once in a group. Whatever is not certain, or comes too often, is lowered to a question or a note,
and the card says why.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta

from bot import choices
from bot.answering import Speaker, record_denial
from bot.core import Core
from bot.outcome import Outcome
from bot.planning import runbooks
from bot.planning.binding import BindingError, bind
from bot.planning.drafts import ActionDraft, PlanSource, RunbookPlan
from bot.proposing import Asked, Denied, propose, show_in
from bot.proposing import bind as bind_drafts
from bot.runbooks import runner
from bot.signals import wording
from bot.signals.dial import DIAL
from bot.signals.matching import Matched, match
from gate.autonomy import Level, at_least
from gate.domain import PersonId, ProposalId
from gate.policy import Operator
from gate.signals import Reach, Signal, reach
from gate.supervise.domain import DECLARED
from ledger.kinds import Json, Kind, SwitchesAre
from ledger.signal_views import How, SignalActView

#: Of one group, so many matches are acted on; of more it is only said that they are there.
MOST_MATCHES = 5
_MORE = "more"
_HOUR = timedelta(hours=1)

_Named = tuple[str, Signal]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """Signals of one group that are to be handled.

    Attributes:
        signals: (id, signal) of each, at least one.
        acts: what was done in this group before.
        firing: ids of those of the group that fired before; what was done about others only is over.
        storm, late: as in `gate.signals.reach`.
    """

    group: str
    signals: Sequence[_Named]
    acts: Sequence[SignalActView] = ()
    firing: AbstractSet[str] = frozenset()
    storm: bool = False
    late: bool = False

    @property
    def source(self) -> str:
        """Where they come from; it is one for all of a group."""
        return self.signals[0][1].source


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One match, the signals that it is of, and how far it may go. None matched: there are too many."""

    group: str
    key: str
    matched: Matched | None
    signals: Sequence[_Named]
    level: Level
    because: str

    @property
    def signal(self) -> Signal:
        return self.signals[0][1]

    def permits(self, level: Level) -> bool:
        return at_least(self.level, level)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What was done; `ref` names it, `note` says more."""

    how: How
    ref: str = ""
    note: str = ""


def handle(core: Core, outcome: Outcome, fired: Fired) -> None:
    """Do what may be done about `fired`, and show its card."""
    outcome.expect(SwitchesAre(core.queries.switch_seq()))
    cases = _cases(core, fired)
    shown = any(one.level != Level.OFF for one in fired.acts)
    if shown:
        outcome.refresh(ProposalId(fired.group), place=outcome.place)
    elif any(case.permits(Level.ADVISE) for case in cases):
        outcome.card(ProposalId(fired.group), place=outcome.place)
    for case in cases:
        done = _do(core, outcome, case) if case.permits(Level.ADVISE) else _Done(how=How.NOTED)
        _write(outcome, case, done)


def _cases(core: Core, fired: Fired) -> list[_Case]:
    """Return what is new in this group, a match each."""
    found: dict[str, tuple[Matched, list[_Named]]] = {}
    for name, signal in fired.signals:
        matched = match(core, signal)
        found.setdefault(matched.key, (matched, []))[1].append((name, signal))
    before = {one.key for one in fired.acts if fired.firing & set(one.signals)}
    fresh = [one for key, one in found.items() if key not in before]
    room = max(0, MOST_MATCHES - len(before))
    cases = [_case(core, fired, *one) for one in fresh[:room]]
    if len(fresh) > room and _MORE not in before:
        cases.append(_too_many(core, fired, [one for _, named in fresh[room:] for one in named]))
    return cases


def _case(core: Core, fired: Fired, matched: Matched, signals: Sequence[_Named]) -> _Case:
    dial = core.settings.value(DIAL)
    most = core.settings.number("signals.acts_per_hour")
    within = reach(
        dial.level,
        source=fired.source,
        storm=fired.storm,
        late=fired.late,
        spent=core.queries.acts_since(core.now() - _HOUR) >= most,
        sure=matched.is_sure,
    )
    if within.level is Level.RUN and not (matched.by_rule or matched.reads):
        # Its name says what is wrong; what is to be changed about that says a rule of the owner.
        within = Reach(level=Level.ASK, because="it changes something, and no rule of yours says to do that")
    return _Case(
        group=fired.group,
        key=matched.key,
        matched=matched,
        signals=signals,
        level=within.level,
        because=within.because or dial.lowered or f"{DIAL} {within.level}",
    )


def _too_many(core: Core, fired: Fired, more: Sequence[_Named]) -> _Case:
    within = reach(core.settings.value(DIAL).level, source=fired.source, storm=True)
    because = f"{len(more)} more of this group match something else; of one group {MOST_MATCHES} are acted on"
    return _Case(
        group=fired.group, key=_MORE, matched=None, signals=more, level=within.level, because=because
    )


def _write(outcome: Outcome, case: _Case, done: _Done) -> None:
    matched = case.matched
    document = None if matched is None else matched.document
    body: dict[str, Json] = {
        "group": case.group,
        "signals": [name for name, _ in case.signals],
        "how": done.how.value,
        "ref": done.ref,
        "key": case.key,
        "level": case.level.value,
        "target": "" if matched is None else matched.target.name,
        "document": "" if document is None else document.id,
        "confidence": 0
        if matched is None
        else round(min(matched.target.confidence, matched.what.confidence), 2),
    }
    words = {"matched": "" if matched is None else matched.words, "note": done.note}
    outcome.write(Kind.SIGNAL_HANDLED, correlation_id=case.group, body=body, words=words)


# ---------------------------------------------------------------- by level


def _do(core: Core, outcome: Outcome, case: _Case) -> _Done:
    matched = case.matched
    if matched is None:
        return _Done(how=How.NOTED, note=f"{case.because}.")
    if case.permits(Level.PROPOSE) and matched.is_sure:
        return _propose(core, outcome, case, matched)
    if case.permits(Level.ASK) and matched.options:
        return _ask(core, outcome, case, matched)
    hints = [request for _, request in matched.options]
    note = f"Nothing runs by itself ({case.because})."
    return _Done(how=How.NOTED, note="\n".join([note, *(f"To do it, say:  {one}" for one in hints)]))


def _ask(core: Core, outcome: Outcome, case: _Case, matched: Matched) -> _Done:
    """Ask whoever reads it: what they press is a request of theirs, and passes the gate like any other."""
    choice = choices.Choice(
        question=f"{wording.reports(core, case.signal)}. Do something about it? ({case.because})",
        options=matched.options,
        open_s=core.policy.clarification_s,
        said=wording.purpose(core, case.signal),
    )
    choices.ask(core, outcome, _speaker(core, case), choice)
    asked = next(one for one in reversed(outcome.drafts) if one.kind is Kind.CLARIFICATION_ASKED)
    return _Done(how=How.ASKED, ref=str(asked.body["clarification"]))


def _propose(core: Core, outcome: Outcome, case: _Case, matched: Matched) -> _Done:
    document = matched.document
    if document is not None and document.supervised:
        return _start(core, outcome, case, matched)
    drafts = _drafts(core, case, matched)
    bound = bind_drafts(core, drafts, proposal=ProposalId(core.ids.short_id())) if drafts else None
    if bound is None:
        return _Done(how=How.DENIED, note="Its inputs do not fit. Nothing ran.")
    if not isinstance(bound, Denied):
        asked = Asked(
            requester=_requester(case),
            place=outcome.place,
            shown_in=outcome.place,
            source=PlanSource.ALERT.value,
            waits="" if case.permits(Level.RUN) else case.because,
        )
        made = propose(core, outcome, bound, asked)
        if not isinstance(made, Denied):
            if made in outcome.shows:
                show_in(outcome, made, place=outcome.place)
            return _Done(how=How.PROPOSED, ref=made)
        bound = made
    record_denial(
        outcome,
        bound.reason,
        person=_requester(case),
        said=wording.purpose(core, case.signal),
        command=bound.command,
        target=bound.target,
    )
    return _Done(how=How.DENIED, note=bound.reason.text)


def _drafts(core: Core, case: _Case, matched: Matched) -> tuple[ActionDraft, ...]:
    """Return the commands of a match; () where its values do not fit after all."""
    purpose, where = wording.purpose(core, case.signal), (matched.target.name,)
    document = matched.document
    if document is None:
        verify = matched.verify or None
        return (ActionDraft(target_words=where, command=matched.command, purpose=purpose, verify=verify),)
    defaults = {name: one.default for name, one in document.inputs.items() if one.default is not None}
    values = {**defaults, **matched.values}
    try:
        return tuple(
            ActionDraft(
                target_words=where,
                command=bind(step.command, values, inputs=document.inputs),
                purpose=purpose,
                timeout_s=step.timeout_s,
                declared_risk=DECLARED[step.risk],
                runbook=f"{document.revision}#{step.id}",
            )
            for step in document.steps
        )
    except BindingError:
        return ()


def _start(core: Core, outcome: Outcome, case: _Case, matched: Matched) -> _Done:
    """Start a run; every step of it waits for a yes unless the dial lets them run (`waits`)."""
    if matched.document is None:
        raise TypeError("nothing to start")
    plan = runbooks.filled(matched.document, matched.values, targets=(matched.target.name,))
    if not isinstance(plan, RunbookPlan) or plan.missing or plan.wrong:
        return _Done(how=How.DENIED, note="Its inputs do not fit. Nothing ran.")
    before = len(outcome.drafts)
    runner.start(core, outcome, _speaker(core, case), plan, said=wording.purpose(core, case.signal))
    begun = next((one for one in outcome.drafts[before:] if one.kind is Kind.RUN_STARTED), None)
    if begun is None:
        return _Done(how=How.DENIED, note="The runbook did not begin; why is said below.")
    return _Done(how=How.RUN, ref=str(begun.body["run"]))


def _requester(case: _Case) -> PersonId:
    return wording.requester(case.signal.source)


def _speaker(core: Core, case: _Case) -> Speaker:
    """Return who asks: nobody who may anything."""
    return Speaker(
        operator=Operator(id=_requester(case)),
        said=wording.purpose(core, case.signal),
        event="",
        zone=core.zone,
    )
