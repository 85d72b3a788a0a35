"""The vocabulary: what every other module means by a word.

Frozen values only. What is stored of them (enum values, ids) never changes meaning. docs/glossary.md tells
the words; this module is their types. It holds no rule: classification, authority, lifecycle and decisions
have modules of their own.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

PersonId = NewType("PersonId", str)  # canonical person: the name in [operators.NAME]
PlaceId = NewType("PlaceId", str)  # surrogate for one conversation (D3)
TurnId = NewType("TurnId", str)
ProposalId = NewType("ProposalId", str)  # the six characters people see, without '#'
ActionId = NewType("ActionId", str)  # "<proposal>.<index>", index from 1
ApprovalId = NewType("ApprovalId", str)
TargetId = NewType("TargetId", str)  # slug of an inventory entry
Digest = NewType("Digest", str)  # SHA-256, 64 lower-case hex digits

#: The identity that proposes and runs. Never a decider (C4).
AGENT = PersonId("sayso")


class Risk(StrEnum):
    """How much an action may change, from nothing to things that cannot be undone."""

    READ_ONLY = "read_only"
    REVERSIBLE_LOW = "reversible_low"
    CONFIG_MUTATION = "config_mutation"
    DESTRUCTIVE = "destructive"

    @property
    def rank(self) -> int:
        """0 for read_only up to 3 for destructive."""
        return _RISK_RANK[self]

    def at_least(self, other: "Risk") -> bool:
        """Whether this is as strict as `other` or stricter."""
        return self.rank >= other.rank


_RISK_RANK = {risk: rank for rank, risk in enumerate(Risk)}


def strictest(*risks: Risk) -> Risk:
    """Return the strictest of `risks`; none at all is config_mutation, since unknown escalates (N13)."""
    return max(risks, key=lambda risk: risk.rank, default=Risk.CONFIG_MUTATION)


class TargetKind(StrEnum):
    """How a target is reached."""

    LOCAL = "local"
    SSH = "ssh"
    PCT = "pct"
    DOCKER = "docker"
    KUBECTL = "kubectl"


class TargetState(StrEnum):
    """Whether a target may be addressed at all."""

    ACTIVE = "active"
    DESTROYED = "destroyed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One resolved entry of the inventory: what would be reached, and as whom.

    Attributes:
        address: host name or IP for ssh, container id or name for containers, "" for local.
        via: slug of the host a container is reached through.
        shell: the shell commands are handed to; only "bash" is what the verdict assumes (D16).
        host_keys: SHA-256 fingerprints ("SHA256:…") known for the address when resolved, sorted.
        wrapper: argv that carries the command into a container, outermost first; () for hosts.
    """

    id: TargetId
    kind: TargetKind
    address: str = ""
    port: int = 22
    user: str = ""
    via: TargetId | None = None
    become: str = ""
    shell: str = "bash"
    host_keys: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    state: TargetState = TargetState.ACTIVE
    never_auto_act: bool = False


class TouchKind(StrEnum):
    """What sort of thing a command touches."""

    SERVICE = "service"
    PATH = "path"
    CONTAINER = "container"
    PACKAGE = "package"
    DEVICE = "device"
    HOST = "host"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """One thing that a command changes or restarts, by name; feeds the blast radius."""

    kind: TouchKind
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What a command does in a verb and its object: ("destroy", "ct-112"), ("restart", "caddy").

    The card's first line and the typed phrase are made of it. `object` may be empty ("reboot").
    """

    verb: str
    object: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The verdict of one simple command inside a line; `depth` is how deep it is nested."""

    text: str
    risk: Risk
    reason: str
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gate thinks of one command.

    Attributes:
        auto_run: the strict reader is certain that it changes nothing and shows no secret. Implies read_only.
        never: why the command is on the never list (D15); None when it is not.
        reasons: in words an operator understands, the one that decided first; never empty.
        deed: what to call it; None where nothing better than the command itself is known.
        undo: how to take it back, or "cannot be undone"; None when unknown.
        dry_run: a command that shows what would happen; None where there is none.
    """

    risk: Risk
    auto_run: bool
    never: str | None = None
    reasons: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    touches: tuple[Touch, ...] = ()
    deed: Deed | None = None
    reads_secrets: bool = False
    undo: str | None = None
    dry_run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One act with its slots bound: this command on this target. Immutable, has a digest (gate.digest).

    Attributes:
        index: 1-based position in its proposal.
        act: kind of effect; "exec" is the only one so far.
        workdir: "" means the target's default.
        env: added variables, sorted by name.
        timeout_s: seconds, 1 to 86 400.
        verify: a read-only command run afterwards and recorded (D17); None when there is none.
        runbook: "<revision>#<step>" where the action comes from a runbook step.
    """

    id: ActionId
    index: int
    target: Target
    command: str
    purpose: str
    act: str = "exec"
    workdir: str = ""
    env: tuple[tuple[str, str], ...] = ()
    timeout_s: int = 600
    verify: str | None = None
    runbook: str | None = None
    declared_risk: str | None = None


class RouteKind(StrEnum):
    """What becomes of an action before anybody is asked."""

    AUTO = "auto"  # runs at once
    APPROVAL = "approval"  # waits for a yes
    PHRASE = "phrase"  # waits for a typed phrase
    DENY = "deny"  # never runs as things stand


class ReasonCode(StrEnum):
    """Why something did not happen, stable for tests and scripts; the words are beside it in `Reason`."""

    UNKNOWN_TARGET = "unknown_target"
    DESTROYED_TARGET = "destroyed_target"
    FROZEN_TARGET = "frozen_target"
    EMPTY_PURPOSE = "empty_purpose"
    NEVER_LIST = "never_list"
    NOT_AN_OPERATOR = "not_an_operator"
    NOT_AUTHORISED = "not_authorised"
    SECOND_PERSON = "second_person"
    STOPPED = "stopped"
    UNHEALTHY = "unhealthy"
    NOTHING_PENDING = "nothing_pending"
    STALE_WORDS = "stale_words"
    EXPIRED = "expired"
    ALREADY_DECIDED = "already_decided"
    UNKNOWN_ID = "unknown_id"
    DRIFTED = "drifted"
    STRICTER_NOW = "stricter_now"
    GRANT_LAPSED = "grant_lapsed"
    CANNOT_PLACE = "cannot_place"
    PART_ONLY = "part_only"
    ALREADY_VOTED = "already_voted"
    IMPOSSIBLE_TIME = "impossible_time"
    PROTECTED_SETTING = "protected_setting"
    UNKNOWN_SETTING = "unknown_setting"
    BAD_SETTING = "bad_setting"
    RESTART_REQUIRED = "restart_required"
    UNKNOWN_TOOL = "unknown_tool"
    OUT_OF_SCOPE = "out_of_scope"
    ASK_IN_CHAT = "ask_in_chat"
    OVER_QUOTA = "over_quota"
    TOO_MANY = "too_many"
    UNFIT = "unfit"  # what was to be trusted or taught cannot be


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A reason a person can act on: a stable code, and words that say what to do next."""

    code: ReasonCode
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where an action goes. `reason` says why; `phrase` is set exactly for RouteKind.PHRASE.

    `because` names the setting that widened or narrowed the default route ("posture approve_config",
    "never_auto_act web1", "stop"), "" for none; the ledger entry carries it (D13). `rule` is the id of the
    trust rule that widened it, "" for none.
    """

    kind: RouteKind
    reason: Reason | None = None
    phrase: str | None = None
    because: str = ""
    rule: str = ""


class AssentVerdict(StrEnum):
    """What an utterance says about a proposal (D18)."""

    GRANT = "grant"
    REFUSE = "refuse"
    PARTIAL = "partial"
    CHANGE = "change"
    AMBIGUOUS = "ambiguous"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assent:
    """The reading of one utterance.

    Attributes:
        because: the words or the rule that decided, for people.
        selects: 1-based indices of pending actions that a partial means, ascending; () otherwise.
        reason: what came after the refusal as its reason ("no, backup is running"); "" when none was given.
        question: the utterance asks about the proposal ("what depends on it?"), which keeps it open.
    """

    verdict: AssentVerdict
    because: str
    selects: tuple[int, ...] = ()
    reason: str = ""
    question: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Radius:
    """What depends on what an action touches. `known` is False when the graph says nothing about it (C14).

    `services` and `targets` are the dependants' names, nearest first; `origin` is what they depend on.
    """

    known: bool
    origin: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    targets: tuple[TargetId, ...] = ()

    @property
    def count(self) -> int:
        """How many things depend on it, as far as known."""
        return len(self.services) + len(self.targets)


class Manner(StrEnum):
    """How a decider answered."""

    WORDS = "words"  # their next message
    REPLY = "reply"  # a reply to the card, or in its thread
    BUTTON = "button"
    COMMAND = "command"  # approve <id>, deny <id>
    PHRASE = "phrase"


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingApproval:
    """One live question as the decision sees it.

    Attributes:
        approval: the approval that an answer decides.
        action: what would run.
        phrase: set when only this typed phrase grants it.
        shown_in: the place its card stands in (routed cards: not where it was asked).
        asked_in: the place the request came from.
        quorum: how many people had to say yes when it was opened; the policy of now may ask for more.
        votes: who said yes to exactly this list already, each person once, in their order.
        on_behalf: whom the requester works for, where that is an agent; None for most.
        fanout: it is one of many of the same command, which are decided about together.
    """

    approval: ApprovalId
    proposal: ProposalId
    action: Action
    risk: Risk
    action_digest: Digest
    list_digest: Digest
    requester: PersonId
    asked_in: PlaceId
    shown_in: PlaceId
    deadline_at: datetime
    phrase: str | None = None
    quorum: int = 1
    votes: tuple[PersonId, ...] = ()
    on_behalf: PersonId | None = None
    fanout: bool = False

    @property
    def owner(self) -> PersonId:
        """Whose request it counts as: nobody gets around a second person by having an agent ask (C4)."""
        return self.on_behalf or self.requester


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The one message that words without a reference may count in (D2).

    Opened by a bot turn that showed exactly one proposal; closed by the next message of `person` in the
    place, whatever it says, and by any later bot turn that shows another pending proposal.
    """

    place: PlaceId
    proposal: ProposalId
    person: PersonId
    opened_by: TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a decision read, frozen: the ledger's state at `head`, for one place and one speaker.

    Attributes:
        pending: every live approval that may be meant from here, oldest first.
        window: the open window of this speaker in this place, if any.
    """

    place: PlaceId
    head: int
    pending: tuple[PendingApproval, ...] = ()
    window: Window | None = None
