"""What a move of a plan writes: its answer, its results, and its end, each into the batch of that move.

It decides nothing; `course` does. The rule it owns: the entry of an answer comes first in its batch, and
names the digest of the conversation with it and every proposal, run and choice that follows from it.
"""

from dataclasses import dataclass

from bot.answering import record_denial
from bot.core import Core
from bot.outcome import Outcome
from bot.planning.model import telling
from bot.planning.model.budget import Spent
from bot.planning.model.restoring import Restored, spent_doc, wait_doc
from bot.planning.model.thinking import (
    Answered,
    Result,
    Results,
    Thought,
    answer_text,
    extended,
    results_text,
)
from bot.planning.model.wanting import Refused, Wanted
from ledger.kinds import Json, Kind, PlanIsAt


@dataclass(frozen=True, slots=True, kw_only=True)
class Calling:
    """One call that was counted and may be made now."""

    plan: str
    number: int
    thought: Thought
    reserve: Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """Why a plan ends: a word for the record, and words for people."""

    how: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """What a call brought, and what it took."""

    calling: Calling
    answered: Answered
    taken: Spent


def write_answer(outcome: Outcome, restored: Restored, got: Got, wanted: Wanted) -> None:
    """Write what the model answered, and what its calls became."""
    view, calling, taken, reserve = restored.view, got.calling, got.taken, got.calling.reserve
    waits: list[Json] = [wait_doc(one) for one in wanted.waits]
    made: list[Json] = [*wanted.made]
    beliefs: list[Json] = [*dict.fromkeys(wanted.beliefs)]
    outcome.expect(PlanIsAt(view.id, view.seq))
    # First of its batch, so that the entries behind it are known to come from it.
    outcome.drafts.insert(
        0,
        telling.draft(
            Kind.PLAN_ANSWERED,
            view.id,
            body={
                "plan": view.id,
                "number": calling.number,
                "history": extended(restored.history, got.answered),
                "took": spent_doc(taken),
                "correction": spent_doc(
                    Spent(
                        calls=0,
                        tokens=taken.tokens - reserve.tokens,
                        seconds=taken.seconds - reserve.seconds,
                        micros=taken.micros - reserve.micros,
                    )
                ),
                "calls": wanted.audit,
                "waits": waits,
                "unread": wanted.unread,
                **({"made": made} if made else {}),
                **({"beliefs": beliefs} if beliefs else {}),
            },
            words={"reply": answer_text(got.answered), "results": results_text(wanted.results)},
        ),
    )


def write_results(outcome: Outcome, restored: Restored, results: tuple[Result, ...]) -> None:
    """Write what the model is told of its calls."""
    outcome.write(
        Kind.PLAN_CONTINUED,
        correlation_id=restored.view.id,
        body={
            "plan": restored.view.id,
            "number": restored.number,
            "history": extended(restored.history, Results(of=results)),
        },
        words={"results": results_text(results)},
    )


def after(restored: Restored, got: Got) -> Restored:
    """Return `restored` with what the call took in the place of what was set aside for it."""
    reserve, taken = got.calling.reserve, got.taken
    spent = Spent(
        calls=restored.spent.calls,
        tokens=restored.spent.tokens - reserve.tokens + taken.tokens,
        seconds=restored.spent.seconds - reserve.seconds + taken.seconds,
        micros=restored.spent.micros - reserve.micros + taken.micros,
    )
    return Restored(view=restored.view, messages=restored.messages, number=restored.number, spent=spent)


def finish(core: Core, outcome: Outcome, restored: Restored, answered: Answered) -> None:
    """Show the last words of the model, as its words, and what all of it took."""
    text = telling.shown(core, answered.text)
    if not text:
        end(core, outcome, restored, Over(how="rubbish", words=telling.EMPTY))
        return
    outcome.say(telling.answer(core, text, restored.spent), fleeting=True)
    _write_end(outcome, restored, "answered", text=text)


def refuse(core: Core, outcome: Outcome, restored: Restored, refused: Refused) -> None:
    """End a plan whose model wanted what is denied, and record the denial like any other (K5)."""
    view = restored.view
    record_denial(
        outcome,
        refused.reason,
        person=view.person,
        said=view.said,
        command=refused.command,
        target=refused.target,
    )
    words = f"{refused.reason.text} The plan ends here."
    end(core, outcome, restored, Over(how="denied", words=words))


def end(core: Core, outcome: Outcome, restored: Restored, over: Over) -> None:
    """Write that a plan is over, and say why."""
    view = restored.view
    expected = PlanIsAt(view.id, view.seq)
    if expected not in outcome.expects:
        outcome.expect(expected)
    outcome.say(telling.ended(core, over.words, restored.spent))
    _write_end(outcome, restored, over.how)


def _write_end(outcome: Outcome, restored: Restored, how: str, *, text: str = "") -> None:
    outcome.write(
        Kind.PLAN_ENDED,
        correlation_id=restored.view.id,
        body={"plan": restored.view.id, "how": how, "took": spent_doc(restored.spent)},
        words={"text": text} if text else {},
    )
