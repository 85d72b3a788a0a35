"""What may be written: entry kinds, drafts, expectations and effects.

Kinds are `subject:action`, past tense, and never change meaning. A draft holds metadata in `body` and exact
words, commands and output in `words`, which the record stores apart under salted hashes (D8). This module
only names things; `ledger.record` writes them and `ledger.projections` says what each one does to the state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:  # only named in annotations; reading commands start faster without the whole vocabulary
    from collections.abc import Mapping
    from datetime import datetime

    from gate.domain import ActionId, ApprovalId, PlaceId, ProposalId, TurnId
    from gate.ladder import Rung
    from gate.lifecycle import ActionState, ApprovalState, ClarificationState

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class Kind(StrEnum):
    """Every kind of entry."""

    BOT_STARTED = "bot:started"
    BOT_STOPPED = "bot:stopped"
    TURN_RECEIVED = "turn:received"
    TURN_ANSWERED = "turn:answered"
    TURN_CRASHED = "turn:crashed"
    REQUEST_DENIED = "request:denied"
    PROPOSAL_MADE = "proposal:made"
    PROPOSAL_LISTED = "proposal:listed"
    PROPOSAL_QUEUED = "proposal:queued"
    PROPOSAL_TOLD = "proposal:told"
    APPROVAL_OPENED = "approval:opened"
    APPROVAL_NUDGED = "approval:nudged"
    APPROVAL_ESCALATED = "approval:escalated"
    APPROVAL_VOTED = "approval:voted"
    APPROVAL_GRANTED = "approval:granted"
    APPROVAL_REFUSED = "approval:refused"
    APPROVAL_EXPIRED = "approval:expired"
    APPROVAL_SUPERSEDED = "approval:superseded"
    APPROVAL_WITHDRAWN = "approval:withdrawn"
    REASON_GIVEN = "reason:given"
    ACTION_QUEUED = "action:queued"
    ACTION_UNQUEUED = "action:unqueued"
    ACTION_STARTED = "action:started"
    ACTION_SUCCEEDED = "action:succeeded"
    ACTION_FAILED = "action:failed"
    ACTION_CANCELLED = "action:cancelled"
    ACTION_LOST = "action:lost"
    ACTION_VERIFIED = "action:verified"
    ACTION_SETTLED = "action:settled"
    CLARIFICATION_ASKED = "clarification:asked"
    CLARIFICATION_ANSWERED = "clarification:answered"
    CLARIFICATION_CANCELLED = "clarification:cancelled"
    CLARIFICATION_EXPIRED = "clarification:expired"
    CLARIFICATION_SUPERSEDED = "clarification:superseded"
    PLACE_MOVED = "place:moved"
    PAIRING_OFFERED = "pairing:offered"
    PAIRING_MISSED = "pairing:missed"
    PAIRING_ENDED = "pairing:ended"
    ACCOUNT_PAIRED = "account:paired"
    ACCOUNT_UNPAIRED = "account:unpaired"
    SWITCH_CHANGED = "switch:changed"
    LOOSENING_ASKED = "loosening:asked"
    LOOSENING_ENDED = "loosening:ended"
    COMMITMENT_MADE = "commitment:made"
    COMMITMENT_CLARIFIED = "commitment:clarified"
    COMMITMENT_CONFIRMED = "commitment:confirmed"
    COMMITMENT_COMMITTED = "commitment:committed"
    COMMITMENT_ABORTED = "commitment:aborted"
    COMMITMENT_EXPIRED = "commitment:expired"
    COMMITMENT_REVIVE_REFUSED = "commitment:revive_refused"
    POST_UNDELIVERED = "post:undelivered"
    JOB_MADE = "job:made"
    JOB_CANCELLED = "job:cancelled"
    JOB_ENDED = "job:ended"
    OCCURRENCE_CLAIMED = "occurrence:claimed"
    OCCURRENCE_MISSED = "occurrence:missed"
    BELIEF_STORED = "belief:stored"
    BELIEF_BLOCKED = "belief:blocked"
    BELIEF_FORGOTTEN = "belief:forgotten"
    SETTING_CHANGED = "setting:changed"
    SETTING_CLEARED = "setting:cleared"
    GUIDANCE_HELD = "guidance:held"
    GUIDANCE_CONFIRMED = "guidance:confirmed"
    GUIDANCE_REJECTED = "guidance:rejected"
    TRUST_RULE_MADE = "trust_rule:made"
    TRUST_RULE_REVOKED = "trust_rule:revoked"
    RUN_STARTED = "run:started"
    RUN_ENTERED = "run:entered"
    RUN_PROPOSED = "run:proposed"
    RUN_GRANTED = "run:granted"
    RUN_CONSUMED = "run:consumed"
    RUN_TAKEN_BACK = "run:taken_back"
    RUN_WAITING = "run:waiting"
    RUN_WAITED = "run:waited"
    RUN_JUDGED = "run:judged"
    RUN_DEVIATED = "run:deviated"
    RUN_ENDED = "run:ended"
    PLAN_ASKED = "plan:asked"
    PLAN_CALLED = "plan:called"
    PLAN_ANSWERED = "plan:answered"
    PLAN_CONTINUED = "plan:continued"
    PLAN_ENDED = "plan:ended"
    RUNBOOK_KEPT = "runbook:kept"
    RUNBOOK_RETIRED = "runbook:retired"
    SIGNAL_RECEIVED = "signal:received"
    SIGNAL_GROUPED = "signal:grouped"
    SIGNAL_HANDLED = "signal:handled"
    SIGNAL_HELD = "signal:held"
    SIGNAL_RELEASED = "signal:released"
    SIGNAL_RESOLVED = "signal:resolved"
    STORM_BEGAN = "storm:began"
    STORM_ENDED = "storm:ended"
    WATCH_CHANGED = "watch:changed"
    DELEGATE_ASKED = "delegate:asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One entry to be.

    Attributes:
        correlation_id: joins everything of one proposal; "" where there is none.
        body: JSON metadata, small; keys in lower snake case.
        words: exact words, commands, output; stored as payloads, referenced from the body under the same key
            as {"payload": "<salted hash>", "bytes": n}.
    """

    kind: Kind
    correlation_id: str = ""
    body: Mapping[str, Json] = field(default_factory=dict)
    words: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApprovalIs:
    """The approval is still in this state."""

    approval: ApprovalId
    state: ApprovalState


@dataclass(frozen=True, slots=True)
class VotesAre:
    """The approval has so many votes still."""

    approval: ApprovalId
    count: int


@dataclass(frozen=True, slots=True)
class NotYet:
    """This step of the ladder was not taken for the approval."""

    approval: ApprovalId
    rung: Rung


@dataclass(frozen=True, slots=True)
class ActionIs:
    """The action is still in this state."""

    action: ActionId
    state: ActionState


@dataclass(frozen=True, slots=True)
class FailuresAre:
    """So many actions of the proposal have ended otherwise than well still."""

    proposal: ProposalId
    count: int


@dataclass(frozen=True, slots=True)
class ClarificationIs:
    """The clarification is still in this state."""

    clarification: str
    state: ClarificationState


@dataclass(frozen=True, slots=True)
class LastTurnIs:
    """No turn was recorded in the place since this one; None: none ever was."""

    place: PlaceId
    turn: TurnId | None


@dataclass(frozen=True, slots=True)
class SwitchesAre:
    """No switch was changed since this entry; 0: none ever was."""

    seq: int


@dataclass(frozen=True, slots=True)
class PairingIsOpen:
    """Nobody has used this code yet."""

    pairing: str


@dataclass(frozen=True, slots=True)
class ProposalIsNew:
    """No proposal ever had this id."""

    proposal: ProposalId


@dataclass(frozen=True, slots=True)
class Untold:
    """The end of a proposal was not told yet where it was asked, which is elsewhere than it was shown."""

    proposal: ProposalId


@dataclass(frozen=True, slots=True)
class RowIs:
    """What a decision read of `table` is still in this state; None: there is no such row yet."""

    table: Literal["commitment", "job", "belief", "guidance", "trust_rule", "run", "capability", "plan"]
    id: str
    state: str | None


@dataclass(frozen=True, slots=True)
class JobIsDue:
    """The job waits still for this occurrence; `fire_at` as the ledger writes instants."""

    job: str
    fire_at: str


@dataclass(frozen=True, slots=True)
class RunIsAt:
    """Nothing happened to the run since this entry."""

    run: str
    seq: int


@dataclass(frozen=True, slots=True)
class PlanIsAt:
    """Nothing happened to the plan since this entry."""

    plan: str
    seq: int


@dataclass(frozen=True, slots=True)
class SignalsAre:
    """Nothing fired, ended or was acted on since this entry; 0: nothing ever did."""

    seq: int


@dataclass(frozen=True, slots=True)
class SettingsAre:
    """No setting was changed at run time since this entry; 0: none ever was."""

    seq: int


Expectation = (
    ApprovalIs
    | VotesAre
    | NotYet
    | ActionIs
    | FailuresAre
    | ClarificationIs
    | LastTurnIs
    | SwitchesAre
    | PairingIsOpen
    | ProposalIsNew
    | Untold
    | RowIs
    | JobIsDue
    | RunIsAt
    | PlanIsAt
    | SettingsAre
    | SignalsAre
)


class EffectKind(StrEnum):
    """What is to be done once the entries stand."""

    SAY = "say"  # post a message
    CARD = "card"  # post a proposal's card
    REFRESH = "refresh"  # edit a posted card to its present state
    NOTE = "note"  # show a message to one person only
    CLOSE = "close"  # edit a posted choice that is over: no buttons, and how it ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One row for the outbox, written in the same transaction as the entries that cause it.

    Attributes:
        place: the place to show it in.
        body: what to show, by reference where state will have moved on (a proposal id), else spans.
        nonce: unguessable, sent along so that an uncertain send can be recognised.
    """

    kind: EffectKind
    place: PlaceId
    body: Mapping[str, Json]
    nonce: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One decision: all of it is written in one transaction, or none of it.

    Attributes:
        at: the instant of the decision, aware UTC; every entry carries it.
        expects: what the decision read (D11); when one no longer holds, nothing is written.
        inbox: key of the inbound event that this batch finishes; marked done in the same transaction.
    """

    at: datetime
    drafts: tuple[Draft, ...]
    expects: tuple[Expectation, ...] = ()
    effects: tuple[Effect, ...] = ()
    inbox: str = ""


class Entry(NamedTuple):
    """One stored entry, its columns in their order. `body` is the exact stored JSON text.

    A tuple, since it is the row that is written: a dataclass alone would cost a twentieth of an append.
    """

    seq: int
    kind: str
    at: str
    correlation_id: str
    body: str
    prev_hash: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What a batch became: its first and last numbers, and the outbox rows of its effects in order."""

    first_seq: int
    last_seq: int
    outbox: tuple[int, ...] = ()


class LedgerError(Exception):
    """The ledger could not do what was asked; nothing was written."""


class LostRaceError(LedgerError):
    """What the decision read has changed since; decide again on fresh facts."""

    def __init__(self, expectation: Expectation) -> None:
        super().__init__(f"{self.__doc__} Changed: {expectation}.")
        self.expectation = expectation


class LedgerUnwritableError(LedgerError):
    """The ledger cannot be written, so nothing runs. Check disk space and permissions with `sayso doctor`."""


class LedgerBusyError(LedgerError):
    """Another sayso process writes this ledger. Talk to that one, or stop it first."""


class DraftError(LedgerError):
    """A draft cannot be stored as it is; nothing was written. Report this as a bug."""
