"""Scheduling a command: which request, and when it is made (K11, C7).

What is scheduled is the request itself, literal: when its time comes it is read, judged and asked about as if
it were typed then, so that nothing said today runs tomorrow on today's verdict. It is refused at once where
it could not be read or would never run.
"""

from gate.domain import Reason
from gate.resolve import timing
from gate.resolve.decision import Allow, Decision, Deny, Slots
from gate.resolve.times import Times, slots_of
from gate.when import Resolved


def resolve(slots: Slots, *, times: Times, problem: Reason | None) -> Decision:
    """Resolve a scheduled command.

    Args:
        slots: "text" is the literal request, "words" those of the time alone; for the time see `timing.bind`.
        problem: why the request cannot be read, or would never run; None where it can.
    """
    if problem is not None:
        return Deny(reason=problem, slots=dict(slots), because=problem.code.value)
    # A command is about no event that it does not name, so one that lies close is not asked about.
    bound = timing.bind(slots, times, nearby_days=0)
    if not isinstance(bound, Resolved):
        return bound
    kept = {name: value for name, value in slots.items() if name not in timing.WORKING}
    return Allow(slots={**kept, **slots_of(bound)}, because=f"anchor {bound.anchor}")
