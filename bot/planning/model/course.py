"""The course of a plan: every move of it, each one batch that expects the plan to be where it was read.

`next_call` counts the next call of the model, or ends the plan; `take` writes what the model answered,
together with all that follows from it, or that it did not answer. Whoever looks, however often, each move is
made once. Purely synchronous; `worker` calls the model between the two.
"""

from dataclasses import dataclass

from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.planning.model import telling, writing
from bot.planning.model.budget import Allowance, Exhausted, Spent, allow, budget_of, tokens_of
from bot.planning.model.coming import Came, ChangedError, Dropped, came
from bot.planning.model.context import INSTRUCTIONS, context
from bot.planning.model.dial import forbids
from bot.planning.model.restoring import Restored, restore, spent_doc
from bot.planning.model.thinking import (
    Answered,
    Call,
    Message,
    Reply,
    Results,
    Thought,
    Told,
    answer_text,
    extended,
    length_of,
)
from bot.planning.model.tools import TOOLS
from bot.planning.model.wanting import Carrying, Refused, Wanted, carry_out
from bot.planning.model.writing import Calling, Got, Over
from bot.recovery import storable
from gate.domain import ProposalId, TurnId
from gate.lifecycle import PlanState
from gate.policy import Operator
from ledger.kinds import Kind, LostRaceError, PlanIsAt
from ledger.plans import PlanView

#: So many calls of a plan that cannot be read, and it is rubbish.
_MOST_UNREAD = 3
#: Characters that one answer may have; a payload holds more.
_LONGEST = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A call that brought no answer; `why` is in words for people."""

    why: str


# ---------------------------------------------------------------- before a call


def next_call(core: Core, plan: str) -> Calling | None:
    """Count the next call of `plan`; None where it waits for something, is over, or ends here.

    Raises:
        LedgerUnwritableError: nothing was counted, so nothing may be called.
    """
    restored = restore(core, plan)
    if restored is None or restored.view.is_over:
        return None
    outcome = _outcome(core, restored.view)
    calling = _next(core, outcome, restored)
    if not outcome.drafts:
        return None
    _answer(core, outcome)
    core.probe("plan.composed")
    try:
        core.ledger.append(outcome.batch())
    except LostRaceError:
        return None  # whoever was first goes on with it
    return calling


def _next(core: Core, outcome: Outcome, restored: Restored) -> Calling | None:
    """Write the next call of a plan, or its end; nothing where it waits."""
    due = _due(core, restored)
    added: list[Message] = []
    if due is None:
        return None
    if isinstance(due, Came) and restored.view.state is PlanState.WAITING:
        added.append(Results(of=due.results))
        writing.write_results(outcome, restored, due.results)
    counted = due if isinstance(due, Over) else _count(core, outcome, restored, added)
    if isinstance(counted, Over):
        writing.end(core, outcome, restored, counted)
        return None
    return counted


def _due(core: Core, restored: Restored) -> Came | Over | None:
    """Return what the model is told next, why the plan ends, or None where it waits."""
    if not restored.sound:
        return Over(how="changed", words=telling.CHANGED)
    found: Came | Dropped | None = Came(results=())
    if restored.view.state is PlanState.WAITING:
        try:
            found = came(core, restored)
        except ChangedError:
            return Over(how="changed", words=telling.CHANGED)
    if isinstance(found, Dropped):
        return Over(how="refused", words=f"{found.words}. The plan ends here.")
    why = "" if found is None else _stopped(core, restored)
    return Over(how="stopped", words=why) if why else found


def _stopped(core: Core, restored: Restored) -> str:
    """Return why no model may be called for this plan now; "" where one may be."""
    if core.switches().stopped:
        return "sayso was stopped, so the plan ends here. What ran stands above. Ask again after resume."
    if why := forbids(core):
        return f"{why}, so the model is not asked any further. What ran stands above."
    if core.operator(restored.view.person) is None:
        return f"{restored.view.person} is no operator any more, so the plan ends here."
    return "" if core.thinker is not None else "No model is configured any more, so the plan ends here."


def _count(core: Core, outcome: Outcome, restored: Restored, added: list[Message]) -> Calling | Over:
    """Write the next call, with what is set aside for it, or that a budget does not cover it."""
    view, first = restored.view, not restored.messages
    words: dict[str, str] = {}
    beliefs: tuple[str, ...] = ()
    if first:
        found = context(core, view)
        words["context"], beliefs = found.text, found.beliefs
        added = [Told(text=found.text)]
    messages = (*restored.messages, *added)
    budget = budget_of(core.settings)
    thought = Thought(
        instructions=INSTRUCTIONS,
        messages=messages,
        tools=TOOLS,
        answer_tokens=budget.answer_tokens,
        timeout_s=float(budget.call_s),
    )
    allowed = allow(budget, restored.spent, chars=length_of(thought))
    if isinstance(allowed, Exhausted):
        text = f"The plan ends here: {allowed.words} ({allowed.key}). What ran stands above."
        return Over(how="over_budget", words=text)
    number = restored.number + 1
    outcome.expect(PlanIsAt(view.id, view.seq))
    outcome.write(
        Kind.PLAN_CALLED,
        correlation_id=view.id,
        body={
            "plan": view.id,
            "number": number,
            "history": extended(restored.history, *added),
            "reserve": spent_doc(allowed.reserve),
            **({"beliefs": list(beliefs)} if beliefs else {}),
        },
        words=words,
    )
    return _calling(view, number, thought, allowed)


def _calling(view: PlanView, number: int, thought: Thought, allowed: Allowance) -> Calling:
    return Calling(
        plan=view.id,
        number=number,
        thought=Thought(
            instructions=thought.instructions,
            messages=thought.messages,
            tools=thought.tools,
            answer_tokens=allowed.answer_tokens,
            timeout_s=allowed.timeout_s,
        ),
        reserve=allowed.reserve,
    )


# ---------------------------------------------------------------- after a call


def take(core: Core, calling: Calling, reply: Reply | Failed, *, seconds: float) -> tuple[ProposalId, ...]:
    """Write what a call brought and what follows from it; return the proposals that may move.

    Args:
        seconds: how long it took.

    Raises:
        LedgerUnwritableError: nothing of it stands, so nothing of it may happen.
    """
    restored = restore(core, calling.plan)
    is_owed = restored is not None and restored.open_call and restored.number == calling.number
    if restored is None or restored.view.is_over or not is_owed or not restored.sound:
        return ()  # dropped meanwhile, or answered already
    outcome = _outcome(core, restored.view)
    if isinstance(reply, Reply):
        reply = _storable(reply)
    if isinstance(reply, Failed):
        # Nobody knows what it cost before it failed, so that all that was set aside stays counted.
        writing.end(core, outcome, restored, Over(how="model_failed", words=f"{reply.why} {telling.STANDS}"))
    else:
        taken = _taken(core, calling, reply, seconds=seconds)
        outcome = _answered(core, restored, Got(calling=calling, answered=reply.answered, taken=taken))
    _answer(core, outcome)
    core.probe("plan.taken")
    try:
        core.ledger.append(outcome.batch())
    except LostRaceError:
        return ()  # dropped in this very moment: nothing of it was proposed
    return tuple(outcome.work)


def _storable(reply: Reply) -> Reply | Failed:
    """Return a reply as it can be recorded, word for word; one that is far too long is none."""
    said = storable(reply.answered.text)
    calls = tuple(
        Call(id=storable(one.id), tool=storable(one.tool), args=storable(one.args))
        for one in reply.answered.calls
    )
    answered = Answered(text=said, calls=calls)
    if len(answer_text(answered)) > _LONGEST:
        return Failed(why=f"The model answered more than {_LONGEST} characters.")
    return Reply(answered=answered, tokens_in=reply.tokens_in, tokens_out=reply.tokens_out)


def _taken(core: Core, calling: Calling, reply: Reply, *, seconds: float) -> Spent:
    """Return what a call took; what the endpoint does not tell is estimated, and it gives nothing back."""
    budget = budget_of(core.settings)
    asked = _told_or(reply.tokens_in, tokens_of(length_of(calling.thought)))
    said = _told_or(reply.tokens_out, tokens_of(len(answer_text(reply.answered))))
    return Spent(calls=1, tokens=asked + said, seconds=seconds, micros=budget.price(asked, said))


def _told_or(told: int | None, estimated: int) -> int:
    return estimated if told is None or told < 0 else told


def _answered(core: Core, restored: Restored, got: Got) -> Outcome:
    """Return the outcome that holds an answer with everything that it leads to."""
    view, answered = restored.view, got.answered
    outcome, wanted = _outcome(core, view), Wanted()
    operator = core.operator(view.person)
    refused: Refused | None = None
    # While the model thought, somebody may have lowered the dial: what it wants counts for nothing then.
    why = _stopped(core, restored) if answered.calls or operator is None else ""
    if operator is not None and answered.calls and not why:
        speaker = _speaker(core, view, operator)
        carrying = Carrying(core=core, outcome=outcome, plan=view, speaker=speaker, wanted=wanted)
        refused = carry_out(carrying, answered.calls)
    if refused is not None:
        outcome = _outcome(core, view)  # nothing of an answer that holds what is denied
        wanted = Wanted(audit=wanted.audit)
    writing.write_answer(outcome, restored, got, wanted)
    after = writing.after(restored, got)
    if why:
        writing.end(core, outcome, after, Over(how="stopped", words=why))
    elif refused is not None:
        writing.refuse(core, outcome, after, refused)
    elif not answered.calls:
        writing.finish(core, outcome, after, answered)
    elif restored.unread + wanted.unread >= _MOST_UNREAD and not wanted.waits:
        writing.end(core, outcome, after, Over(how="rubbish", words=telling.RUBBISH))
    return outcome


# ---------------------------------------------------------------- shared


def _outcome(core: Core, view: PlanView) -> Outcome:
    return Outcome(at=core.now(), place=view.place, turn=TurnId(core.ids.token()), new_nonce=core.ids.token)


def _speaker(core: Core, view: PlanView, operator: Operator) -> Speaker:
    return Speaker(
        operator=operator,
        said=view.said,
        event="",
        zone=core.zone_for(operator.id),
        alone=view.direct,
        sent_at=view.asked_at,
    )


def _answer(core: Core, outcome: Outcome) -> None:
    """Write what a move puts in front of people, and whose next words count for it (D2).

    Words that a model wrote stand between an older card and the next words, so that those count for none.
    """
    window = outcome.window
    if window is not None and (core.queries.pending() or set(outcome.shows) != {window[1]}):
        window = None
    says = bool(outcome.effects)
    if not says:
        return
    outcome.write(
        Kind.TURN_ANSWERED,
        body={
            "turn": outcome.turn,
            "place": outcome.place,
            "shows": list(dict.fromkeys(outcome.shows)),
            "window": None if window is None else {"person": window[0], "proposal": window[1]},
            "closes_windows": True,
        },
    )
