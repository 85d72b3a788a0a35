"""Views: what queries hand out instead of rows. Frozen values, joined with their words."""

from dataclasses import dataclass
from datetime import datetime

from gate.domain import (
    Action,
    ActionId,
    ApprovalId,
    Digest,
    PersonId,
    PlaceId,
    ProposalId,
    Radius,
    Risk,
    RouteKind,
    Verdict,
)
from gate.fanout import Brake
from gate.ladder import Rung
from gate.lifecycle import ActionState, ApprovalState

#: What words read as that were pruned.
PRUNED = "(pruned)"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteView:
    """One person's yes to an approval that takes several, in their exact words."""

    person: PersonId
    at: datetime
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RungView:
    """A step of the ladder that was taken. `to` names who was asked, or where if it was no person's place."""

    rung: Rung
    at: datetime
    to: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalView:
    """One approval. `said` is the decider's exact words; `why` a refusal's reason or an end's cause.

    `quorum` is how many people it takes, as far as was recorded; `deciders` who could say yes when it was
    opened, () where one person is enough; `votes` are those before the one that decided; `rungs` the steps of
    the ladder that were taken.
    """

    id: ApprovalId
    action: ActionId
    state: ApprovalState
    deadline_at: datetime
    phrase: str | None
    list_digest: Digest
    decided_by: PersonId | None
    decided_at: datetime | None
    said: str
    why: str
    alone: bool
    quorum: int = 1
    deciders: tuple[PersonId, ...] = ()
    votes: tuple[VoteView, ...] = ()
    opened_at: datetime | None = None
    rungs: tuple[RungView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingView:
    """How an action ended. `exit_code` None: unknown or never started. Output is redacted and capped.

    `ran` is False where it is certain that a recorded start led to nothing: not reached, or settled so.
    `checked`: how its verify command went is recorded, were it that nobody knows.
    `by`: who cancelled it; "" where nobody did.
    """

    note: str
    exit_code: int | None
    run_s: float
    output: str
    total_bytes: int
    dropped_bytes: int
    verify_exit: int | None
    settled: str
    ran: bool = True
    checked: bool = False
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionView:
    """One action with everything a card shows. `approval` is its newest one.

    `rule` is the id of the trust rule that routed it to run at once; "" where none did.
    """

    action: Action
    digest: Digest
    verdict: Verdict
    radius: Radius
    route: RouteKind
    because: str
    phrase: str | None
    state: ActionState
    approval: ApprovalView | None
    queued_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    ending: EndingView | None
    rule: str = ""

    @property
    def freezes(self) -> bool:
        """Whether its end is unknown and it may have changed something, so that a person has to look (X3)."""
        return self.state is ActionState.LOST and self.verdict.risk is not Risk.READ_ONLY


@dataclass(frozen=True, slots=True, kw_only=True)
class FanoutView:
    """What makes a proposal a fan-out: one command on many targets.

    `selector` is how the targets were named when it was asked for ("@web"), () where that is not known.
    """

    brake: Brake
    selector: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalView:
    """One proposal, its actions in order.

    `unasked`: it came by itself, nobody had just spoken of it. `fanout`: None for an ordinary list, whose
    actions run one after the other.
    """

    id: ProposalId
    correlation_id: str
    requester: PersonId
    asked_in: PlaceId
    shown_in: PlaceId
    made_at: datetime
    source: str
    purpose: str
    replaced_by: ProposalId | None
    policy_revision: str
    actions: tuple[ActionView, ...]
    on_behalf: PersonId | None = None
    unasked: bool = False
    fanout: FanoutView | None = None

    @property
    def owner(self) -> PersonId:
        """Whose request it counts as: whom an agent works for, else who asked."""
        return self.on_behalf or self.requester

    @property
    def pending(self) -> tuple[ActionView, ...]:
        """The actions that wait for somebody's yes."""
        return tuple(
            one
            for one in self.actions
            if one.approval is not None and one.approval.state is ApprovalState.PENDING
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionView:
    """One choice of a clarification; `request` is handled as if it had been typed."""

    label: str
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClarificationView:
    """One pending choice.

    Attributes:
        said: the unclear request, word for word.
        commitment: the act that waits for the answer; "" for a request.
        free: the slot of that act, or the input of a runbook, that an answer in words fills; "" where only an
            option answers.
        so_far: the request that an answer completes, word for word; "" for most.
    """

    id: str
    place: PlaceId
    person: PersonId
    said: str
    question: str
    options: tuple[OptionView, ...]
    deadline_at: datetime
    commitment: str = ""
    free: str = ""
    so_far: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LooseningView:
    """A loosening that waits. `wants` maps switch names to the values asked for."""

    id: str
    place: PlaceId
    person: PersonId
    phrase: str
    deadline_at: datetime
    wants: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """The newest ended run of the same command on the same target."""

    ended_at: datetime
    state: ActionState
    run_s: float
