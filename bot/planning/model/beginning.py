"""Beginning and dropping a plan: what a turn writes about one, without calling a model (C7, M13).

The turn records what was asked and says that it is thought about; `worker` does the rest. Where a model may
not be called, that is said, and the request is answered as if there were none.
"""

from datetime import timedelta

from bot.answering import Speaker
from bot.core import Core
from bot.outcome import Outcome
from bot.planning.model.dial import forbids
from bot.text import Text
from gate.domain import PersonId, PlaceId
from ledger.kinds import Kind, PlanIsAt, RowIs
from ledger.plans import PlanView

#: How long after an answer the next words still belong to it.
_TALK = timedelta(minutes=15)


def begin(core: Core, outcome: Outcome, speaker: Speaker, *, said: str) -> str | None:
    """Record that `said` is to be planned by the model, and say so.

    Returns:
        None where that was done; else why no model is called, in words; "" where there is none at all.
    """
    if core.thinker is None:
        return ""
    if why := forbids(core):
        return f"{why}, so no model was asked."
    if core.switches().stopped:
        return "sayso is stopped, so no model was asked. Say resume to go on."
    plan = core.ids.short_id()
    for one in _open_here(core, outcome.place, speaker.operator.id):
        end(outcome, one, how="replaced")
    outcome.expect(RowIs("plan", plan, None))
    outcome.write(
        Kind.PLAN_ASKED,
        correlation_id=plan,
        body={
            "plan": plan,
            "turn": outcome.turn,
            "place": outcome.place,
            "person": speaker.operator.id,
            "direct": speaker.alone,
            "model": core.thinker.name,
            "rehearsal": core.rehearsal,
        },
        words={"said": said},
    )
    outcome.say(Text.of(f"Thinking: {core.thinker.name} plans this. cancel drops it."))
    return None


def talks(core: Core, outcome: Outcome, speaker: Speaker) -> bool:
    """Whether a model answered `speaker` here a moment ago, so that any words may go on with that."""
    if core.thinker is None:
        return False
    since = outcome.at - _TALK
    return bool(core.queries.plans_of(speaker.operator.id, outcome.place, since=since, limit=1))


def drop(core: Core, outcome: Outcome, speaker: Speaker) -> bool:
    """Drop the plan of `speaker` here that is still thought about; False where there is none."""
    mine = _open_here(core, outcome.place, speaker.operator.id)
    for one in mine:
        end(outcome, one, how="dropped")
    return bool(mine)


def end(outcome: Outcome, plan: PlanView, *, how: str) -> None:
    """Write that a plan is over; what it proposed stays as it is."""
    outcome.expect(PlanIsAt(plan.id, plan.seq))
    outcome.write(Kind.PLAN_ENDED, correlation_id=plan.id, body={"plan": plan.id, "how": how})


def _open_here(core: Core, place: PlaceId, person: PersonId) -> list[PlanView]:
    return [one for one in core.queries.open_plans() if one.place == place and one.person == person]
