"""Consent to one invocation in one entry into one step: requests, grants, refusals (R6, R9 to R12).

Owns who may answer and what an answer covers. The agent never decides, under whatever name; a grant pins the
digest of the command that was asked about. `now` is always an argument and has no default, so that an answer
without a time cannot outlive its question. Whether a person is allowed to decide is gate.authority's.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gate.domain import AGENT, Digest, PersonId
from gate.policy import Operator
from gate.supervise.domain import RunId, StepId, StepRisk
from gate.supervise.errors import (
    NoReasonError,
    SelfApprovalError,
    StaleDecisionError,
    UnknownDeciderError,
    WrongRequestError,
)

#: Seconds a request stays open unless something says less, and the most that it ever does (R6).
DEFAULT_EXPIRY_S = 900
MAX_EXPIRY_S = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Identities:
    """Who is behind a name or an account.

    Attributes:
        people: names and accounts ("slack:T1:U7"), each mapped to the one person it is.
        machines: names and accounts of bots, this one's among them; none of them ever decides.
    """

    people: Mapping[str, PersonId] = field(default_factory=dict)
    machines: frozenset[str] = frozenset()

    @classmethod
    def of(cls, operators: Iterable[Operator], *, machines: Iterable[str] = ()) -> "Identities":
        """Return the people on the list of operators, under their names and all their accounts."""
        people = {name: one.id for one in operators for name in (one.id, *one.accounts)}
        return cls(people=people, machines=frozenset(machines))

    def person(self, name: str) -> PersonId | None:
        """Return who `name` is, None where nobody knows, or it is said of two.

        Case, blanks and an @ in front do not count.
        """
        found = self._behind(name)
        return found.pop() if len(found) == 1 else None

    def is_machine(self, name: str, *, agent: PersonId) -> bool:
        """Whether `name` is `agent`, sayso, a bot, or an alias of one of them."""
        machines = {_plain(one) for one in (*self.machines, agent, AGENT)}
        return not machines.isdisjoint({_plain(one) for one in (name, *self._behind(name))})

    def _behind(self, name: str) -> set[PersonId]:
        return {person for alias, person in self.people.items() if _plain(alias) == _plain(name)}


def _plain(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(char for char in folded if char.isprintable() and not char.isspace()).lstrip("@")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """What a person is asked.

    Attributes:
        id: unique within its run.
        number: which entry into a step this is, counted over the whole run from 1.
        command: as shown, with secrets masked; None for a step that runs nothing. Never executed.
        command_digest: of what would run, `binding.command_digest`.
        rollback_to: the step that undoes this one; None where it cannot be undone.
    """

    id: str
    run: RunId
    step_id: StepId
    number: int
    title: str
    risk: StepRisk
    command: str | None
    command_digest: Digest
    target: str
    capabilities: tuple[str, ...]
    rollback_to: StepId | None
    expires_in_s: int
    issued_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What somebody answered, as it came in.

    Attributes:
        decided_by: a name or an account.
        reason: of a refusal; None where it is owed (C1), which a blank one is not.
    """

    run: RunId
    request_id: str
    decided_by: str
    reason: str | None = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One invocation, in one entry, of exactly this command."""

    run: RunId
    request_id: str
    step_id: StepId
    number: int
    decided_by: PersonId
    command_digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A no. `reason` is None while it is owed."""

    request_id: str
    step_id: StepId
    decided_by: PersonId
    reason: str | None


def has_expired(request: ApprovalRequest, *, now: datetime) -> bool:
    """Whether more time than `expires_in_s` went by since the request was issued (R12, strict)."""
    return (now - request.issued_at).total_seconds() > request.expires_in_s


def grant(
    request: ApprovalRequest | None,
    decision: Decision,
    *,
    agent: PersonId,
    identities: Identities,
    now: datetime,
) -> Grant:
    """Return the grant that a yes to `request` is; None is a run that asks nothing.

    Raises:
        SelfApprovalError, UnknownDeciderError, WrongRequestError, StaleDecisionError: looked for in this
            order (R9).
    """
    person = _decider(decision, agent=agent, identities=identities)
    if request is None or (decision.run, decision.request_id) != (request.run, request.id):
        raise WrongRequestError(
            f"A grant covers one invocation of one step, and {decision.request_id} is not what is asked now."
        )
    if has_expired(request, now=now):
        raise StaleDecisionError
    return Grant(
        run=request.run,
        request_id=request.id,
        step_id=request.step_id,
        number=request.number,
        decided_by=person,
        command_digest=request.command_digest,
    )


def refuse(
    request: ApprovalRequest | None, decision: Decision, *, agent: PersonId, identities: Identities
) -> Refusal:
    """Return the refusal that a no to `request` is; it counts after the request expired too.

    Raises:
        SelfApprovalError, UnknownDeciderError, WrongRequestError, NoReasonError: looked for in this order
            (R11).
    """
    person = _decider(decision, agent=agent, identities=identities)
    if request is None or (decision.run, decision.request_id) != (request.run, request.id):
        raise WrongRequestError(
            f"A refusal answers one request, and {decision.request_id} is not what is asked now."
        )
    if decision.reason is not None and not decision.reason.strip():
        raise NoReasonError
    return Refusal(
        request_id=request.id,
        step_id=request.step_id,
        decided_by=person,
        reason=None if decision.reason is None else decision.reason.strip(),
    )


def _decider(decision: Decision, *, agent: PersonId, identities: Identities) -> PersonId:
    if identities.is_machine(decision.decided_by, agent=agent):
        raise SelfApprovalError
    person = identities.person(decision.decided_by)
    if person is None:
        raise UnknownDeciderError
    return person
