"""What a decision about pending approvals writes and says.

One function for each decision of gate.decide; those of a yes stand in bot.agreeing. It turns the decision
into entries, expectations and an answer; it decides nothing itself. Exact words of the decider go into the
entry of every refusal (N24), and of what did not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from bot import agreeing, routing
from bot.agreeing import cards_of, ids_of, still_waits
from bot.card_question import shown_key
from bot.cards import how_ended
from bot.core import Core
from bot.fanout.anew import pace_of
from bot.fanout.folding import folded
from bot.fanout.naming import several
from bot.outcome import Outcome
from bot.phrasing import RISK_WORDS, clock_time, command_on, named
from bot.ports import MessageRef
from bot.proposing import Asked, Denied, propose
from bot.text import Span, Text, code
from bot.tokens import APPROVE, DENY, REASON_FORM, REASON_SHOWN, make
from gate import blast
from gate.decide import (
    AskedAgain,
    Challenged,
    ChangeAsked,
    Choice,
    Decision,
    Granted,
    Ignored,
    Open,
    PlayedBack,
    Refused,
    Rejected,
    Voted,
    Which,
)
from gate.domain import Action, ActionId, PendingApproval, PlaceId, ProposalId, Radius, Reason, ReasonCode
from gate.fanout import FROM
from gate.lifecycle import ActionState, ApprovalState
from gate.policy import Operator
from gate.redact import redact, redact_command
from ledger.codec import instant
from ledger.kinds import ActionIs, ApprovalIs, Json, Kind, LostRaceError
from ledger.views import ActionView, ProposalView


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Who answered, in which words, by which event.

    `about` is the proposal that the words refer to, live or not; `alone`: nobody but sayso listened;
    `sent_at`: the platform's own time of the message, None where nobody's message is behind it;
    `reply_to`: the message that it answers explicitly, whoever wrote that;
    `seen`: the newest entry whose answer was on their screen, None where nobody read one.
    """

    operator: Operator
    said: str
    event: str
    zone: tzinfo
    about: ProposalId | None = None
    alone: bool = False
    sent_at: datetime | None = None
    reply_to: MessageRef | None = None
    seen: int | None = None


def apply(core: Core, outcome: Outcome, decision: Decision, speaker: Speaker) -> None:
    """Write `decision` into `outcome`. Open and Ignored write nothing."""
    match decision:
        case Ignored() | Open():
            return
        case Granted() | Voted():
            agreeing.agree(core, outcome, decision, speaker)
        case Refused():
            _refuse(core, outcome, decision, speaker)
        case Challenged():
            agreeing.challenge(outcome, decision)
        case AskedAgain():
            _ask_again(core, outcome, decision, speaker)
        case Which():
            _which(core, outcome, decision, speaker)
        case PlayedBack():
            _play_back(core, outcome, decision, speaker)
        case ChangeAsked():
            _change(core, outcome, decision, speaker)
        case Rejected():
            _reject(core, outcome, decision, speaker)


# ---------------------------------------------------------------- no


def _refuse(core: Core, outcome: Outcome, decision: Refused, speaker: Speaker) -> None:
    owed_until = instant(outcome.at + timedelta(seconds=core.policy.approval_s))
    for pending in decision.approvals:
        outcome.expect(ApprovalIs(pending.approval, ApprovalState.PENDING))
        body: dict[str, Json] = {
            **ids_of(pending),
            "decider": speaker.operator.id,
            "manner": decision.manner.value,
            "event": speaker.event,
            "place": outcome.place,
            "reason_state": "given" if decision.reason else "owed",
            "owed_until": owed_until,
        }
        words = {"said": speaker.said}
        if decision.reason:
            words["reason"] = decision.reason
        outcome.write(Kind.APPROVAL_REFUSED, correlation_id=pending.proposal, body=body, words=words)
    for proposal, place in cards_of(decision.approvals):
        drop_rest(core, outcome, proposal, note="nothing ran")
        outcome.refresh(proposal, place=place)
        if (view := core.queries.proposal(proposal)) is not None:
            routing.tell_dropped(core, outcome, view, f"refused by {speaker.operator.id}")
        refused = [
            core.queries.action(one.action.id) for one in decision.approvals if one.proposal == proposal
        ]
        dropped = several(refused, secrets=core.secrets)  # its card has the whole command
        said = f"Dropped #{proposal}: {dropped}. Nothing ran from it."
        if decision.reason:
            outcome.say(Text.of(said))
            continue
        form = make(core.token_key, choice=REASON_FORM, subject=proposal, shown=REASON_SHOWN)
        ask = Text.of(f"{said} Why? One line is enough, or say nothing.")
        outcome.say(ask, asks=(proposal, form, "why"))


def drop_rest(core: Core, outcome: Outcome, proposal: ProposalId, *, note: str) -> None:
    """Cancel every action of `proposal` that has not started, in the same batch as the refusal."""
    view = core.queries.proposal(proposal)
    for one in () if view is None else view.actions:
        if one.state in (ActionState.PROPOSED, ActionState.WAITING, ActionState.QUEUED):
            cancel_action(outcome, one, note=note)


def cancel_action(outcome: Outcome, one: ActionView, *, note: str, by: str = "") -> None:
    """Write that an action which has not started never will; `by` cancelled it, "" where nobody did."""
    outcome.expect(ActionIs(one.action.id, one.state))
    outcome.write(
        Kind.ACTION_CANCELLED,
        correlation_id=one.action.id.rpartition(".")[0],
        body=ending_body(one.action.id, note=note) | ({"by": by} if by else {}),
    )


def ending_body(action: ActionId, *, note: str) -> dict[str, Json]:
    """Return the body of an end without a run."""
    return {
        "action": action,
        "note": note,
        "exit_code": None,
        "run_s": 0.0,
        "connect_s": 0.0,
        "total_bytes": 0,
        "dropped_bytes": 0,
        "sha256": "",
    }


# ---------------------------------------------------------------- neither


def _ask_again(core: Core, outcome: Outcome, decision: AskedAgain, speaker: Speaker) -> None:
    first = decision.approvals[0]
    if decision.question:
        outcome.say(Text.of(*_about(core, decision.approvals), still_waits(core, first, speaker)))
    else:
        hint = 'Say "go ahead" to run it now'
        if first.phrase is not None:
            hint = f"Type  {first.phrase}  to run it"
        elif first.asked_in != first.shown_in:
            hint = f'Reply "go ahead" to its card, or say  approve {first.proposal}, to run it'
        waits = still_waits(core, first, speaker)
        outcome.say(Text.of(f'Nothing ran. {waits} {hint} or "no" to drop it.'))
    outcome.shows.append(first.proposal)
    outcome.window = (speaker.operator.id, first.proposal)


def _about(core: Core, approvals: Sequence[PendingApproval]) -> list[str]:
    """Answer a question about what waits with what is known: what it touches and what depends on that."""
    views = [core.queries.action(one.action.id) for one in approvals]
    if len(views) >= FROM:
        return _about_many(core, views)
    lines = []
    for view in views:
        origin = ", ".join(view.radius.origin)
        what = f"{origin} on {view.action.target.id}" if origin else named(view, secrets=core.secrets)
        lines += _judged(core, what, view, view.radius)
    return lines


def _about_many(core: Core, views: Sequence[ActionView]) -> list[str]:
    strictest = max(views, key=lambda one: one.verdict.risk.rank)
    radius = blast.union(one.radius for one in views)
    return _judged(core, several(views, secrets=core.secrets), strictest, radius)


def _judged(core: Core, what: str, view: ActionView, radius: Radius) -> list[str]:
    names = [*radius.services, *map(str, radius.targets)]
    because = redact(view.verdict.reasons[0], extra=core.secrets).text
    return [
        f"{what} → {', '.join(names)}." if names else f"{what}: {blast.words(radius)}.",
        f"{RISK_WORDS[view.verdict.risk]}: {because}.",
    ]


def _which(core: Core, outcome: Outcome, decision: Which, speaker: Speaker) -> None:
    verb = "approve" if decision.choice is Choice.APPROVE else "deny"
    choice = APPROVE if decision.choice is Choice.APPROVE else DENY
    lines: list[str | Span | list[Span | str]] = [f"Nothing ran. Which one? Say  {verb} <id>  or press one."]
    buttons = []
    for view in _views(core, decision.approvals):
        pending = view.pending
        if not pending:  # answered since the facts were read
            raise LostRaceError(ApprovalIs(decision.approvals[0].approval, ApprovalState.PENDING))
        until = min(one.approval.deadline_at for one in pending if one.approval is not None)
        what = several(pending, secrets=core.secrets)
        lines.append(f"#{view.id}  {what}   until {clock_time(until, zone=speaker.zone, now=outcome.at)}")
        token = make(core.token_key, choice=choice, subject=view.id, shown=shown_key(pending))
        buttons.append((f"{verb.capitalize()} #{view.id}", token, "go" if choice == APPROVE else "stop"))
        outcome.shows.append(view.id)
    outcome.say(Text.of(*lines), buttons=tuple(buttons))


def _play_back(core: Core, outcome: Outcome, decision: PlayedBack, speaker: Speaker) -> None:
    """Part of a list was meant: exactly that part becomes a new card, and the old one is dead (X14)."""
    chosen = [decision.approvals[index - 1] for index in decision.selects]
    old = decision.approvals[0].proposal
    view = core.queries.proposal(old)
    proposal = ProposalId(core.ids.short_id())
    actions = tuple(
        _renumbered(one, proposal=proposal, index=index) for index, one in enumerate(chosen, start=1)
    )
    replaced = propose(
        core,
        outcome,
        actions,
        Asked(
            requester=chosen[0].requester,
            place=chosen[0].asked_in,
            shown_in=chosen[0].shown_in,
            source="partial",
            replaces=old,
            on_behalf=chosen[0].on_behalf,
            pace=None if view is None else pace_of(view, count=len(chosen)),
        ),
    )
    if isinstance(replaced, Denied):
        outcome.say(Text.of(replaced.reason.text))
        return
    lines: list[str | Span | list[Span | str]] = ["Only this part, right?"]
    if view is not None and view.fanout is not None:
        left = len(decision.approvals) - len(chosen)
        lines.append(f"{folded([str(one.action.target.id) for one in chosen])}; {left} left out.")
    else:
        for index, one in enumerate(decision.approvals, start=1):
            fate = "run" if index in decision.selects else "leave"
            lines.append([f"{index} {fate:5} ", *_command_on(core, one)])
    outcome.effects.insert(0, outcome.said(Text.of(*lines)))
    supersede(core, outcome, old, by=replaced, place=chosen[0].shown_in)
    outcome.shows[:] = [replaced]
    outcome.window = (speaker.operator.id, replaced)


def supersede(core: Core, outcome: Outcome, old: ProposalId, *, by: ProposalId, place: PlaceId) -> None:
    """End every live approval of `old` as superseded and cancel what it still held."""
    view = core.queries.proposal(old)
    for one in () if view is None else view.pending:
        if one.approval is None:
            continue
        outcome.expect(ApprovalIs(one.approval.id, ApprovalState.PENDING))
        outcome.write(
            Kind.APPROVAL_SUPERSEDED,
            correlation_id=old,
            body={
                "approval": one.approval.id,
                "proposal": old,
                "action": one.action.id,
                "why": f"replaced by #{by}",
            },
        )
    drop_rest(core, outcome, old, note=f"replaced by #{by}, nothing ran")
    outcome.refresh(old, place=place)


def _renumbered(pending: PendingApproval, *, proposal: ProposalId, index: int) -> Action:
    return replace(pending.action, id=ActionId(f"{proposal}.{index}"), index=index)


def _change(core: Core, outcome: Outcome, decision: ChangeAsked, speaker: Speaker) -> None:
    first = decision.approvals[0]
    waits = still_waits(core, first, speaker)
    outcome.say(
        Text.of(
            f"Nothing ran: that asks for something else than the card shows. {waits}",
            f"Say the whole of it, as in:  run {command_on(first.action, secrets=core.secrets)}",
            f'with your change in it. "no" drops #{first.proposal}.',
        )
    )
    outcome.shows.append(first.proposal)


def _reject(core: Core, outcome: Outcome, decision: Rejected, speaker: Speaker) -> None:
    ended = _ended_words(core, outcome, decision, speaker)
    if ended or decision.reason.code in _PRIVATE:
        # A button pressed late, or by somebody who may not, concerns nobody else in a busy channel.
        outcome.note(Text.of(ended or decision.reason.text))
        record_denial(outcome, decision.reason, person=speaker.operator.id, said=speaker.said)
        return
    lines = [decision.reason.text]
    if decision.reason.code is ReasonCode.STALE_WORDS:
        for pending in decision.approvals[:1]:
            word = f"type  {pending.phrase}" if pending.phrase else f"say  approve {pending.proposal}"
            lines.append(f"{still_waits(core, pending, speaker)} To run it, {word}.")
            outcome.shows.append(pending.proposal)
    outcome.say(Text.of(*lines))
    record_denial(outcome, decision.reason, person=speaker.operator.id, said=speaker.said)


_PRIVATE = frozenset({ReasonCode.NOT_AUTHORISED, ReasonCode.SECOND_PERSON, ReasonCode.NOT_AN_OPERATOR})


def _ended_words(core: Core, outcome: Outcome, decision: Rejected, speaker: Speaker) -> str:
    """Return how the proposal that the words meant ended, where that is why they do not count."""
    if decision.reason.code not in (ReasonCode.ALREADY_DECIDED, ReasonCode.EXPIRED) or speaker.about is None:
        return ""
    view = core.queries.proposal(speaker.about)
    if view is None:
        return f"No #{speaker.about} here. Nothing ran."
    return how_ended(view, zone=speaker.zone, now=outcome.at)


def record_denial(
    outcome: Outcome, reason: Reason, *, person: str, said: str, command: str = "", target: str = ""
) -> None:
    """Write that a request or an answer did not count, and why."""
    words = {"said": said}
    if command:
        words["command"] = command
    outcome.write(
        Kind.REQUEST_DENIED,
        body={
            "turn": outcome.turn,
            "place": outcome.place,
            "person": person,
            "code": reason.code.value,
            "reason": reason.text,
            "target": target,
        },
        words=words,
    )


# ---------------------------------------------------------------- words


def _command_on(core: Core, pending: PendingApproval) -> list[Span | str]:
    shown = redact_command(pending.action.command, extra=core.secrets).text
    return [code(shown), f" on {pending.action.target.id}"]


def _views(core: Core, approvals: Sequence[PendingApproval]) -> list[ProposalView]:
    found = (core.queries.proposal(one) for one in dict.fromkeys(one.proposal for one in approvals))
    return [view for view in found if view is not None]
