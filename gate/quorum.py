"""Quorum: how many people have to say yes, and whose yes still counts (X4).

A person counts once, through however many accounts; a yes of somebody who may not decide any more counts
for nothing. An entry of the policy names a risk (and holds for stricter ones too), an "@tag" or a target; of
those that apply the largest counts. One person is the least, so an empty list asks for nothing more.
"""

from collections.abc import Sequence

from gate import authority
from gate.domain import PendingApproval, PersonId, Risk, Target
from gate.policy import Policy


def required(policy: Policy, *, target: Target, risk: Risk) -> int:
    """Return how many people have to approve `risk` on `target`; 1 where the policy says nothing."""
    names = {str(target.id), *(f"@{tag}" for tag in target.tags)}
    names.update(other.value for other in Risk if risk.at_least(other))
    return max((count for name, count in policy.quorum if name in names), default=1)


def needed(pending: Sequence[PendingApproval], policy: Policy) -> int:
    """Return how many people a list takes: what its strictest approval took when opened, or takes now.

    Args:
        pending: one at least; a list is approved as a whole (D4), so the largest number counts for all of it.
    """
    return max(max(one.quorum, required(policy, target=one.action.target, risk=one.risk)) for one in pending)


def counted(pending: PendingApproval, policy: Policy) -> tuple[PersonId, ...]:
    """Return whose votes for `pending` count now, each person once."""
    people = {operator.id: operator for operator in policy.operators}
    return tuple(
        name
        for name in dict.fromkeys(pending.votes)
        if authority.objection(people.get(name), pending, policy) is None
    )


def missing(pending: PendingApproval, policy: Policy) -> tuple[PersonId, ...]:
    """Return who could still say yes to `pending` and has not, in the order of the configuration."""
    able = authority.deciders(
        policy, target=pending.action.target, risk=pending.risk, requester=pending.owner
    )
    return tuple(name for name in able if name not in pending.votes)
