"""What can be decided about an utterance, and what is read of it. Values only; gate.decide decides."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gate.domain import Assent, Manner, PendingApproval, ProposalId, Reason
from gate.policy import Operator


class Choice(StrEnum):
    """What an explicit answer (a button, `approve <id>`) chooses."""

    APPROVE = "approve"
    DENY = "deny"


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What somebody said, as far as a decision cares.

    Attributes:
        person: None for a stranger.
        ordinary: a fresh message of a human; edits, forwards and bots' words are not (P6).
        refers_to: the proposal a reply, thread, button or id names.
        index: the one action of it that an id names ("k7f3a2.2"); None for the whole of it.
        choice: set when the reference came with an explicit answer; `text` is then only its reason.
        manner: how it was said.
        own_thread: said in a thread that holds nothing but the answers to one request, where the next word
            counts whichever operator it comes from (D2).
        engaged: the bot's last turn in this place was with this person, or the message is addressed to it.
        unread: proposals whose card the person cannot have read when they said it, or does not mean by it;
            of those a phrase is only the words that asked for them (C16).
        outdated: what `refers_to` waits for was asked anew after this was said, as when an earlier yes to it
            led to a failure: a yes is none to that (D2, X2).
    """

    person: Operator | None
    text: str
    ordinary: bool = True
    refers_to: ProposalId | None = None
    index: int | None = None
    choice: Choice | None = None
    manner: Manner = Manner.WORDS
    engaged: bool = True
    own_thread: bool = False
    unread: frozenset[ProposalId] = frozenset()
    outdated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """Nothing is done and nothing is said."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """It answers nothing that waits: a request, a question or small talk, for whoever plans."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """These approvals are granted, in order. `challenge` also waits, for its own phrase.

    `needed` is how many people it took, this one included.
    """

    approvals: tuple[PendingApproval, ...]
    manner: Manner
    alone: bool
    challenge: PendingApproval | None = None
    needed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Voted:
    """A yes that counts and is not enough: `needed` people have to say it. Nothing is granted."""

    approvals: tuple[PendingApproval, ...]
    manner: Manner
    needed: int
    challenge: PendingApproval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """These approvals are refused. An empty `reason` is owed (C1)."""

    approvals: tuple[PendingApproval, ...]
    manner: Manner
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenged:
    """Not enough: this one takes its typed phrase. `near` when what was typed came close to it."""

    approval: PendingApproval
    near: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain:
    """Nothing ran; the approval is named again and the speaker's window opens anew for one message."""

    approvals: tuple[PendingApproval, ...]
    because: str
    question: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Several are live and the words name none: list them, one choice each."""

    approvals: tuple[PendingApproval, ...]
    choice: Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedBack:
    """Part of the proposal was meant: show exactly that part and ask again. `selects` are 1-based."""

    approvals: tuple[PendingApproval, ...]
    selects: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeAsked:
    """Something else was asked for than what was shown: nothing runs as shown."""

    approvals: tuple[PendingApproval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The answer does not count, for a reason the speaker can act on."""

    reason: Reason
    approvals: tuple[PendingApproval, ...] = ()


Decision = (
    Ignored
    | Open
    | Granted
    | Voted
    | Refused
    | Challenged
    | AskedAgain
    | Which
    | PlayedBack
    | ChangeAsked
    | Rejected
)

#: Reads an utterance against descriptions of what is pending.
Reader = Callable[[str, Sequence[str]], Assent]
