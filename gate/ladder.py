"""The ladder: what happens to an approval that nobody answers, before it expires (X7).

First a nudge, then escalation to somebody else, each once, in this order, at ages that the policy sets, for a
posture other ones where it says so. What would come at its deadline or later does not come at all.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gate.policy import Policy


class Rung(StrEnum):
    """One step of the ladder."""

    NUDGE = "nudge"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ages:
    """Seconds after its opening at which each step of an approval is due; 0 is never."""

    nudge_s: int
    escalate_s: int


def ages(policy: Policy) -> Ages:
    """Return the ages that hold under the posture of `policy`."""
    listed, posture = dict(policy.ladder), policy.posture.value
    return Ages(
        nudge_s=listed.get(f"{posture}.nudge_s", policy.nudge_s),
        escalate_s=listed.get(f"{posture}.escalate_s", policy.escalate_s),
    )


def next_rung(
    at: Ages, *, opened_at: datetime, deadline_at: datetime, taken: Collection[Rung]
) -> tuple[Rung, datetime] | None:
    """Return the next step of an open approval and when it is due; None where there is none before its end.

    Args:
        taken: the steps that were taken already.
    """
    # A nudge that would come after the escalation comes with it, so that the order holds.
    nudge_s = min(at.nudge_s, at.escalate_s) if at.escalate_s else at.nudge_s
    for rung, age_s in ((Rung.NUDGE, nudge_s), (Rung.ESCALATE, at.escalate_s)):
        if not age_s or rung in taken:
            continue
        due = opened_at + timedelta(seconds=age_s)
        return (rung, due) if due < deadline_at else None
    return None
