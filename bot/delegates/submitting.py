"""Submitting: what an agent asks for becomes an ordinary proposal, or is denied; either is recorded (D20).

One batch of the ledger for each call. Limits are looked at before anything else, and counted from the ledger.
Nothing that an agent says is read as words of an operator: it is data on a card, and there is no question
back to an agent, only a denial that says what to ask for instead (K2).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot import asking, choices
from bot.answering import Speaker, record_denial
from bot.callers import Wanted, WantedRun
from bot.core import Core
from bot.delegates import limits, scope
from bot.delegates.delegate import Delegate
from bot.fanout.forming import brake_of
from bot.inventory import parts
from bot.judging import judge_all
from bot.outcome import Outcome
from bot.phrasing import shortened
from bot.planning import runbooks
from bot.planning.drafts import ActionDraft, Plan, PlanSource, Question, RunbookPlan
from bot.proposing import Asked, Denied, bind, paced, propose_judged, show_in
from bot.runbooks import runner
from bot.text import visible
from gate.digest import list_digest
from gate.domain import ProposalId, Reason, ReasonCode, RouteKind, TurnId
from gate.policy import Operator
from gate.resolve.decision import Deny
from gate.resolve.engine import Audit
from ledger import delegates as calls
from ledger.kinds import Json, Kind, LostRaceError

#: As for turns: losing a race this often means that something else is wrong.
MAX_TRIES = 8
#: The longest command, and the longest words beside it, in characters.
MAX_COMMAND, MAX_WORDS = 20_000, 2_000
#: Characters of a name that there is not.
MAX_NAME = 64
#: Targets that one call may be about.
MAX_TARGETS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What a call became.

    Attributes:
        name: the proposal or run; "" for none.
        denied: why nothing was asked for; None where something was, or is waiting already.
        outcome: what is to be done about it; None where nothing is.
    """

    name: str = ""
    denied: Reason | None = None
    outcome: Outcome | None = None


def submit(core: Core, delegate: Delegate, wanted: Wanted) -> Submitted:
    """Propose a command for `delegate`, or deny it.

    Raises:
        LedgerError: nothing was written, so nothing happens.
    """
    return recorded(core, lambda: _command(core, delegate, wanted))


def submit_run(core: Core, delegate: Delegate, wanted: WantedRun) -> Submitted:
    """Begin a run of a runbook for `delegate`, or deny it; see `submit`."""
    return recorded(core, lambda: _runbook(core, delegate, wanted))


def recorded(core: Core, compose: Callable[[], Submitted]) -> Submitted:
    """Write what `compose` makes, composed anew where it lost a race; see `submit`."""
    for attempt in range(MAX_TRIES):
        made = compose()
        if made.outcome is None or not made.outcome.drafts:
            return made
        core.probe("call.composed")
        try:
            core.ledger.append(made.outcome.batch())
        except LostRaceError:
            if attempt == MAX_TRIES - 1:
                raise
            continue
        core.probe("call.recorded")
        return made
    raise AssertionError("unreachable: the last try raises")


# ---------------------------------------------------------------- one call


@dataclass(slots=True, kw_only=True)
class _Call:
    """One call on its way to its record."""

    core: Core
    delegate: Delegate
    outcome: Outcome
    tool: str
    words: dict[str, str]
    audit: Audit | None = None

    def made(self, name: str, *, how: str) -> Submitted:
        """Record that it became `name`."""
        self._write(how, subject=name)
        return Submitted(name=name, outcome=self.outcome)

    def denied(self, reason: Reason, *, target: str = "") -> Submitted:
        """Record that it was denied, and why; nothing of what was composed stays."""
        fresh = new_outcome(self.core, self.delegate)
        self.outcome = fresh
        record_denial(
            fresh,
            reason,
            person=self.delegate.id,
            said=self.words.get("purpose", ""),
            command=self.words.get("command", ""),
            target=target,
        )
        self._write(calls.DENIED, code=reason.code)
        return Submitted(denied=reason, outcome=fresh)

    def limited(self, reason: Reason) -> Submitted:
        """Deny one call too many; that is recorded once an hour, so that a loop fills no disk."""
        if self.core.queries.was_limited(self.delegate.id, since=self.outcome.at - limits.HOUR):
            return Submitted(denied=reason)
        self._write(calls.LIMITED, code=reason.code)
        return Submitted(denied=reason, outcome=self.outcome)

    def _write(self, how: str, *, subject: str = "", code: ReasonCode | None = None) -> None:
        body: dict[str, Json] = {
            "agent": self.delegate.id,
            "on_behalf": self.delegate.on_behalf,
            "tool": self.tool,
            "how": how,
            "subject": subject,
            "code": None if code is None else code.value,
            "place": self.outcome.place,
            "audit": None if self.audit is None else dict(self.audit.body()),
            "rehearsal": self.core.rehearsal,
        }
        words = {name: text for name, text in self.words.items() if text}
        self.outcome.write(Kind.DELEGATE_ASKED, correlation_id=subject, body=body, words=words)


def new_outcome(core: Core, delegate: Delegate) -> Outcome:
    """Return the outcome of a call, in the place of its agent."""
    return Outcome(
        at=core.now(),
        place=core.place_of(delegate.place),
        turn=TurnId(core.ids.token()),
        new_nonce=core.ids.token,
    )


def _purpose(purpose: str, task: str) -> str:
    """Return what people read of an agent's own words, in one line."""
    words, about = (" ".join(one.split()) for one in (purpose, task))
    return f"{words} (task: {about})" if about else words


# ---------------------------------------------------------------- commands


def _command(core: Core, delegate: Delegate, wanted: Wanted) -> Submitted:
    outcome = new_outcome(core, delegate)
    words = {
        "purpose": wanted.purpose,
        "task": wanted.task,
        "command": wanted.command,
        "verify": wanted.verify,
        "target": wanted.target,
        "declared_risk": wanted.declared_risk,
    }
    call = _Call(core=core, delegate=delegate, outcome=outcome, tool=scope.TOOL, words=_cut(words))
    if (over := limits.over(core, delegate, outcome)) is not None:
        return call.limited(over)
    if (reason := _unfit(wanted) or limits.too_low(core)) is not None:
        return call.denied(reason)
    targets = _targets(core, delegate, wanted.target)
    if isinstance(targets, Reason):
        return call.denied(targets, target=_named(wanted.target))
    draft = ActionDraft(
        target_words=targets,
        command=wanted.command,
        purpose=_purpose(wanted.purpose, wanted.task),
        timeout_s=wanted.timeout_s,
        verify=wanted.verify or None,
        declared_risk=wanted.declared_risk,
    )
    return _proposed(call, (draft,))


def _proposed(call: _Call, drafts: tuple[ActionDraft, ...]) -> Submitted:
    """Put drafts to the gate, first to its question about agents, and propose them."""
    core, delegate = call.core, call.delegate
    bound = bind(core, drafts, proposal=ProposalId(core.ids.short_id()))
    if isinstance(bound, Denied):
        return call.denied(bound.reason, target=bound.target)
    judged = judge_all(core, bound)
    authorized = scope.ask(core, delegate, [(one.action, one.verdict) for one in judged])
    call.audit = authorized.audit
    if isinstance(authorized.decision, Deny):
        return call.denied(authorized.decision.reason, target=str(bound[0].target.id))
    pace, selector = paced(drafts)
    digest = list_digest([one.digest for one in judged], brake_of(judged, pace))
    for pending in core.queries.pending():
        if pending.requester == delegate.id and pending.list_digest == digest:
            return Submitted(name=pending.proposal)  # said twice, as after a lost connection: asked once
    waits = scope.waits(core, delegate.id)
    asks = bool(waits) or any(one.route.kind is not RouteKind.AUTO for one in judged)
    if (crowded := limits.crowded(core, delegate, asks=asks)) is not None:
        return call.denied(crowded)
    outcome = call.outcome
    asked = Asked(
        requester=delegate.id,
        on_behalf=delegate.on_behalf,
        place=outcome.place,
        shown_in=outcome.place,
        source=PlanSource.AGENT.value,
        waits=waits,
        quiet=delegate.quiet,
        pace=pace,
        selector=selector,
    )
    made = propose_judged(core, outcome, judged, asked)
    if isinstance(made, Denied):
        return call.denied(made.reason, target=made.target)
    if made in outcome.shows:
        show_in(outcome, made, place=outcome.place)
    return call.made(made, how=calls.PROPOSED)


def _unfit(wanted: Wanted) -> Reason | None:
    """Return what is wrong with a call before anything of it is read."""
    if not wanted.purpose.strip():
        return Reason(code=ReasonCode.EMPTY_PURPOSE, text="No purpose was given. Say what it is for.")
    timeout = wanted.timeout_s
    checks = (
        (not wanted.command.strip(), "No command was given."),
        (not wanted.target.strip(), "No target was given. targets lists yours."),
        (len(wanted.command) > MAX_COMMAND, f"A command may hold up to {MAX_COMMAND} characters."),
        (len(wanted.verify) > MAX_WORDS, f"A verify command may hold up to {MAX_WORDS} characters."),
        (
            max(map(len, (wanted.purpose, wanted.task, wanted.target, wanted.declared_risk))) > MAX_WORDS,
            f"purpose, task, target and declared_risk may hold up to {MAX_WORDS} characters each.",
        ),
        (timeout is not None and not 1 <= timeout <= 86_400, "A timeout lies between 1 s and 24 h."),  # noqa: PLR2004 - as it says
    )
    why = next((text for applies, text in checks if applies), None)
    return None if why is None else Reason(code=ReasonCode.UNFIT, text=f"Not asked for. {why}")


def _cut(words: dict[str, str]) -> dict[str, str]:
    """Return words as they are kept: of what is too long, its beginning."""
    return {name: text[: MAX_COMMAND if name == "command" else MAX_WORDS] for name, text in words.items()}


def _targets(core: Core, delegate: Delegate, spoken: str) -> tuple[str, ...] | Reason:
    """Return the targets that `spoken` names, or the same refusal for unknown ones and for others' (N6).

    It repeats what the agent said and no more, since a tag or "all" stands for names that it may not know.
    """
    if beyond := [one for one in parts(spoken) if not _is_theirs(core, delegate, one)]:
        text = f"Not asked for: {_named(', '.join(beyond))} is no target of yours. targets lists them."
        return Reason(code=ReasonCode.OUT_OF_SCOPE, text=text)
    found = core.inventory.select(spoken)
    if not isinstance(found, tuple):  # nothing but blanks and commas
        return Reason(code=ReasonCode.UNFIT, text="Not asked for. No target was given. targets lists yours.")
    if len(found) > MAX_TARGETS:
        text = f"Not asked for: one request may be about {MAX_TARGETS} targets."
        return Reason(code=ReasonCode.UNFIT, text=text)
    return tuple(str(one.id) for one in found)


def _is_theirs(core: Core, delegate: Delegate, word: str) -> bool:
    found = core.inventory.select(word)
    return isinstance(found, tuple) and all(one.id in delegate.targets for one in found)


def _named(spoken: str) -> str:
    """Return what an agent took for a name, as far as that goes into a reason: its words are kept apart."""
    return shortened(visible(" ".join(spoken.split())), most=MAX_NAME)


# ---------------------------------------------------------------- runbooks


def _runbook(core: Core, delegate: Delegate, wanted: WantedRun) -> Submitted:
    outcome = new_outcome(core, delegate)
    words = {
        "purpose": wanted.purpose,
        "task": wanted.task,
        "target": wanted.target,
        "runbook": wanted.runbook,
    }
    call = _Call(core=core, delegate=delegate, outcome=outcome, tool="start_runbook", words=_cut(words))
    if (over := limits.over(core, delegate, outcome)) is not None:
        return call.limited(over)
    if (reason := _unfit_run(core, wanted) or limits.too_low(core)) is not None:
        return call.denied(reason)
    targets = _targets(core, delegate, wanted.target) if wanted.target.strip() else ()
    if isinstance(targets, Reason):
        return call.denied(targets, target=_named(wanted.target))
    document = core.library.documents[wanted.runbook]
    read = asking.planned(core, runbooks.written(document, wanted.inputs, targets=targets))
    if isinstance(read, Plan):
        purpose = _purpose(wanted.purpose, wanted.task)
        return _proposed(call, tuple(replace(one, purpose=purpose) for one in read.drafts))
    if not isinstance(read, RunbookPlan):
        text = read.text if isinstance(read, Question) else f"{document.id} cannot be read that way."
        return call.denied(_unclear(core, text))
    return _begun(call, read, wanted)


def _begun(call: _Call, plan: RunbookPlan, wanted: WantedRun) -> Submitted:
    core, delegate, outcome = call.core, call.delegate, call.outcome
    lacking = [*plan.missing, *plan.wrong]
    if lacking:
        return call.denied(
            _unclear(core, f"{plan.document.id} needs fitting values of: {', '.join(lacking)}.")
        )
    if len(plan.target_words) != 1 and (plan.target_words or plan.document.needs_target):
        return call.denied(_unclear(core, "A run is on one target. Name it."))
    if (crowded := limits.crowded(core, delegate, asks=True)) is not None:
        return call.denied(crowded)
    speaker = Speaker(
        operator=Operator(id=delegate.id), said=wanted.purpose, event=outcome.turn, zone=core.zone
    )
    runner.start(core, outcome, speaker, plan, said=_purpose(wanted.purpose, wanted.task))
    run = next((one.body for one in outcome.drafts if one.kind is Kind.RUN_STARTED), None)
    if run is None:
        denial = next(one.body for one in outcome.drafts if one.kind is Kind.REQUEST_DENIED)
        return call.denied(_unclear(core, str(denial["reason"])))
    outcome.window = None
    for shown in outcome.shows:
        show_in(outcome, shown, place=outcome.place)
    return call.made(str(run["run"]), how=calls.RUN)


def _unfit_run(core: Core, wanted: WantedRun) -> Reason | None:
    known = core.library.documents
    checks = (
        (not wanted.purpose.strip(), "No purpose was given. Say what it is for."),
        (wanted.runbook not in known, "There is no such runbook."),
        (
            max(map(len, (wanted.purpose, wanted.task, wanted.target, *wanted.inputs.values()))) > MAX_WORDS,
            f"purpose, task, target and each input may hold up to {MAX_WORDS} characters.",
        ),
    )
    why = next((text for applies, text in checks if applies), None)
    if why is None and not set(wanted.inputs) <= set(known[wanted.runbook].inputs):
        names = ", ".join(known[wanted.runbook].inputs) or "none"
        why = f"The inputs of {wanted.runbook} are: {names}."
    return None if why is None else Reason(code=ReasonCode.UNFIT, text=f"Not asked for. {why}")


def _unclear(core: Core, text: str) -> Reason:
    return Reason(code=ReasonCode.ASK_IN_CHAT, text=f"Not asked for. {choices.masked(core, text)}")
