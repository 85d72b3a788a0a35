"""Repairing: what follows a failed command, as far as `repair.autonomy` lets it (M4, M15).

Says a likely reason, asks whether to look, proposes a look, or looks at once. The rules it owns: what it
looks with is judged read-only by the gate or is not shown at all, at no level does anything change a target,
and nothing follows a look of its own. It comes after the end of the command is recorded; a process that dies
in between leaves it out.
"""

from dataclasses import dataclass

from bot import choices
from bot.answering import Speaker
from bot.core import Core
from bot.judging import judge
from bot.loading.repairs import Likely, diagnose, load_repairs
from bot.outcome import Outcome
from bot.planning.binding import BindingError, bind
from bot.planning.drafts import ActionDraft
from bot.proposing import Asked, Denied, propose
from bot.proposing import bind as bind_drafts
from bot.settings.layers import Resolved
from bot.text import Text
from gate.autonomy import Level, at_least
from gate.domain import Action, ActionId, ProposalId, Risk, TurnId
from gate.lifecycle import ActionState
from gate.supervise.domain import DECLARED
from ledger.kinds import Kind
from ledger.views import ActionView, ProposalView

#: Where the proposals of this module come from, in the record.
SOURCE = "repair"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """A failed command, and how far the dial lets sayso go about it."""

    view: ProposalView
    one: ActionView
    likely: Likely
    dial: Resolved

    def permits(self, level: Level) -> bool:
        return at_least(self.dial.level, level)

    @property
    def because(self) -> str:
        """Why a look waits, for its card."""
        return f"repair.autonomy: {self.dial.lowered}" if self.dial.lowered else "repair.autonomy propose"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What shows more of a failure. `said` asks for it in words: below propose no command is handed out."""

    action: Action
    said: str


def follow(core: Core, action: ActionId) -> tuple[ProposalId, ...]:
    """Say, ask or propose what follows if `action` failed; return the proposals that may move.

    Raises:
        LedgerUnwritableError: nothing follows.
    """
    failure = _failure(core, action)
    if failure is None:
        return ()
    outcome = Outcome(
        at=core.now(), place=failure.view.shown_in, turn=TurnId(core.ids.token()), new_nonce=core.ids.token
    )
    _compose(core, outcome, failure)
    window = outcome.window if not core.queries.pending() else None
    outcome.write(
        Kind.TURN_ANSWERED,
        correlation_id=failure.view.id,
        body={
            "turn": outcome.turn,
            "place": outcome.place,
            "shows": list(outcome.shows),
            "window": None if window is None else {"person": window[0], "proposal": window[1]},
        },
    )
    core.ledger.append(outcome.batch())
    return tuple(outcome.work)


def _failure(core: Core, action: ActionId) -> _Failure | None:
    """Return what `action` failed with; None where it did not, or nothing is to follow."""
    dial = core.settings.value("repair.autonomy")
    if not at_least(dial.level, Level.ADVISE):
        return None  # the error stands alone (M15)
    one = core.queries.action(action)
    ending = one.ending
    if one.state is not ActionState.FAILED or ending is None or not ending.exit_code:
        return None
    view = core.queries.proposal(ProposalId(action.rpartition(".")[0]))
    if view is None or view.source == SOURCE or _failed_before(view, one):
        return None
    likely = diagnose(
        load_repairs(), output=ending.output, exit_code=ending.exit_code, target=str(one.action.target.id)
    )
    return None if likely is None else _Failure(view=view, one=one, likely=likely, dial=dial)


def _failed_before(view: ProposalView, one: ActionView) -> bool:
    """Whether an earlier action of a list failed: what is likely there was said then."""
    return any(
        other.state is ActionState.FAILED and other.action.index < one.action.index for other in view.actions
    )


def _compose(core: Core, outcome: Outcome, failure: _Failure) -> None:
    proposal = ProposalId(core.ids.short_id())
    look = _look(core, failure, proposal=proposal)
    lines = [f"#{failure.view.id} failed, likely because {failure.likely.why}."]
    if look is None or not failure.permits(Level.ASK):
        if look is not None:
            lines.append(f"To look, say:  {look.said}")
        _say(outcome, failure, lines)
    elif not failure.permits(Level.PROPOSE):
        _ask(core, outcome, failure, look, lines[0])
    else:
        command = f"{look.action.command} on {look.action.target.id}"
        _say(outcome, failure, [*lines, f"A look, which only reads:  {command}"])
        asked = Asked(
            requester=failure.view.requester,
            place=failure.view.asked_in,
            shown_in=failure.view.shown_in,
            source=SOURCE,
            on_behalf=failure.view.on_behalf,
            waits="" if failure.permits(Level.RUN) else failure.because,
        )
        made = propose(core, outcome, (look.action,), asked)
        if isinstance(made, Denied):
            outcome.say(Text.of(made.reason.text))


def _say(outcome: Outcome, failure: _Failure, lines: list[str]) -> None:
    lowered = [f"repair.autonomy: {failure.dial.lowered}."] if failure.dial.lowered else []
    outcome.say(Text.of(*lines, *lowered))


def _ask(core: Core, outcome: Outcome, failure: _Failure, look: _Look, why: str) -> None:
    operator = core.operator(failure.view.requester)
    if operator is None:
        _say(outcome, failure, [why])
        return
    speaker = Speaker(operator=operator, said="", event="", zone=core.zone_for(operator.id))
    lowered = f" (repair.autonomy: {failure.dial.lowered})" if failure.dial.lowered else ""
    request = f"run {look.action.command} on {look.action.target.id}"
    choice = choices.Choice(
        question=f"{why} Look at it?{lowered}",
        options=((f"Look: {look.said}", request),),
        open_s=core.policy.clarification_s,
    )
    choices.ask(core, outcome, speaker, choice)


def _look(core: Core, failure: _Failure, *, proposal: ProposalId) -> _Look | None:
    """Return what shows more of the failure and certainly changes nothing; None where there is none."""
    document = core.library.documents.get(failure.likely.look)
    if document is None:
        return None
    step = document.steps[0]
    defaults = {name: one.default for name, one in document.inputs.items() if one.default is not None}
    values = {**defaults, **failure.likely.inputs}
    try:
        command = bind(step.command, values, inputs=document.inputs)
    except BindingError:
        return None
    draft = ActionDraft(
        target_words=(str(failure.one.action.target.id),),
        command=command,
        purpose=f"#{failure.view.id} failed: {failure.likely.why}",
        timeout_s=step.timeout_s,
        declared_risk=DECLARED[step.risk],
        runbook=f"{document.revision}#{step.id}",
    )
    bound = bind_drafts(core, (draft,), proposal=proposal)
    if isinstance(bound, Denied):
        return None
    verdict = judge(core, bound[0]).verdict
    if not verdict.auto_run or verdict.risk is not Risk.READ_ONLY:
        return None
    return _Look(action=bound[0], said=f"{document.title.format_map(values)} on {bound[0].target.id}")
