"""What tests of decisions say and read: prepared readers, ordinary facts, short ways to decide."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.loading.lexicon import load_lexicons
from gate import assent
from gate.decide import (
    Choice,
    Decision,
    Granted,
    Reader,
    Rejected,
    Utterance,
    decide,
)
from gate.domain import (
    AGENT,
    Assent,
    AssentVerdict,
    Facts,
    Manner,
    PendingApproval,
    ProposalId,
    ReasonCode,
    Risk,
)
from gate.policy import Operator, Policy
from tests.gate.makers import (
    ANA,
    NOW,
    OTHER_RESTART,
    P1,
    POLICY,
    RESTART,
    UPGRADE,
    facts,
    operator,
    pending,
    window,
)


@dataclass
class Reads:
    """A reader that gives one prepared answer and remembers what it was asked."""

    answer: Assent
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def __call__(self, text: str, descriptions: Sequence[str]) -> Assent:
        self.asked.append((text, tuple(descriptions)))
        return self.answer


def reads(verdict: AssentVerdict, *selects: int, reason: str = "", question: bool = False) -> Reads:
    return Reads(Assent(verdict=verdict, because="so", selects=selects, reason=reason, question=question))


def real(text: str, descriptions: Sequence[str]) -> Assent:
    return assent.read(text, pending=descriptions, lexicons=load_lexicons())


GRANT = reads(AssentVerdict.GRANT)
NO = reads(AssentVerdict.REFUSE)
AMBIGUOUS = reads(AssentVerdict.AMBIGUOUS)
QUESTION = reads(AssentVerdict.AMBIGUOUS, question=True)
OTHER = reads(AssentVerdict.OTHER)
OTHER_QUESTION = reads(AssentVerdict.OTHER, question=True)
PARTIAL_1 = reads(AssentVerdict.PARTIAL, 1)
CHANGE = reads(AssentVerdict.CHANGE)


def say(
    live: Facts,
    text: str,
    *,
    by: Operator | None = ANA,
    read: Reader = real,
    policy: Policy = POLICY,
    own_thread: bool = False,
    unread: frozenset[ProposalId] = frozenset(),
) -> Decision:
    """Decide about an ordinary message."""
    utterance = Utterance(person=by, text=text, own_thread=own_thread, unread=unread)
    return decide(live, utterance, policy=policy, read=read, now=NOW)


def reply(
    live: Facts,
    text: str = "",
    *,
    by: Operator = ANA,
    to: ProposalId = P1,
    choice: Choice | None = None,
    read: Reader = real,
    policy: Policy = POLICY,
) -> Decision:
    """Decide about a message or a press that names its proposal."""
    utterance = Utterance(person=by, text=text, refers_to=to, choice=choice, manner=Manner.REPLY)
    return decide(live, utterance, policy=policy, read=read, now=NOW)


def code(decision: Decision) -> ReasonCode:
    assert isinstance(decision, Rejected)
    assert decision.reason.text
    return decision.reason.code


def granted(decision: Decision) -> tuple[PendingApproval, ...]:
    assert isinstance(decision, Granted)
    return decision.approvals


AGENT_OPERATOR = operator(AGENT, (Risk.DESTRUCTIVE, "*"))
OPEN = facts(RESTART, opened=window())
SHUT = facts(RESTART)
TWO = facts(RESTART, OTHER_RESTART, opened=window())
LIST = facts(RESTART, UPGRADE, opened=window())
MIXED_LIST = (
    RESTART,
    pending("rm -rf /srv/x", index=2, risk=Risk.DESTRUCTIVE, phrase="delete /srv/x on web1"),
)
MIXED = facts(*MIXED_LIST, opened=window())
