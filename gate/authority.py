"""Authority: who may decide what (C4, D2, D19).

Nobody but an authorised human decides: never the agent, a bot or a stranger. An empty list of permissions
permits nothing. What an answer means is gate.assent's, whether it may count here is this module's.
"""

from collections.abc import Sequence

from gate.domain import AGENT, PendingApproval, PersonId, Reason, ReasonCode, Risk, Target
from gate.policy import Operator, Policy


def find(operators: Sequence[Operator], account: str) -> Operator | None:
    """Return the operator whose account this is ("platform:tenant:user"), or None for a stranger."""
    for operator in operators:
        if account in operator.accounts:
            return operator
    return None


def covers(operator: Operator, *, target: Target, risk: Risk) -> bool:
    """Whether `operator` may approve `risk` on `target`."""
    names = {"*", target.id, *(f"@{tag}" for tag in target.tags)}
    return any(line.risk.at_least(risk) and names.intersection(line.targets) for line in operator.may)


def who_may(operators: Sequence[Operator], *, target: Target, risk: Risk) -> tuple[PersonId, ...]:
    """Return everyone who may approve `risk` on `target`, in the order of the configuration."""
    return tuple(operator.id for operator in operators if covers(operator, target=target, risk=risk))


def needs_second_person(policy: Policy, *, risk: Risk) -> bool:
    """Whether the requester of work of this risk may not approve it (C4)."""
    if risk is not Risk.DESTRUCTIVE:
        return False
    if policy.separate_requester is None:
        return len(policy.operators) > 1
    return policy.separate_requester


def seconds(policy: Policy, *, target: Target, risk: Risk, requester: PersonId) -> tuple[PersonId, ...]:
    """Return who has to decide instead of the requester; () where the requester may, or nobody else can."""
    if not needs_second_person(policy, risk=risk):
        return ()
    return deciders(policy, target=target, risk=risk, requester=requester)


def deciders(policy: Policy, *, target: Target, risk: Risk, requester: PersonId) -> tuple[PersonId, ...]:
    """Return everyone whose yes would count, in the order of the configuration."""
    allowed = who_may(policy.operators, target=target, risk=risk)
    if not needs_second_person(policy, risk=risk):
        return allowed
    return tuple(name for name in allowed if name != requester)


def objection(operator: Operator | None, pending: PendingApproval, policy: Policy) -> Reason | None:
    """Return why `operator` may not grant `pending`, or None when they may."""
    if operator is None or operator.id == AGENT:
        return Reason(code=ReasonCode.NOT_AN_OPERATOR, text="Only operators decide here. Nothing ran.")
    target, risk = pending.action.target, pending.risk
    if not covers(operator, target=target, risk=risk):
        return Reason(code=ReasonCode.NOT_AUTHORISED, text=_not_yours(operator, pending, policy))
    if operator.id == pending.owner and needs_second_person(policy, risk=risk):
        others = seconds(policy, target=target, risk=risk, requester=operator.id)
        return Reason(
            code=ReasonCode.SECOND_PERSON,
            text=f"#{pending.proposal} destroys something, so another person decides: {_names(others)}.",
        )
    return None


def may_refuse(operator: Operator | None, pending: PendingApproval) -> bool:
    """Whether `operator` may refuse `pending`: who may approve it, or whose request it is."""
    if operator is None or operator.id == AGENT:
        return False
    return operator.id == pending.owner or covers(operator, target=pending.action.target, risk=pending.risk)


def _not_yours(operator: Operator, pending: PendingApproval, policy: Policy) -> str:
    target = pending.action.target
    allowed = who_may(policy.operators, target=target, risk=pending.risk)
    return (
        f"{operator.id} may not approve {pending.risk.value.replace('_', ' ')} work on {target.id}. "
        f"Who may: {_names(allowed)}."
    )


def _names(people: Sequence[PersonId]) -> str:
    return ", ".join(people) or "nobody; add a line to `may` of an operator in the config"
